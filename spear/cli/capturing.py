"""Training data as a by-product: one episode a turn, and the operator's marks (spec 7); no model is shown any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spear.agent.messages import Complete
from spear.control.controller import FinishedTurn
from spear.errors import StateError, UsageError
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor

if TYPE_CHECKING:
    from spear.training.draft import TurnDraft
    from spear.training.operator import FinetuneAnswer


class Capturing:
    """Captures the turns of one session, unless the operator switched it off. `recorded` says that the model's answers
    are a recording: such an episode is never trained on."""

    def __init__(self, state: StateDirectory, redactor: Redactor, *, enabled: bool, recorded: bool) -> None:
        self._state = state
        self._redactor = redactor
        self._enabled = enabled
        self._recorded = recorded
        self._draft: TurnDraft | None = None
        self._recovered = False

    def begin(self, session: str, turn: int) -> None:
        """A turn begins."""
        if self._enabled:
            from spear.training.draft import TurnDraft

            self._draft = TurnDraft(self._state.training_data, session, turn, self._redactor)

    def watching(self, complete: Complete) -> Complete:
        """The model callable, watched where a turn is being captured."""
        return self._draft.watching(complete) if self._draft is not None else complete

    @property
    def rates(self) -> bool:
        """Whether the turn that runs leaves an episode somebody may rate; a recording is never rated."""
        return self._draft is not None and not self._recorded

    def finish(self, done: FinishedTurn, model: str, bench: bool | None = None) -> str:
        """The turn has ended: its episode is final. `bench` is what the project's acceptance script said of it. What
        went wrong, in one sentence, "" for nothing: a turn is not spoiled by what cannot be captured of it."""
        draft, self._draft = self._draft, None
        if draft is None:
            return ""
        from spear.training.store import EpisodeStore
        from spear.training.vocabulary import DataOrigin

        origin = DataOrigin.TEST_FIXTURE if self._recorded else DataOrigin.NORMAL_USAGE
        result = done.result
        try:
            store = EpisodeStore(self._state, self._redactor)
            store.capture(
                result.session, result.turn, done.conversation, result,
                origin=origin, draft=draft, model=model, bench=bench,
            )  # fmt: skip
            if not self._recovered:
                self._recovered = True
                store.recover()
        except StateError as error:
            return f"this turn was not captured for training: {error}"
        return ""

    def abandon(self) -> None:
        """The turn ended in an error: its draft stays to be recovered."""
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.close()

    def mark(self, session: str, done: FinishedTurn | None, *, good: bool) -> str:
        """`/good` and `/bad`: the last exchange. Raises UsageError when there is none, or it was not captured."""
        if done is None:
            raise UsageError("there is no exchange to mark yet", hint="ask something first")
        from spear.training.store import EpisodeStore
        from spear.training.vocabulary import Mark

        mark = Mark.GOOD if good else Mark.BAD
        EpisodeStore(self._state, self._redactor).mark(session, done.result.turn, mark)
        return f"the last exchange is marked {mark.value}" + ("" if good else ": it will never be trained on")

    def finetune(self, words: list[str]) -> FinetuneAnswer:
        """`/finetune …`."""
        from spear.training.operator import FinetuneCommands

        return FinetuneCommands(self._state).answer(words)
