"""Sources of knowledge: whether a file of the tree really holds what a record quotes, and whether it still does."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from spear.context.knowledge.records import LONGEST_QUOTE, KnowledgeProblem, Source
from spear.workspace.beneath import Beneath

_LARGEST = 64 << 20
_SHORTEST_QUOTE = 3
_WITH_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d+)\Z")


def verify(root: Path, base: str, given: str, quote: str | None) -> Source | KnowledgeProblem:
    """The source `FILE[:LINE]`, when the file holds the quote (beginning on that line, where one is named).

    `root` is the top of the tree, `base` where in it relative paths start.
    """
    if quote is None or len(quote.strip()) < _SHORTEST_QUOTE:
        return KnowledgeProblem(
            "no_quote", "a source without a quote shows nothing", "add --quote TEXT, copied from the file"
        )
    if len(quote) > LONGEST_QUOTE:
        return KnowledgeProblem(
            "long_quote", f"the quote is longer than {LONGEST_QUOTE} characters", "quote the decisive part"
        )
    path, line = given, 0
    if (match := _WITH_LINE.match(given)) and _inside(root, base, given) is None:
        path, line = match["path"], int(match["line"])
    relative = _inside(root, base, path)
    if relative is None:
        return KnowledgeProblem("outside", f"{path} is not a file of this workspace", "name a file of the tree")
    content = _read(root, relative)
    if content is None:
        return KnowledgeProblem("no_file", f"{path} cannot be read", "name a file of the tree that exists")
    found = _lines_of(content, quote)
    if not found:
        return KnowledgeProblem("not_held", f"{path} does not hold that quote", "copy the quote from the file as it is")
    if line and line not in found:
        where = ", ".join(map(str, found[:5]))
        return KnowledgeProblem(
            "other_line", f"line {line} of {path} does not begin that quote", f"it begins on line {where}"
        )
    return Source(relative, line or found[0], quote, hashlib.sha256(content).hexdigest())


def again(root: Path, source: Source) -> Source | KnowledgeProblem:
    """The same source bound to the file as it is now, when that still holds the quote anywhere."""
    return verify(root, "", source.path, source.quote)


def fresh(root: Path, source: Source) -> bool:
    """Whether the file is, byte for byte, what the record was bound to."""
    content = _read(root, source.path)
    return content is not None and hashlib.sha256(content).hexdigest() == source.sha256


def _inside(root: Path, base: str, path: str) -> str | None:
    """The canonical path of a file beneath `root`, or None."""
    for prefix in ("/workspace/",):
        if path.startswith(prefix):
            path = path[len(prefix) :]
    try:
        path.encode("utf-8")  # a name that is no text cannot be recorded
        real = (root / base / path).resolve(strict=True)
        return real.relative_to(root.resolve()).as_posix() if real.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _read(root: Path, relative: str) -> bytes | None:
    try:
        with Beneath(root) as tree:
            descriptor = tree.open(relative, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, "rb") as source:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            return source.read(_LARGEST)
    except (OSError, ValueError):
        return None


def _lines_of(content: bytes, quote: str) -> list[int]:
    """The lines a quote begins on; line ends and the space around the quote do not count."""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    wanted = quote.replace("\r\n", "\n").strip()
    found: list[int] = []
    start = text.find(wanted)
    while start >= 0 and len(found) < 1000:
        found.append(text.count("\n", 0, start) + 1)
        start = text.find(wanted, start + 1)
    return found
