"""What a fetched body is, and its text: read in a process of its own, which what it reads can neither fill nor hold.

A page is made by a stranger: one nested deeply enough keeps a parser busy for minutes, and a parser written in C may
have a flaw. The process that reads has limits of memory and time, opens nothing, and its death is an answer.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, BinaryIO

from spear.web.fetching import Answer
from spear.web.pages import Pages
from spear.web.patience import Patience
from spear.web.problem import WebProblem, WebStop
from spear.web.reader import OUT_OF_MEMORY

READ_S = 20.0
"""Seconds the reading of one document may take."""

_TEXT = re.compile(r"text/|application/(?:[\w.+-]*\+)?(?:json|xml|yaml|toml|javascript|x-sh|x-ndjson)\b")
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_LOOKS_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.I)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.I)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_ANSWER_BYTES = 64 << 20


_OF_THE_LOADER = ("LD_LIBRARY_PATH",)  # some interpreters do not find their own library without it
_DEATHS = {
    OUT_OF_MEMORY: "used up its memory", -signal.SIGXCPU: "used up its time", -signal.SIGKILL: "was killed",
    -signal.SIGXFSZ: "said too much", -signal.SIGSEGV: "crashed",
}  # fmt: skip


class Kind(StrEnum):
    """How a body is read."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a body. For a PDF, `first` to `last` of `pages` pages; 0 otherwise."""

    kind: Kind
    text: str
    title: str = ""
    pages: int = 0
    first: int = 0
    last: int = 0


def kind_of(answer: Answer) -> Kind:
    """What a body is: by its beginning where that is plain, else by what the server says."""
    head = answer.body[:1024]
    if head.lstrip()[:5] == b"%PDF-":
        return Kind.PDF
    if answer.media in _HTML or (answer.media in ("", "text/plain") and _LOOKS_HTML.match(head)):
        return Kind.HTML
    if _TEXT.match(answer.media) or (answer.media in ("", "application/octet-stream") and not _CONTROL.search(head)):
        return Kind.TEXT
    return Kind.BINARY


def decoded(data: bytes, charset: str, *, html: bool = False, cut: bool = False) -> str:
    """The text of bytes: by their mark, by what was declared, as UTF-8, else as the web's Latin-1. What was `cut` may
    end within a character."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    meta = _META.search(data[:2048]) if html and not charset else None
    declared = charset or (meta[1].decode("ascii") if meta else "")
    try:
        if declared and codecs.lookup(declared)._is_text_encoding:
            return data.decode(declared, "replace")
    except (LookupError, ValueError):
        pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        only_the_end = cut and error.reason == "unexpected end of data"
        return data.decode("utf-8" if only_the_end else "cp1252", "replace")


def read(
    answer: Answer, pages: Pages | None = None, cancelled: Callable[[], bool] = lambda: False, seconds: float = READ_S
) -> Document | WebProblem:
    """The document a body holds. `pages` is for PDFs, whose first pages are read without it."""
    kind = kind_of(answer)
    if pages is not None and kind is not Kind.PDF:
        return WebProblem("no_pages", f"it is {_described(answer)}, and only a PDF has pages", "leave the pages out")
    task: dict[str, Any]
    match kind:
        case Kind.TEXT:
            return Document(kind, decoded(answer.body, answer.charset, cut=answer.cut))
        case Kind.BINARY:
            what = f"it is {_described(answer)}, which is no text"
            return WebProblem("no_text", what, "save it into the workspace, or go on without it")
        case Kind.HTML:
            task = {"kind": kind.value, "base": answer.location.url}
            data = decoded(answer.body, answer.charset, html=True, cut=answer.cut).encode("utf-8", "replace")
        case Kind.PDF:
            task = {"kind": kind.value, "pages": asdict(pages) if pages else None}
            data = answer.body
    said = _apart(task, data, Patience(seconds, cancelled))
    if isinstance(said, WebProblem):
        return said
    if "problem" in said:
        return WebProblem(said["code"], said["problem"])
    return Document(kind, said["text"], said["title"], said["pages"], said["first"], said["last"])


def _described(answer: Answer) -> str:
    return f"{answer.media or 'of no declared type'} ({len(answer.body)} bytes)"


def _apart(task: dict[str, Any], data: bytes, patience: Patience) -> dict[str, Any] | WebProblem:
    """What the reading process says. It is killed when the time is up or the call was stopped."""
    with _memory("web-document") as given, _memory("web-text") as out:
        given.write(data)
        given.seek(0)
        try:
            status = _ended(task, given, out, patience)
        except WebStop as stop:
            busy = WebProblem("unreadable", "it cannot be read: it keeps its reader busy")
            return busy if stop.problem.code == "timeout" else stop.problem
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            return WebProblem("unreadable", f"it cannot be read: its reader does not start: {why}")
        out.seek(0)
        said = out.read(_ANSWER_BYTES)
    if status:
        return WebProblem("unreadable", f"it cannot be read: its reader {_DEATHS.get(status, f'ended with {status}')}")
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return WebProblem("unreadable", "it cannot be read: its reader said nothing that makes sense")
    return found


def _ended(task: dict[str, Any], given: BinaryIO, out: BinaryIO, patience: Patience) -> int:
    """The status the reader ended with. Raises WebStop, the reader gone, when the time is up."""
    environment = {"LANG": "C.UTF-8", **{name: os.environ[name] for name in _OF_THE_LOADER if name in os.environ}}
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "spear.web.reader", json.dumps(task)],
        stdin=given, stdout=out, stderr=subprocess.DEVNULL, env=environment, cwd="/", start_new_session=True,
    )  # fmt: skip
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(patience.slice())
    finally:
        process.kill()
        process.wait()


def _memory(name: str) -> BinaryIO:
    """A file that is nowhere on disk."""
    return os.fdopen(os.memfd_create(name), "w+b")
