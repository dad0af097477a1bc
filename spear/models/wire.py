"""One endpoint's HTTP connection, shared by the provider packages: open, exchange, cut.

The provider package builds the request (address, authentication, headers) and names the errors; the reply is read here
as bytes, because real servers answer in more ways than the packages' parsers accept.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from spear.agent.messages import FailureKind
from spear.models.backend import BackendSettings
from spear.models.failures import (
    NEVER,
    AttemptFailed,
    bad_reply,
    classify_status,
    decode_object,
    dropped,
    one_line,
    parse_retry_after,
)
from spear.models.sse import DONE, SseReader, Streamed, Whole

_SSE_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LONGEST_START = max(len(start) for start in _SSE_STARTS)


@dataclass(frozen=True, slots=True)
class SdkErrors:
    """The exception classes of a provider package."""

    status: type[Exception]
    connection: type[Exception]


class SdkClient(Protocol):
    """The part of a provider package's client that is used."""

    def post(self, path: str, *, cast_to: Any, content: bytes, options: Any, stream: bool) -> Any:
        """Send a request; raise for an error status."""
        ...

    def get(self, path: str, *, cast_to: Any, options: Any) -> Any:
        """Fetch a document."""
        ...


class Lines:
    """The sockets of a client, so that a blocked read can be made to fail from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._cut = False
        self.on_sent: Callable[[], None] | None = None

    def watch(self, request: httpx2.Request) -> None:
        """An httpx event hook: learn of the connections the request opens."""
        request.extensions["trace"] = self._trace

    def cut(self) -> None:
        """Shut every connection down, and refuse those still being opened."""
        with self._lock:
            self._cut = True
            for line in self._sockets:
                _shut_down(line)

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "http11.send_request_body.complete":
            self._acknowledge_quickly()
            if self.on_sent is not None:
                self.on_sent()
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        line = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets = [known for known in self._sockets if known.fileno() >= 0]
            self._sockets.append(line)
            if self._cut:
                _shut_down(line)

    def _acknowledge_quickly(self) -> None:
        """Servers that write headers and body apart wait for the first ACK, which Linux delays by 40 ms a round."""
        with self._lock:
            for line in self._sockets:
                if line.fileno() >= 0 and hasattr(socket, "TCP_QUICKACK"):
                    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _shut_down(line: socket.socket) -> None:
    """End the connection under a reader. The base class on purpose: TLS state belongs to the reading thread."""
    try:
        socket.socket.shutdown(line, socket.SHUT_RDWR)
    except OSError:
        return


def http_client(settings: BackendSettings, lines: Lines) -> httpx2.Client:
    """The HTTP client of an endpoint. It follows no redirect: a key goes where the operator said, nowhere else.

    Certificates are always verified; for a plain `http` address there are none, and the trust store (25 ms) is not
    loaded. A loopback address is reached directly, whatever proxies the environment names.
    """
    timeouts = settings.timeouts
    return httpx2.Client(
        verify=urlsplit(settings.api_base).scheme != "http",
        trust_env=not is_loopback(settings.api_base),
        timeout=httpx2.Timeout(
            connect=timeouts.connect_s, read=timeouts.read_s, write=timeouts.write_s, pool=timeouts.connect_s
        ),
        event_hooks={"request": [lines.watch, _asking_for(settings.host)]},
    )


def _asking_for(host: str) -> Callable[[httpx2.Request], None]:
    """An httpx event hook: ask for `host`, a name perhaps with a port, wherever the connection goes; "": as usual."""

    def name(request: httpx2.Request) -> None:
        if host:
            request.headers["Host"] = host
            request.extensions["sni_hostname"] = urlsplit(f"//{host}").hostname

    return name


def is_loopback(url: str) -> bool:
    """Whether the address is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Wire:
    """Exchanges with one endpoint. A `Wire` that was cut is spent: open another."""

    def __init__(
        self,
        settings: BackendSettings,
        errors: SdkErrors,
        make_client: Callable[[httpx2.Client], SdkClient],
    ) -> None:
        self._settings = settings
        self._errors = errors
        self._lines = Lines()
        try:
            self._http = http_client(settings, self._lines)
            self._sdk = make_client(self._http)
        except (httpx2.InvalidURL, ValueError, ImportError) as error:  # the address, or a proxy the environment names
            raise AttemptFailed(FailureKind.UNREACHABLE, one_line(str(error)), limit=NEVER) from error
        self.spent = False

    def cut(self) -> None:
        """Make whatever is in flight fail now."""
        self.spent = True
        self._lines.cut()

    def close(self) -> None:
        """Release the connections."""
        self.spent = True
        self._http.close()

    def fetch(self, path: str) -> dict[str, Any]:
        """A JSON document. Raises `AttemptFailed`."""
        options = {"timeout": self._settings.timeouts.models_s}
        self._lines.on_sent = None
        with self._translated():
            response = self._sdk.get(path, cast_to=httpx2.Response, options=options)
            return decode_object(response.text, path)

    def exchange(
        self, path: str, body: bytes, headers: Mapping[str, str], on_sent: Callable[[], None] | None = None
    ) -> Iterator[Streamed | Whole]:
        """Post `body` and yield the reply as it arrives. Blocks; raises `AttemptFailed`. `on_sent`: see `ModelRequest`.

        What a server answers with is told by how it begins, not by its declared content type. An abrupt end raises;
        a clean end ends the iteration, and whether the answer was complete is for the reader to judge.
        """
        self._lines.on_sent = on_sent
        with self._translated():
            response: httpx2.Response = self._sdk.post(
                path, cast_to=httpx2.Response, content=body, options={"headers": dict(headers)}, stream=True
            )
            try:
                yield from self._read(response)
            finally:
                response.close()

    def _read(self, response: httpx2.Response) -> Iterator[Streamed | Whole]:
        start, chunks = b"", self._bounded(response)
        for chunk in chunks:
            start = (start + chunk).lstrip()
            if len(start) >= _LONGEST_START:
                break
        if start.startswith(_SSE_STARTS):
            yield from _events(start, chunks)
        elif start.startswith(b"{"):
            yield Whole((start + b"".join(chunks)).decode("utf-8", "replace"))
        elif any(known.startswith(start) for known in _SSE_STARTS):
            raise dropped("the server closed the connection without an answer")
        else:
            kind = one_line(response.headers.get("content-type", "")) or "something"
            raise bad_reply(f"answered with {kind} that is neither an event stream nor JSON")

    def _bounded(self, response: httpx2.Response) -> Iterator[bytes]:
        total = 0
        for chunk in response.iter_bytes():
            total += len(chunk)
            if total > self._settings.max_reply_bytes:
                raise bad_reply(f"the reply exceeds {self._settings.max_reply_bytes} bytes", limit=1)
            yield chunk

    def _translated(self) -> _Translated:
        return _Translated(self._errors, self._settings)


def _events(start: bytes, chunks: Iterator[bytes]) -> Iterator[Streamed]:
    reader = SseReader()
    chunk: bytes | None = start
    while chunk is not None:
        events = reader.feed(chunk)
        if events:
            yield Streamed(tuple(events))
        if DONE in events:
            for _ in chunks:  # read to the end, so that the connection serves the next round too
                pass
            return
        chunk = next(chunks, None)


class _Translated:
    """Turns what the provider package and the HTTP client raise into `AttemptFailed`."""

    def __init__(self, errors: SdkErrors, settings: BackendSettings) -> None:
        self._errors = errors
        self._settings = settings

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, (AttemptFailed, GeneratorExit)):
            return
        failed = self._translate(error)
        if failed is not None:
            raise failed from error

    def _translate(self, error: BaseException) -> AttemptFailed | None:
        if isinstance(error, self._errors.status):
            return _status_failure(error)
        if isinstance(error, self._errors.connection) and isinstance(error.__cause__, Exception):
            error = error.__cause__
        if isinstance(error, httpx2.ConnectTimeout):
            return AttemptFailed(FailureKind.UNREACHABLE, "no connection within the time allowed", limit=1)
        if isinstance(error, httpx2.TimeoutException):
            silence = self._settings.timeouts.read_s
            return dropped(f"the server was silent for {silence:g} s", limit=1)
        if isinstance(error, (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError)):
            return AttemptFailed(FailureKind.UNREACHABLE, "the request cannot be sent to this address", limit=NEVER)
        if isinstance(error, httpx2.ConnectError):
            limit = NEVER if "CERTIFICATE" in str(error).upper() else None
            return AttemptFailed(FailureKind.UNREACHABLE, f"cannot connect ({one_line(str(error))})", limit=limit)
        if isinstance(error, (httpx2.RequestError, OSError)):
            return dropped(f"the connection broke ({one_line(str(error)) or type(error).__name__})")
        return None


def _status_failure(error: BaseException) -> AttemptFailed:
    response: httpx2.Response = getattr(error, "response")  # noqa: B009 - both packages' errors carry it
    body = getattr(error, "body", None)
    if response.is_redirect:
        body = f"redirect to {response.headers.get('location', '')}"
    return classify_status(response.status_code, body, parse_retry_after(response.headers))
