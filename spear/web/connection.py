"""A connection to an address that was judged: the name is looked up once, and what was judged is what is connected to.

No second lookup happens, so an answer that changes in between (DNS rebinding) changes nothing. Every wait is cut into
slices that look at the deadline and at the operator.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import select
import socket
import ssl
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from spear.web.address import AddressPolicy, parsed
from spear.web.location import Location
from spear.web.patience import Patience
from spear.web.problem import WebProblem, WebStop

CONNECT_S = 10.0
"""Seconds one address has to accept; the next one is tried after that."""

_MOST_ADDRESSES = 6
_Result = TypeVar("_Result")
_Found = tuple[socket.AddressFamily, tuple[str, int]]


class Connection:
    """A connected socket, TLS included. `address` is the one it is connected to."""

    def __init__(self, plain: socket.socket, address: str, patience: Patience) -> None:
        self.address = address
        self._socket: socket.socket | ssl.SSLSocket = plain
        self._patience = patience

    def secure(self, tls: ssl.SSLContext, host: str) -> None:
        """Speak TLS from now on, with a certificate for `host`. Raises WebStop."""
        wrapped = tls.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
        self._socket = wrapped
        try:
            self._until_done(wrapped.do_handshake)
        except ssl.SSLCertVerificationError as error:
            raise WebStop(
                WebProblem(
                    "certificate", f"its certificate is not accepted: {error.verify_message.lower()}",
                    "nothing was read; where every site fails, the operator can run: apt install ca-certificates",
                )
            ) from error  # fmt: skip
        except OSError as error:
            raise _broken(error) from error

    def send(self, data: bytes) -> None:
        """Send all of `data`. Raises WebStop."""
        left = data
        while left:
            try:
                left = left[self._until_done(partial(self._socket.send, left), select.POLLOUT) :]
            except OSError as error:
                raise _broken(error) from error

    def receive(self, most: int) -> bytes:
        """Some bytes; empty at the end. Raises WebStop."""
        try:
            return self._until_done(lambda: self._socket.recv(most))
        except ssl.SSLEOFError:
            return b""  # a server that hangs up without saying so: what it promised is counted by whoever reads
        except OSError as error:
            raise _broken(error) from error

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def _until_done(self, attempt: Callable[[], _Result], plainly: int = select.POLLIN) -> _Result:
        """The result of `attempt`, once the socket lets it happen. `plainly` is what to wait for without TLS."""
        while True:
            try:
                return attempt()
            except ssl.SSLWantReadError:
                events = select.POLLIN
            except ssl.SSLWantWriteError:
                events = select.POLLOUT
            except BlockingIOError:
                events = plainly
            _ready(self._socket, events, self._patience.slice())


def connect(location: Location, policy: AddressPolicy, tls: ssl.SSLContext, patience: Patience) -> Connection:
    """A connection to one of the addresses of `location` that `policy` lets pass. Raises WebStop."""
    found = _looked_up(location, patience)
    permitted, why = _permitted(found, policy)
    if not permitted:
        what = f"{location.host} is {why.removeprefix(f'{location.host}, ')}"
        raise WebStop(WebProblem("not_public", what, "only public addresses are fetched", refused=True))
    last: OSError | None = None
    for family, address in permitted[:_MOST_ADDRESSES]:
        try:
            plain = _connected(family, address, patience)
        except OSError as error:
            last = error
            continue
        connection = Connection(plain, address[0], patience)
        try:
            if location.scheme == "https":
                connection.secure(tls, location.host)
        except BaseException:
            connection.close()
            raise
        return connection
    said = last.strerror.lower() if last is not None and last.strerror else "no answer"
    raise WebStop(WebProblem("unreachable", f"{location.authority} cannot be reached: {said}"))


def _permitted(found: list[_Found], policy: AddressPolicy) -> tuple[list[_Found], str]:
    """The addresses that may be connected to, and what the first of the others is."""
    permitted: list[_Found] = []
    refused = ""
    for family, address in found:
        what = policy(parsed(address[0]))
        if not what:
            permitted.append((family, address))
        refused = refused or (f"{address[0]}, {what}" if what else "")
    return permitted, refused


def _looked_up(location: Location, patience: Patience) -> list[_Found]:
    """Every address of the host. The lookup itself cannot be cut short: it is left behind on its thread."""
    answers: queue.SimpleQueue[list[_Found] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            given = socket.getaddrinfo(location.host, location.port, type=socket.SOCK_STREAM)
            answers.put([(entry[0], (str(entry[4][0]), location.port)) for entry in given])
        except (OSError, UnicodeError) as error:
            answers.put(error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error)))

    threading.Thread(target=look_up, name="look-up", daemon=True).start()
    while True:
        try:
            found = answers.get(timeout=patience.slice())
        except queue.Empty:
            continue
        if isinstance(found, OSError):
            said = (found.strerror or str(found)).lower()
            raise WebStop(WebProblem("unknown_host", f"{location.host} cannot be looked up: {said}")) from found
        return found


def _connected(family: socket.AddressFamily, address: tuple[str, int], patience: Patience) -> socket.socket:
    """A non-blocking socket connected to this very address. Raises OSError."""
    plain = socket.socket(family, socket.SOCK_STREAM)
    try:
        plain.setblocking(False)
        code = plain.connect_ex(address)
        waited = 0.0
        while code in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            pause = patience.slice()
            if _ready(plain, select.POLLOUT, pause):
                code = plain.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                break
            waited += pause
            if waited >= CONNECT_S:
                code = errno.ETIMEDOUT
        if code:
            raise OSError(code, os.strerror(code))
    except BaseException:
        plain.close()
        raise
    return plain


def _ready(waiting: socket.socket, events: int, seconds: float) -> bool:
    """Whether one of `events` came within `seconds`. `select` would stop at descriptor 1023."""
    poll = select.poll()
    poll.register(waiting, events)
    return bool(poll.poll(seconds * 1000))


def _broken(error: OSError) -> WebStop:
    said = getattr(error, "reason", None) or error.strerror or str(error)
    return WebStop(WebProblem("broken", f"the connection broke: {str(said).lower()}"))
