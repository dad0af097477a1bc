"""Text shown while it streams, over the retries of one call: nothing is shown twice.

A retry after a dropped stream starts the answer again. While it repeats what is on the screen already nothing is
emitted; once it goes beyond, only the continuation is. When it says something else, one line says so and the new
answer is shown from its beginning. What was streamed is for the eye: the answer is `ModelTurn.text`.
"""

from __future__ import annotations

from collections.abc import Callable

from spear.events.stream import RESTARTED


class ShownText:
    """Filters what one call's attempts stream to `on_text` (None: nothing is shown)."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._shown = ""
        self._current: str | None = None

    def begin(self) -> None:
        """A new attempt begins."""
        self._current = "" if self._shown else None

    def feed(self, text: str) -> None:
        """The next piece of visible text of the current attempt."""
        if self._on_text is None or not text:
            return
        if self._current is None:
            self._emit(text)
            return
        self._current += text
        if self._current.startswith(self._shown):
            extra, self._current = self._current[len(self._shown) :], None
            if extra:
                self._emit(extra)
        elif not self._shown.startswith(self._current):
            restarted, self._current, self._shown = self._current, None, ""
            self._send(RESTARTED)
            self._emit(restarted)

    def _emit(self, text: str) -> None:
        self._shown += text
        self._send(text)

    def _send(self, text: str) -> None:
        if self._on_text is not None:
            self._on_text(text)
