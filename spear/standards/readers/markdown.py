"""Markdown by markdown-it-py, one top-level part at a time, each block with the lines it was written on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.standards.readers.blocks import Block, BlockKind, Document
from spear.standards.readers.source import Progress, lines_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TITLE = re.compile(r"#{1,6}(?:\s|$)")
_TARGET = re.compile(r" {0,3}\[[^\]\n]+\]:\s*\S")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ATTRIBUTES = re.compile(r"\s*\{[#:.][^}]*\}\s*$")
_MODULE = re.compile(r"(?:import|export)\s.*")
_PART = 4000
"""Lines after which a part ends at the next blank line, heading or none."""
_MOST_TARGETS = 20_000


def read(source: Path, progress: Progress | None = None) -> Document:
    """A Markdown document, its blocks read as they are asked for (spec 5.1)."""
    errors: list[str] = []
    return Document("", "markdown", _blocks(source, progress, errors), errors=errors)


def _blocks(source: Path, progress: Progress | None, errors: list[str]) -> Iterator[Block]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    env: dict[str, Any] = {}
    targets = [line for line in lines_of(source) if line.lstrip().startswith("[") and _TARGET.match(line)]
    parser.parse("\n".join(targets[:_MOST_TARGETS]), env)
    modules = source.suffix.lower() == ".mdx"
    for first, lines in _parts(lines_of(source, progress, errors)):
        if modules:
            lines = ["" if _MODULE.fullmatch(line) else line for line in lines]
        yield from _Part(parser, first).blocks("\n".join(lines), env)


def _parts(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """The document cut before its headings, never within a fence, each part with its first line's number."""
    part: list[str] = []
    first, fence = 1, ""
    for number, line in enumerate(_after_front_matter(lines), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif _TITLE.match(line) or (len(part) >= _PART and not line.strip()):
            if part:
                yield first, part
            part, first = [], number
        if len(part) >= 8 * _PART:  # a fence that never closes ends here, with the memory it takes
            yield first, part
            part, first, fence = [], number, ""
        part.append(line)
    if part:
        yield first, part


def _after_front_matter(lines: Iterator[str]) -> Iterator[str]:
    """The lines, those of a YAML block at the very beginning blanked."""
    inside = False
    for number, line in enumerate(lines, 1):
        if number == 1 and line.strip() == "---":
            inside = True
            yield ""
            continue
        if inside:
            inside = line.strip() not in {"---", "..."} and number < 200
            yield ""
            continue
        yield line


class _Part:
    """The blocks of one part's tokens."""

    def __init__(self, parser: MarkdownIt, first: int) -> None:
        self._parser, self._first = parser, first
        self._items: list[str] = []
        """The markers of the items that are open and have not got their text yet, "" once they have."""
        self._counts: list[int | None] = []
        self._row: list[str] | None = None
        self._rows: list[tuple[str, ...]] = []

    def blocks(self, text: str, env: dict[str, Any]) -> Iterator[Block]:
        tokens = self._parser.parse(text, env)
        for index, token in enumerate(tokens):
            block = self._block(token, tokens, index)
            if block is not None and (block.text or block.rows):
                yield block

    def _block(self, token: Token, tokens: list[Token], index: int) -> Block | None:
        match token.type:
            case "bullet_list_open":
                self._counts.append(None)
            case "ordered_list_open":
                self._counts.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._counts.pop()
            case "list_item_open":
                count = self._counts[-1]
                self._items.append("•" if count is None else f"{count}{token.markup}")
                self._counts[-1] = None if count is None else count + 1
            case "list_item_close":
                self._items.pop()
            case "inline":
                return self._inline(token, tokens[index - 1])
            case "fence" | "code_block":
                return Block(BlockKind.CODE, token.content.rstrip("\n"), self._span(token))
            case "html_block":
                return Block(BlockKind.PARAGRAPH, _untagged(token.content), self._span(token))
            case _:
                return self._table(token)
        return None

    def _inline(self, token: Token, opened: Token) -> Block | None:
        text = inline_text(token)
        if self._row is not None and opened.type in {"th_open", "td_open"}:
            self._row.append(text)
            return None
        if opened.type == "heading_open":
            return Block(BlockKind.HEADING, _ATTRIBUTES.sub("", text), self._span(token), level=int(opened.tag[1]))
        if self._items and self._items[-1]:
            marker, self._items[-1] = self._items[-1], ""
            return Block(BlockKind.ITEM, text, self._span(token), level=len(self._items), number=marker)
        return Block(BlockKind.PARAGRAPH, text, self._span(token), level=len(self._items))

    def _table(self, token: Token) -> Block | None:
        if token.type == "table_open":
            self._rows, self._table_span = [], self._span(token)
        elif token.type == "tr_open":
            self._row = []
        elif token.type == "tr_close" and self._row is not None:
            self._rows.append(tuple(self._row))
            self._row = None
        elif token.type == "table_close":
            return Block(BlockKind.TABLE, "", self._table_span, rows=tuple(self._rows))
        return None

    def _span(self, token: Token) -> tuple[int, int]:
        start, end = token.map or (0, 1)
        return (self._first + start, self._first + max(start, end - 1))


def _untagged(markup: str) -> str:
    """The text of a block of HTML, without tags and comments."""
    first, *comments = markup.split("<!--")
    kept = " ".join((first, *(comment.partition("-->")[2] for comment in comments)))
    return " ".join(_TAG.sub(" ", kept).split())


def inline_text(token: Token) -> str:
    """The text of an inline token without its markup."""
    parts: list[str] = []
    for child in token.children or ():
        if child.type in {"text", "code_inline", "text_special"}:
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"} or (
            child.type == "html_inline" and child.content.startswith("<br")
        ):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
    return " ".join("".join(parts).split())
