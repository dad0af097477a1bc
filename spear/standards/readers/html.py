"""HTML by lxml, with no network: published documents, and the sources of ReSpec whose numbers are made when shown."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from spear.errors import UsageError
from spear.standards.numbering import printed_number
from spear.standards.readers import plain
from spear.standards.readers.blocks import Document
from spear.standards.readers.html_blocks import HEADINGS, Walk, line_of, text_of
from spear.standards.readers.html_numbers import numbers_of
from spear.standards.readers.source import Progress, beneath

if TYPE_CHECKING:
    from lxml.etree import _Element

_RESPEC = re.compile(r"respec", re.I)
_LEAST_PREFORMATTED = 1000
"""Characters of a text that is taken for a document of its own."""
_MOST_INCLUDES = 200


def read(source: Path, progress: Progress | None = None) -> Document:
    """An HTML document (spec 5.1). UsageError for one that holds no elements."""
    errors: list[str] = []
    root = _parsed(source)
    if (lines := _preformatted(root)) is not None:
        return replace(plain.document_of(lines, lines, errors), format="html")
    sources = _include(root, source.parent, errors)
    total = sum(1 for _ in root.iter())
    titles = [" ".join(text_of(e).split()) for e in root.iter("title")]
    numbers = numbers_of(root, made=_numbers_are_made(root))
    walk = Walk(numbers, total, progress)
    return Document(titles[0] if titles else "", "html", walk.blocks(root), errors=errors, sources=sources)


def _parsed(source: Path) -> _Element:
    from lxml import etree, html

    data = source.read_bytes()
    try:
        data.decode("utf-8")
        encoding: str | None = "utf-8"
    except UnicodeDecodeError:
        encoding = None
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, encoding=encoding, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UsageError(
            f"{source} is no HTML that can be read: {error}", hint="save the page again, or as text"
        ) from error
    if root is None:
        raise UsageError(f"{source} has no elements in it", hint="save the page again, or as text")
    return root


def _preformatted(root: _Element) -> list[str] | None:
    """The lines of a plain text that was only wrapped into HTML, as old RFCs are, each at its line of the file."""
    texts = [(line_of(element), text_of(element)) for element in root.iter("pre")]
    inside = sum(len(text) for _, text in texts)
    if inside < _LEAST_PREFORMATTED or inside * 5 < 4 * len(text_of(root)):
        return None
    lines: list[str] = []
    for line, text in texts:
        lines.extend([""] * (line - 1 - len(lines)))
        lines.extend(text.split("\n"))
    return lines


def _include(root: _Element, directory: Path, errors: list[str]) -> list[Path]:
    """Puts what ReSpec includes from files beside the document in its place; the files that were read."""
    read: list[Path] = []
    for element in [found for found in root.iter("section", "div") if found.get("data-include")]:
        name = element.get("data-include") or ""
        path = beneath(directory, name, ("",))
        if path is None or path.suffix.lower() not in {".html", ".htm", ".xhtml"} or len(read) >= _MOST_INCLUDES:
            errors.append(f"what is included from {name} was not read: no HTML file beneath the document's directory")
            continue
        read.append(path)
        element.extend(list(_parsed(path)))
    return read


def _numbers_are_made(root: _Element) -> bool:
    """Whether the numbers of this document are made when it is shown: none are printed, and its sections nest."""
    headings = [" ".join(text_of(e).split()) for e in root.iter(*HEADINGS)]
    printed = sum(printed_number(text) is not None for text in headings)
    if printed * 5 >= 2 * len(headings) or any("secno" in (e.get("class") or "") for e in root.iter("span", "bdi")):
        return False
    scripts = any(_RESPEC.search(f"{e.get('src') or ''} {(e.text or '')[:2000]}") for e in root.iter("script"))
    nested = any(True for _ in root.iterfind(".//section//section"))
    return scripts or nested
