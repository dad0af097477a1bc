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

_TOOLS, _CONTEXT, _TARGET, _END = b',\n"tools":', b',\n"context":', b',\n"target":', b"}\n"
_DIGITS = 32


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
    data = b"".join((head[:-1], _TOOLS, tools, _CONTEXT, context, _TARGET, target, _END))
    return Episode(facts, tools, context, target, hashlib.sha256(data).hexdigest()), data


def decode(data: bytes, sha256: str) -> Episode:
    """The episode in the bytes of a file, whose checksum is known. Raises ValueError for anything else."""
    tools = data.index(b"\n") - 1
    context = data.index(b"\n", tools + 2) - 1
    target = data.index(b"\n", context + 2) - 1
    last = data.index(b"\n", target + 2) - 1
    if not (
        data.startswith(_TOOLS, tools)
        and data.startswith(_CONTEXT, context)
        and data.startswith(_TARGET, target)
        and data[last:] == _END
    ):
        raise ValueError("not an episode")
    facts = EpisodeFacts.model_validate_json(data[:tools] + b"}")
    digests = "".join([seen + said for _, seen, said in facts.steps])
    if len(digests) != 2 * _DIGITS * len(facts.steps) or 2 * len(bytes.fromhex(digests)) != len(digests):
        raise ValueError("not an episode: its digests are none")
    return Episode(
        facts,
        data[tools + len(_TOOLS) : context],
        data[context + len(_CONTEXT) : target],
        data[target + len(_TARGET) : last],
        sha256,
    )


def read(path: str) -> Episode:
    """The episode in a file, with the checksum of what was read. Raises OSError, ValueError."""
    with open(path, "rb", buffering=0) as file:
        data = file.read()
    return decode(data, hashlib.sha256(data).hexdigest())


def array(items: list[dict[str, Any]]) -> bytes:
    """The canonical JSON array of objects."""
    return b"[" + b",".join(map(canonical, items)) + b"]"
