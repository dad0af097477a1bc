"""`patch` and the headers of a diff: which files a patch is for."""

from __future__ import annotations

import re

from spear.shell.options import read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import NOTHING, UNKNOWN, Call, Reading, Table, Write, Writes, joined, literal

_HEADER = re.compile(r"^(?:---|\+\+\+) ([^\t\n]+)", re.MULTILINE)


def patched_files(diff: str, strip: int | None) -> tuple[Word, ...]:
    """The files named in a diff's headers, `strip` leading components taken off (None: git's a/ and b/)."""
    names: dict[str, None] = {}
    for name in _HEADER.findall(diff):
        path = name.strip().strip('"')
        if path == "/dev/null":
            continue
        parts = path.split("/")
        count = strip if strip is not None else (1 if parts[0] in ("a", "b") and len(parts) > 1 else 0)
        names["/".join(parts[min(count, len(parts) - 1) :])] = None
    return tuple(literal(name) for name in names)


def strip_level(value: Word | None) -> int | None:
    """The number given to `-p`, None when it is absent or cannot be known."""
    text = "" if value is None or value.value is None else value.value
    return int(text) if text.isdecimal() and len(text) < 4 else None


def _patch(call: Call) -> Reading:
    valued = "-p --strip -i --input -o --output -d --directory -r --reject-file -B -b -D -F -g -V -Y -z"
    options = read_options(call.words, valued.replace(" -b ", " "), flags="--dry-run --strip --reverse")
    if options.has("--dry-run", "--version", "--help"):
        return NOTHING
    output = options.last("-o", "--output")
    directory = options.last("-d", "--directory")
    if output is not None:
        targets: tuple[Word, ...] = (output,)
    elif options.operands:
        targets = options.operands[:1]
    elif call.heredoc is not None and not options.has("-i", "--input"):
        targets = patched_files(call.heredoc, strip_level(options.last("-p", "--strip"))) or (UNKNOWN,)
    else:
        targets = (UNKNOWN,)
    if directory is not None:
        targets = tuple(joined(directory, word.value) if word.value else word for word in targets)
    return Writes([Write(word) for word in targets]).reading()


TABLE: Table = {"patch": _patch, "gpatch": _patch}
