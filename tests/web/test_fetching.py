"""Fetching from a real server: redirects judged step by step, bytes, seconds and packing bounded (spec 8.5)."""

from __future__ import annotations

import gzip
import itertools
import socket
import time
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.web.body import Body, collected
from spear.web.fetching import BODY_BYTES, Answer, Fetch, Fetcher
from spear.web.problem import WebProblem, WebStop
from tests.web.conftest import PageServer, this_machine
from tests.web.documents import Page, redirect


def fetch(url: str, fetcher: Fetcher | None = None, seconds: float = 20, **more: object) -> Answer | WebProblem:
    return (fetcher or Fetcher(this_machine)).get(Fetch(url, **more), seconds)


def test_a_page_comes_with_its_type_and_the_address_it_came_from(server):
    server.pages["/a"] = Page("héllo".encode(), 'Text/HTML; Charset="UTF-8"')
    found = fetch(f"{server.base}/a?b=c#d")
    assert isinstance(found, Answer)
    assert (found.body, found.media, found.charset, found.address) == (
        "héllo".encode(),
        "text/html",
        "utf-8",
        "127.0.0.1",
    )
    path, headers = server.asked[0]
    assert path == "/a?b=c"
    assert headers["host"] == f"127.0.0.1:{server.port}" and headers["user-agent"].startswith("spear-chat/")
    assert not {"cookie", "authorization", "referer"} & set(headers)


def test_the_policy_of_the_product_reaches_no_server_here(server, watch):
    server.pages["/"] = Page(b"secret")
    for host in ("127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1"):
        found = Fetcher().get(Fetch(f"http://{host}:{server.port}/"))
        assert isinstance(found, WebProblem) and found.code == "not_public" and found.refused, host
        assert "this machine" in found.reason
    assert server.asked == [] and watch.connected == []


def test_every_step_of_a_redirect_is_judged_anew(server, watch):
    other = PageServer("127.0.0.2")
    try:
        server.pages["/"] = redirect(f"{other.base}/inner")
        other.pages["/inner"] = Page(b"inner")
        only = lambda address: "" if str(address) == "127.0.0.1" else "not the first"  # noqa: E731
        found = fetch(server.base, Fetcher(only))
        assert isinstance(found, WebProblem) and found.code == "not_public"
        assert other.asked == [] and watch.connected == ["127.0.0.1"]
        steps: list[str] = []

        def judge(step):
            steps.append(step.url)

        followed = fetch(server.base, judge=judge)
        assert (
            isinstance(followed, Answer)
            and followed.body == b"inner"
            and followed.location.url == f"{other.base}/inner"
        )
        assert steps == [f"{server.base}/", f"{other.base}/inner"]
    finally:
        other.close()


def test_a_judge_stops_a_step_before_its_host_is_looked_up(server, monkeypatch):
    server.pages["/"] = redirect("http://never.example/")
    looked_up: list[str] = []
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *a, **k: (looked_up.append(host), real(host, *a, **k))[1])
    no = WebProblem("no", "not that one", refused=True)
    found = fetch(server.base, judge=lambda step: no if step.host == "never.example" else None)
    assert found is no and looked_up == ["127.0.0.1"]


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://e.org/", "https://u:p@e.org/", "http://[::1/"])
def test_a_redirect_out_of_the_web_leads_nowhere(server, to):
    server.pages["/"] = redirect(to)
    assert isinstance(fetch(server.base), WebProblem)
    assert server.paths == ["/"]


def test_redirects_end(server):
    server.pages["/"] = redirect("/")
    found = fetch(server.base)
    assert isinstance(found, WebProblem) and found.code == "redirects"
    assert len(server.asked) == 6


def test_headers_of_one_request_do_not_follow_a_redirect(server):
    server.pages["/"] = redirect("/there")
    server.pages["/there"] = Page(b"x")
    assert isinstance(fetch(server.base, headers={"X-Subscription-Token": "k"}), Answer)
    assert [("x-subscription-token" in headers) for _, headers in server.asked] == [True, False]


@pytest.mark.parametrize(("status", "reason"), [(404, "Not Found"), (500, "Oops"), (403, "Forbidden"), (304, "x")])
def test_an_error_of_the_server_is_said(server, status, reason):
    server.pages["/"] = Page(b"", status=status, reason=reason)
    found = fetch(server.base)
    assert isinstance(found, WebProblem) and found.code == "status" and str(status) in found.reason


def test_what_cannot_be_reached_is_said_to_be_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = fetch(f"http://127.0.0.1:{port}/")
    assert isinstance(found, WebProblem) and found.code == "unreachable" and "refused" in found.reason


# --- TLS ----------------------------------------------------------------------------------------------------------------


def test_a_certificate_is_judged_by_the_name_that_was_asked_for(secure, trusting):
    secure.pages["/"] = Page(b"secret")
    found = fetch(f"https://localhost:{secure.port}/", Fetcher(this_machine, trusting))
    assert isinstance(found, Answer) and found.body == b"secret"
    stranger = fetch(f"https://127.0.0.2:{secure.port}/", Fetcher(this_machine, trusting))
    assert isinstance(stranger, WebProblem)


def test_a_certificate_nobody_vouches_for_is_not_accepted(secure):
    found = fetch(secure.base)
    assert isinstance(found, WebProblem) and found.code == "certificate"
    assert secure.asked == []


def test_a_certificate_for_another_name_is_not_accepted(authority, trusting):
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("other.example").configure_cert(context)
    server = PageServer(tls=context)
    try:
        server.pages["/"] = Page(b"x")
        found = fetch(f"https://localhost:{server.port}/", Fetcher(this_machine, trusting))
        assert isinstance(found, WebProblem) and found.code == "certificate" and server.asked == []
    finally:
        server.close()


def test_a_server_that_speaks_no_tls_is_said_to_be_broken(server, trusting):
    found = fetch(f"https://127.0.0.1:{server.port}/", Fetcher(this_machine, trusting))
    assert isinstance(found, WebProblem) and found.code == "broken"


# --- bounds -------------------------------------------------------------------------------------------------------------


def stream(handler, pieces, **headers: str) -> None:
    """Send a response whose body has no end of its own, until the other side hangs up."""
    handler.send_response(200)
    for name, value in {"Content-Type": "text/plain", "Connection": "close", **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    try:
        for piece in pieces:
            handler.wfile.write(piece)
    except OSError:
        handler.server_hung_up = True


def test_a_body_without_end_is_cut_at_the_cap(server):
    sent = itertools.count()
    server.pages["/"] = lambda handler: stream(handler, (b"x" * 65536 for _ in sent))
    found = fetch(server.base)
    assert isinstance(found, Answer) and found.cut and len(found.body) == BODY_BYTES
    whole = fetch(server.base, whole=True)
    assert isinstance(whole, WebProblem) and whole.code == "too_large"
    assert next(sent) * 65536 < 4 * BODY_BYTES


def test_what_says_that_it_is_too_large_is_not_begun(server):
    sent = []

    def huge(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(BODY_BYTES + 1))
        sent.append(handler.path)
        handler.end_headers()

    server.pages["/"] = huge
    found = fetch(server.base, whole=True)
    assert isinstance(found, WebProblem) and found.code == "too_large" and sent == ["/"]


def test_a_bomb_unfolds_to_the_cap_and_no_further(server):
    bomb = gzip.compress(b"\0" * (BODY_BYTES * 8), 9)
    server.pages["/"] = Page(bomb, "text/plain", headers={"Content-Encoding": "gzip"})
    found = fetch(server.base)
    assert isinstance(found, Answer) and found.cut and len(found.body) == BODY_BYTES
    whole = fetch(server.base, whole=True)
    assert isinstance(whole, WebProblem) and whole.code == "too_large"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_a_packing_nobody_asked_for_is_not_unpacked(server, encoding):
    server.pages["/"] = Page(b"x", headers={"Content-Encoding": encoding})
    found = fetch(server.base)
    assert isinstance(found, WebProblem) and found.code == "packing"


def test_a_body_that_breaks_off_is_no_body(server):
    def broken(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"only this")

    server.pages["/"] = broken
    found = fetch(server.base)
    assert isinstance(found, WebProblem) and found.code == "protocol"


def test_a_server_that_drips_is_left_when_the_time_is_up(server):
    """A byte now and then keeps no call alive: the deadline is over all of it, the head included."""

    def drip(handler):
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not server.closing.wait(0.02):
                handler.wfile.write(b"x")
                handler.wfile.flush()
        except OSError:
            return

    server.pages["/"] = drip
    found = fetch(server.base, seconds=0.5)
    assert isinstance(found, WebProblem) and found.code == "timeout"


def test_a_silent_server_is_left_when_the_operator_stops(server):
    server.pages["/"] = lambda _: server.closing.wait(10) and None
    stop = iter([False] * 3)
    found = fetch(server.base, cancelled=lambda: next(stop, True))
    assert isinstance(found, WebProblem) and found.code == "cancelled"


def test_a_head_without_end_is_left(server):
    def endless(handler):
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in itertools.count():
                handler.wfile.write(b"X-%d: %s\r\n" % (number, b"y" * 1000))
        except OSError:
            return

    server.pages["/"] = endless
    found = fetch(server.base)
    assert isinstance(found, WebProblem) and found.code == "protocol"


def test_what_is_no_http_is_said_to_be_none(server):
    server.pages["/"] = lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9\r\n" * 5) and None
    found = fetch(server.base)
    assert isinstance(found, WebProblem) and found.code == "protocol"


def test_no_proxy_of_the_environment_is_used(server, monkeypatch, watch):
    server.pages["/"] = Page(b"direct")
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.9:1/")
    found = fetch(server.base)
    assert isinstance(found, Answer) and watch.connected == ["127.0.0.1"]


# --- packing, without a network -----------------------------------------------------------------------------------------


def _raw(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKINGS = {
    "": lambda data: data,
    "gzip": lambda data: gzip.compress(data),
    "x-gzip": lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]) + b"\0" * 9,
    "deflate": zlib.compress,
}


@given(
    data=st.binary(max_size=3000) | st.integers(0, 300_000).map(lambda n: b"a" * n), name=st.sampled_from([*PACKINGS, "raw"]),
    size=st.integers(1, 5000), limit=st.integers(0, 400_000),
)  # fmt: skip
def test_what_was_packed_comes_out_as_it_was_and_never_more_than_the_limit(data, name, size, limit):
    packed = _raw(data) if name == "raw" else PACKINGS[name](data)
    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]
    found = collected(pieces, "deflate" if name == "raw" else name, limit)
    assert found.data == data[: len(found.data)] and len(found.data) <= limit
    if max(len(data), len(packed)) <= limit:
        assert found == Body(data, cut=False)
    if len(data) > limit:
        assert found.cut


@given(packed=st.binary(max_size=200), name=st.sampled_from(["gzip", "deflate"]))
def test_bytes_that_are_not_what_they_are_said_to_be_raise_one_thing(packed, name):
    code = ""
    try:
        collected([packed], name, 1000)
    except WebStop as stop:
        code = stop.problem.code
    assert code in ("", "damaged")


def test_a_packing_that_breaks_off_is_said_to_be_cut():
    packed = gzip.compress(bytes(range(256)) * 40)
    assert collected([packed[:60]], "gzip", 100_000).cut


def test_a_call_is_over_when_its_time_is(server):
    """Bounded: a name server that never answers holds a call no longer than its deadline."""
    never = time.monotonic() + 60
    server.pages["/"] = Page(b"x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *_, **__: server.closing.wait(30) and [])
        found = fetch("http://slow.example/", seconds=0.3)
    assert isinstance(found, WebProblem) and found.code == "timeout"
    assert time.monotonic() < never


def test_a_packing_that_unfolds_to_nothing_ends_at_the_cap_on_the_wire():
    pulled = itertools.count()
    found = collected((gzip.compress(b"") * 100 for _ in pulled), "gzip", 100_000)
    assert found == Body(b"", cut=True) and next(pulled) < 60


def test_a_bomb_is_never_in_memory_whole():
    bomb = gzip.compress(b"\0" * (64 << 20), 9)
    tracemalloc.start()
    try:
        assert collected([bomb], "gzip", 100_000).cut
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
