"""Numbers that an HTML document gets when it is shown: of sections by nesting, of tables and figures by order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spear.standards.numbering import Nesting

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNNUMBERED = frozenset(("introductory", "head", "no-num", "nonum", "remove"))
_UNNUMBERED_IDS = frozenset(("abstract", "sotd", "toc", "gh-contributors"))
_INFORMATIVE = frozenset(("informative", "non-normative", "nonnormative"))


@dataclass(frozen=True, slots=True)
class Numbered:
    """What a heading is: its depth (1 outermost), its number ("" for none), and whether its section says that it is
    informative."""

    level: int
    number: str
    informative: bool


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one document. `made` is False where the document prints its own."""

    made: bool
    headings: Mapping[_Element, Numbered] = field(default_factory=dict)
    labels: Mapping[_Element, str] = field(default_factory=dict)
    """"Table 3" for a table's element, "Figure 2" for a figure's."""
    anchors: Mapping[str, str] = field(default_factory=dict)

    def target(self, anchor: str) -> str:
        """What an empty link to an anchor says when it is shown: "section 11.2.1", "Table 3"; "" where unknown."""
        return self.anchors.get(anchor, "")


def numbers_of(root: _Element, *, made: bool) -> Numbers:
    """The numbers of a tree's headings, tables and figures. Nothing is numbered where numbers are printed."""
    headings: dict[_Element, Numbered] = {}
    labels: dict[_Element, str] = {}
    anchors: dict[str, str] = {}
    nesting = Nesting()
    opening: dict[_Element, bool] = {}
    tables = figures = 0
    for element in root.iter(*_HEADINGS, "figure", "table"):
        tag = str(element.tag)
        if tag in _HEADINGS:
            sections = [above for above in element.iterancestors("section") if _opens(above, opening)]
            informative = any(_marks(section) & _INFORMATIVE for section in sections)
            if not made:
                headings[element] = Numbered(int(tag[1]), "", informative)
                continue
            level = max(1, len(sections))
            number = "" if _unnumbered(element, sections) else nesting.next(level, appendix=_appendix(sections))
            headings[element] = Numbered(level, number, informative)
            if number:
                owner = sections[0] if sections and sections[0].find(f".//{tag}") is element else element
                _anchor(anchors, element, f"section {number}")
                _anchor(anchors, owner, f"section {number}")
        elif made and tag == "figure" and element.find("figcaption") is not None and element.find(".//table") is None:
            figures += 1
            labels[element] = f"Figure {figures}"
            _anchor(anchors, element, labels[element])
        elif made and tag == "table" and element.find("caption") is not None:
            tables += 1
            labels[element] = f"Table {tables}"
            _anchor(anchors, element, labels[element])
    return Numbers(made, headings, labels, anchors)


def _opens(section: _Element, known: dict[_Element, bool]) -> bool:
    """Whether a section has a heading of its own, perhaps within a header."""
    if section not in known:
        known[section] = _has_heading(section)
    return known[section]


def _has_heading(section: _Element) -> bool:
    return any(section.find(f"{inner}{tag}") is not None for tag in _HEADINGS for inner in ("", "header/", "div/"))


def _unnumbered(heading: _Element, sections: list[_Element]) -> bool:
    if heading.tag == "h1" and not sections:
        return True
    if _marks(heading) & _UNNUMBERED:
        return True
    return any(_marks(above) & _UNNUMBERED or above.get("id") in _UNNUMBERED_IDS for above in sections)


def _appendix(sections: list[_Element]) -> bool:
    return any("appendix" in _marks(section) for section in sections)


def _anchor(anchors: dict[str, str], element: _Element, text: str) -> None:
    for name in (element.get("id"), *(inner.get("id") for inner in element.iterchildren("object", "img", "dfn", "a"))):
        if name:
            anchors.setdefault(name, text)


def _marks(element: _Element) -> set[str]:
    return set((element.get("class") or "").lower().split())
