"""The keys of the live chat, bound to what they do. `keys.KEYS` says the same for a person."""

from __future__ import annotations

from prompt_toolkit.application.current import get_app
from prompt_toolkit.filters import Condition, Filter, has_completions, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from spear.cli.repl.chat import Chat


def bindings(chat: Chat) -> KeyBindings:
    """Bindings that hold while the editor has the focus. Ctrl+Z stays job control's."""
    keys = KeyBindings()
    editing = Condition(lambda: get_app().layout.has_focus("entry"))

    @keys.add("enter", filter=editing, eager=True)
    def _enter(_: KeyPressEvent) -> None:
        chat.entry.enter()

    @keys.add("c-j", filter=editing)
    @keys.add("escape", "enter", filter=editing)
    def _newline(_: KeyPressEvent) -> None:
        chat.entry.buffer.newline(copy_margin=False)

    @keys.add(Keys.BracketedPaste, filter=editing)
    def _paste(event: KeyPressEvent) -> None:
        chat.entry.paste(event.data)

    @keys.add("c-c", filter=editing)
    @keys.add(Keys.SIGINT)
    def _interrupt(_: KeyPressEvent) -> None:
        chat.interrupt()

    _bind_escape(keys, chat, editing)
    _bind_actions(keys, chat, editing)
    return keys


def _bind_escape(keys: KeyBindings, chat: Chat, editing: Filter) -> None:
    """Esc: what runs, a completion, the list of turns; never in vi's insert mode, where it is the editor's."""
    empty = Condition(lambda: not chat.entry.buffer.text)
    running = Condition(lambda: chat.busy)

    @keys.add("escape", filter=editing & running & ~vi_insert_mode)
    def _escape(_: KeyPressEvent) -> None:
        chat.escape()

    @keys.add("escape", filter=editing & has_completions & ~running & ~vi_insert_mode)
    def _no_completion(_: KeyPressEvent) -> None:
        chat.entry.buffer.cancel_completion()

    @keys.add("escape", "escape", filter=editing & empty & ~running)
    def _rewind(_: KeyPressEvent) -> None:
        chat.rewind()


def _bind_actions(keys: KeyBindings, chat: Chat, editing: Filter) -> None:
    """Everything else a key can do."""
    empty = Condition(lambda: not chat.entry.buffer.text)

    @keys.add("c-d", filter=editing & empty)
    def _end(_: KeyPressEvent) -> None:
        chat.end_of_input()

    @keys.add("c-s", filter=editing)
    def _steer(_: KeyPressEvent) -> None:
        chat.steer()

    @keys.add("s-tab", filter=editing & ~has_completions)
    def _mode(_: KeyPressEvent) -> None:
        chat.cycle_mode()

    @keys.add("c-o", filter=editing)
    def _expand(_: KeyPressEvent) -> None:
        chat.expand()

    @keys.add("c-x", "c-e", filter=editing)
    def _editor(_: KeyPressEvent) -> None:
        chat.entry.edit()

    @keys.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()
