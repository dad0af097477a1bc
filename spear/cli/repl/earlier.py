"""The last turns of a stored session, read from the end of its record (spec 8.3): bounded, whatever its size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spear.cli.repl.ports import PastTurn
from spear.events.names import EventName
from spear.state.lines import records_backwards

TURNS = 5
_RECORDS = 20_000


@dataclass(slots=True)
class _Gathered:
    request: str = ""
    answer: str = ""
    verdict: str = ""


def earlier_turns(events: Path, turns: int = TURNS, *, up_to: int | None = None) -> tuple[PastTurn, ...]:
    """The last `turns` requests with their answers and verdicts, oldest first; none after the turn `up_to`."""
    found: list[PastTurn] = []
    gathered = _Gathered()
    for count, record in enumerate(records_backwards(events)):
        if len(found) >= turns or count >= _RECORDS:
            break
        data = record.get("data")
        if not isinstance(data, dict) or (up_to is not None and int(record.get("turn") or 0) > up_to):
            continue
        match record.get("event"):
            case EventName.VERDICT_COMPUTED:
                gathered.verdict = gathered.verdict or str(data.get("verdict", ""))
                gathered.answer = gathered.answer or str(data.get("withheld", ""))
            case EventName.MODEL_ANSWERED if not data.get("tool_calls"):
                gathered.answer = gathered.answer or str(data.get("text", ""))
            case EventName.REQUEST_CLASSIFIED:
                found.append(PastTurn(str(data.get("request", "")), gathered.answer, gathered.verdict or "interrupted"))
                gathered = _Gathered()
    return tuple(reversed(found))
