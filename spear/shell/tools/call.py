"""The values every family of tools reads and gives: a command line in, what it would write out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from spear.shell.syntax import Word


class WriteKind(StrEnum):
    """What happens to a destination. EDIT and FORMAT change only the files in which there is something to change."""

    WRITE = "write"
    CREATE = "create"
    DELETE = "delete"
    TRUNCATE = "truncate"
    LINK = "link"
    MODE = "mode"
    MKDIR = "mkdir"
    EDIT = "edit"
    FORMAT = "format"
    BUILD = "build"


@dataclass(frozen=True, slots=True)
class Write:
    """One destination of a command line.

    `into` are names written below `target` when it turns out to be a directory. `tree` says that anything below may be
    written. `directory` says that `target` must be a directory, whether it exists or not.
    """

    target: Word
    kind: WriteKind = WriteKind.WRITE
    into: tuple[str, ...] = ()
    tree: bool = False
    directory: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A command line: the program's base name, the words after it, and the text of a here-document it is given."""

    name: str
    words: tuple[Word, ...]
    heredoc: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command line does. `opaque` says that more may happen than is listed: the program runs code."""

    writes: tuple[Write, ...] = ()
    opaque: bool = False


Tool = Callable[[Call], Reading]
Table = Mapping[str, Tool]

NOTHING = Reading()
OPAQUE = Reading(opaque=True)
HERE = Word(".", ".")
UNKNOWN = Word(None, "")


@dataclass(slots=True)
class Writes:
    """Collects the destinations of one call."""

    found: list[Write] = field(default_factory=list)

    def add(self, words: Iterable[Word], kind: WriteKind = WriteKind.WRITE, *, tree: bool = False) -> Writes:
        """Each word is a destination."""
        self.found.extend(Write(word, kind, tree=tree) for word in words)
        return self

    def reading(self, *, opaque: bool = False) -> Reading:
        """What has been collected."""
        return Reading(tuple(self.found), opaque)


def literal(text: str, raw: str = "") -> Word:
    """A word whose value is known."""
    return Word(text, raw or text)


def joined(directory: Word, name: str) -> Word:
    """A name inside a directory."""
    if directory.value is None:
        return UNKNOWN
    return Word(f"{directory.value.rstrip('/') or '/'}/{name}", directory.raw, directory.glob)


def base_names(words: Sequence[Word]) -> tuple[str, ...]:
    """The last components of paths, empty when one cannot be known."""
    names = []
    for word in words:
        if word.value is None or word.glob:
            return ()
        names.append(word.value.rstrip("/").rsplit("/", 1)[-1])
    return tuple(name for name in names if name not in ("", ".", ".."))


def pattern(prefix: Word, suffix: str = "*") -> Word:
    """Every name that begins like `prefix`."""
    return UNKNOWN if prefix.value is None else Word(prefix.value + suffix, prefix.raw, glob=True)


def names(text: str) -> frozenset[str]:
    """A set of names written as one text."""
    return frozenset(text.split())
