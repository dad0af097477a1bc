"""Reading a corpus: which files are not as the index knows them, and their text (spec 4.5).

A file whose size, times and inode are as recorded is not opened; one that is, is known by its SHA-256. A file touched
within the last seconds before it was read is read again next time: its times cannot tell a later change.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from spear.state.redaction import Redactor
from spear.workspace.beneath import Beneath

FILE_BYTES = 2 << 20
"""The largest file that is indexed; larger ones are data, generated or amalgamated, and are counted as skipped."""

_BATCH_CHARACTERS = 1 << 20
_BATCH_FILES = 1_000
_TOO_FRESH_NS = 2_000_000_000
_LEAST_READ = 1 << 16


@dataclass(frozen=True, slots=True)
class Known:
    """What the index holds of a file: its content's SHA-256, its stamp, and its run of passages."""

    sha256: bytes
    stamp: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose content is not what the index holds."""

    path: str
    text: str
    sha256: bytes
    stamp: str


@dataclass(slots=True)
class Batch:
    """Some files further on the way: those that changed, those that were only touched, and why others are left out."""

    seen: int = 0
    changed: list[Source] = field(default_factory=list)
    touched: list[tuple[str, str]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def read_changes(
    beneath: Beneath, files: Sequence[str], known: Mapping[str, Known], redactor: Redactor | None = None
) -> Iterator[Batch]:
    """Every file once, in batches of about a million characters. Values of the host's own secrets are not passed on."""
    batch, size = Batch(), 0
    for path in files:
        found = _look(beneath, path, known.get(path), redactor)
        batch.seen += 1
        match found:
            case Source():
                batch.changed.append(found)
                size += len(found.text)
            case (stamp,):
                batch.kept.append(path)
                if stamp:
                    batch.touched.append((path, stamp))
            case reason:
                batch.skipped[reason] += 1
        if size >= _BATCH_CHARACTERS or batch.seen >= _BATCH_FILES:
            yield batch
            batch, size = Batch(), 0
    if batch.seen:
        yield batch


def _look(beneath: Beneath, path: str, known: Known | None, redactor: Redactor | None) -> Source | tuple[str] | str:
    """The source when it changed; its new stamp (empty: as recorded) when it did not; why it is left out."""
    try:
        descriptor = beneath.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return "unreadable"
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        if status.st_size > FILE_BYTES:
            return "larger than 2 MiB"
        stamp = _stamp(status)
        if known is not None and stamp and known.stamp == stamp:
            return ("",)
        data = _read(descriptor, status.st_size)
    except OSError:
        return "unreadable"
    finally:
        os.close(descriptor)
    digest = hashlib.sha256(data).digest()
    if known is not None and known.sha256 == digest:
        return (stamp,)
    text = decode(data)
    if text is None:
        return "binary"
    kept = redactor.own(text) if redactor else text
    if kept.count("\n") != text.count("\n"):
        return "holds a secret of this host"
    return Source(path, kept, digest, stamp)


def decode(data: bytes) -> str | None:
    """The text of a file's bytes: UTF-8, UTF-16 with a byte order mark, else Latin-1; None for a binary."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _stamp(status: os.stat_result) -> str:
    """What tells an untouched file; empty when it is too fresh to tell."""
    if max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - _TOO_FRESH_NS:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def _read(descriptor: int, size: int) -> bytes:
    """All of a file that had `size` bytes a moment ago, and at most FILE_BYTES of what it has become."""
    parts = []
    left = FILE_BYTES
    step = max(size, _LEAST_READ) + 1
    while left > 0 and (part := os.read(descriptor, min(left, step))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
