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
    answered. `id` is the beginning of the SHA-256 of the file."""

    facts: EpisodeFacts
    tools: bytes
    context: bytes
    target: bytes

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        facts = canonical(self.facts.model_dump(mode="json", by_alias=True))
        rest = (_TOOLS + self.tools, _CONTEXT + self.context, _TARGET + self.target + b"}\n")
        return b",\n".join((facts[:-1], *rest))

    @property
    def sha256(self) -> str:
        """The checksum the manifest holds."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def id(self) -> str:
        """16 hex digits."""
        return self.sha256[:16]


def decode(data: bytes) -> Episode:
    """The episode in the bytes of a file. Raises ValueError for anything else."""
    facts, tools, context, target = data.split(b",\n")
    if not (tools.startswith(_TOOLS) and context.startswith(_CONTEXT) and target.startswith(_TARGET)):
        raise ValueError("not an episode")
    return Episode(
        EpisodeFacts.model_validate_json(facts + b"}"),
        tools[len(_TOOLS) :],
        context[len(_CONTEXT) :],
        target[len(_TARGET) :].removesuffix(b"}\n"),
    )


def array(items: list[dict[str, Any]]) -> bytes:
    """The canonical JSON array of objects."""
    return b"[" + b",".join(map(canonical, items)) + b"]"
