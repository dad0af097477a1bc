"""`/recall`: the rules an operator adds for every corpus, one line each, in `rules-learned.md` (spec 4.2)."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from spear.context.documents import DocumentProblem, plain, read_own
from spear.context.front_matter import split
from spear.context.rules import LIMIT
from spear.state.files import open_private, state_error, write_all

_HEADER = b"---\nscope: global\n---\n"


@dataclass(frozen=True, slots=True)
class Learned:
    """What `/recall` did or why it did not, as one sentence."""

    ok: bool
    text: str


def learn(file: Path, text: str) -> Learned:
    """Append one rule, durably; several sessions may do so at once. Raises StateError when it cannot be written."""
    rule = " ".join(plain(text).split())
    if not rule:
        return Learned(ok=False, text="there is no rule in that: /recall TEXT")
    if len(rule) > LIMIT // 4:
        return Learned(ok=False, text=f"a rule of {len(rule)} characters is too long: say it in {LIMIT // 4}")
    try:
        descriptor = open_private(file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            present = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
            line = f"- {rule}\n".encode()
            if line in present:
                return Learned(ok=True, text=f"is a rule already: {rule}")
            before = b"" if present.endswith(b"\n") else b"\n"
            write_all(descriptor, (before if present else _HEADER) + line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise state_error("write", file, error) from error
    return Learned(ok=True, text=f"recorded as a rule for every corpus, from the next turn on: {rule} ({file})")


def learned(file: Path) -> tuple[str, ...]:
    """The rules recorded so far; empty when there are none or the file cannot be read."""
    text = read_own(file)
    if isinstance(text, DocumentProblem):
        return ()
    return tuple(line.strip() for line in split(text)[1].split("\n") if line.strip())
