"""The keys of the live chat, bound to what they do. `keys.KEYS` says the same for a person.

What `[keys]` may rebind is bound by the name of its action; Enter, Ctrl+C and Ctrl+Z stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prompt_toolkit.application.current import get_app
from prompt_toolkit.filters import Always, Condition, Filter, has_completions, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from spear.cli.keystrokes import DEFAULTS, sequence
from spear.cli.repl.chat import Chat

Bound = Mapping[str, tuple[str, ...]]
"""The keys of each action."""


def bindings(chat: Chat, bound: Bound = DEFAULTS) -> KeyBindings:
    """Bindings that hold while the editor has the focus."""
    keys = KeyBindings()
    editing = Condition(lambda: get_app().layout.has_focus("entry"))

    @keys.add("enter", filter=editing, eager=True)
    def _enter(_: KeyPressEvent) -> None:
        chat.entry.enter()

    @keys.add(Keys.BracketedPaste, filter=editing)
    def _paste(event: KeyPressEvent) -> None:
        chat.entry.paste(event.data)

    @keys.add("c-c", filter=editing)
    @keys.add(Keys.SIGINT)
    def _interrupt(_: KeyPressEvent) -> None:
        chat.interrupt()

    @keys.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("escape", filter=editing & has_completions & ~_running(chat) & ~vi_insert_mode)
    def _no_completion(_: KeyPressEvent) -> None:
        chat.entry.buffer.cancel_completion()

    for action, (what, holds) in _actions(chat).items():
        for text in bound[action]:
            _bind(keys, sequence(text), editing & holds(sequence(text)), what)
    return keys


def _bind(keys: KeyBindings, names: tuple[str, ...], when: Filter, what: Callable[[], object]) -> None:
    def press(_: KeyPressEvent) -> None:
        what()

    keys.add(*names, filter=when)(press)


def _actions(chat: Chat) -> dict[str, tuple[Callable[[], object], Callable[[tuple[str, ...]], Filter]]]:
    """What can be bound: what it does, and when, for the keys it has. A lone Esc is the editor's in vi's insert mode;
    Tab with Shift moves among completions; Ctrl+D deletes where there is something to delete."""
    empty = Condition(lambda: not chat.entry.buffer.text)
    running = _running(chat)

    def always(_: tuple[str, ...]) -> Filter:
        return Always()

    def unless_vi(names: tuple[str, ...]) -> Filter:
        return running & ~vi_insert_mode if names == ("escape",) else running

    return {
        "newline": (lambda: chat.entry.buffer.newline(copy_margin=False), always),
        "stop": (chat.escape, unless_vi),
        "rewind": (chat.rewind, lambda _: empty & ~running),
        "exit": (chat.end_of_input, lambda _: empty),
        "steer": (chat.steer, always),
        "mode": (chat.cycle_mode, lambda names: ~has_completions if names == ("s-tab",) else Always()),
        "expand": (chat.expand, always),
        "editor": (lambda: chat.entry.edit(), always),
    }


def _running(chat: Chat) -> Filter:
    return Condition(lambda: chat.busy)
