"""Blocks: what every reader yields, whatever the format, in the order of the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class BlockKind(StrEnum):
    """What a block is by its shape and markup; what it means is not a reader's affair."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TERM = "term"
    TABLE = "table"
    CAPTION = "caption"
    CODE = "code"
    CONTENTS = "contents"
    FURNITURE = "furniture"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document.

    `level` is the depth of a heading (1 outermost) or of a list item (1 outermost); `number` is the clause number of a
    heading where the reader knows it better than the text does, or the marker of an item. `numbered` is False for a
    heading that takes no part in numbering by nesting. `appendix` starts lettered numbers. `informative` says that the
    markup itself calls it a note, an example or not normative (for a heading: with all that stands beneath it).
    """

    kind: BlockKind
    text: str
    lines: tuple[int, int]
    page: int | None = None
    level: int = 0
    number: str = ""
    numbered: bool = True
    appendix: bool = False
    informative: bool = False
    rows: tuple[tuple[str, ...], ...] = ()
    marks: tuple[tuple[str, int, int], ...] = ()
    """(identity, start, end) of the stretches of the text that the source gives an identity of their own."""
    caption: str = ""
    """The text of the caption of a table or figure, where it is known to be this one's."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of a file. `blocks` may be read once. `by_nesting` says that clause numbers come from the
    nesting of headings where none are printed. `errors` and `sources` (every file that was read, the document itself
    first) grow while the blocks are read.
    """

    title: str
    format: str
    blocks: Iterable[Block]
    pages: int | None = None
    by_nesting: bool = False
    errors: list[str] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
