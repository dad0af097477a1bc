"""The editor of the chat: one buffer with history, completion, long pastes as units, and its newline rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.auto_suggest import DummyAutoSuggest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.history import History
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from spear.cli.repl.paste import PasteStore, normal

if TYPE_CHECKING:
    from spear.cli.repl.history import InputHistory


class EditorHistory(History):
    """prompt_toolkit's view of the workspace's history; long pastes are kept whole."""

    def __init__(self, stored: InputHistory, pastes: PasteStore) -> None:
        super().__init__()
        self._stored = stored
        self._pastes = pastes

    def load_history_strings(self) -> Iterable[str]:
        """Newest first, as prompt_toolkit wants it."""
        return reversed(self._stored.load())

    def store_string(self, string: str) -> None:
        """Remember one entry."""
        self._stored.add(normal(self._pastes.expand(string)))


class Placeholders(Processor):
    """Shows each placeholder of a long paste by its label."""

    def __init__(self, pastes: PasteStore) -> None:
        self._pastes = pastes

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """One line of the editor as it is shown."""
        fragments = transformation_input.fragments
        if not any(self._pastes.label(character) for character in fragment_list_to_text(fragments)):
            return Transformation(fragments)
        shown: StyleAndTextTuples = []
        starts: list[int] = []
        position = 0
        for style, character, *_ in explode_text_fragments(fragments):
            label = self._pastes.label(character)
            starts.append(position)
            shown.append(("class:placeholder", label) if label else (style, character))
            position += len(label or character)
        starts.append(position)

        def to_display(source: int) -> int:
            return starts[source] if source < len(starts) else position + source - len(starts) + 1

        def to_source(display: int) -> int:
            return max((index for index, start in enumerate(starts) if start <= display), default=0)

        return Transformation(shown, to_display, to_source)


class Entry:
    """The buffer, and what editing it means."""

    def __init__(self, submit: Callable[[str], None]) -> None:
        self.pastes = PasteStore()
        self.buffer = Buffer(
            name="entry",
            complete_while_typing=True,
            auto_suggest=DummyAutoSuggest(),
            multiline=True,
            tempfile_suffix=".md",
        )
        self._submit = submit

    def equip(self, history: InputHistory, completer: Completer) -> None:
        """Give the editor the workspace's history and completion; what is typed already stays."""
        self.buffer.completer = ThreadedCompleter(completer)
        self.buffer.history = EditorHistory(history, self.pastes)
        self.buffer.reset(self.buffer.document)

    @property
    def text(self) -> str:
        """What was entered, long pastes whole; typed bytes that are no text are replaced."""
        return normal(self.pastes.expand(self.buffer.text))

    def enter(self) -> None:
        """Submit; a line that ends in a backslash goes on instead."""
        buffer = self.buffer
        if buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
            return
        if self.text.strip():
            text = self.take()
            self._submit(text)

    def take(self) -> str:
        """The text, out of the editor and into the history."""
        text = self.text
        self.buffer.append_to_history()
        self.buffer.reset()
        return text

    def paste(self, text: str) -> None:
        """Insert a paste as one undoable unit."""
        self.buffer.save_to_undo_stack()
        self.buffer.insert_text(self.pastes.take(text))

    def give_back(self, text: str) -> None:
        """Put text into the editor, before what is there."""
        if text:
            rest = self.buffer.text
            whole = f"{text}\n{rest}" if rest else text
            self.buffer.set_document(Document(whole, len(text)), bypass_readonly=True)

    def edit(self) -> Any:
        """Open the operator's editor on the whole text."""
        whole = self.text
        self.buffer.set_document(Document(whole, len(whole)), bypass_readonly=True)
        return self.buffer.open_in_editor()
