"""Pastes that arrive without brackets, told from typing by their speed (spec 8.2).

Keys that are read at once came at once: an Enter with more text behind it in the same burst is a line end of a paste.
The burst becomes one paste; an Enter at its very end is the operator's (or what follows soon tells otherwise).
"""

from __future__ import annotations

import select
import time

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

_MORE_SECONDS = 0.01
_MORE_OF_A_PASTE_SECONDS = 0.06
_LARGEST_BURST = 64 << 20

_LINE_ENDS = {Keys.ControlM: "\n", Keys.ControlJ: "\n", Keys.ControlI: "\t"}


class BurstInput(Vt100Input):
    """The terminal's keys, bursts of several lines regrouped as pastes."""

    _pasted = float("-inf")

    def read_keys(self) -> list[KeyPress]:
        """The keys that are there. A burst that ends in Enter is read on for a moment: its rest may be under way."""
        keys = super().read_keys()
        while 1 < len(keys) < _LARGEST_BURST and not self.closed and self._waiting(self._patience(keys)):
            more = super().read_keys()
            if not more:
                break
            keys += more
        if any(key.key is Keys.ControlM for key in keys[:-1]):
            self._pasted = time.monotonic()
        return regroup(keys)

    def parsed(self, text: str) -> list[KeyPress]:
        """The keys that make this text, as if they had been read."""
        self.vt100_parser.feed(text)
        keys, self._buffer = self._buffer, []
        return keys

    def _patience(self, keys: list[KeyPress]) -> float:
        """How long an Enter at the end waits for more: longer within a paste, which slow lines deliver in pieces."""
        if keys[-1].key is not Keys.ControlM:
            return 0
        recent = time.monotonic() - self._pasted < _MORE_OF_A_PASTE_SECONDS
        inner = any(key.key is Keys.ControlM for key in keys[:-1])
        return _MORE_OF_A_PASTE_SECONDS if inner or recent else _MORE_SECONDS

    def _waiting(self, seconds: float) -> bool:
        return bool(select.select([self.fileno()], [], [], seconds)[0])


def regroup(keys: list[KeyPress]) -> list[KeyPress]:
    """Runs of text that hold an inner Enter as one paste each; everything else as it came."""
    out: list[KeyPress] = []
    run: list[KeyPress] = []
    for key in keys:
        if _text(key) is not None:
            run.append(key)
            continue
        out += _pasted(run)
        run = []
        out.append(key)
    return out + _pasted(run)


def _pasted(run: list[KeyPress]) -> list[KeyPress]:
    body = run[:-1] if run and run[-1].key is Keys.ControlM else run
    if not any(key.key is Keys.ControlM for key in body):
        return run
    text = "".join(_text(key) or "" for key in body)
    return [KeyPress(Keys.BracketedPaste, text), *run[len(body) :]]


def _text(key: KeyPress) -> str | None:
    """The text a key stands for within a paste; None for a key that is a command."""
    if isinstance(key.key, Keys):
        return _LINE_ENDS.get(key.key)
    return key.data if len(key.key) == 1 else None
