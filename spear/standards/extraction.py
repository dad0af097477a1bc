"""Extraction: a document of any known format as units (spec 5.1). Nothing here is about one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spear.errors import UsageError
from spear.standards.continuations import captioned, rejoined
from spear.standards.headings import headings_of
from spear.standards.labels import labels_of
from spear.standards.modality import Reading, reading_of
from spear.standards.profile import Profile
from spear.standards.readers.blocks import Block, BlockKind, Document
from spear.standards.readers.source import Progress, format_of
from spear.standards.segmentation import Segmenter
from spear.standards.units import Extraction

EXTRACTOR_VERSION = "2"
"""Changes with whatever changes the units of the same bytes."""


def extract(source: Path, profile: Profile | None = None, progress: Progress | None = None) -> Extraction:
    """The units of a document, in order; the same bytes give the same units.

    `progress` hears of (done, total) in pages or lines; what it raises passes through. UsageError, with a remedy, for
    what cannot be read as a document at all; whether what came out is of use is `usability.problems`' affair.
    """
    profile = profile or Profile()
    try:
        document = _read(source, format_of(source), progress)
        blocks = list(captioned(list(rejoined(document.blocks))))
    except RecursionError as error:
        raise UsageError(f"{source} is nested too deeply to be read", hint="flatten its lists or its markup") from error
    headings = headings_of(blocks, title=document.title, by_nesting=document.by_nesting, profile=profile)
    spoken = (b.text for b in blocks if b.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.TERM})
    capitals = profile.capitals
    reading = reading_of(spoken) if capitals is None else Reading(capitals=capitals)
    labels = labels_of(_beginnings(blocks), profile.roles)
    blocks.reverse()
    units = tuple(Segmenter(headings, labels, reading).units(_released(blocks)))
    return Extraction(
        headings.title, document.format, units, document.pages, tuple(document.errors), _sources(source, document)
    )


def _sources(source: Path, document: Document) -> tuple[Path, ...]:
    """The files that were read, the document itself first and by the name it was given."""
    own = source.resolve()
    return (source, *(path for path in dict.fromkeys(document.sources) if path.resolve() != own))


def _released(blocks: list[Block]) -> Iterator[Block]:
    """Blocks from the end of a list, each let go as it is taken."""
    while blocks:
        yield blocks.pop()


def _beginnings(blocks: list[Block]) -> Iterator[str]:
    """What labels stand at the beginning of: paragraphs, items and rows of tables."""
    for block in blocks:
        if block.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.TERM}:
            yield block.text[:120]
        elif block.kind is BlockKind.TABLE:
            yield from (f"{row[0]}: " for row in block.rows[1:] if row)


def _read(source: Path, found: str, progress: Progress | None) -> Document:
    match found:
        case "markdown":
            from spear.standards.readers import markdown

            return markdown.read(source, progress)
        case "text":
            from spear.standards.readers import plain

            return plain.read(source, progress)
        case "html":
            from spear.standards.readers import html

            return html.read(source, progress)
        case "rst":
            from spear.standards.readers import rst

            return rst.read(source, progress)
        case "asciidoc":
            from spear.standards.readers import asciidoc

            return asciidoc.read(source, progress)
        case _:
            from spear.standards.readers import pdf

            return pdf.read(source, progress)
