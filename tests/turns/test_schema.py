"""`--schema FILE` in the installed program: an answer a program can read, or a status that says it is none (spec 1.3)."""

from __future__ import annotations

import json

import pytest

from spear.cli.answer_schema import AnswerMismatch, load_schema
from spear.cli.display.filtering import clean
from tests.scripted_model import ModelServer, text
from tests.turns.conftest import ASK, FIX, sh

SCHEMA = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": {"$ref": "#/$defs/file"}}, "count": {"type": "integer"}},
    "required": ["files", "count"],
    "additionalProperties": False,
    "$defs": {"file": {"type": "string", "pattern": "^src/"}},
}
GOOD = '{"files": ["src/counter.c"], "count": 1}'
QUESTION = "Which file holds counter_step?"


def ask(tree, answer: str, *words: str, schema=SCHEMA, request: str = QUESTION):
    tree.write("form.json", json.dumps(schema))
    with ModelServer([text(answer)]) as server:
        done = tree.run("-p", request, "--api-base", server.base_url, "--schema", "form.json", *words)
    return done, server.requests


def test_an_answer_that_satisfies_the_schema_is_all_of_stdout(counter):
    done, requests = ask(counter, GOOD)
    assert done.returncode == 0 and json.loads(done.stdout) == json.loads(GOOD), done.stderr
    told = requests[0]["messages"][0]["content"]
    assert json.dumps(SCHEMA) in told and "one JSON value" in told
    fenced, _ = ask(counter, f"```json\n{GOOD}\n```")
    assert fenced.returncode == 0 and fenced.stdout.strip() == GOOD


def test_the_json_result_carries_the_answer_as_its_text(counter):
    done, _ = ask(counter, f"```json\n{GOOD}\n```", "--output", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["answer"] == GOOD


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It is in src/counter.c.", "not one JSON value"),
        (f"Here it is: {GOOD}", "not one JSON value"),
        ('{"files": ["src/counter.c"], "count": "one"}', "at /count: 'one' is not of type 'integer'"),
        ('{"files": ["lib/x.c"], "count": 1}', "at /files/0"),
        ('{"count": 1}', "'files' is a required property"),
        ('{"files": [], "count": 1, "count": 2}', "a key is there twice"),
    ],
)
def test_an_answer_that_does_not_is_shown_and_said_not_to(counter, answer, said):
    done, _ = ask(counter, answer)
    assert done.returncode == 3 and "the answer does not satisfy form.json" in done.stderr and said in done.stderr
    assert done.stdout.strip() == answer


def test_a_broken_schema_is_named_with_its_place_before_any_request(counter):
    for content, said in (
        ('{\n  "type": \n}', "form.json, line 3, column 1"),
        ('{"properties": {"a": {"type": "strin"}}}', "form.json at /properties/a/type: 'strin'"),
        ('{"pattern": "("}', "form.json at /pattern"),
        ('{"properties": {"a": {"$ref": "#/$defs/none"}}}', "form.json at /properties/a/$ref"),
        ('{"$ref": "https://example.org/other.json"}', "nothing is fetched"),
        ('["type"]', "holds no JSON Schema"),
        ('{"type": "object", "type": "array"}', "a key is there twice"),
    ):
        counter.write("form.json", content)
        with ModelServer([text("never")]) as server:
            done = counter.run("-p", QUESTION, "--api-base", server.base_url, "--schema", "form.json")
        assert done.returncode == 2 and said in done.stderr and not server.requests, (content, done.stderr)
        assert not done.stdout
    for name, said in (("none.json", "there is no such file"), ("src", "no regular file")):
        done = counter.run("-p", QUESTION, "--schema", name)
        assert done.returncode == 2 and said in done.stderr and name in done.stderr
    alone = counter.run("--schema", "form.json")
    assert alone.returncode == 2 and "--schema needs -p" in alone.stderr


def test_what_was_not_shown_to_work_does_not_pass_for_an_answer(counter):
    counter.write("form.json", json.dumps(SCHEMA))
    flags = ("--schema", "form.json", "--validation", "off")
    turn = counter.turn(ASK, FIX, GOOD, flags=flags)
    assert turn.done.returncode == 3 and turn.verdict == "UNVERIFIED"
    assert turn.result["answer"].startswith("**UNVERIFIED**") and "marked so" in turn.done.stderr
    counter.git("checkout", "-q", ".")
    turn = counter.turn(ASK, FIX, sh("make test"), GOOD, flags=flags)
    assert turn.done.returncode == 0 and turn.verdict == "VERIFIED" and turn.result["answer"] == GOOD


def test_a_turn_that_stopped_early_keeps_its_own_status(counter):
    counter.write("form.json", json.dumps(SCHEMA))
    turn = counter.turn(QUESTION, sh("true"), "never", flags=("--schema", "form.json", "--max-tool-rounds", "1"))
    assert turn.done.returncode == 4 and "satisfy" not in turn.done.stderr


def test_data_that_looks_like_a_reference_is_none_and_a_schema_without_end_judges_nothing(tmp_path):
    def schema(document):
        (tmp_path / "s.json").write_text(json.dumps(document))
        return load_schema("s.json", tmp_path)

    assert schema({"const": {"$ref": "#/none"}}).accept('{"$ref": "#/none"}')
    assert schema({"properties": {"$ref": {"type": "string"}, "const": {"$ref": "#"}}}).accept("{}") == "{}"
    named = {"$id": "https://example.org/s", "$ref": "#/$defs/a", "$defs": {"a": {"$id": "a", "type": "string"}}}
    assert schema(named).accept('"x"') == '"x"'
    assert schema(True).accept("7") == "7"
    assert json.loads(clean(schema(True).accept('"a\u009b31m\u202e"'))) == "a\u009b31m\u202e"
    for document in ({"$ref": "#"}, False):
        with pytest.raises(AnswerMismatch):
            schema(document).accept("1")
    (tmp_path / "s.json").write_text(" " * (65 << 10))
    with pytest.raises(Exception, match="larger than 64 KiB"):
        load_schema("s.json", tmp_path)
