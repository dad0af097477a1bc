"""What this conversation has read: digests for stale checks, and which call still shows which window."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from threading import Lock


def digest(content: bytes) -> str:
    """SHA-256 of contents, lowercase hex."""
    return hashlib.sha256(content).hexdigest()


class Reads:
    """Memory of one conversation. `visible(call_id)` says whether that call's full result is still in it."""

    def __init__(self, visible: Callable[[str], bool]) -> None:
        self._visible = visible
        self._lock = Lock()
        self._complete: dict[Path, str] = {}
        self._shown: dict[tuple[Path, int, int], tuple[str, str]] = {}

    def complete(self, path: Path, sha256: str) -> None:
        """The whole file has been read, or written by us, with this digest."""
        with self._lock:
            self._complete[path] = sha256

    def known(self, path: Path) -> str | None:
        """The digest the model knows the whole file by, None when it never saw all of it."""
        with self._lock:
            return self._complete.get(path)

    def forget(self, path: Path) -> None:
        """The file is gone."""
        with self._lock:
            self._complete.pop(path, None)

    def still_shown(self, window: tuple[Path, int, int], text: str, call_id: str) -> str | None:
        """The earlier call whose result says exactly this and is still in the conversation. Otherwise None, and this
        call is remembered as the one that shows it."""
        content = digest(text.encode("utf-8", "surrogatepass"))
        with self._lock:
            earlier = self._shown.get(window)
            if earlier is not None and earlier[1] == content and earlier[0] != call_id and self._visible(earlier[0]):
                return earlier[0]
            self._shown[window] = (call_id, content)
            return None
