"""`EpisodeStore`: captures a finished turn as an immutable episode, takes the operator's marks, and makes episodes of
what dead processes left (spec 7).

Order of a capture: the episode's file, durable; its manifest line, durable; the projection; the draft goes. Dying
anywhere in between loses nothing: the draft is still there, and recovery finds what was already finalized.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spear.agent.conversation import printable
from spear.agent.messages import Message, Role
from spear.errors import UsageError
from spear.events.names import Path as ServedBy
from spear.events.names import Stop
from spear.events.turn import TurnResult
from spear.evidence.validation import repair_message
from spear.state.audit import timestamp
from spear.state.directory import StateDirectory
from spear.state.files import replace_durably
from spear.state.lines import LineFile, canonical, records_backwards
from spear.state.liveness import live_sessions
from spear.state.redaction import Redactor
from spear.training.draft import LeftDraft, TurnDraft, read_draft
from spear.training.episode import Episode, EpisodeFacts, array, compose, read
from spear.training.families import family_of
from spear.training.layout import Layout
from spear.training.lists import ManifestLine, MarkLine
from spear.training.rating import rate
from spear.training.trajectory import trajectory
from spear.training.visible import neutral, neutral_tools, steps
from spear.training.vocabulary import DataOrigin, Mark, Rating

_STANDARD_TOOL = "standard."


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a model saw in a turn: all messages, the place the turn's own begin at, tools as offered."""

    messages: Sequence[Message]
    start: int
    draft: TurnDraft | LeftDraft | None


class EpisodeStore:
    """The training data of one state directory. Several processes may capture into it at the same time."""

    def __init__(self, state: StateDirectory, redactor: Redactor, *, clock: Callable[[], str] = timestamp) -> None:
        self.layout = Layout(state.training_data)
        self._state = state
        self._redactor = redactor
        self._clock = clock

    def draft(self, session: str, turn: int) -> TurnDraft:
        """The draft of a turn that begins; nothing is written before its first request."""
        return TurnDraft(self.layout.root, session, turn, self._redactor)

    def capture(
        self,
        session: str,
        turn: int,
        conversation: Sequence[Message],
        result: TurnResult,
        *,
        origin: DataOrigin = DataOrigin.NORMAL_USAGE,
        draft: TurnDraft | None = None,
        bench: bool | None = None,
        model: str = "",
    ) -> Episode:
        """Finalize the episode of a turn. `conversation` is what the turn left; system messages may be missing where a
        `draft` saw them. `bench` is what the project's acceptance script said. Raises StateError."""
        outcome, judge = rate(result, bench)
        facts = {
            "origin": origin,
            "outcome": outcome,
            "judge": judge,
            "request_class": result.class_.value,
            "path": result.path.value,
            "verdict": result.verdict.value,
            "stop": result.stop.reason.value,
            "changed_files": len(result.changed_files),
            "tool_calls": result.tool_calls,
            "model": printable(model),
        }
        seen = _seen(conversation, result.request, draft)
        episode = self._finalize(*self._episode(session, turn, result.request, seen, facts))
        if draft is not None:
            draft.discard()
        return episode

    def mark(self, session: str, turn: int, mark: Mark) -> MarkLine:
        """Record what the operator says of an exchange; the last word holds. Raises UsageError when the turn left no
        episode, StateError when it cannot be written."""
        found = self.layout.of_turn(session, turn) if turn > 0 else []
        if not found:
            raise UsageError(
                "there is no captured exchange to mark",
                hint="ask something first; capture must be on (SPEAR_TRAINING_CAPTURE)",
            )
        marks = [
            MarkLine(ts=self._clock(), session=session, turn=turn, episode=path.stem.partition("-")[2], mark=mark)
            for path in found
        ]
        with LineFile(self.layout.marks) as lines:
            for line in marks:
                lines.append(canonical(line.model_dump(mode="json")))
            lines.flush()
        return marks[-1]

    def recover(self) -> int:
        """Make unrated episodes of the drafts of sessions that no longer run; how many. Raises StateError."""
        if not self.layout.drafts.is_dir():
            return 0
        running = {live.session for live in live_sessions(self._state)}
        left = [p for p in sorted(self.layout.drafts.glob("*.jsonl")) if p.stem.rpartition(".")[0] not in running]
        return sum(self._recover(path) for path in left)

    def _recover(self, path: Path) -> int:
        """One draft, under its own lock, so that two processes that start together make one episode of it."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink == 0:
                return 0
            session, _, number = path.stem.rpartition(".")
            found = self.layout.of_turn(session, int(number))
            made = 0
            if found:
                for file in found:
                    self._list(read(str(file)), file.stat().st_size, unless_listed=True)
            else:
                made = self._from_draft(session, int(number), path)
            path.unlink()
            return made
        finally:
            os.close(descriptor)

    def _from_draft(self, session: str, turn: int, path: Path) -> int:
        left = read_draft(path)
        if left is None:
            return 0
        request = next((m.content for m in reversed(left.messages[: left.start]) if m.role is Role.USER), "")
        facts = {
            "origin": DataOrigin.NORMAL_USAGE,
            "outcome": Rating.UNRATED,
            "judge": "",
            "request_class": "",
            "path": "",
            "verdict": "",
            "stop": Stop.INTERRUPTED.value,
            "changed_files": 0,
            "tool_calls": sum(len(m.tool_calls) for m in left.messages[left.start :]),
            "model": "",
        }
        seen = _Seen(left.messages, left.start, left)
        self._finalize(*self._episode(session, turn, request, seen, facts))
        return 1

    def _episode(
        self, session: str, turn: int, request: str, seen: _Seen, known: Mapping[str, object]
    ) -> tuple[Episode, bytes]:
        request = self._redactor.text(printable(request))
        messages = neutral(seen.messages, self._redactor)
        tools = neutral_tools(seen.draft.tools) if seen.draft is not None else []
        place = len(messages) - 1 if messages and messages[-1]["role"] == Role.ASSISTANT.value else len(messages)
        family = family_of(request)
        earlier, standard_text = self._earlier(session, turn, messages[: seen.start])
        facts = EpisodeFacts.model_validate(
            {
                **known,
                "session": session,
                "turn": turn,
                "captured": self._clock(),
                "request": request,
                "family": family,
                "families": tuple(sorted({family, *earlier})),
                "whole_context": seen.draft is not None,
                "standard_text": standard_text or _holds_standard_text(str(known["path"]), seen.messages),
                "steps": tuple((s.place, s.context, s.completion) for s in steps(tools, messages, seen.start)),
            }
        )
        target = canonical(messages[place]) if place < len(messages) else b"null"
        return compose(facts, array(tools), array(messages[:place]), target)

    def _earlier(self, session: str, turn: int, before: Iterable[dict[str, object]]) -> tuple[frozenset[str], bool]:
        """The families of the requests a model could still see from earlier turns, and whether one of those turns held
        text of a standard.

        As the turn before recorded them; where it was not captured every user message counts as a request, which may
        hold back too much and never too little.
        """
        if turn > 1:
            for path in self.layout.of_turn(session, turn - 1):
                try:
                    facts = read(str(path)).facts
                except (OSError, ValueError):
                    continue
                return frozenset(facts.families), facts.standard_text
        repair = family_of(repair_message((), {}))
        asked = {family_of(str(m["content"])) for m in before if m["role"] == Role.USER.value}
        return frozenset(asked - {repair}), False

    def _finalize(self, episode: Episode, data: bytes) -> Episode:
        facts = episode.facts
        replace_durably(self.layout.episode(facts.session, facts.turn, episode.id), data)
        self._list(episode, len(data))
        with LineFile(self.layout.trajectories) as lines:
            lines.append(canonical(trajectory(episode)))
        return episode

    def _list(self, episode: Episode, size: int, *, unless_listed: bool = False) -> None:
        if unless_listed and any(r.get("sha256") == episode.sha256 for r in records_backwards(self.layout.manifest)):
            return
        facts = episode.facts
        line = ManifestLine(session=facts.session, turn=facts.turn, sha256=episode.sha256, bytes=size)
        with LineFile(self.layout.manifest) as lines:
            lines.append(canonical(line.model_dump(mode="json")))
            lines.flush()


def _seen(conversation: Sequence[Message], request: str, draft: TurnDraft | None) -> _Seen:
    if draft is not None and draft.start is not None:
        said = [m for m in conversation if m.role is not Role.SYSTEM]
        return _Seen([*draft.system, *said], draft.start, draft)
    places = [n for n, m in enumerate(conversation) if m.role is Role.USER and m.content.startswith(request)]
    return _Seen(conversation, places[-1] + 1 if places else len(conversation), None)


def _holds_standard_text(path: str, messages: Iterable[Message]) -> bool:
    """Whether text of a bound standard may be among what the model saw. Unknown counts as yes."""
    if path != ServedBy.CODING_CORE.value:
        return True
    return any(call.name.startswith(_STANDARD_TOOL) for message in messages for call in message.tool_calls)
