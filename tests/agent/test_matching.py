"""The edit engine: a table of cases, a corpus when one is given, and what must hold for any text."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.agent.matching import Edit, NoEdit, Strategy, plan
from spear.agent.matching_advice import nearest
from spear.agent.text import decode
from spear.agent.text_endings import LfView, Splice, to_lf

CASES = tomllib.loads((Path(__file__).parent / "data" / "edit_cases.toml").read_text("utf-8"))["case"]
CORPUS = os.environ.get("SPEAR_EDIT_CORPUS", "")
ROWS = [json.loads(line) for line in Path(CORPUS).read_text("utf-8").splitlines()] if CORPUS else []


def edited(raw: bytes, old: str, new: str, *, everywhere: bool = False) -> tuple[bytes, Edit | NoEdit]:
    decoded = decode(raw)
    assert decoded is not None
    view = LfView(decoded.text)
    found = plan(view.lf, to_lf(old), to_lf(new), replace_all=everywhere)
    return (decoded.encode(view.apply(found.splices)) if isinstance(found, Edit) else raw), found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    encoding = "utf-8" if case.get("utf8") else "latin-1"
    raw = case["content"].encode(encoding)
    after, found = edited(raw, case["old"], case["new"], everywhere=case.get("all", False))
    if "result" in case:
        assert isinstance(found, Edit), found
        assert after == case["result"].encode(encoding)
        assert found.strategy is Strategy(case.get("strategy", "exact"))
    else:
        assert isinstance(found, NoEdit)
        assert case["says"] in found.message
        assert after == raw


def test_every_row_of_the_corpus_that_the_environment_names():
    wrong = []
    for row in ROWS:
        old, new = row["old_string"], row["new_string"]
        after, found = edited(row["content"].encode(), old, new, everywhere=row["replace_all"])
        expected = row["expect"].get("content", row["content"])
        if isinstance(found, Edit) != row["expect"]["ok"] or after.decode() != expected:
            wrong.append(row["id"])
    assert wrong == []


def test_every_strategy_has_a_case():
    assert {Strategy(case.get("strategy", "exact")) for case in CASES if "result" in case} == set(Strategy)


TEXT = st.text(st.sampled_from("ab (\t\r\n\\n'’—é"), max_size=40)
SHORT = st.text(st.sampled_from("ab (\t\r\n\\n'’—é"), max_size=8)


@given(TEXT, SHORT, SHORT)
@settings(max_examples=400)
def test_an_exact_match_is_what_replacing_bytes_gives(content, old, new):
    content, old, new = (part.replace("\r", "") for part in (content, old, new))
    if not old or old == new or old not in content:
        return
    once, found = edited(content.encode(), old, new)
    if content.count(old) == 1:
        assert once == content.encode().replace(old.encode(), new.encode())
    else:
        assert isinstance(found, NoEdit)
    everywhere, _ = edited(content.encode(), old, new, everywhere=True)
    assert everywhere == content.encode().replace(old.encode(), new.encode())


@given(TEXT, SHORT, SHORT, st.booleans())
@settings(max_examples=400)
def test_bytes_outside_the_splices_stay_identical(content, old, new, everywhere):
    view = LfView(content)
    found = plan(view.lf, to_lf(old), to_lf(new), replace_all=everywhere)
    if isinstance(found, NoEdit):
        return
    after = view.apply(found.splices)
    originals = re.findall(r"\r\n|.", content, re.DOTALL)
    edges = [0, *(edge for splice in found.splices for edge in (splice.start, splice.end)), len(originals)]
    kept = ["".join(originals[start:end]) for start, end in zip(edges[::2], edges[1::2], strict=True)]
    assert after.startswith(kept[0])
    assert after.endswith(kept[-1])
    position = 0
    for part in kept:
        position = after.index(part, position) + len(part)


@given(st.lists(st.tuples(st.sampled_from(["a", "bb", "", "c\rd"]), st.sampled_from(["\n", "\r\n"])), max_size=12))
def test_an_edit_that_writes_the_same_text_gives_the_same_bytes(lines):
    content = "".join(text + ending for text, ending in lines)
    view = LfView(content)
    assert view.apply([]) == content
    assert view.apply([Splice(0, len(view.lf), view.lf)]) == content


@given(st.binary(max_size=200))
def test_decoding_is_undone_by_encoding(raw):
    decoded = decode(raw)
    assert decoded is None or decoded.encode(decoded.text) == raw


BODY = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["a()", "b()", "if c:", "d = 1"])), min_size=2, max_size=8)


@given(BODY, st.data())
@settings(max_examples=300)
def test_any_uniform_restyling_of_the_quote_changes_one_line_and_doubles_no_indent(body, data):
    """The file uses tabs; the model quotes it in spaces, or shifted by whole levels, and changes one line."""
    width = data.draw(st.sampled_from([2, 4]))
    shift = data.draw(st.integers(0, 2))
    changed = data.draw(st.integers(0, len(body) - 1))
    file_lines = ["\t" * depth + f"{text} #{n}" for n, (depth, text) in enumerate(body)]
    quoted = [" " * width * (depth + shift) + f"{text} #{n}" for n, (depth, text) in enumerate(body)]
    wanted = [*quoted[:changed], quoted[changed] + " new", *quoted[changed + 1 :]]
    content = "head\n" + "\n".join(file_lines) + "\ntail\n"
    after, found = edited(content.encode(), "\n".join(quoted), "\n".join(wanted))
    assert isinstance(found, Edit)
    expected = [*file_lines[:changed], file_lines[changed] + " new", *file_lines[changed + 1 :]]
    assert after.decode() == "head\n" + "\n".join(expected) + "\ntail\n"


@given(TEXT, TEXT)
def test_advice_never_fails(content, old):
    region = nearest(content, old)
    assert region is None or 1 <= region[0] <= content.count("\n") + 1


@given(TEXT, TEXT, TEXT, st.booleans())
@settings(max_examples=300)
def test_a_refused_edit_has_a_message_and_an_edit_has_sorted_splices(content, old, new, everywhere):
    found = plan(to_lf(content), to_lf(old), to_lf(new), replace_all=everywhere)
    if isinstance(found, NoEdit):
        assert found.message
    else:
        ends = [edge for splice in found.splices for edge in (splice.start, splice.end)]
        assert ends == sorted(ends)


def test_a_large_file_with_long_blank_runs_is_searched_in_bounded_time():
    content = ("x" + " " * 3000 + "y\n") * 300
    found = plan(content, " z = 1\n\tq", "new")
    assert isinstance(found, NoEdit)
