"""Reading the small texts context is made of: bounded, only regular files, never out of the tree they belong to."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spear.workspace.beneath import Beneath

LARGEST = 1 << 20
"""Bytes of one document; a longer file is a problem, not a shorter document."""

_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Why a document is not read: one clause for the operator."""

    text: str


def read_own(file: Path) -> str | DocumentProblem:
    """A file of the operator's own directories; links are followed, they are the operator's too."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return DocumentProblem(f"cannot be read: {error.strerror}")
    return _decoded(descriptor)


def read_in_tree(root: Path, relative: str) -> str | DocumentProblem | None:
    """A file of a tree, None when it is not there. A link may lead elsewhere in the tree, to the same kind of file
    only: a tree cannot have a key of the operator's, or its own `.env`, shown as a rule.
    """
    try:
        top = root.resolve(strict=True)
        real = (top / relative).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    if not real.is_relative_to(top):
        return DocumentProblem("is a link that leads out of the tree")
    if real.suffix.lower() != Path(relative).suffix.lower():
        return DocumentProblem(f"is a link to another kind of file ({real.name})")
    try:
        with Beneath(top) as tree:
            descriptor = tree.open(real.relative_to(top).as_posix(), os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return DocumentProblem(f"cannot be read: {error.strerror}")
    return _decoded(descriptor)


def names_in(directory: Path) -> list[str]:
    """The names in a directory, sorted; empty when there is none or it cannot be listed."""
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return []


def plain(text: str) -> str:
    """`text` with LF line ends and without control and invisible format characters: what is shown is what is there."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(_visible(unified))


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, cut with `…`."""
    joined = " ".join(plain(text).split())
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def _visible(text: str) -> Iterable[str]:
    for character in text:
        if character in "\n\t" or character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs"):
            yield character


def _decoded(descriptor: int) -> str | DocumentProblem:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return DocumentProblem("is not a regular file")
        with open(descriptor, "rb", closefd=False) as source:
            data = source.read(LARGEST + 1)
    except OSError as error:
        return DocumentProblem(f"cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)
    if len(data) > LARGEST:
        return DocumentProblem("is larger than 1 MiB")
    return plain(data.decode("utf-8-sig", "replace"))
