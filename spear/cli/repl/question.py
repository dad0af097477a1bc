"""The pane of an open question: its choices, and the line of text some of them ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Container,
    Dimension,
    FormattedTextControl,
    HSplit,
    Window,
)

from spear.cli.display.filtering import clean
from spear.cli.display.palette import Palette
from spear.cli.repl.dialog import DISMISSED, Dialog
from spear.cli.repl.paste import normal
from spear.cli.repl.ports import Answer


@dataclass(eq=False, slots=True)
class Asked:
    """One question on its way: `done` is set once `answer` is there."""

    dialog: Dialog
    answer: Answer = DISMISSED
    painted: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class QuestionPane:
    """Shows at most one question. Keys reach it only while its control has the focus."""

    def __init__(
        self,
        palette: Palette,
        width: Callable[[], int],
        answered: Callable[[Asked, Answer], None],
        whole: Callable[[Asked], None],
    ) -> None:
        self.asked: Asked | None = None
        self.armed = False
        self.palette = palette
        self._width = width
        self._answered = answered
        self._whole = whole
        self.control = FormattedTextControl(self._rows, focusable=True, show_cursor=False, key_bindings=self._keys())
        self.buffer = Buffer(multiline=True)
        self.buffer_control = BufferControl(self.buffer, key_bindings=self._entry_keys())

    def container(self) -> Container:
        """The rows of the question."""
        entry = Window(
            self.buffer_control,
            height=Dimension(min=1, max=8),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=lambda line, wrapped: "» " if not line and not wrapped else "  ",
        )
        entering = Condition(lambda: self.asked is not None and self.asked.dialog.entering)
        rows = Window(self.control, dont_extend_height=True, wrap_lines=True)
        return ConditionalContainer(
            HSplit([rows, ConditionalContainer(entry, entering)]), Condition(lambda: self.asked is not None)
        )

    def open(self, asked: Asked) -> None:
        """Show a question; keys do not count yet unless it is unguarded."""
        self.asked, self.armed = asked, not asked.dialog.guarded

    def close(self) -> None:
        """No question any more."""
        self.asked, self.armed = None, False

    def _rows(self) -> ANSI:
        if self.asked is None:
            return ANSI("")
        dialog = self.asked.dialog
        if dialog.entering and dialog.current is not None:
            return ANSI(f"{clean(dialog.current.entry)} (Enter sends, Esc goes back)")
        return ANSI(dialog.rows(self.palette, self._width()))

    def _press(self, key: str) -> None:
        asked = self.asked
        if asked is None:
            return
        answer = asked.dialog.press(key)
        if answer is not None:
            self._answered(asked, answer)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        def press(key: str, *bound: str | Keys) -> None:
            for name in bound:
                keys.add(name, eager=True)(lambda _: self._press(key))

        press("escape", "escape", "c-c", Keys.SIGINT)
        press("right", "right", "down", "tab")
        press("left", "left", "up", "s-tab")

        @keys.add("enter", eager=True)
        def _enter(event: KeyPressEvent) -> None:
            self._press("enter")
            asked = self.asked
            if asked is not None and asked.dialog.entering and asked.dialog.current is not None:
                text = asked.dialog.current.prefill
                self.buffer.set_document(Document(text, len(text)), bypass_readonly=True)
                event.app.layout.focus(self.buffer_control)

        @keys.add("c-o", eager=True)
        def _whole(_: KeyPressEvent) -> None:
            if self.asked is not None and self.asked.dialog.whole:
                self._whole(self.asked)

        @keys.add(Keys.Any)
        def _other(event: KeyPressEvent) -> None:
            if len(event.data) == 1 and event.data.isprintable():
                self._press(event.data)

        return keys

    def _entry_keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter", eager=True)
        def _send(_: KeyPressEvent) -> None:
            if self.asked is not None:
                self._answered(self.asked, self.asked.dialog.entered(normal(self.buffer.text)))

        @keys.add("c-j", eager=True)
        def _newline(_: KeyPressEvent) -> None:
            self.buffer.insert_text("\n")

        @keys.add("escape", eager=True)
        @keys.add("c-c", eager=True)
        def _back(event: KeyPressEvent) -> None:
            if self.asked is not None:
                self.asked.dialog.entering = False
                event.app.layout.focus(self.control)

        return keys
