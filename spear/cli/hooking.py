"""The operator's hooks of a running session: its two ends, its questions, the end of each turn (docs/hooks.md).

A session without hooks has an object that does nothing, and loads nothing of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from spear.cli.display.filtering import clean
from spear.cli.exit_status import exit_status
from spear.cli.settings import Loaded
from spear.cli.settings_hooks import KEY, require_outside
from spear.cli.settings_model import Settings
from spear.control.controller import FinishedTurn
from spear.events.names import Mode
from spear.events.stream import Event, Live, Sink
from spear.host.confirmation import Confirm, Question, Reply
from spear.policy.hook import HookEvent
from spear.state.redaction import Redactor
from spear.workspace.roots import Roots

if TYPE_CHECKING:
    from spear.host.hooks import SessionHooks


class Hooking:
    """The hooks of one session. `record` takes the events to be audited; `hooks` is None where none is declared."""

    def __init__(
        self, loaded: Loaded, session: str, roots: Roots, environ: Mapping[str, str], redactor: Redactor, record: Sink
    ) -> None:
        """Raises ConfigurationError where the file that declares them lies in a root of the session."""
        self._record = record
        self.hooks: SessionHooks | None = None
        if loaded.settings.hooks:
            from spear.host.hook_run import HookPlace
            from spear.host.hooks import SessionHooks

            place = HookPlace.of(roots.primary, roots.others.values(), environ, _keys(loaded.settings))
            require_outside(loaded.origins[KEY], place.roots)
            self.hooks = SessionHooks(loaded.settings.hooks, place, session, redactor)

    def started(self, mode: Mode, *, resumed: bool) -> tuple[str, ...]:
        """The session has begun; what the operator is to be told."""
        said: list[str] = []
        self._run(HookEvent.SESSION_STARTED, 0, mode, {"resumed": resumed}, lambda item: said.extend(_notice(item)))
        return tuple(said)

    def announcing(
        self, confirm: Confirm, turn: int, mode: Callable[[], Mode], sink: Sink, cancelled: Callable[[], bool]
    ) -> Confirm:
        """`confirm` with the hooks told before the operator is asked."""
        if self.hooks is None or not self.hooks.of(HookEvent.APPROVAL_NEEDED):
            return confirm
        told = self.hooks.of_turn(turn, mode, self._both(sink), cancelled)

        def ask(question: Question) -> Reply:
            told.approval_needed(question)
            return confirm(question)

        return ask

    def turn_ended(self, done: FinishedTurn, sink: Sink, cancelled: Callable[[], bool]) -> None:
        """A turn has its verdict. What stopped the turn does not stop its hooks, the next stop does."""
        result = done.result
        facts = {
            "verdict": result.verdict.value,
            "stop": result.stop.reason.value,
            "exit_code": exit_status(done),
            "changed_files": [changed.model_dump(mode="json") for changed in result.changed_files],
        }
        self._run(HookEvent.TURN_ENDED, result.turn, result.mode, facts, sink, _from_now_on(cancelled))

    def ended(self, turns: int, mode: Mode, cancelled: Callable[[], bool] = lambda: False) -> None:
        """The session ends; nobody listens any more, so what is to be told goes to stderr."""
        # Ctrl+C here ends the hook, which is killed on the way; the session still has to be closed.
        with suppress(KeyboardInterrupt):
            stop = _from_now_on(cancelled)
            self._run(HookEvent.SESSION_ENDED, turns, mode, {"turns": turns}, _to_stderr, stop)

    def _run(
        self,
        event: HookEvent,
        turn: int,
        mode: Mode,
        facts: Mapping[str, Any],
        sink: Sink,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        if self.hooks is None or not (hooks := self.hooks.of(event)):
            return
        from spear.host.hooks import Moment

        self.hooks.run(hooks, Moment(event, turn, mode, facts), self._both(sink), cancelled)

    def _both(self, sink: Sink) -> Sink:
        def emit(item: Event | Live) -> None:
            self._record(item)
            sink(item)

        return emit


def _from_now_on(cancelled: Callable[[], bool]) -> Callable[[], bool]:
    """`cancelled`, unless it holds already: what stopped a turn does not stop what its end is told to."""
    return (lambda: False) if cancelled() else cancelled


def _keys(settings: Settings) -> tuple[str, ...]:
    """The variables that hold the keys of endpoints, every named backend's included."""
    backends = (backend.api_key_env for backend in settings.backends.values())
    named = (settings.api_key_env, settings.web.search_key_env, settings.embedding.key_env, *backends)
    return tuple(filter(None, named))


def _notice(item: Event | Live) -> list[str]:
    return [item.text] if isinstance(item, Live) else []


def _to_stderr(item: Event | Live) -> None:
    with suppress(OSError):  # a terminal that is gone keeps no session from ending
        for text in _notice(item):
            print(clean(text), file=sys.stderr, flush=True)
