"""`verified.json`: how the files of a standard looked when they were last checked in full (spec 5.1).

A file whose size, times and inode are as they were is taken for unchanged, so that a large standard is bound in the
time of a few look-ups; its bytes are read when that is asked for, or when a stamp differs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from spear.errors import StateError
from spear.state.files import replace_durably, state_error

_BLOCK = 1 << 20


class Stamp(BaseModel):
    """One file as it was checked. Times are nanoseconds since the epoch."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: int
    modified: int
    changed: int
    inode: int
    sha256: str

    @classmethod
    def of(cls, path: Path, sha256: str = "") -> Stamp:
        """The file as it is now, read through unless its digest is known. Raises OSError."""
        digest = sha256 or digest_of(path)
        found = path.lstat()
        return cls(
            size=found.st_size, modified=found.st_mtime_ns, changed=found.st_ctime_ns, inode=found.st_ino, sha256=digest
        )

    def fits(self, path: Path) -> bool:
        """Whether the file still looks so; its bytes are not read."""
        try:
            found = path.lstat()
        except OSError:
            return False
        seen = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        return seen == (self.size, self.modified, self.changed, self.inode)


class Verified(BaseModel):
    """All files of one revision as they were checked, by their paths below it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    checked_at: str
    files: Mapping[str, Stamp]

    def differing(self, root: Path, present: Iterable[str]) -> tuple[str, ...]:
        """Paths that do not look as they were, are gone, or are new."""
        seen = set(present)
        moved = [path for path, stamp in self.files.items() if not stamp.fits(root / path)]
        return tuple(sorted({*moved, *(seen - self.files.keys())}))

    def save(self, path: Path) -> None:
        """Write it, whole or not at all. Raises StateError."""
        replace_durably(path, (self.model_dump_json(indent=2) + "\n").encode())


def load_verified(path: Path) -> Verified | None:
    """What was last checked; None when nothing was, or what says so is unreadable: all is to be checked then."""
    try:
        return Verified.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def digest_of(path: Path) -> str:
    """SHA-256 of a regular file's bytes, read in blocks. Raises OSError; StateError for what is no file."""
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        while block := os.read(descriptor, _BLOCK):
            digest.update(block)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def digest_or_fail(path: Path) -> str:
    """`digest_of` with the sentence of the state directory. Raises StateError."""
    try:
        return digest_of(path)
    except OSError as error:
        raise state_error("read", path, error) from error


def refuse_changed(what: str, differing: tuple[str, ...], remedy: str) -> StateError:
    """The error of a standard whose files changed since they were checked."""
    named = ", ".join(differing[:3]) + (f" and {len(differing) - 3} more" if len(differing) > 3 else "")
    return StateError(f"the files of {what} changed since they were verified ({named}): it is not used", hint=remedy)
