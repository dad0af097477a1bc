"""What extracting a document comes to, where both ways are right."""

from __future__ import annotations

from pathlib import Path

from spear.errors import SpearError
from spear.standards.extraction import extract
from spear.standards.units import Extraction


def outcome(path: Path) -> Extraction | SpearError:
    """The extraction, or the error that refused the document."""
    try:
        return extract(path)
    except SpearError as error:
        return error
