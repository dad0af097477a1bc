"""Numbers of a Sphinx document: sections by the order of its files and their nesting, tables and figures by chapter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from docutils import nodes

from spear.standards.numbering import Nesting
from spear.standards.readers.rst_files import Files, entries_of
from spear.standards.readers.rst_stubs import toctree

_MOST_FILES = 2000


@dataclass(slots=True)
class Numbers:
    """The files of a document in the order in which they are read, and the numbers of what they hold."""

    files: Files
    trees: dict[Path, nodes.document] = field(default_factory=dict)
    sections: dict[int, str] = field(default_factory=dict)
    """Numbers of sections, by the identity of their nodes; none for those that are not numbered."""
    labels: dict[int, str] = field(default_factory=dict)
    """"Table 2.1", "Figure 3.2", "Listing 1.1" for nodes with captions."""
    shown: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What a reference shows: target → (by number, by title)."""
    _walked: set[Path] = field(default_factory=set)
    _nesting: Nesting = field(default_factory=Nesting)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def number(self, source: Path) -> None:
        """Reads all the files and numbers what is in them. A lone title over all the rest is the document's own."""
        self._load(source)
        self._walked.add(source)
        tree = self.trees[source]
        only = any(node["numbered"] for each in self.trees.values() for node in each.findall(toctree))
        tops = [child for child in tree.children if isinstance(child, nodes.section)]
        if only:
            self._walk(tree, 0, source, numbered=False, only=True)
        elif len(tops) == 1:
            self._name(tops[0], "", source)
            self._walk(tops[0], 0, source, numbered=True, only=False)
        else:
            self._walk(tree, 0, source, numbered=True, only=False)

    def inner(self, node: toctree, source: Path) -> Iterator[Path]:
        """The files that a toctree names, those that were read."""
        for entry in entries_of(node["entries"]):
            path = self.files.named(entry, source)
            if path in self.trees and path is not None:
                yield path

    def _load(self, source: Path) -> None:
        if source in self.trees or len(self.trees) >= _MOST_FILES:
            return
        tree = self.trees[source] = self.files.parse(source)
        for node in tree.findall(toctree):
            for entry in entries_of(node["entries"]):
                if (path := self.files.named(entry, source)) is not None:
                    self._load(path)

    def _walk(self, parent: nodes.Element, level: int, source: Path, *, numbered: bool, only: bool) -> None:
        """Numbers what stands in a section, in order; a file is read where the first toctree names it."""
        for child in parent.children:
            if isinstance(child, nodes.section):
                number = self._nesting.next(level + 1) if numbered else ""
                self._name(child, number, source)
                self._walk(child, level + (1 if numbered else 0), source, numbered=numbered, only=only)
            elif isinstance(child, toctree):
                for path in self.inner(child, source):
                    if path in self._walked:
                        continue
                    self._walked.add(path)
                    inner = numbered or bool(child["numbered"]) or not only
                    self._walk(self.trees[path], level, path, numbered=inner, only=only)
            elif isinstance(child, nodes.Element):
                self._captioned(child)
                self._walk(child, level, source, numbered=numbered, only=only)

    def _name(self, section: nodes.section, number: str, source: Path) -> None:
        if number:
            self.sections[id(section)] = number
        title = section.next_node(nodes.title)
        text = title.astext() if title is not None else ""
        for name in (*section["names"], *section["ids"]):
            self.shown.setdefault(name, (f"Section {number}" if number else text, text))
        self.shown.setdefault(source.stem.lower(), (f"Section {number}" if number else text, text))

    def _captioned(self, node: nodes.Element) -> None:
        kind, caption = caption_of(node)
        if not caption:
            return
        chapter = str(self._nesting.counters[0]) if self._nesting.counters else ""
        self._counts[kind, chapter] += 1
        count = self._counts[kind, chapter]
        label = self.labels[id(node)] = f"{kind} {chapter}.{count}" if chapter else f"{kind} {count}"
        for name in (*node["names"], *node["ids"]):
            self.shown.setdefault(name, (label, caption))


def caption_of(node: nodes.Element) -> tuple[str, str]:
    """What kind of thing a node with a caption is, and its caption; ("", "") for all others."""
    if isinstance(node, nodes.table):
        title = node.next_node(nodes.title)
        return ("Table", title.astext()) if title is not None and title.parent is node else ("", "")
    if isinstance(node, nodes.figure):
        caption = node.next_node(nodes.caption)
        return ("Figure", caption.astext()) if caption is not None else ("", "")
    if isinstance(node, nodes.literal_block):
        return ("Listing", str(node.get("caption", "")))
    return ("", "")
