"""Only public addresses are ever connected to, however they are written and whoever answers with them (spec 8.5)."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from spear.web.address import _SPECIAL_V4, parsed, public_only
from spear.web.fetching import Answer, Fetch, Fetcher
from spear.web.problem import WebProblem
from tests.web.documents import Page, redirect

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.169.0.1",
          "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "::ffff:1.1.1.1",
          "64:ff9b::8.8.8.8"]  # fmt: skip
CLOSED = ["0.0.0.0", "10.0.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
          "192.168.1.1", "100.64.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "168.63.129.16",
          "::", "::1", "fe80::1", "fe80::1%lo", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1",
          "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1.1.1.1",
          "2002:7f00:1::", "2002:0a00:0001::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1", "3fff::1", "100::1",
          "5f00::1"]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address):
    assert public_only(parsed(address)) == ""


@pytest.mark.parametrize("address", CLOSED)
def test_an_address_of_anything_else_is_not(address):
    assert public_only(parsed(address))


def _v4(network: object) -> st.SearchStrategy[IPv4Address]:
    first, last = int(network[0]), int(network[-1])
    return st.integers(first, last).map(IPv4Address)


closed_v4 = st.one_of([_v4(network) for network, _ in _SPECIAL_V4])


def _within(prefix: str) -> st.SearchStrategy[IPv6Address]:
    network = IPv6Network(prefix)
    return st.integers(int(network[0]), int(network[-1])).map(IPv6Address)


def _carrying(prefix: str, shift: int) -> st.SearchStrategy[IPv6Address]:
    return closed_v4.map(lambda inner: IPv6Address(int(IPv6Address(prefix)) | int(inner) << shift))


closed_v6 = st.one_of(
    _carrying("::ffff:0:0", 0), _carrying("64:ff9b::", 0), _carrying("2002::", 80), _carrying("::", 0),
    *map(_within, ("::/96", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2002::/16", "2001::/32", "2001:db8::/32",
                   "64:ff9b:1::/48", "100::/64", "4000::/2", "8000::/1")),
)  # fmt: skip
closed = st.one_of(closed_v4, closed_v6)


def _forms(address: IPv4Address | IPv6Address) -> list[str]:
    """Hosts of a URL that mean this address."""
    if isinstance(address, IPv6Address):
        return [f"[{address}]", f"[{address.exploded.upper()}]"]
    number, parts = int(address), str(address).split(".")
    return [
        str(address), str(number), hex(number), f"0{number:o}", ".".join(f"0x{int(part):x}" for part in parts),
        ".".join(f"0{int(part):o}" for part in parts), f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{number & 0xFFFF}", f"[::ffff:{address}]", f"{address}.",
    ]  # fmt: skip


@given(address=st.one_of(st.integers(0, 2**32 - 1).map(IPv4Address), st.integers(0, 2**128 - 1).map(IPv6Address)))
def test_nothing_python_knows_to_be_local_is_public(address):
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if not (inner or address).is_global:
        assert public_only(address)


@given(address=closed)
def test_no_address_of_a_special_purpose_is_public_in_any_wrapping(address):
    assert public_only(address)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(address=closed, data=st.data())
@example(address=ip_address("127.0.0.1"), data=None)
def test_no_spelling_of_a_closed_address_is_ever_connected_to(watch, address, data):
    forms = _forms(address)
    for form in forms if data is None else [data.draw(st.sampled_from(forms))]:
        found = Fetcher().get(Fetch(f"http://{form}:9/"), seconds=5)
        assert isinstance(found, WebProblem), form
        assert found.code in ("not_public", "unknown_host", "no_address"), (form, found)
    assert watch.connected == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=st.lists(closed, min_size=1, max_size=4))
def test_no_name_that_answers_with_closed_addresses_is_ever_connected_to(watch, answers):
    def answering(host: str, port: int, **_: object) -> list:
        family = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [(family[a.version], socket.SOCK_STREAM, 6, "", (str(a), port)) for a in answers]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", answering)  # the answers of a name server nobody here may ask
        found = Fetcher().get(Fetch("http://innocent.example/"))
    assert isinstance(found, WebProblem) and found.code == "not_public" and found.refused
    assert watch.connected == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(address=closed, data=st.data(), status=st.sampled_from([301, 302, 303, 307, 308]))
def test_no_redirect_to_a_closed_address_is_ever_connected_to(watch, server, address, data, status):
    """One server here stands for the internet; whatever it points to is judged as the product judges it."""
    here = ip_address("127.0.0.1")
    assume(address != here and getattr(address, "ipv4_mapped", None) != here)
    server.pages["/"] = redirect(f"http://{data.draw(st.sampled_from(_forms(address)))}:9/", status)
    watch.connected.clear()
    found = Fetcher(lambda judged: "" if judged == here else public_only(judged)).get(Fetch(server.base), seconds=5)
    assert isinstance(found, WebProblem) and found.code in ("not_public", "unknown_host", "no_address")
    assert watch.connected == ["127.0.0.1"]


def test_an_answer_that_changes_after_it_was_judged_changes_nothing(watch, server, monkeypatch):
    """DNS rebinding: the name is looked up once, and what was judged is what is connected to."""
    server.pages["/"] = Page(b"the judged one")
    lookups = []

    def rebinding(host: str, port: int, **_: object) -> list:
        lookups.append(host)
        address = "127.0.0.1" if len(lookups) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    policy = lambda address: "" if str(address) == "127.0.0.1" else "the other one"  # noqa: E731
    found = Fetcher(policy).get(Fetch(f"http://rebinding.example:{server.port}/"))
    assert isinstance(found, Answer) and found.body == b"the judged one" and found.address == "127.0.0.1"
    assert lookups == ["rebinding.example"]
    assert watch.connected == ["127.0.0.1"]
    again = Fetcher(policy).get(Fetch(f"http://rebinding.example:{server.port}/"))
    assert isinstance(again, WebProblem) and again.code == "not_public"
    assert watch.connected == ["127.0.0.1"]


def test_of_several_answers_only_the_permitted_are_tried(watch, server, monkeypatch):
    server.pages["/"] = Page(b"here")
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, server.port)) for a in ("10.0.0.1", "127.0.0.1", "127.0.0.9")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    policy = lambda address: "" if str(address) == "127.0.0.1" else "another"  # noqa: E731
    answer = Fetcher(policy).get(Fetch(f"http://several.example:{server.port}/"))
    assert isinstance(answer, Answer) and answer.body == b"here"
    assert watch.connected == ["127.0.0.1"]
