"""A real web server on this machine, and a watch over every connection: none leaves this machine, whatever a test says."""

from __future__ import annotations

import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import pytest
import trustme

from spear.web.address import Address
from tests.web.documents import Page


class Watch:
    """Addresses that were connected to while it was on. Anything but this machine is stopped before a packet leaves."""

    def __init__(self) -> None:
        self.on = False
        self.connected: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or event != "socket.connect" or not isinstance(arguments[1], tuple):
            return
        self.connected.append(str(arguments[1][0]))
        if not ip_address(self.connected[-1].partition("%")[0]).is_loopback:
            raise PermissionError("a test may not leave this machine")


_WATCH = Watch()
sys.addaudithook(_WATCH)


@pytest.fixture
def watch() -> Iterator[Watch]:
    _WATCH.connected.clear()
    _WATCH.on = True
    yield _WATCH
    _WATCH.on = False


def this_machine(address: Address) -> str:
    """The policy of tests that need a server: this machine is what they may reach."""
    return "" if address.is_loopback else "not this machine"


class PageServer:
    """Serves `pages` by path; a page may be made per request. `asked` holds path and headers of what was requested."""

    def __init__(self, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.pages: dict[str, Page | Callable[[BaseHTTPRequestHandler], Page | None]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.closing = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                page = server.pages.get(self.path.partition("?")[0])
                found = page(self) if callable(page) else page
                if found is None and callable(page):
                    self.close_connection = True
                    return
                found = found or Page(b"nothing here", status=404)
                self.send_response(found.status, found.reason or None)
                headers = {"Content-Type": found.media, "Content-Length": str(len(found.body)), **found.headers}
                for name, value in headers.items():
                    if value:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(found.body)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer((address, port), Handler)
        self._http.daemon_threads = True
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.port = self._http.server_address[1]
        self.base = f"{'https' if tls else 'http'}://{address}:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


@pytest.fixture
def server() -> Iterator[PageServer]:
    made = PageServer()
    yield made
    made.close()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[PageServer]:
    """A server whose certificate is for localhost and 127.0.0.1."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    made = PageServer(tls=context)
    yield made
    made.close()


@pytest.fixture
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context
