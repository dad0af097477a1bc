"""Schemas are the documented ones and cheap; arguments are made to fit or the field is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.tools import READ_ONLY, SCHEMAS, coerce

BY_NAME = {schema.name: schema for schema in SCHEMAS}


def test_the_six_tools_have_the_documented_arguments_in_order():
    assert {name: list(schema.parameters["properties"]) for name, schema in BY_NAME.items()} == {
        "read_file": ["path", "offset", "limit"],
        "search_files": ["pattern", "target", "path", "file_glob", "limit", "offset", "output_mode", "context"],
        "patch": ["path", "old_string", "new_string", "replace_all"],
        "write_file": ["path", "content"],
        "delete_file": ["path", "reason"],
        "terminal": ["command", "timeout", "workdir"],
    }
    assert set(BY_NAME) >= READ_ONLY


def test_the_schemas_are_cheap():
    wire = [
        {"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.parameters}}
        for s in SCHEMAS
    ]
    assert len(json.dumps(wire)) < 5_500


def test_defaults_are_filled_in():
    assert coerce(BY_NAME["read_file"], {"path": "f"}) == {"path": "f", "offset": 1, "limit": 2000}
    assert coerce(BY_NAME["terminal"], {"command": "x"}) == {"command": "x", "timeout": 180}
    assert coerce(BY_NAME["search_files"], {"pattern": "x"}) == {
        "pattern": "x",
        "target": "content",
        "path": ".",
        "limit": 50,
        "offset": 0,
        "output_mode": "content",
        "context": 0,
    }


@pytest.mark.parametrize(
    ("given_value", "expected"), [("3", 3), (3, 3), ("3.0", 3), (3.0, 3), (" 7 ", 7), ("-2", -2), (None, 1)]
)
def test_integers(given_value, expected):
    fitted = coerce(BY_NAME["read_file"], {"path": "f", "offset": given_value})
    assert isinstance(fitted, dict)
    assert fitted["offset"] == expected


@pytest.mark.parametrize("wrong", ["3.7", "x", "inf", "nan", True, [1], {}, "", "1e400"])
def test_what_is_no_integer_is_named(wrong):
    answer = coerce(BY_NAME["read_file"], {"path": "f", "offset": wrong})
    assert isinstance(answer, str)
    assert answer.startswith("read_file: offset must be an integer, not ")


@pytest.mark.parametrize(
    ("given_value", "expected"), [("true", True), ("False", False), (1, True), (0, False), (True, True)]
)
def test_booleans(given_value, expected):
    call = {"path": "f", "old_string": "a", "new_string": "b", "replace_all": given_value}
    fitted = coerce(BY_NAME["patch"], call)
    assert isinstance(fitted, dict)
    assert fitted["replace_all"] is expected


def test_strings():
    assert coerce(BY_NAME["delete_file"], {"path": 7, "reason": True}) == {"path": "7", "reason": "true"}
    assert "content must be a string" in str(coerce(BY_NAME["write_file"], {"path": "f", "content": {"a": 1}}))
    assert "target must be one of content, files" in str(
        coerce(BY_NAME["search_files"], {"pattern": "x", "target": "dirs"})
    )


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_each_missing_required_argument_is_named(name):
    for field in BY_NAME[name].parameters["required"]:
        complete = dict.fromkeys(BY_NAME[name].parameters["required"], "x")
        for missing in ({**complete, field: None}, {key: value for key, value in complete.items() if key != field}):
            answer = coerce(BY_NAME[name], missing)
            assert isinstance(answer, str)
            assert f"required argument {field} is missing" in answer


def test_missing_content_may_be_a_cut_off_call():
    assert "cut off" in str(coerce(BY_NAME["write_file"], {"path": "f"}))


def test_an_unknown_argument_is_named_with_the_nearest_and_the_list():
    answer = coerce(BY_NAME["patch"], {"path": "f", "old_str": "a", "new_string": "b"})
    assert answer == (
        "patch: unknown argument old_str (did you mean old_string?); "
        "it takes path, old_string, new_string, replace_all."
    )


def test_names_and_patterns_hold_no_nul_and_no_lone_surrogate():
    assert "path must be text without NUL" in str(coerce(BY_NAME["read_file"], {"path": "a\0b"}))
    assert "pattern must be text" in str(coerce(BY_NAME["search_files"], {"pattern": "\ud83d"}))
    assert isinstance(coerce(BY_NAME["write_file"], {"path": "f", "content": "\0"}), dict)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(st.sampled_from(SCHEMAS), st.data())
def test_any_json_object_fits_or_is_answered_with_a_sentence(schema, data):
    names = [*schema.parameters["properties"], "other"]
    arguments = data.draw(st.dictionaries(st.sampled_from(names), JSON, max_size=5))
    fitted = coerce(schema, arguments)
    if isinstance(fitted, str):
        assert fitted.startswith(f"{schema.name}: ")
        assert coerce(schema, arguments) == fitted
    else:
        assert coerce(schema, fitted) == fitted
