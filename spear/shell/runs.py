"""Runs: the stretches of one word, each with what the shell may still do to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What the shell may still do to a run of text."""

    LITERAL = "unquoted source text: braces and globs"
    QUOTED = "nothing"
    EXPANDED = "an unquoted expansion: splitting and globs"
    PATTERN = "names a glob stands for, already found by the shell"
    UNKNOWN = "a value that cannot be known"


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a word."""

    text: str
    kind: Kind
