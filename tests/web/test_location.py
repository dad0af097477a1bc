"""An address is read strictly: what is requested is what was written, or nothing is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.web.location import Location, location_of, redirected
from spear.web.problem import WebProblem


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org", "https://example.org/"),
        (" HTTP://Example.ORG:80/a?b=c#d ", "http://example.org/a?b=c"),
        ("https://example.org:8443/é?q=ü", "https://example.org:8443/%C3%A9?q=%C3%BC"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("http://[2606:4700::1111]/x", "http://[2606:4700::1111]/x"),
        ("http://1.2.3.4:80/", "http://1.2.3.4/"),
        ("https://e.org/a%20b/(c)~d;e=f&g", "https://e.org/a%20b/(c)~d;e=f&g"),
    ],
)
def test_an_address_is_requested_as_it_is_written(text, url):
    found = location_of(text)
    assert isinstance(found, Location) and found.url == url


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("file:///etc/passwd", "scheme"), ("ftp://e.org/", "scheme"), ("gopher://e.org/", "scheme"), ("e.org", "scheme"),
        ("javascript:alert(1)", "scheme"), ("data:text/html,x", "scheme"), ("//e.org/", "scheme"), ("", "scheme"),
        ("https://user:pw@e.org/", "credentials"), ("https://user@e.org/", "credentials"),
        ("http://public.example\\@127.0.0.1/", "credentials"), ("http://e.org\\.evil.example/", "no_address"),
        ("https:///x", "no_address"), ("https://e.org:0/", "no_address"), ("https://e.org:99999/", "no_address"),
        ("https://e.org/a b", "no_address"), ("https://e.org/\r\nHost: x", "no_address"), ("http://[::1", "no_address"),
        ("http://[fe80::1%25eth0]/", "no_address"), ("http://e.org\x00/", "no_address"), ("http://" + "a" * 3000, "no_address"),
        ("http://-e.org/", "no_address"), ("http://e%00.org/", "no_address"), ("http://[v1.x]/", "no_address"),
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_said_to_be_none(text, code):
    found = location_of(text)
    assert isinstance(found, WebProblem) and found.code == code and found.reason


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_a_sentence(text):
    found = location_of("http://e.org/" + text)
    if isinstance(found, Location):
        assert found.host == "e.org" or "@" in text
        assert found.target.isascii() and not set(found.target) & set(" \r\n\t")


@given(st.text(max_size=40))
def test_a_redirect_leads_to_http_or_nowhere(reference):
    start = location_of("https://e.org/a/b?c")
    assert isinstance(start, Location)
    found = redirected(start, reference)
    assert isinstance(found, WebProblem) or found.scheme in ("http", "https")


def test_a_redirect_may_be_relative():
    start = location_of("https://e.org/a/b?c")
    assert isinstance(start, Location)
    for reference, url in (("x", "https://e.org/a/x"), ("/y z", "https://e.org/y%20z"), ("//f.org/", "https://f.org/"),
                           ("http://g.org", "http://g.org/")):  # fmt: skip
        found = redirected(start, reference)
        assert isinstance(found, Location) and found.url == url
    assert isinstance(redirected(start, "file:///etc/passwd"), WebProblem)
