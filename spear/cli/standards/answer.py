"""What a command on standards is given and gives back, whichever front end it was asked from."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spear.errors import UsageError
from spear.standards.standard_name import StandardName

if TYPE_CHECKING:
    from spear.standards.binding import Bindings
    from spear.standards.manifest import Manifest
    from spear.standards.store import StandardStore, StoredStandard


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said, not filtered yet; `rows` are further lines that come one by one. `status` is that of spec 1.3;
    `bound` says that another standard is bound now, or none."""

    text: str
    status: int = 0
    rows: Iterable[str] = ()
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Front:
    """What a command may do with whoever asked: where relative paths begin, how progress is shown (it may raise to
    stop), how a question is put. `chat` says that the commands around it begin with a slash."""

    here: Path
    progress: Callable[[str, int, int], None]
    confirm: Callable[[str], bool]
    chat: bool = False

    @property
    def command(self) -> str:
        """How a command on standards begins here."""
        return "/standard" if self.chat else "spear-chat standard"


@dataclass(frozen=True, slots=True)
class Desk:
    """The stores a command works on, what was asked, and who asked."""

    store: StandardStore
    bindings: Bindings
    asked: argparse.Namespace
    front: Front

    def named(self) -> StandardName:
        """The standard that is named, else the bound one. Raises UsageError, StateError."""
        id_, revision = self.asked.id, self.asked.revision
        if id_ is None:
            return self.bound_name()
        if revision is None:
            known = ", ".join(each.revision for each in self.store.names() if each.id == id_) or "none is ingested"
            raise UsageError(f"which revision of {id_}?", hint=f"known: {known}")
        return StandardName.of(id_, revision)

    def bound_name(self) -> StandardName:
        """The bound standard. Raises UsageError where there is none, StateError."""
        bound = self.bindings.present()
        if bound is None:
            raise UsageError(
                "no standard is bound", hint=f"name one (ID REV), or bind one: {self.front.command} use ID REV"
            )
        return bound.name

    def pointed(self) -> tuple[StoredStandard, str]:
        """The trusted standard that words begin with, else the bound one, and the rest of the words. Raises UsageError,
        StateError."""
        words = list(self.asked.words)
        if len(words) > 2 and (name := _stored(self.store, words[0], words[1])):
            return self.store.trusted(name), " ".join(words[2:])
        bound = self.bindings.present()
        if bound is None:
            self.bound_name()
        return self.bindings.opened(bound) if bound else self.store.trusted(self.bound_name()), " ".join(words)

    def path(self, given: str) -> Path:
        """A path as it was given, seen from where it was given."""
        return self.front.here / Path(given).expanduser()


def kinds(manifest: Manifest) -> str:
    """How many units of each kind a standard has, in words."""
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in manifest.counts.items())


def _stored(store: StandardStore, id_: str, revision: str) -> StandardName | None:
    try:
        name = StandardName.of(id_, revision)
    except UsageError:
        return None
    return name if store.holds(name) else None
