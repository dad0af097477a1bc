"""What a body is and its text, read by a real process that a stranger's document can neither fill nor hold."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.web.fetching import Answer
from spear.web.location import Location
from spear.web.pages import Pages, pages_of
from spear.web.problem import WebProblem
from spear.web.reader.html import html_text
from spear.web.reading import Document, Kind, decoded, kind_of, read
from tests.web.documents import pdf

PLACE = Location("https", "e.org", 443, "/docs/page")


def answer(body: bytes, media: str = "text/html", charset: str = "") -> Answer:
    return Answer(PLACE, "192.0.2.1", media, charset, body)


def text_of(html: str) -> str:
    return html_text(html.encode(), PLACE.url)["text"]


@pytest.mark.parametrize(
    ("body", "media", "kind"),
    [
        (b"<p>x", "text/html", Kind.HTML), (b"<p>x", "application/xhtml+xml", Kind.HTML), (b"\n<!DOCTYPE html>x", "", Kind.HTML),
        (b"<html>", "text/plain", Kind.HTML), (b"%PDF-1.7\n", "application/octet-stream", Kind.PDF),
        (b"%PDF-1.7\n", "text/html", Kind.PDF), (b"{}", "application/json", Kind.TEXT), (b"{}", "application/ld+json", Kind.TEXT),
        (b"a,b", "text/csv", Kind.TEXT), (b"x", "", Kind.TEXT), (b"x\0y", "", Kind.BINARY), (b"x", "image/png", Kind.BINARY),
        (b"x\0", "application/octet-stream", Kind.BINARY), (b"plain", "application/octet-stream", Kind.TEXT),
    ],
)  # fmt: skip
def test_a_body_is_what_it_begins_as_or_is_said_to_be(body, media, kind):
    assert kind_of(answer(body, media)) is kind


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("é".encode(), "", "é"), ("é".encode("latin-1"), "", "é"), ("é".encode("latin-1"), "iso-8859-1", "é"),
        (b"\xef\xbb\xbf\xc3\xa9", "latin-1", "é"), ("é".encode("utf-16"), "", "é"), (b"\x93x\x94", "", "“x”"),
        (b"<meta charset=shift_jis>\x82\xa0", "", "<meta charset=shift_jis>あ"), (b"x", "no-such-charset", "x"),
        (b"x", "base64", "x"),
    ],
)  # fmt: skip
def test_bytes_become_text_by_mark_declaration_or_content(data, charset, text):
    assert decoded(data, charset, html=True) == text


def test_a_text_that_was_cut_may_end_within_a_character():
    assert decoded("éé".encode()[:-1], "", cut=True) == "é\ufffd"


def test_html_keeps_headings_lists_tables_code_and_links():
    page = """<html><head><title> A &amp; B </title><style>b{}</style></head><body><script>evil()</script>
    <nav><ul><li><a href="/a">A</a></li><li>B<ol><li>x<li>y</ol></li></ul></nav><h2>Head</h2>
    <p>some <b>bold</b> and <code>code()</code>
    text<br>next &lt;tag&gt;</p><pre><code>int a;
      b;

    c</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
    <img src=x alt="a picture"><a href="javascript:x()">no</a><a href="#part">part</a><!-- hidden --></body></html>"""
    found = read(answer(page.encode()))
    assert isinstance(found, Document) and found.title == "A & B"
    assert found.text == (
        "- A <https://e.org/a>\n- B\n  1. x\n  2. y\n\n## Head\n\nsome bold and `code()` text\nnext <tag>\n\n"
        "```\nint a;\n      b;\n\n    c\n```\n\nk | v\n1 | 2\n\n[image: a picture]nopart"
    )


def test_what_is_not_shown_is_not_read():
    assert (
        text_of(
            "<p>a</p><template>b</template><noscript>c</noscript><svg><text>d</text></svg><select><option>e</select>"
        )
        == "a"
    )


@given(st.text(max_size=300))
def test_any_text_in_a_page_comes_out_or_is_markup_and_nothing_is_raised(text):
    assert isinstance(text_of(text), str)


@given(st.lists(st.sampled_from(["<p>", "</p>", "<ul>", "<li>", "</ul>", "<pre>", "</pre>", "<table>", "<td>", "</div>", "<a href=x>",
                                 "</a>", "<code>", "x", " ", "\n", "<ol>", "</ol>", "<h1>", "<br>"]), max_size=40))  # fmt: skip
def test_any_nesting_of_tags_is_read(parts):
    html = "".join(parts)
    assert text_of(html).count("x") == html.replace("href=x", "").count("x") + text_of(html).count("/docs/x")


def test_ranges_of_pages_are_read_as_written():
    assert [pages_of(text) for text in ("", " ", "7", "3-9", "10-", " 2 - 3 ")] == [
        None, None, Pages(7, 7), Pages(3, 9), Pages(10, None), Pages(2, 3),
    ]  # fmt: skip
    for text in ("0", "-3", "9-3", "a", "1,2", "1-2-3", "١", "9999999"):
        assert isinstance(pages_of(text), str), text


def test_a_pdf_is_read_by_pages():
    document = pdf([f"Text of page {n}" for n in range(1, 31)], "The title")
    found = read(answer(document, "application/pdf"))
    assert isinstance(found, Document)
    assert (found.kind, found.title, found.pages, found.first, found.last) == (Kind.PDF, "The title", 30, 1, 20)
    assert found.text.startswith("[page 1]\nText of page 1\n\n[page 2]\n")
    some = read(answer(document, "application/pdf"), Pages(29, None))
    assert isinstance(some, Document) and some.text == "[page 29]\nText of page 29\n\n[page 30]\nText of page 30"
    beyond = read(answer(document, "application/pdf"), Pages(31, 40))
    assert isinstance(beyond, WebProblem) and "30 pages" in beyond.reason
    page = read(answer(b"<p>x"), Pages(1, 1))
    assert isinstance(page, WebProblem) and page.code == "no_pages"


@pytest.mark.parametrize("cut", [9, 200, 700])
def test_a_damaged_pdf_is_said_to_be_damaged_or_read(cut):
    found = read(answer(pdf(["one", "two"])[:cut], "application/pdf"))
    assert isinstance(found, WebProblem | Document)
    if cut == 9:
        assert isinstance(found, WebProblem) and "damaged" in found.reason


@settings(max_examples=15, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_after_the_head_of_a_pdf_are_answered(data):
    assert isinstance(read(answer(b"%PDF-1.4\n" + data, "application/pdf")), WebProblem | Document)


def test_a_binary_is_no_text():
    found = read(answer(b"\x89PNG\r\n\x1a\n\0", "image/png"))
    assert isinstance(found, WebProblem) and found.code == "no_text" and "image/png" in found.reason


def test_a_page_that_keeps_its_reader_busy_is_given_up():
    """Minutes of work for a parser, half a megabyte to send."""
    found = read(answer(b"<div>" * 100_000), seconds=1.0)
    assert isinstance(found, WebProblem) and found.code == "unreadable" and "busy" in found.reason
    assert _readers() == []


def test_reading_ends_when_the_operator_stops():
    stop = iter([False] * 3)
    found = read(answer(b"<div>" * 100_000), cancelled=lambda: next(stop, True))
    assert isinstance(found, WebProblem) and found.code == "cancelled"
    assert _readers() == []


def test_a_page_that_takes_all_memory_is_given_up():
    found = read(answer(b"<a b=c>" * 2_300_000), seconds=60)
    assert isinstance(found, WebProblem) and found.code == "unreadable"
    assert _readers() == []


def test_the_reader_can_open_nothing(tmp_path):
    """What a flaw in a parser could do is tried in its place: no file, no socket, no process."""
    import subprocess
    import sys

    secret = tmp_path / "secret"
    secret.write_text("x", encoding="utf-8")
    code = (
        "import os, socket, sys\nfrom spear.web.reader.__main__ import _shut_in\n_shut_in()\n"
        "tries = {'open': lambda: open(sys.argv[1]), 'socket': lambda: socket.socket(), 'write': lambda: open(sys.argv[1], 'w')}\n"
        "for name, attempt in tries.items():\n"
        "    try:\n        attempt()\n        print(name)\n    except OSError:\n        pass\n"
    )
    done = subprocess.run([sys.executable, "-c", code, secret], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def _readers() -> list[str]:
    """Processes of this test that still read."""
    deadline = time.monotonic() + 5
    found = ["?"]
    while found and time.monotonic() < deadline:
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii").split()
        found = [pid for pid in children if b"spear.web.reader" in _command(pid)]
    return found


def _command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
