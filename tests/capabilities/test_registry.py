"""`capabilities.json`: one wrong entry names itself and leaves the others; scope decides where a provider applies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spear.capabilities.registry import Place, ProviderEntry, Task, load
from spear.errors import ConfigurationError

GOOD = {"id": "good", "command": ["server"], "scope": "global"}
TEMPLATE = Path(__file__).parents[2] / "capabilities.json.example"


def registry(tmp_path, *entries):
    file = tmp_path / "capabilities.json"
    file.write_text(json.dumps({"providers": list(entries)}))
    return load(file)


def test_the_template_is_valid():
    found = load(TEMPLATE)
    assert [entry.id for entry in found.providers] == ["tracker", "boards"]
    assert found.problems == ()


def test_a_missing_file_is_an_empty_registry(tmp_path):
    assert load(tmp_path / "none.json").providers == ()


@pytest.mark.parametrize(
    ("change", "key", "told"),
    [
        ({"write": "always"}, "write", "`refuse`, `confirm` or `allow`"),
        ({"tasks": ["normative"]}, "tasks", "`general`, `implementation`, `mixed`"),
        ({"timeout": 0}, "timeout", "above 0"),
        ({"timeout": 601}, "timeout", "at most 600"),
        ({"timeout": "5"}, "timeout", "seconds"),
        ({"enabled": "yes"}, "enabled", "true or false"),
        ({"scope": "everywhere"}, "scope", "`corpus NAME[, NAME…]`"),
        ({"scope": "path"}, "scope", "`path DIR`"),
        ({"id": "a/b"}, "id", "letters, digits"),
        ({"id": "good\n"}, "id", "letters, digits"),
        ({"command": []}, "command", "a list of words"),
        ({"command": "server --stdio"}, "command", "a list of words"),
        ({"command": ["./server"]}, "command", "absolute path"),
        ({"url": "https://example.org/mcp"}, "command", "exactly one of"),
        ({"command": None}, "command", "exactly one of"),
        ({"command": None, "url": "ftp://example.org"}, "url", "http or https"),
        ({"command": None, "url": "http://[::1"}, "url", "http or https"),
        ({"headers": {"A": "b"}}, "headers", "of `env`"),
        ({"command": None, "url": "http://h/", "headers": {"A": "${HOME}"}}, "headers", "of `env`"),
        ({"env": ["A=b"]}, "env", "variable names"),
        ({"comand": ["x"]}, "comand", "did you mean `command`"),
        ({"colour": 1}, "colour", "known keys: id, command"),
    ],
)
def test_a_wrong_entry_names_itself_its_key_and_what_is_accepted(tmp_path, change, key, told):
    found = registry(tmp_path, {**GOOD, "id": "bad", **change}, GOOD)
    assert [entry.id for entry in found.providers] == ["good"]
    (problem,) = found.problems
    assert problem.key == key
    assert told in problem.line()
    assert change.get("id", "bad") in problem.line()


def test_an_entry_that_is_no_object_or_has_no_id_is_named_by_its_number(tmp_path):
    found = registry(tmp_path, GOOD, 7, {"command": ["x"]})
    assert [problem.entry for problem in found.problems] == ["number 2", "number 3"]


def test_the_first_of_two_entries_with_one_name_holds(tmp_path):
    found = registry(tmp_path, GOOD, {**GOOD, "command": ["other"]})
    assert [entry.command for entry in found.providers] == [("server",)]
    assert "is there twice" in found.problems[0].line()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"providers": {}}',
        '{"providers": [], "provider": []}',
        "{",
        '{"providers": [], "providers": []}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_registry_is_an_error_that_names_it(tmp_path, text):
    file = tmp_path / "capabilities.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=r"capabilities\.json"):
        load(file)


def applies(tmp_path, scope, *, corpus=None, workspace=None, task=Task.IMPLEMENTATION, **keys):
    found = registry(tmp_path, {**GOOD, "scope": scope, **keys})
    admitted, withheld = found.applicable(Place(workspace or tmp_path, corpus, task))
    assert len(admitted) + len(withheld) == 1
    return [each.reason for each in withheld] or True


def test_a_scope_says_where_a_provider_applies(tmp_path):
    here = tmp_path / "tree"
    (here / "part").mkdir(parents=True)
    (tmp_path / "tree-other").mkdir()
    (tmp_path / "link").symlink_to(here)
    assert applies(tmp_path, "global") is True
    assert applies(tmp_path, "corpus demo, other", corpus="other") is True
    assert applies(tmp_path, "corpus demo", corpus=None) == ["its scope is `corpus demo`"]
    assert applies(tmp_path, "corpus demo", corpus="demo2") == ["its scope is `corpus demo`"]
    assert applies(tmp_path, f"path {here}", workspace=here / "part") is True
    assert applies(tmp_path, f"path {here}", workspace=tmp_path / "link") is True
    assert applies(tmp_path, f"path {here}", workspace=tmp_path / "tree-other") != True  # noqa: E712 — a list of reasons
    assert "no scope" in applies(tmp_path, None)[0]
    assert applies(tmp_path, "global", enabled=False) == ["it is disabled"]


def test_tasks_say_what_a_provider_serves_and_general_is_not_among_them_by_default(tmp_path):
    assert applies(tmp_path, "global", task=Task.MIXED) is True
    assert "this one is general" in applies(tmp_path, "global", task=Task.GENERAL)[0]
    assert applies(tmp_path, "global", task=Task.GENERAL, tasks=["general"]) is True


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://127.0.0.1:8000/mcp", False),
        ("http://localhost/", False),
        ("http://[::1]:1/", False),
        ("http://127.9.9.9/", False),
        ("https://127.0.0.1.example.org/", True),
        ("http://10.0.0.1/", True),
    ],
)
def test_only_an_address_of_another_machine_takes_the_network(url, remote):
    assert ProviderEntry(id="a", url=url).remote is remote
