"""Kept output: whole, private, paged, and no way out of its directory."""

from __future__ import annotations

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.state.results import MissingResult, Page, ResultStore


def kept(store: ResultStore, call_id: str, output: bytes) -> str:
    path = store.reserve(call_id)
    path.write_bytes(output)
    return f"s1/{path.name}"


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "tool-results", "s1")


def test_output_is_read_back_in_pages(store):
    ref = kept(store, "call_1", b"0123456789")
    assert ref == "s1/call_1"
    first = store.read(ref, 0, 4)
    assert (first.data, first.total, first.next_offset) == (b"0123", 10, 4)
    last = store.read(ref, 8, 4)
    assert (last.data, last.next_offset) == (b"89", None)
    assert store.read(ref, 99).data == b""


def test_bytes_that_are_no_text_are_shown_escaped(store):
    assert store.read(kept(store, "c", b"caf\xe9 \xc3\xa9")).text == "caf\\xe9 é"


def test_no_two_calls_are_given_the_same_file(store, tmp_path):
    path, other = store.reserve("call_0"), store.reserve("call_0")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.write_bytes(b"a")
    other.write_bytes(b"b")
    assert (store.read(f"s1/{path.name}").data, store.read(f"s1/{other.name}").data) == (b"a", b"b")
    resumed = ResultStore(tmp_path / "tool-results", "s1").reserve("call_0")
    assert resumed not in (path, other)


def test_a_deleted_output_is_reported_and_is_no_crash(store):
    path = store.reserve("c")
    missing = store.read(f"s1/{path.name}")
    assert isinstance(missing, MissingResult)
    assert "deleted" in missing.reason


@pytest.mark.parametrize(
    "ref", ["", "s1", "../s1/c", "s1/../../etc/passwd", "/etc/passwd", "s1/c/d", "s1/\0", "./c", "s1/."]
)
def test_a_reference_cannot_walk_out(store, ref):
    assert isinstance(store.read(ref), MissingResult)


@given(ids=st.lists(st.text(max_size=80), min_size=1, max_size=4, unique=True))
def test_any_id_a_model_chooses_becomes_a_file_of_its_own(tmp_path_factory, ids):
    store = ResultStore(tmp_path_factory.mktemp("r"), "s1")
    refs = [kept(store, call, f"{n}".encode()) for n, call in enumerate(ids)]
    pages = [store.read(ref) for ref in refs]
    assert [page.data for page in pages if isinstance(page, Page)] == [f"{n}".encode() for n in range(len(ids))]
    assert len(list((store.prepare()).iterdir())) == len(ids)
