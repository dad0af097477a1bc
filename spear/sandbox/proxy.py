"""The filtering proxy: the only way out for commands that may reach listed hosts (spec 2.7, `network.allow`).

It listens on a socket inside the commands' own, otherwise empty network namespace and connects from the host's. CONNECT
and plain HTTP are served; a name is looked up here, and the very address that was judged is the one connected to.
"""

from __future__ import annotations

import contextlib
import ipaddress
import select
import socket
import threading
from collections.abc import Sequence

HEAD_BYTES = 64 * 1024
IDLE_S = 300.0
CONNECT_S = 20.0
PORTS = frozenset({80, 443})


def permitted(host: str, port: int, allowed: Sequence[str]) -> bool:
    """Whether `allowed` names this host: exactly or as `*.example.org`, with its `:port` or else for 80 and 443."""
    name = host.lower().rstrip(".")
    for entry in allowed:
        pattern, _, wanted = entry.lower().partition(":")
        if (port not in PORTS) if not wanted else (wanted != str(port)):
            continue
        if name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:]) and name != pattern[2:]):
            return True
    return False


def public_addresses(host: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    """Where `host` may be connected to: never this machine, a link-local or an unspecified address. Raises OSError."""
    found: list[tuple[int, tuple[str, int]]] = []
    for family, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        parsed = ipaddress.ip_address(str(address[0]).partition("%")[0])
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        if not (parsed.is_loopback or parsed.is_link_local or parsed.is_unspecified or parsed.is_multicast):
            found.append((family, (str(address[0]), port)))
    return found


class FilteringProxy:
    """Serves one listening socket until closed. `allowed` may be replaced between commands."""

    def __init__(self, listening: socket.socket, allowed: Sequence[str] = ()) -> None:
        self.allowed = tuple(allowed)
        self._listening = listening
        self._thread = threading.Thread(target=self._accept, name="proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting; connections end with the commands that hold them."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(2)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), name="proxy connection", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(CONNECT_S)
            head = _read_head(client)
            first, _, rest = head.partition(b"\r\n")
            words = first.decode("latin-1").split(" ")
            target = _target(words) if len(words) == 3 else None
            if target is None:
                _answer(client, "400 Bad Request", "this proxy serves CONNECT and plain HTTP")
                return
            host, port, forward = target
            if not permitted(host, port, self.allowed):
                _answer(client, "403 Forbidden", f"{host}:{port} is not among the hosts this session may reach")
                return
            upstream = _connect(host, port)
            if upstream is None:
                _answer(client, "502 Bad Gateway", f"{host}:{port} could not be reached")
                return
            with upstream:
                if words[0] == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    # One request a connection, to the host that was judged: a second one could name another.
                    upstream.sendall(
                        f"{words[0]} {forward} {words[2]}\r\n".encode("latin-1") + _headers(rest, host, port)
                    )
                _relay(client, upstream)


def _read_head(client: socket.socket) -> bytes:
    """The request's head and what came with it."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < HEAD_BYTES:
        more = client.recv(HEAD_BYTES)
        if not more:
            break
        data += more
    return data


def _target(words: list[str]) -> tuple[str, int, str] | None:
    method, url, _ = words
    if method == "CONNECT":
        host, _, port = url.rpartition(":")
        return (host.strip("[]"), int(port), "") if host and port.isdigit() else None
    if not url.startswith("http://"):
        return None
    authority, slash, path = url.removeprefix("http://").partition("/")
    authority = authority.rpartition("@")[2]
    host, colon, port = authority.rpartition(":") if not authority.endswith("]") else (authority, "", "")
    if not colon:
        host, port = authority, "80"
    return (host.strip("[]"), int(port), f"{slash or '/'}{path}") if host and port.isdigit() else None


def _headers(headers: bytes, host: str, port: int) -> bytes:
    """The headers with the host that was judged and the connection's reuse turned off; the body's start unchanged."""
    head, separator, body = headers.partition(b"\r\n\r\n")
    replaced = (b"host", b"connection", b"proxy-connection", b"proxy-authorization")
    kept = [line for line in head.split(b"\r\n") if line.partition(b":")[0].strip().lower() not in replaced]
    name = f"[{host}]" if ":" in host else host
    judged = (name if port == 80 else f"{name}:{port}").encode("latin-1")
    return b"\r\n".join([b"Host: " + judged, b"Connection: close", *kept]) + separator + body


def _connect(host: str, port: int) -> socket.socket | None:
    with contextlib.suppress(OSError):
        for family, address in public_addresses(host, port):
            upstream = socket.socket(family, socket.SOCK_STREAM)
            upstream.settimeout(CONNECT_S)
            try:
                upstream.connect(address)
            except OSError:
                upstream.close()
                continue
            return upstream
    return None


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Copy both ways until either side is done for good or nothing has moved for IDLE_S."""
    peers = {one: other, other: one}
    while peers:
        ready, _, _ = select.select(list(peers), [], [], IDLE_S)
        if not ready:
            return
        for source in ready:
            data = source.recv(64 * 1024)
            if data:
                peers[source].sendall(data)
            else:
                with contextlib.suppress(OSError):
                    peers[source].shutdown(socket.SHUT_WR)
                del peers[source]


def _answer(client: socket.socket, status: str, reason: str) -> None:
    body = f"{reason}\n".encode()
    headers = f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close"
    client.sendall(f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body)
