"""reStructuredText by docutils, Sphinx documents among them: toctrees and includes beneath the directory are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.standards.readers.blocks import Block, BlockKind, Document
from spear.standards.readers.source import Progress, line_count

if TYPE_CHECKING:
    from docutils import nodes

    from spear.standards.readers.rst_numbers import Numbers

_INFORMATIVE = frozenset(
    ["note", "tip", "hint", "seealso", "topic", "sidebar", "footnote", "citation", "example", "admonition-example"]
)
_PASSED = frozenset(
    [
        "comment",
        "system_message",
        "target",
        "substitution_definition",
        "pending",
        "raw",
        "image",
        "problematic",
        "title",
        "subtitle",
        "caption",
        "legend",
        "decoration",
        "meta",
        "docinfo",
    ]
)


def read(source: Path, progress: Progress | None = None) -> Document:
    """A reStructuredText document (spec 5.1)."""
    from spear.standards.readers.rst_files import Files
    from spear.standards.readers.rst_numbers import Numbers

    errors: list[str] = []
    source = source.resolve()
    numbers = Numbers(Files(source, errors))
    numbers.number(source)
    walk = _Walk(numbers, progress, sum(line_count(path) for path in numbers.trees))
    blocks = walk.blocks(source)
    return Document("", "rst", blocks, by_nesting=True, errors=errors, sources=numbers.files.read)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a block stands in: a list's item with its marker, a note."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    marker: str = ""
    informative: bool = False


@dataclass(slots=True)
class _Walk:
    numbers: Numbers
    progress: Progress | None
    total: int
    done: int = 0
    fresh: bool = False
    line: int = 1
    read: set[Path] = field(default_factory=set)

    def blocks(self, source: Path) -> Iterator[Block]:
        """The blocks of a file and of those that its toctrees name."""
        if source in self.read:
            return
        self.read.add(source)
        yield from self._children(self.numbers.trees[source], source, 0, _Place())
        if self.progress:
            self.done += line_count(source)
            self.progress(min(self.done, self.total), self.total)

    def _children(self, parent: nodes.Element, source: Path, depth: int, place: _Place) -> Iterator[Block]:
        for child in parent.children:
            yield from self._node(child, source, depth, place)

    def _node(self, node: Any, source: Path, depth: int, place: _Place) -> Iterator[Block]:
        name = type(node).__name__
        if name in _PASSED:
            return
        self.line = node.line or self.line
        if name == "section":
            yield from self._section(node, source, depth)
        elif name == "toctree":
            for path in self.numbers.inner(node, source):
                yield from self.blocks(path)
        elif name in {"paragraph", "line_block", "attribution", "rubric", "option_list"}:
            yield from self._paragraph(self._text(node), node, place)
        elif name in {"bullet_list", "enumerated_list"}:
            yield from self._list(node, source, depth, place)
        elif name == "definition_list":
            yield from self._definitions(node, source, depth, place)
        elif name == "field":
            text = ": ".join(" ".join(self._text(part).split()) for part in node.children)
            yield from self._paragraph(text, node, place)
        elif (drawn := self._drawn(name, node, place)) is not None:
            yield from drawn
        elif name == "block_quote":
            yield from self._children(node, source, depth, replace(place, level=place.level + 1))
        elif name != "Text":
            informative = place.informative or name in _INFORMATIVE or bool(_INFORMATIVE & set(node.get("classes", ())))
            yield from self._children(node, source, depth, replace(place, informative=informative))

    def _drawn(self, name: str, node: Any, place: _Place) -> Iterator[Block] | None:
        """The blocks of what is kept line by line, or cell by cell; None for what is written."""
        match name:
            case "literal_block" | "doctest_block" | "math_block":
                return self._literal(node, place)
            case "table":
                return self._table(node, place)
            case "figure":
                return self._caption(node)
            case _:
                return None

    def _section(self, node: nodes.section, source: Path, depth: int) -> Iterator[Block]:
        title = node.children[0]
        number = self.numbers.sections.get(id(node), "")
        span = self._span(title)
        level = number.count(".") + 1 if number else depth
        text = " ".join(self._text(title).split())
        yield Block(BlockKind.HEADING, text, span, level=level, number=number, numbered=bool(number))
        yield from self._children(node, source, depth + 1, _Place())

    def _paragraph(self, text: str, node: Any, place: _Place) -> Iterator[Block]:
        words = " ".join(text.split())
        if not words:
            return
        kind = place.kind if self.fresh or place.kind is not BlockKind.ITEM else BlockKind.PARAGRAPH
        marker = place.marker if kind is BlockKind.ITEM else ""
        self.fresh = False
        yield Block(kind, words, self._span(node), level=place.level, number=marker, informative=place.informative)

    def _list(self, node: Any, source: Path, depth: int, place: _Place) -> Iterator[Block]:
        count = int(node.get("start", 1))
        for item in node.children:
            ordered = type(node).__name__ == "enumerated_list"
            marker = f"{node.get('prefix', '')}{_ordinal(count, node)}{node.get('suffix', '.')}" if ordered else "•"
            count += 1
            self.fresh = True
            inner = replace(place, kind=BlockKind.ITEM, level=place.level + 1, marker=marker)
            yield from self._children(item, source, depth, inner)

    def _definitions(self, node: Any, source: Path, depth: int, place: _Place) -> Iterator[Block]:
        for item in node.children:
            term = ", ".join(self._text(part).strip() for part in item.children if type(part).__name__ == "term")
            body = [part for part in item.children if type(part).__name__ == "definition"]
            inner = replace(place, kind=BlockKind.PARAGRAPH, level=place.level + 1)
            first = True
            for block in (block for part in body for block in self._children(part, source, depth, inner)):
                if first and block.kind is BlockKind.PARAGRAPH:
                    block = replace(block, kind=BlockKind.TERM, text=f"{term}\n{block.text}")
                elif first:
                    yield Block(BlockKind.PARAGRAPH, term, block.lines, level=place.level)
                first = False
                yield block

    def _literal(self, node: Any, place: _Place) -> Iterator[Block]:
        yield from self._caption(node)
        caption = self._captioned(node)
        yield Block(BlockKind.CODE, node.astext(), self._span(node), caption=caption, informative=place.informative)

    def _table(self, node: Any, place: _Place) -> Iterator[Block]:
        from docutils import nodes as kinds

        yield from self._caption(node)
        rows: list[tuple[str, ...]] = []
        hanging: dict[int, tuple[int, str]] = {}
        for row in node.findall(kinds.row):
            cells: list[str] = []
            for entry in row.children:
                _hang(cells, hanging)
                text = " ".join(self._text(entry).split())
                for _ in range(int(entry.get("morecols", 0)) + 1):
                    if int(entry.get("morerows", 0)):
                        hanging[len(cells)] = (int(entry["morerows"]), text)
                    cells.append(text)
            _hang(cells, hanging)
            rows.append(tuple(cells))
        caption = self._captioned(node)
        span = self._span(node)
        if rows:
            yield Block(BlockKind.TABLE, "", span, rows=tuple(rows), caption=caption, informative=place.informative)

    def _caption(self, node: Any) -> Iterator[Block]:
        if text := self._captioned(node):
            yield Block(BlockKind.CAPTION, text, self._span(node))

    def _captioned(self, node: Any) -> str:
        from spear.standards.readers.rst_numbers import caption_of

        caption = " ".join(caption_of(node)[1].split())
        label = self.numbers.labels.get(id(node), "")
        return f"{label}: {caption}" if label else caption

    def _text(self, node: Any) -> str:
        """The text of a node, its references as they are shown."""
        name = type(node).__name__
        if name == "Text":
            return str(node.astext())
        if name in {"comment", "system_message", "raw"}:
            return ""
        if name == "problematic":  # markup that points at nothing: "[CHRP]_"
            return str(node.astext()).strip("`_")
        if name == "crossref":
            by_number, by_title = self.numbers.shown.get(node["target"], ("", ""))
            if node["titled"] and by_number and "%s" in node.astext():
                return str(node.astext()).replace("%s", by_number.split()[-1])
            if node["titled"] or not by_number:
                return str(node.astext())
            return by_number if node["role"] == "numref" else by_title
        if name in {"citation_reference", "footnote_reference"}:
            return f"[{node.astext()}]"
        inner = "".join(self._text(child) for child in node.children)
        if name == "superscript":
            return f"^{inner}"
        return f"{inner} " if name in {"paragraph", "line", "list_item", "entry", "literal_block", "term"} else inner

    def _span(self, node: Any) -> tuple[int, int]:
        first = node.line or self.line
        return (first, first + str(getattr(node, "rawsource", "") or node.astext()).strip().count("\n"))


def _hang(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """The cells from rows above that reach down to the next places of this one."""
    while (column := len(cells)) in hanging:
        below, text = hanging.pop(column)
        cells.append(text)
        if below > 1:
            hanging[column] = (below - 1, text)
            return


def _ordinal(count: int, node: Any) -> str:
    if str(node.get("enumtype", "")).endswith("alpha") and 0 < count <= 26:
        letter = chr(96 + count)
        return letter.upper() if node["enumtype"] == "upperalpha" else letter
    return str(count)
