"""Arguments are one JSON object, and valid against the schema the provider declared."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.capabilities.arguments import ArgumentProblem, checked, decoded

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@given(st.text() | JSON.map(json.dumps))
def test_only_objects_are_decoded_and_nothing_raises(text):
    found = decoded(text)
    assert isinstance(found, ArgumentProblem) or found == json.loads(text)


@given(st.dictionaries(st.text(), JSON))
def test_every_object_is_decoded_as_written(value):
    assert decoded(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"{}"',
        "{} {}",
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 2}}',
        "{" * 99_999,
    ],
)
def test_anything_else_is_a_problem(text):
    assert isinstance(decoded(text), ArgumentProblem)


def test_every_wrong_argument_is_named():
    problem = checked({"n": "x", "m": 1}, SCHEMA)
    assert problem is not None
    assert "argument n: 'x' is not of type 'integer'" in problem.reason
    assert "'m' was unexpected" in problem.reason
    assert checked({"n": 1}, SCHEMA) is None


def test_an_empty_schema_takes_every_object():
    assert checked({"a": [1]}, {}) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"properties": {"n": {"$ref": "#/nowhere"}}},
        {"properties": {"n": {"$ref": "#/properties/n"}}},
    ],
)
def test_a_schema_that_cannot_be_used_is_a_problem_of_the_declaration(schema):
    problem = checked({"n": 1}, schema)
    assert problem is not None
    assert problem.declared


def test_nothing_is_fetched_for_a_reference():
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        checking = pool.submit(checked, {"n": 1}, {"properties": {"n": {"$ref": address}}})
        listener.settimeout(1)
        with pytest.raises(TimeoutError):
            listener.accept()
        problem = checking.result(5)
    assert problem is not None
    assert problem.declared
