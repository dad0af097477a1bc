"""One endpoint in use: its connection, its model list, its retries; and one exchange with it, from body to turn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from spear.agent.messages import FailureKind, ModelFailure, ModelRequest, ModelTurn
from spear.models.backend import BackendSettings
from spear.models.catalogue import Catalogue
from spear.models.failures import AttemptFailed, decode_object, dropped
from spear.models.inflight import relay
from spear.models.retry import Retrier, RetryBudget
from spear.models.shown import ShownText
from spear.models.sse import DONE, Streamed, Whole

if TYPE_CHECKING:
    from spear.models.wire import Wire

T = TypeVar("T")


class Assembler(Protocol):
    """A turn under construction, provider by provider."""

    @property
    def closed(self) -> bool:
        """Whether the stream has said that nothing follows."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the server said why the message ended."""
        ...

    @property
    def calls_complete(self) -> bool:
        """Whether the arguments of every call received parse as a JSON object."""
        ...

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take one chunk, or a whole reply; the text that may be shown. Raises `AttemptFailed`."""
        ...

    def rest(self) -> str:
        """Text held back from showing, once the message has ended."""
        ...

    def build(self) -> ModelTurn:
        """The turn. Raises `AttemptFailed`."""
        ...


class Endpoint:
    """Owns the connection to an endpoint. A connection that was cut is replaced by the next use."""

    def __init__(self, settings: BackendSettings, connect: Callable[[BackendSettings], Wire], models_path: str) -> None:
        self.settings = settings
        self.name = settings.endpoint
        self._connect = connect
        self._models_path = models_path
        self._budget = RetryBudget(settings.retry.per_turn)
        self._retrier = Retrier(self.name, settings.api_key, settings.retry, self._budget)
        self._catalogue = Catalogue(settings.model)
        self._opening = threading.Lock()
        self._open_wire: Wire | None = None

    def begin_turn(self) -> None:
        """Count retries afresh."""
        self._budget.reset()

    def close(self) -> None:
        """Release the connections."""
        if self._open_wire is not None:
            self._open_wire.close()
            self._open_wire = None

    def wire(self) -> Wire:
        """The connection; opening it imports the provider package. Safe from several threads."""
        with self._opening:
            if self._open_wire is None or self._open_wire.spent:
                self.close()
                self._open_wire = self._connect(self.settings)
            return self._open_wire

    def retried(self, attempt: Callable[[], T], cancelled: Callable[[], bool] | None) -> T:
        """The first attempt that succeeds, within the bounds. Raises `ModelFailure`."""
        return self._retrier.run(attempt, cancelled)

    def model(self, cancelled: Callable[[], bool] | None = None) -> str:
        """The configured model, or the first one listed. Raises `ModelFailure`."""
        if not self._catalogue.model:
            self._catalogue.learn(self.retried(lambda: self._fetch_models(cancelled), cancelled))
        if not self._catalogue.model:
            message = f"{self.name}: the endpoint lists no model"
            raise ModelFailure(FailureKind.BAD_REPLY, message, "name one with --model")
        return self._catalogue.model

    def context_window(self) -> int | None:
        """The window listed for the model. One short attempt, remembered once the endpoint answered; never raises."""
        if not self._catalogue.fetched:
            try:
                self._catalogue.learn(self._fetch_models(None))
            except AttemptFailed as failed:
                if failed.status:  # the endpoint answers but has no list: it will not grow one
                    self._catalogue.learn({})
        return self._catalogue.window

    def exchange(
        self,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        request: ModelRequest,
        assembler: Assembler,
        shown: ShownText,
    ) -> ModelTurn:
        """One attempt: post `body`, read the reply to its end, build the turn. Raises `AttemptFailed`."""
        wire = self.wire()
        done = False
        broken: AttemptFailed | None = None
        replies = relay(lambda: wire.exchange(path, body, headers, request.on_sent), wire.cut, request.cancelled)
        with closing(replies):
            try:
                for reply in replies:
                    done = _take(reply, assembler, shown)
                    if done:
                        break
            except AttemptFailed as failed:
                if failed.kind is not FailureKind.DROPPED_STREAM:
                    raise
                broken = failed
        if not done:
            _judge_end(assembler, broken)
        turn = assembler.build()
        shown.feed(assembler.rest())
        return turn

    def _fetch_models(self, cancelled: Callable[[], bool] | None) -> dict[str, Any]:
        wire = self.wire()
        with closing(relay(lambda: iter((wire.fetch(self._models_path),)), wire.cut, cancelled)) as replies:
            return next(replies)


def _take(reply: Streamed | Whole, assembler: Assembler, shown: ShownText) -> bool:
    """Feed one piece of the reply; true when it says that it is the last."""
    if isinstance(reply, Whole):
        shown.feed(assembler.feed(decode_object(reply.text, "the reply")))
        return True
    for data in reply.data:
        if data.startswith(DONE):
            return True
        for line in data.split("\n"):
            if line.strip():
                shown.feed(assembler.feed(decode_object(line, "a chunk of the stream")))
        if assembler.closed:
            return True
    return False


def _judge_end(assembler: Assembler, broken: AttemptFailed | None) -> None:
    """Whether a stream that ended without saying so was whole. Raises `AttemptFailed` (DROPPED_STREAM) when not.

    The server's own finish reason says that it was; after an abrupt end, calls must be whole as well.
    """
    if assembler.finished and (broken is None or assembler.calls_complete):
        return
    raise broken or dropped("the stream ended in the middle of the answer")
