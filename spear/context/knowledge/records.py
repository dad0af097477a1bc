"""What a record of workspace knowledge is (spec 4.3): its fields, the states it goes through, its JSON form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spear.context.documents import plain

LONGEST_STATEMENT = 1_000
LONGEST_SUBJECT = 120
LONGEST_QUOTE = 2_000
LONGEST_WORD = 200
"""Characters."""


class Kind(StrEnum):
    """What a record is about."""

    FACT = "fact"
    ARCHITECTURE = "architecture"
    BUILD = "build"
    RELATION = "relation"
    DECISION = "decision"
    COMMAND = "command"


class Provenance(StrEnum):
    """Where a record comes from."""

    OPERATOR = "operator"
    MODEL = "model"
    TOOL = "tool"
    IMPORT = "import"


class Verification(StrEnum):
    """What stands behind a record."""

    USER_CONFIRMED = "USER_CONFIRMED"
    SOURCE_VERIFIED = "SOURCE_VERIFIED"
    NONE = "NONE"


class State(StrEnum):
    """Only ACTIVE records are shown to a turn."""

    PROPOSED = "PROPOSED"
    ACTIVE = "ACTIVE"
    STALE = "STALE"
    REVOKED = "REVOKED"


@dataclass(frozen=True, slots=True)
class Source:
    """What a record was read from: a file of the tree, the line its quote begins on, the SHA-256 of the file."""

    path: str
    line: int
    quote: str
    sha256: str

    def shown(self) -> str:
        """`src/ring.h:1`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Record:
    """One record. Times are UTC in ISO 8601. `supersedes` is the id of the record this one amends, "" for none."""

    id: str
    workspace: str
    kind: Kind
    subject: str
    statement: str
    tags: tuple[str, ...]
    path: str
    provenance: Provenance
    verification: Verification
    source: Source | None
    state: State
    version: int
    supersedes: str
    created: str
    updated: str
    actor: str

    def record(self) -> dict[str, Any]:
        """The JSON form, as `--json` and exports write it."""
        source = self.source
        return {
            "id": self.id,
            "workspace": self.workspace,
            "kind": self.kind.value,
            "subject": self.subject,
            "statement": self.statement,
            "tags": list(self.tags),
            "path": self.path,
            "provenance": self.provenance.value,
            "verification": self.verification.value,
            "source": None
            if source is None
            else {"path": source.path, "line": source.line, "quote": source.quote, "sha256": source.sha256},
            "state": self.state.value,
            "version": self.version,
            "supersedes": self.supersedes,
            "created": self.created,
            "updated": self.updated,
            "actor": self.actor,
        }

    def line(self) -> str:
        """One line for a list."""
        where = f" [{self.source.shown()}]" if self.source else f" [{self.path}]" if self.path else ""
        subject = f"{self.subject}: " if self.subject else ""
        return f"{self.id}  {self.state.value:<8}  {self.kind.value:<12}  {subject}{self.statement}{where}"


@dataclass(frozen=True, slots=True)
class KnowledgeProblem:
    """Why something was not recorded or not done: a code, one clause, and what to do instead."""

    code: str
    text: str
    remedy: str = ""

    def line(self) -> str:
        """One line for whoever asked."""
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


def tidy(text: str) -> str:
    """`text` on one line, control and invisible characters gone."""
    return " ".join(plain(text).split())


def folded(text: str) -> str:
    """`text` for comparison: case and the punctuation around it do not count."""
    return re.sub(r"\s+", " ", text.casefold()).strip(" .,;:!\"'`")
