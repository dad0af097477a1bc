"""What of the network a command gets, and what it never does."""

import os
import shutil
import socket
import threading

import pytest

from spear.sandbox import network
from spear.sandbox.proxy import FilteringProxy, permitted

# The gateway is where user-mode stacks show the loopback of the host unless told not to.
LOOPBACK = """for h in 127.0.0.1 localhost 10.0.2.2 ::1 {own} $(ip route | awk '/^default/ {{print $3}}'); do
    (timeout 1 bash -c "echo > /dev/tcp/$h/{port}") 2>/dev/null
done; true
"""


@pytest.fixture
def listener():
    """A service on every address of the host, and the connections it saw."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        hits = []

        def accept():
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                hits.append(peer)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], hits
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_without_the_network_there_is_a_loopback_and_nothing_else(host):
    done = host.run("cat /proc/net/dev; getent hosts example.org || echo NORESOLVE; ls /etc/resolv.conf /etc/ssl/certs")
    assert [
        line.split(":")[0].strip() for line in done.output.splitlines() if ":" in line and "No such" not in line
    ] == ["lo"]
    assert "NORESOLVE" in done.output
    assert done.output.count("No such file") == 2


def test_every_command_has_a_network_namespace_of_its_own(host):
    first, second = (host.run("readlink /proc/self/ns/net; sleep 0.05").output for _ in range(2))
    assert first.split()[0] != os.readlink("/proc/self/ns/net")
    assert "net:" in second


def test_a_server_and_its_client_in_one_command_meet(host):
    serve = "/usr/bin/python3 -m http.server 8123 >/dev/null 2>&1 &"
    ask = "curl -s -m 1 -o /dev/null http://127.0.0.1:8123/ && { echo met; break; }"
    assert host.run(f"{serve} for i in $(seq 60); do {ask}; sleep 0.05; done").output == "met\n"


@pytest.mark.parametrize("kind", ["none", "full", "listed"])
def test_the_loopback_of_the_host_is_never_reached(host, listener, kind):
    port, hits = listener
    own = socket.gethostbyname(socket.gethostname())
    socket.create_connection(("127.0.0.1", port)).close()
    while not hits:
        pass
    hits.clear()
    attack = LOOPBACK.format(own=own, port=port) + (
        f"curl -s -m 3 http://127.0.0.1:{port}/; curl -s -m 3 --noproxy '' http://localhost:{port}/; "
        f"curl -s -m 3 --noproxy '' http://[::ffff:127.0.0.1]:{port}/"
    )
    host.run(attack, network=kind, allowed=[f"localhost:{port}", f"127.0.0.1:{port}", f"::ffff:127.0.0.1:{port}"])
    assert hits == []


def test_a_full_network_is_attached_or_its_absence_is_said(host):
    done = host.run("cat /proc/net/route; cat /etc/resolv.conf; timeout 2 bash -c 'echo > /dev/tcp/169.254.169.254/80'",
                    network="full")  # fmt: skip
    if os.access("/dev/net/tun", os.W_OK) and host.user.pw_name == "root":
        assert done.network == "full", done.notes
        assert "00000000" in done.output
        assert "nameserver" in done.output
        assert "No route to host" in done.output
    elif done.network == "none":
        assert any("commands have no network" in note for note in done.notes)
    again = host.run("true", network="full")
    assert again.network == done.network


def test_a_missing_helper_is_named_with_the_package(tmp_path):
    problem = network.attach(network.Namespace(0, 0), lambda: False, search_path=str(tmp_path))
    assert "install passt" in problem


def test_a_helper_that_fails_is_quoted(tmp_path):
    for name in ("pasta", "slirp4netns"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'no tun here' >&2\nexit 3\n")
        (tmp_path / name).chmod(0o755)
    problem = network.attach(network.Namespace(0, 0), lambda: False, search_path=str(tmp_path))
    assert problem == "slirp4netns could not attach the network: no tun here"


def test_listed_hosts_are_reached_through_the_proxy_and_others_are_not(host):
    done = host.run("curl -s -m 5 http://not-listed.example/; curl -s -m 5 https://not-listed.example/ ; echo $?; "
                    "curl -s -m 5 -o /dev/null -w '%{http_code}' http://listed.invalid/; cat /proc/net/route | wc -l",
                    network="listed", allowed=["listed.invalid"])  # fmt: skip
    assert done.network == "listed"
    assert "not-listed.example:80 is not among the hosts" in done.output
    assert "\n56\n" in done.output
    assert done.output.rstrip().endswith("5021"), done.output


@pytest.mark.parametrize(
    ("name", "port", "allowed", "answer"),
    [
        ("example.org", 443, ["example.org"], True),
        ("EXAMPLE.org.", 80, ["example.org"], True),
        ("example.org", 22, ["example.org"], False),
        ("example.org", 22, ["example.org:22"], True),
        ("example.org", 443, ["example.org:22"], False),
        ("a.example.org", 443, ["*.example.org"], True),
        ("example.org", 443, ["*.example.org"], False),
        ("evilexample.org", 443, ["*.example.org", "example.org"], False),
        ("example.org.evil.net", 443, ["example.org"], False),
        ("anything", 443, [], False),
    ],
)
def test_which_hosts_a_list_permits(name, port, allowed, answer):
    assert permitted(name, port, allowed) is answer


def test_the_proxy_forwards_what_was_judged_and_rewrites_the_host(monkeypatch):
    seen = []
    with socket.create_server(("127.0.0.1", 0)) as upstream, socket.create_server(("127.0.0.1", 0)) as front:
        port = upstream.getsockname()[1]
        # The one address a test can serve is one the proxy refuses; the refusal has its own test above.
        monkeypatch.setattr(
            "spear.sandbox.proxy.public_addresses", lambda host, port: [(socket.AF_INET, ("127.0.0.1", port))]
        )
        proxy = FilteringProxy(front.dup(), [f"listed.example:{port}"])

        def serve():
            connection, _ = upstream.accept()
            with connection:
                seen.append(connection.recv(4096))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

        thread = threading.Thread(target=serve)
        thread.start()
        with socket.create_connection(front.getsockname()) as client:
            client.sendall(
                f"GET http://listed.example:{port}/p?q HTTP/1.1\r\nHost: other.example\r\nX: y\r\n\r\n".encode()
            )
            answer = b""
            while part := client.recv(4096):
                answer += part
        thread.join(5)
        proxy.close()
    assert answer.endswith(b"hi")
    assert seen[0].startswith(b"GET /p?q HTTP/1.1\r\n")
    assert f"Host: listed.example:{port}\r\n".encode() in seen[0]
    assert b"other.example" not in seen[0]


def test_the_tools_these_tests_need_are_there():
    assert shutil.which("pasta") or shutil.which("slirp4netns")
