"""What a command printed: drained at full speed in bounded memory, and the text the model is shown of it (spec 2.5)."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

KEPT_HEAD = 512 * 1024
KEPT_TAIL = 1024 * 1024
CAPTURE_LIMIT = 64 * 1024 * 1024
CHUNK = 1024 * 1024
HEAD_SHARE = 0.4

_CONTROL_STRING = r"\x1b[PX^_\]][^\x07\x1b]*(?:\x07|\x1b\\|$)|[\x90\x98\x9d-\x9f][^\x07\x9c\x1b]*(?:\x07|\x9c|\x1b\\|$)"
_CONTROL_SEQUENCE = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
_ESCAPE = r"\x1b[ -/]*[0-~]?"
_SEQUENCES = re.compile(f"{_CONTROL_STRING}|{_CONTROL_SEQUENCE}|{_ESCAPE}", re.DOTALL)
_STRAY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Shown:
    """The cleaned text, capped, and whether anything of the whole is missing from it."""

    text: str
    truncated: bool


class Drain:
    """Takes every byte of a command: counts and hashes them all, keeps the two ends, stores up to CAPTURE_LIMIT.

    `capture` is created mode 0600 when the first byte arrives; a full disk there stops the storing, never the command.
    `heard` is given every byte too, as they come.
    """

    def __init__(self, capture: Path | None, heard: Callable[[bytes], None] | None = None) -> None:
        self.total = 0
        self.captured = 0
        self.capture_failed = ""
        self._digest = hashlib.sha256()
        self._head = bytearray()
        self._tail = bytearray()
        self._path = capture
        self._heard = heard
        self._file = -1

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        if self._heard is not None:
            self._heard(data)
        self._digest.update(data)
        room = KEPT_HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
        rest = data[max(room, 0) :]
        if rest:
            self._tail += rest
            if len(self._tail) > 2 * KEPT_TAIL:
                del self._tail[:-KEPT_TAIL]
        if self._path is not None and self.captured < CAPTURE_LIMIT and not self.capture_failed:
            self._store(self._path, data[: CAPTURE_LIMIT - self.captured])

    def _store(self, path: Path, data: bytes) -> None:
        try:
            if self._file < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self._file = os.open(path, flags, 0o600)
            view = memoryview(data)
            while view:
                written = os.write(self._file, view)
                self.captured += written
                view = view[written:]
        except OSError as error:
            self.capture_failed = f"the whole output could not be kept: {error.strerror}"

    def close(self) -> None:
        """Release the capture file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def sha256(self) -> str:
        """Lowercase hex digest of everything fed."""
        return self._digest.hexdigest()

    @property
    def start(self) -> bytes:
        """The first bytes, at most KEPT_HEAD."""
        return bytes(self._head)

    @property
    def end(self) -> bytes:
        """The last bytes, at most KEPT_TAIL, those of the start included when nothing was dropped."""
        return bytes(self._tail[-KEPT_TAIL:]) if self._tail else bytes(self._head)

    def shown(self, limit: int) -> Shown:
        """The text for the model, at most `limit` characters."""
        tail = self._tail[-KEPT_TAIL:]
        dropped = self.total - len(self._head) - len(tail)
        if not dropped:
            return cap(clean(bytes(self._head + tail)), limit)
        return join_ends(clean(bytes(self._head)), clean(bytes(tail)), dropped, limit)


def clean(raw: bytes) -> str:
    """Plain text: no control sequence, no control character but newline and tab, the last state of progress lines,
    invalid UTF-8 and bidirectional controls shown as escapes.
    """
    text = raw.decode("utf-8", errors="backslashreplace")
    if "\x1b" in text or any(mark in text for mark in "\x90\x98\x9b\x9d\x9e\x9f"):
        text = _SEQUENCES.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) if "\r" in line else line for line in text.split("\n"))
    while "\x08" in text:
        shorter = _OVERSTRUCK.sub("", text)
        if shorter == text:
            break
        text = shorter
    text = _STRAY.sub("", text)
    return _BIDI.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _last_state(line: str) -> str:
    """What a terminal would be left showing of a line with carriage returns: the last thing drawn."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def cap(text: str, limit: int) -> Shown:
    """Keep 40 % at the head and 60 % at the tail of what does not fit, and state the middle's size."""
    if len(text) <= limit:
        return Shown(text, truncated=False)
    head, tail = _ends(text, text, limit, reserve=len(_gap(len(text), "characters")))
    left_out = len(text) - len(head) - len(tail)
    return Shown(head + _gap(left_out, "characters") + tail, truncated=True)


def join_ends(head: str, tail: str, dropped: int, limit: int) -> Shown:
    """The two kept ends of an output whose middle was never kept; `dropped` is the middle's size in bytes."""
    first, last = _ends(head, tail, limit, reserve=len(_gap(dropped + len(head) + len(tail), "bytes")))
    cut = dropped + len(head.encode()) - len(first.encode()) + len(tail.encode()) - len(last.encode())
    return Shown(first + _gap(cut, "bytes") + last, truncated=True)


def _ends(head: str, tail: str, limit: int, *, reserve: int) -> tuple[str, str]:
    room = max(limit - reserve, 0)
    first = head[: int(room * HEAD_SHARE)]
    last_size = room - int(room * HEAD_SHARE)
    last = tail[max(len(tail) - last_size, 0) :]
    # Whole lines where one is near: half a line at a cut reads like data.
    newline = first.rfind("\n")
    if newline > len(first) * 0.8:
        first = first[: newline + 1]
    newline = last.find("\n")
    if 0 <= newline < len(last) * 0.2:
        last = last[newline + 1 :]
    return first, last


def _gap(size: int, unit: str) -> str:
    return f"\n[... {size} {unit} left out ...]\n"
