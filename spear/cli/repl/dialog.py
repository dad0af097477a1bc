"""A question to the operator as a small state machine: focus first, then Enter (spec 8.2).

Nothing is focused when a question appears, so a bare Enter does nothing; choosing takes two keys. Whoever paints the
question feeds it keys only once it has been on the screen long enough to be read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from spear.cli.display.palette import Palette, Style
from spear.cli.repl.ports import Answer, Option

GUARD_SECONDS = 0.25
"""How long a question about an effect is on the screen, and the keyboard at rest, before its keys count."""

WORD_SECONDS = 0.4
"""Letters that follow each other faster are somebody writing, not somebody choosing."""

DISMISSED = Answer("")


@dataclass(slots=True)
class Dialog:
    """One open question. `whole` is the full text behind it, for the pager; `guarded` questions wait for a still
    keyboard, questions the operator's own command raised do not."""

    question: str
    options: Sequence[Option]
    body: str = ""
    whole: str = ""
    guarded: bool = True
    focused: int | None = None
    entering: bool = field(default=False)
    _letter_at: float = field(default=float("-inf"))

    def press(self, key: str, now: float | None = None) -> Answer | None:
        """One key: a choice's letter, `left`, `right`, `enter`, `escape`. The answer once there is one.

        A letter that follows another one at writing speed focuses nothing: the last letter of a word written without
        looking must not become an answer. `now` is monotonic seconds.
        """
        match key:
            case "escape":
                return DISMISSED
            case "enter":
                return self._accept()
            case "right" | "left":
                self._move(1 if key == "right" else -1)
            case _:
                self._letter(key.lower(), time.monotonic() if now is None else now)
        return None

    def entered(self, text: str) -> Answer:
        """The answer of a choice that asked for text."""
        option = self.options[self.focused or 0]
        return Answer(option.value, text)

    @property
    def current(self) -> Option | None:
        """The focused choice."""
        return None if self.focused is None else self.options[self.focused]

    def rows(self, palette: Palette, width: int) -> str:
        """The question and its choices, painted; the focused one marked without colour as well."""
        pieces = []
        for index, option in enumerate(self.options):
            text = f"[{option.key}] {option.label}"
            pieces.append(palette.paint(Style.TITLE, f"❯ {text}") if index == self.focused else f"  {text}")
        one_row = "  ".join(pieces)
        room = sum(len(option.label) + 8 for option in self.options)
        choices = one_row if room <= width else "\n".join(pieces)
        hint = "Enter confirms, Esc dismisses" if self.focused is not None else "choose with a key, then Enter"
        return f"{palette.paint(Style.WARN, self.question)}\n{choices}\n{palette.paint(Style.MUTED, hint)}"

    def _accept(self) -> Answer | None:
        option = self.current
        if option is None:
            return None
        if option.entry:
            self.entering = True
            return None
        return Answer(option.value)

    def _letter(self, letter: str, now: float) -> None:
        writing = now - self._letter_at < WORD_SECONDS
        self._letter_at = now
        keys = [option.key for option in self.options]
        self.focused = keys.index(letter) if letter in keys and not writing else None

    def _move(self, step: int) -> None:
        if self.focused is None:
            self.focused = 0 if step > 0 else len(self.options) - 1
        else:
            self.focused = (self.focused + step) % len(self.options)
