"""Where training data lies below `audit/training-data/` (spec 1.5).

episodes/<session>/<turn>-<id>.json   immutable episodes
manifest.jsonl                        append-only: one line an episode, with its checksum
marks.jsonl                           append-only: what the operator said; the last word on an exchange holds
trajectories.jsonl                    what a person reads; safe to delete
drafts/<session>.<turn>.jsonl         turns that run now, or whose process died
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spear.state.directory import safe_name


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one store. Nothing is created by asking."""

    root: Path

    @property
    def manifest(self) -> Path:
        """The list of episodes."""
        return self.root / "manifest.jsonl"

    @property
    def marks(self) -> Path:
        """What the operator said."""
        return self.root / "marks.jsonl"

    @property
    def trajectories(self) -> Path:
        """The projection a person reads."""
        return self.root / "trajectories.jsonl"

    @property
    def episodes(self) -> Path:
        """One directory a session."""
        return self.root / "episodes"

    @property
    def drafts(self) -> Path:
        """One file for each turn without an episode yet."""
        return self.root / "drafts"

    def episode(self, session: str, turn: int, episode: str) -> Path:
        """The file of an episode. Raises ValueError for a session that is no file name."""
        return self.root / self.name(session, turn, episode)

    @staticmethod
    def name(session: str, turn: int, episode: str) -> str:
        """The file of an episode, relative to the store. Raises ValueError for a session that is no file name."""
        return f"episodes/{safe_name(session)}/{turn:06d}-{episode}.json"

    def of_turn(self, session: str, turn: int) -> list[Path]:
        """The files of the episodes of one turn: one, or several where two processes resumed one session."""
        return sorted((self.episodes / safe_name(session)).glob(f"{turn:06d}-*.json"))

    def draft(self, session: str, turn: int) -> Path:
        """The draft of a turn."""
        return self.drafts / f"{safe_name(session)}.{turn:06d}.jsonl"
