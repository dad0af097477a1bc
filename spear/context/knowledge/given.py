"""Records as an export file gives them, before anything of it is believed (spec 4.3)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from spear.context.knowledge.records import LONGEST_QUOTE, LONGEST_STATEMENT, LONGEST_SUBJECT, Kind, State


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class SourceModel(_Given):
    """The source of an imported record."""

    path: str = Field(min_length=1, max_length=4096)
    line: int | None = None
    quote: str = Field(min_length=1, max_length=LONGEST_QUOTE)
    sha256: str = ""


class RecordModel(_Given):
    """One record of an export file, before anything of it is believed."""

    id: str = Field("", max_length=40)
    kind: Kind = Field(Kind.FACT, strict=False)
    subject: str = Field("", max_length=LONGEST_SUBJECT)
    statement: str = Field(min_length=1, max_length=LONGEST_STATEMENT)
    tags: tuple[str, ...] = Field((), strict=False)
    path: str = Field("", max_length=4096)
    source: SourceModel | None = None
    state: State = Field(State.PROPOSED, strict=False)
