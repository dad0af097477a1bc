"""A small tree to index, and indexing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from spear.retrieval.indexing import IndexOptions, IndexReport, finish, index_tree
from spear.retrieval.search import Hit, Index
from spear.retrieval.walk import Tree
from spear.retrieval.words import Query

RING_C = """#include "ring.h"

/* Moves on by one slot and wraps at the end. */
int ring_next(int index, int size)
{
    index = index + 1;
    if (index >= size)
        index = 0;
    return index;
}

static int ring_capacity(void) { return 64; }
"""

PARSER_PY = '''"""Reads headers."""

import re


class HeaderParser:
    """Splits header lines."""

    def parseHttpHeader(self, line):
        """Cut a line at its colon."""
        return line.partition(":")

    def fold(self, lines):
        return " ".join(lines)


def is_token(text):
    return bool(re.fullmatch(r"[!-~]+", text))
'''

GUIDE_MD = """# Guide

Where to begin.

## Installing

Put the archive on the shelf and unpack it.

## Calibration

Turn the dial until the needle rests.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of three files."""
    root = tmp_path / "tree"
    for name, text in (("src/ring.c", RING_C), ("lib/parser.py", PARSER_PY), ("docs/guide.md", GUIDE_MD)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Where the index of the tree lies."""
    return tmp_path / "state" / "index" / "tree.sqlite3"


@pytest.fixture
def update(tree: Path, index: Path) -> Callable[..., IndexReport]:
    """Bring the index up to date; keywords are IndexOptions."""

    def run(**options: object) -> IndexReport:
        return finish(index_tree(Tree(tree), index, IndexOptions(**options)))  # type: ignore[arg-type]

    return run


@pytest.fixture
def find(index: Path) -> Callable[[str], list[Hit]]:
    """Search the index."""

    def run(text: str, limit: int = 10) -> list[Hit]:
        opened = Index.open(index)
        assert opened is not None
        with opened:
            return list(opened.search(Query.of(text), limit))

    return run
