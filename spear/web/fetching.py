"""Fetching one address: redirects followed one judged step at a time, bytes and seconds bounded (spec 8.5).

No cookies, no credentials, no referrer and no proxy: a proxy would look the name up itself, and what it connects to
could not be judged.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spear import __version__
from spear.web.address import AddressPolicy, public_only
from spear.web.body import ENCODINGS, collected
from spear.web.connection import Connection, connect
from spear.web.location import Location, location_of, redirected
from spear.web.patience import Patience
from spear.web.problem import WebProblem, WebStop

if TYPE_CHECKING:
    import h11

BODY_BYTES = 16 << 20
"""Bytes of a body that are taken, on the wire and unpacked."""
FETCH_S = 60.0
"""Seconds a fetch may take in all, redirects and look-ups included."""
MOST_REDIRECTS = 5

_HEAD_BYTES = 64 * 1024
_RECEIVE = 64 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGENT = f"spear-chat/{__version__}"
_ACCEPT = "text/html, text/plain, application/pdf, application/json;q=0.9, */*;q=0.5"

Judge = Callable[[Location], WebProblem | None]
"""Asked before each step, the first one included, and before its host is looked up."""


def _anyone(_: Location) -> WebProblem | None:
    return None


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request. `whole` demands all of the body, for what is useless in part; else its beginning will do."""

    url: str
    judge: Judge = _anyone
    cancelled: Callable[[], bool] = lambda: False
    whole: bool = False
    accept: str = _ACCEPT
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with the first request alone: a redirect leads to somebody else."""
    redirects: int = MOST_REDIRECTS
    limit: int = BODY_BYTES


@dataclass(frozen=True, slots=True)
class Answer:
    """What was fetched. `media` is the declared type in lower case, `charset` the declared one, "" where there is none;
    `address` the one connected to last; `cut` says that the body has more bytes than were taken."""

    location: Location
    address: str
    media: str
    charset: str
    body: bytes
    cut: bool = False


class Fetcher:
    """Fetches with one policy about addresses. `tls` is what certificates are judged by, the system's by default."""

    def __init__(self, policy: AddressPolicy = public_only, tls: ssl.SSLContext | None = None) -> None:
        self._policy = policy
        self._tls = tls

    def get(self, fetch: Fetch, seconds: float = FETCH_S) -> Answer | WebProblem:
        """The body behind an address, or why there is none. Takes at most `seconds`."""
        patience = Patience(seconds, fetch.cancelled)
        found: Location | WebProblem = location_of(fetch.url)
        headers = fetch.headers
        for _ in range(fetch.redirects + 1):
            if isinstance(found, WebProblem):
                return found
            problem = fetch.judge(found)
            if problem is not None:
                return problem
            try:
                step = self._step(found, fetch, headers, patience)
            except WebStop as stop:
                return stop.problem
            if isinstance(step, Answer):
                return step
            found, headers = redirected(found, step), {}
        if isinstance(found, WebProblem):
            return found
        return WebProblem("redirects", f"it redirects more than {fetch.redirects} times, at last to {found.url}")

    def _step(self, location: Location, fetch: Fetch, headers: Mapping[str, str], patience: Patience) -> Answer | str:
        """One request: the answer, or where it redirects to. Raises WebStop."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        connection = connect(location, self._policy, self._tls, patience)
        try:
            return _exchange(connection, location, fetch, headers)
        finally:
            connection.close()


def _exchange(connection: Connection, location: Location, fetch: Fetch, headers: Mapping[str, str]) -> Answer | str:
    import h11

    talk = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=_HEAD_BYTES)
    sent = {
        "Host": location.authority, "User-Agent": _AGENT, "Accept": fetch.accept, "Accept-Encoding": ENCODINGS,
        "Connection": "close", **headers,
    }  # fmt: skip
    try:
        request = h11.Request(method="GET", target=location.target, headers=list(sent.items()))
        connection.send(talk.send(request) or b"")
        connection.send(talk.send(h11.EndOfMessage()) or b"")
        response = _response(talk, connection)
        given = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if response.status_code in _REDIRECTS and given.get("location"):
            return given["location"]
        if not 200 <= response.status_code < 300:
            raise WebStop(_declined(location, response))
        _fits(given, fetch)
        body = collected(_pieces(talk, connection), given.get("content-encoding", ""), fetch.limit)
    except h11.ProtocolError as error:
        raise WebStop(WebProblem("protocol", f"it does not answer in HTTP: {str(error).lower()}")) from error
    if body.cut and fetch.whole:
        raise WebStop(_too_large(fetch.limit))
    media, charset = _media(given.get("content-type", ""))
    return Answer(location, connection.address, media, charset, body.data, body.cut)


def _response(talk: h11.Connection, connection: Connection) -> h11.Response:
    import h11

    while True:
        event = talk.next_event()
        if event is h11.NEED_DATA:
            talk.receive_data(connection.receive(_RECEIVE))
        elif isinstance(event, h11.Response):
            return event
        elif not isinstance(event, h11.InformationalResponse):
            raise WebStop(WebProblem("protocol", "it hung up without an answer"))


def _pieces(talk: h11.Connection, connection: Connection) -> Iterator[bytes]:
    import h11

    while True:
        event = talk.next_event()
        if event is h11.NEED_DATA:
            talk.receive_data(connection.receive(_RECEIVE))
        elif isinstance(event, h11.Data):
            yield bytes(event.data)
        else:
            return


def _declined(location: Location, response: h11.Response) -> WebProblem:
    said = re.sub(r"[^\x20-\x7e]", "", response.reason.decode("latin-1"))[:60]
    return WebProblem("status", f"{location.url} answers {response.status_code} {said}".rstrip())


def _fits(given: Mapping[str, str], fetch: Fetch) -> None:
    """Nothing is begun that is known to be too large."""
    length = given.get("content-length", "")
    if fetch.whole and length.isdigit() and int(length) > fetch.limit:
        raise WebStop(_too_large(fetch.limit))


def _too_large(limit: int) -> WebProblem:
    return WebProblem("too_large", f"it is larger than {limit >> 20} MiB, the most that is fetched")


def _media(given: str) -> tuple[str, str]:
    media, _, parameters = given.partition(";")
    charset = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", parameters, re.I)
    return media.strip().lower(), charset[1].lower() if charset else ""
