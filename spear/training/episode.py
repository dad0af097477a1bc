"""One episode as a value and as the bytes of its file (spec 7).

The file is one JSON document in four lines: the facts; the tools the model was offered; the context, which is every
message before the target; the target, which is the last thing the model said. Facts can be read without the rest, and
a dataset is made of the other lines as they stand, so that freezing a large store parses little.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from spear.state.lines import canonical
from spear.training.vocabulary import DataOrigin, Rating

_TOOLS, _CONTEXT, _TARGET = b'"tools":', b'"context":', b'"target":'


class EpisodeFacts(BaseModel):
    """What is known of an episode without its text.

    `families` holds the task family of every request the model could see, its own included. `steps` are
    `[place, context digest, completion digest]` of each assistant message of the turn. `whole_context` says that system
    prompt and tools were seen at the model boundary; without it two contexts can only be compared in part.
    `standard_text` says that text of a bound standard may be in the messages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal["spear.episode/1"] = Field("spear.episode/1", alias="schema", serialization_alias="schema")
    session: str
    turn: int
    captured: str
    origin: DataOrigin
    outcome: Rating
    judge: str
    request: str
    family: str
    families: tuple[str, ...]
    request_class: str
    path: str
    verdict: str
    stop: str
    changed_files: int
    tool_calls: int
    model: str
    whole_context: bool
    standard_text: bool
    steps: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True, slots=True)
class Episode:
    """One captured turn. `tools`, `context` and `target` are canonical JSON; `target` is `null` when the model never
    answered. `sha256` is the checksum of the file, as the manifest holds it."""

    facts: EpisodeFacts
    tools: bytes
    context: bytes
    target: bytes
    sha256: str

    @property
    def id(self) -> str:
        """The beginning of the checksum, 16 hex digits."""
        return self.sha256[:16]


def compose(facts: EpisodeFacts, tools: bytes, context: bytes, target: bytes) -> tuple[Episode, bytes]:
    """An episode of canonical JSON parts, and the bytes of its file."""
    head = canonical(facts.model_dump(mode="json", by_alias=True))
    data = b",\n".join((head[:-1], _TOOLS + tools, _CONTEXT + context, _TARGET + target + b"}\n"))
    return Episode(facts, tools, context, target, hashlib.sha256(data).hexdigest()), data


def decode(data: bytes, sha256: str) -> Episode:
    """The episode in the bytes of a file, whose checksum is known. Raises ValueError for anything else."""
    facts, tools, context, target, rest = _lines(data)
    known = tools.startswith(_TOOLS) and context.startswith(_CONTEXT) and target.startswith(_TARGET)
    if not known or not facts.endswith(b",") or not target.endswith(b"}") or rest:
        raise ValueError("not an episode")
    return Episode(
        EpisodeFacts.model_validate_json(facts[:-1] + b"}"),
        tools[len(_TOOLS) : -1],
        context[len(_CONTEXT) : -1],
        target[len(_TARGET) : -1],
        sha256,
    )


def _lines(data: bytes) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    """The four lines and what follows them. Raises ValueError when there are fewer."""
    first = data.index(b"\n")
    second = data.index(b"\n", first + 1)
    third = data.index(b"\n", second + 1)
    fourth = data.index(b"\n", third + 1)
    return (
        data[:first],
        data[first + 1 : second],
        data[second + 1 : third],
        data[third + 1 : fourth],
        data[fourth + 1 :],
    )


def read(path: str) -> Episode:
    """The episode in a file, with the checksum of what was read. Raises OSError, ValueError."""
    with open(path, "rb", buffering=0) as file:
        data = file.read()
    return decode(data, hashlib.sha256(data).hexdigest())


def array(items: list[dict[str, Any]]) -> bytes:
    """The canonical JSON array of objects."""
    return b"[" + b",".join(map(canonical, items)) + b"]"
