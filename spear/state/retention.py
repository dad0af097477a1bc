"""What kept output costs, and removing it when asked (spec 1.5). Records of what happened are never touched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spear.state.directory import StateDirectory, safe_name
from spear.state.files import state_error


@dataclass(frozen=True, slots=True)
class Freeable:
    """Kept output of one session: `files` files of `bytes` bytes that nothing but reading back needs."""

    session: str
    files: int
    bytes: int


def freeable(directory: StateDirectory, sessions: Iterable[str]) -> list[Freeable]:
    """What the tool results of these sessions take, largest first."""
    found = []
    for session in sessions:
        sizes = [size for _, size in _files(directory.tool_results / safe_name(session))]
        if sizes:
            found.append(Freeable(session, len(sizes), sum(sizes)))
    return sorted(found, key=lambda item: (-item.bytes, item.session))


def remove(directory: StateDirectory, item: Freeable) -> int:
    """Remove the tool results of one session; returns the bytes freed. Raises StateError."""
    place = directory.tool_results / safe_name(item.session)
    freed = 0
    try:
        for path, size in _files(place):
            path.unlink(missing_ok=True)
            freed += size
        if place.is_dir():
            place.rmdir()
    except OSError as error:
        raise state_error("remove", place, error) from error
    return freed


def _files(place: Path) -> list[tuple[Path, int]]:
    try:
        return [(path, path.lstat().st_size) for path in place.iterdir() if not path.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
