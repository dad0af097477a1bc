"""One line of `trajectories.jsonl`: an episode as a person reads it (spec 7)."""

from __future__ import annotations

import json
from typing import Any

from spear.training.episode import Episode


def trajectory(episode: Episode) -> dict[str, Any]:
    """Request, tools used in order, answer, and how the turn was judged. Safe to delete; never read back."""
    facts = episode.facts
    target = json.loads(episode.target) or {}
    messages = [*json.loads(episode.context), target]
    own = {place for place, _, _ in facts.steps}
    return {
        "schema": "spear.trajectory/1",
        "episode": episode.id,
        "session": facts.session,
        "turn": facts.turn,
        "captured": facts.captured,
        "request": facts.request,
        "tools": [
            call["function"]["name"]
            for place, message in enumerate(messages)
            if place in own
            for call in message.get("tool_calls", ())
        ],
        "answer": target.get("content", ""),
        "verdict": facts.verdict,
        "outcome": facts.outcome.value,
        "judge": facts.judge,
        "stop": facts.stop,
    }
