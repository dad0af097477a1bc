"""The file of a standard: what format it is, whether it can be read at all, and its lines without holding it whole."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from spear.errors import UsageError

Progress = Callable[[int, int], None]
"""(done, total) in pages or lines."""

MOST_BYTES = 512 * 1024 * 1024
"""The largest file that is read at all."""
_MOST_OF = {
    "html": 64 * 1024 * 1024, "text": 64 * 1024 * 1024, "asciidoc": 64 * 1024 * 1024, "markdown": 32 * 1024 * 1024,
    "rst": 8 * 1024 * 1024,
}  # fmt: skip
"""The largest file of a format, by what reading it costs: some fifteen times its size in memory and, for each megabyte,
two seconds of text or three of Markdown; ten of reStructuredText."""
_SUFFIXES = {
    ".pdf": "pdf", ".txt": "text", ".text": "text", ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown",
    ".mkd": "markdown", ".rst": "rst", ".rest": "rst", ".adoc": "asciidoc", ".asciidoc": "asciidoc", ".asc": "asciidoc",
    ".html": "html", ".htm": "html", ".xhtml": "html",
}  # fmt: skip
_MOST_LINE = 1 << 20
"""Bytes of a line; what is longer counts as several."""
_KNOWN = "documents are PDF, plain text, Markdown, reStructuredText, AsciiDoc and HTML; save it as one of them"
_HTML = re.compile(rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)


def format_of(source: Path) -> str:
    """pdf, text, markdown, rst, asciidoc or html, by the bytes first and the name next.

    UsageError for what is no readable document: a directory, an empty file, one too large, one of an unknown kind.
    """
    try:
        if source.is_dir():
            raise UsageError(f"{source} is a directory", hint="name the document's main file, such as its index")
        size = source.stat().st_size
        with source.open("rb") as stream:
            head = stream.read(65536)
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}", hint="name a document that you can read") from error
    if not head.strip():
        raise UsageError(f"{source} is empty", hint="name a document with text in it")
    found = _format(source, head)
    require_size(size, found, source)
    return found


def require_size(size: int, form: str, source: Path) -> None:
    """Raises UsageError where a document of a format, with all that it includes, has more bytes than may be read."""
    most = _MOST_OF.get(form, MOST_BYTES)
    if size > most:
        raise UsageError(
            f"{source}, with what it includes, has {size / 1e6:.0f} MB; its format may have {most / 1e6:.0f}",
            hint="ingest it in parts, each as a standard of its own",
        )


def _format(source: Path, head: bytes) -> str:
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"{source} is UTF-16 text", hint="save it as UTF-8 first: iconv -f UTF-16 -t UTF-8")
    named = _SUFFIXES.get(source.suffix.lower())
    if named == "pdf":
        raise UsageError(f"{source} is no PDF, whatever its name says", hint="fetch it again; it may be an error page")
    if b"\0" in head:
        raise UsageError(f"{source} is binary, and no PDF", hint=_KNOWN)
    if _HTML.match(head):
        return "html"
    if named:
        return named
    if not source.suffix or source.suffix[1:].isdigit():
        return "text"
    raise UsageError(f"{source}: no known document has the suffix {source.suffix}", hint=_KNOWN)


def line_count(source: Path) -> int:
    """The lines of a file, counted without keeping them."""
    count, last = 0, b""
    with source.open("rb") as stream:
        while part := stream.read(1 << 20):
            count += part.count(b"\n")
            last = part
    return count + (not last.endswith(b"\n"))


def lines_of(source: Path, progress: Progress | None = None, errors: list[str] | None = None) -> Iterator[str]:
    """The lines of a text, one at a time, without their ends; UTF-8, else Latin-1 line by line (told once in `errors`).

    OSError becomes UsageError. `progress` hears of every thousandth line and of the last.
    """
    total = line_count(source) if progress else 0
    wrong = 0
    number = 0
    try:
        with source.open("rb") as stream:
            for number, raw in enumerate(iter(lambda: stream.readline(_MOST_LINE), b""), 1):
                data = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                try:
                    text = data.decode("utf-8")
                except UnicodeDecodeError:
                    wrong = wrong or number
                    text = data.decode("cp1252", errors="replace")
                if progress and number % 1000 == 0:
                    progress(number, total)
                yield text.rstrip("\r\n").expandtabs(8).replace("\0", "\ufffd")
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}", hint="name a document that you can read") from error
    if progress:
        progress(number, total)
    if wrong and errors is not None:
        errors.append(f"line {wrong} and perhaps others are not UTF-8; they were read as Western European text")


def beneath(directory: Path, name: str, suffixes: tuple[str, ...]) -> Path | None:
    """The file that an include names, or None when it is not a regular file beneath `directory` (links followed)."""
    root = directory.resolve()
    for suffix in suffixes:
        path = (root / (name + suffix)).resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    return None
