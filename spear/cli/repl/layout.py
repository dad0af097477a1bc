"""Where the rows of the live chat stand: what streams, a question, the editor, completions, the status row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    VerticalAlign,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from spear.cli.repl.entry import Placeholders
from spear.cli.repl.paste import PasteStore
from spear.cli.repl.question import QuestionPane

STYLE = Style.from_dict(
    {
        "status": "ansibrightblack",
        "placeholder": "ansicyan",
        "prompt": "bold",
        "completion-menu": "bg:default",
        "completion-menu.completion": "bg:default fg:default",
        "completion-menu.completion.current": "bg:default bold reverse",
        "completion-menu.meta.completion": "bg:default ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default ansibrightblack",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:default",
    }
)

_ENTRY_ROWS = 12
_MENU_ROWS = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """What the layout shows."""

    buffer: Buffer
    pastes: PasteStore
    live: Callable[[], str]
    status: Callable[[], str]
    pane: QuestionPane


def build_layout(rows: Rows) -> Layout:
    """The layout, the editor in focus."""
    search = SearchToolbar(ignore_case=True)
    control = BufferControl(
        rows.buffer,
        input_processors=[Placeholders(rows.pastes)],
        search_buffer_control=search.control,
        preview_search=True,
    )
    live = Window(FormattedTextControl(lambda: ANSI(rows.live().expandtabs(4))), dont_extend_height=True)
    editor = Window(
        control,
        height=Dimension(min=1, max=_ENTRY_ROWS),
        dont_extend_height=True,
        wrap_lines=True,
        get_line_prefix=_prefix,
    )
    status = Window(FormattedTextControl(lambda: [("class:status", rows.status())]), height=1, dont_extend_height=True)
    return Layout(
        HSplit(
            [
                ConditionalContainer(live, Condition(lambda: bool(rows.live()))),
                rows.pane.container(),
                Window(height=1, dont_extend_height=True),
                editor,
                search,
                ConditionalContainer(CompletionsMenu(max_height=_MENU_ROWS, scroll_offset=1), has_completions),
                status,
            ],
            align=VerticalAlign.TOP,
        ),
        focused_element=control,
    )


def _prefix(line: int, wrapped: int) -> AnyFormattedText:
    return [("class:prompt", "> " if not line and not wrapped else "  ")]
