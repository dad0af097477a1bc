"""What a hook's ending means: go on, allow, deny, or a failure (docs/hooks.md). Pure: from bytes and status to a value.

Only two endings are answers: status 0 with nothing on stdout, and status 0 with one JSON object. A hook that crashed,
talks or is cut short has not agreed to anything, so everything else is a failure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from spear.policy.hook import Hook

OUTPUT_LIMIT = 64 << 10
"""Bytes of an answer. More is no answer."""


class Ruling(StrEnum):
    """What a hook said."""

    GO_ON = "go_on"
    ALLOW = "allow"
    DENY = "deny"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a hook's process ended. `status` is None where it did not end by itself; `stopped` says why (`timeout`,
    `cancelled`, or a sentence where it could not be started); `cut` whether it printed more than is taken; `left`
    whether a process of its group could not be ended. `said` is what it wrote to stderr, for the operator."""

    status: int | None
    output: bytes = b""
    cut: bool = False
    stopped: str = ""
    left: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A ruling, and the hook's reason or what went wrong: untrusted text, neither cleaned nor bounded."""

    ruling: Ruling
    reason: str = ""


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    decision: Literal["allow", "deny"]
    reason: str = ""


def answer_of(hook: Hook, ended: Ended) -> Answer:
    """The answer a hook's ending amounts to."""
    if wrong := _unsound(hook, ended):
        return Answer(Ruling.FAILED, wrong)
    if not ended.output:
        return Answer(Ruling.GO_ON)
    try:
        document = _Document.model_validate(json.loads(ended.output, object_pairs_hook=_each_once))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        return Answer(Ruling.FAILED, f"its answer does not have the form asked for: {where}: {first['msg']}")
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return Answer(Ruling.FAILED, "what it printed is not one JSON object and nothing else")
    if document.decision == "deny" and not hook.event.is_gate:
        return Answer(Ruling.FAILED, f"it denied, and {hook.event} asks for no decision")
    return Answer(Ruling(document.decision), document.reason)


def _unsound(hook: Hook, ended: Ended) -> str:
    """Why an ending is no answer whatever was printed; "" when it may be one."""
    match ended.stopped:
        case "":
            pass
        case "timeout":
            return f"it did not end within {hook.timeout_s:g} s"
        case "cancelled":
            return "it was stopped with the turn"
        case sentence:
            return sentence
    if ended.status is None or ended.status < 0:
        return f"it was ended by a signal{f' ({-ended.status})' if ended.status else ''}"
    if ended.status:
        return f"it ended with status {ended.status}" + (f": {ended.said}" if ended.said.strip() else "")
    if ended.left:
        return "processes it started could not be ended"
    return f"it printed more than {OUTPUT_LIMIT >> 10} KiB" if ended.cut else ""


def _each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object without a key twice: which of two decisions would hold is anybody's guess."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found
