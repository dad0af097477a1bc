"""`retrieval.json`: how one document is searched, and how much of its structure comes with a hit (spec 5.3)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spear.errors import StateError
from spear.state.files import replace_durably

FILE = "retrieval.json"
MOST_COMPLETION = 20


class Mode(StrEnum):
    """How clauses are found."""

    LEXICAL = "lexical"


class Retrieval(BaseModel):
    """What is recorded for one document. `completion` is the most units that come with a hit by the document's own
    structure: the table or list it is of, and its neighbours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Mode = Mode.LEXICAL
    completion: int = Field(default=0, ge=0, le=MOST_COMPLETION)

    def save(self, place: Path) -> None:
        """Write it for the revision at `place`. Raises StateError."""
        replace_durably(place / FILE, (self.model_dump_json(indent=2) + "\n").encode())


def load_retrieval(place: Path) -> Retrieval:
    """What is recorded for the revision at `place`; the defaults where nothing is. Raises StateError for a file that
    is none of ours."""
    path = place / FILE
    try:
        return Retrieval.model_validate_json(path.read_bytes())
    except OSError:
        return Retrieval()
    except ValidationError as error:
        raise StateError(
            f"{path} says no mode of retrieval", hint="set it again: spear-chat standard retrieval lexical"
        ) from error
