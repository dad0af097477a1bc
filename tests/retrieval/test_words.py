"""Identifiers in parts, and queries from any text."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.retrieval.words import MixedCase, Query, parts


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("parseHttpHeader", ("parse", "Http", "Header")),
        ("HTTPServer2", ("HTTP", "Server", "2")),
        ("plain", ()),
        ("getURL", ("get", "URL")),
    ],
)
def test_mixed_case_is_split_where_a_reader_would(identifier, expected):
    assert parts(identifier) == expected


def test_the_parts_of_a_text_are_those_of_its_mixed_identifiers():
    assert MixedCase().of("self.assertEqual(plain, ringBuffer); ringBuffer") == "assert Equal ring Buffer"
    assert MixedCase().of("Nothing here, in plain Words.") == ""


def test_a_letter_outside_of_ascii_ends_an_identifier():
    assert MixedCase().of("caféFooBar, naïveRing") == "Foo Bar ve Ring"
    assert MixedCase().of("\ud800ringBuffer\x00getURL") == "ring Buffer get URL"


@given(st.text(alphabet="aBé9_ .\n", max_size=40))
def test_the_parts_of_a_text_are_those_of_every_identifier_with_a_hump(text):
    humps = [word for word in re.findall("[a-zA-Z0-9]+", text) if re.search("[a-z0-9][A-Z]", word)]
    assert MixedCase().of(text) == " ".join(" ".join(parts(word)) for word in dict.fromkeys(humps))


@given(st.text())
def test_any_text_has_parts(text):
    assert isinstance(MixedCase().of(text), str)


@given(st.one_of(st.text(), st.text(alphabet='abAB_"*():^-+.{} ORANDNEAR\x00', max_size=60)))
def test_any_text_is_a_query_that_sqlite_can_read(text):
    query = Query.of(text)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (a, tokenize = 'porter unicode61')")
    connection.execute("INSERT INTO t VALUES ('ab or and near')")
    if not query.is_empty:
        connection.execute("SELECT * FROM t WHERE t MATCH ?", (query.expression(),)).fetchall()
    connection.close()


def test_filling_words_count_only_when_there_is_nothing_else():
    assert Query.of("where is the ring").terms == ("ring",)
    assert Query.of("to be or not").terms == ("not",)
    assert Query.of("the").terms == ("the",)
    assert Query.of("où est le tampon").terms == ("tampon",)


def test_what_can_only_be_a_name_is_told_from_words():
    assert Query.of("where is read_file or RingBuffer used").names == {"read_file", "ringbuffer"}
    assert Query.of("seal").names == {"seal"}
    assert Query.of("open the file").names == frozenset()


def test_a_query_has_an_end():
    assert len(Query.of(" ".join(f"w{n}" for n in range(500))).terms) == 48
