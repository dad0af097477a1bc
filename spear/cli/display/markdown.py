"""Markdown for a terminal: one block at a time, filtered before, no markup interpretation, no trailing blanks."""

from __future__ import annotations

import io
import re
from typing import Any, ClassVar

from spear.cli.display.filtering import clean
from spear.cli.display.palette import Palette

_TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$")


class MarkdownRenderer:
    """Renders finished blocks. `rich` is imported by the first of them, behind the prompt (spec 9.1)."""

    def __init__(self, palette: Palette, light: bool = False) -> None:
        self._palette = palette
        self._theme = "ansi_light" if light else "ansi_dark"
        self._class: Any = None

    def render(self, text: str, width: int) -> str:
        """The block as painted lines of at most `width` cells; code keeps its own line length. "" for white space."""
        text = clean(text)
        if not text.strip():
            return ""
        if self._palette.plain:
            return text.strip("\n")
        console = self._console(width)
        console.print(self._markdown()(text, code_theme=self._theme, hyperlinks=False), crop=False)
        lines = [_TRAILING.sub(r"\1", line) for line in console.file.getvalue().split("\n")]
        return "\n".join(lines).strip("\n")

    def _console(self, width: int) -> Any:
        from rich.console import Console

        return Console(
            file=io.StringIO(), width=max(20, width), force_terminal=True, no_color=not self._palette.colour,
            color_system="standard", markup=False, highlight=False, emoji=False, legacy_windows=False, _environ={},
        )  # fmt: skip

    def _markdown(self) -> Any:
        if self._class is None:
            self._class = _markdown_class()
        return self._class


def _markdown_class() -> Any:
    """`rich.markdown.Markdown` with headings at the left and code as it would be copied."""
    from rich.markdown import CodeBlock, Heading, Markdown, TableElement
    from rich.syntax import Syntax
    from rich.table import Table
    from rich.text import Text

    class LeftHeading(Heading):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            self.text.justify = "left"
            self.text.stylize("bold")
            yield self.text

    class BareCode(CodeBlock):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            code = str(self.text).rstrip("\n")
            painted = Syntax("", self.lexer_name, theme=self.theme, background_color="default").highlight(code)
            painted.rstrip()
            whole = options.max_width >= console.width  # within a list or a quotation a long line must be folded
            for line in painted.split("\n", allow_blank=True):
                yield Text.assemble("  ", line, no_wrap=whole, overflow="ignore" if whole else "fold")

    class FoldedTable(TableElement):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            for part in super().__rich_console__(console, options):
                if isinstance(part, Table):
                    part.show_edge = False  # the blocks around it are a blank line away already
                    for column in part.columns:
                        column.overflow = "fold"
                yield part

    class TerminalMarkdown(Markdown):
        elements: ClassVar[dict[str, Any]] = {
            **Markdown.elements,
            "heading_open": LeftHeading,
            "fence": BareCode,
            "code_block": BareCode,
            "table_open": FoldedTable,
        }

    return TerminalMarkdown
