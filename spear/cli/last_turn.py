"""The result of a session's last turn, kept with the session: `/verdict` shows it after a resume (spec 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from spear.events.turn import TurnResult

_KEY = "last_turn"


def kept(result: TurnResult | None) -> dict[str, Any]:
    """What the snapshot of a session keeps of its last turn; nothing when there was none in this run."""
    return {} if result is None else {_KEY: result.model_dump(mode="json", by_alias=True)}


def found(extra: Mapping[str, Any]) -> TurnResult | None:
    """The result a snapshot kept; None where there is none this version can read."""
    try:
        return TurnResult.model_validate(extra[_KEY])
    except (KeyError, ValidationError):
        return None
