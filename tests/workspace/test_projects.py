"""The registry tells what is declared, and what is wrong with an entry, without giving up the others."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.errors import ConfigurationError
from spear.workspace.projects import (
    ProjectEntry,
    Registry,
    add_project,
    load_registry,
    load_tree_declaration,
    remove_project,
)

EXAMPLE = Path(__file__).resolve().parents[2] / "projects.json.example"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "projects.json"


def written(file: Path, entries: object) -> Registry:
    file.write_text(json.dumps(entries), encoding="utf-8")
    return load_registry(file)


def test_the_template_is_valid():
    for name, entry in json.loads(EXAMPLE.read_text()).items():
        ProjectEntry.model_validate_json(json.dumps(entry))
        assert name


def test_the_template_shows_every_key_but_the_normative_ones():
    shown = {key for entry in json.loads(EXAMPLE.read_text()).values() for key in entry}
    assert shown | {"normative_checks", "normative_applicability"} == set(ProjectEntry.model_fields)


def test_a_registered_tree_is_found_from_any_directory_in_it(root, file):
    (root / "src/inner").mkdir()
    registry = written(file, {"outer": {"path": str(root)}, "inner": {"path": str(root / "src/inner")}})
    assert registry.detect(root / "src").name == "outer"
    assert registry.detect(root / "src/inner").name == "inner"
    assert registry.detect(root.parent) is None


def test_relative_paths_start_from_the_corpus_root(root, file):
    file.write_text(json.dumps({"tree": {"path": root.name}}))
    assert load_registry(file, root.parent).projects["tree"].root == root


def test_a_tree_that_is_gone_is_a_notice(root, file):
    registry = written(file, {"gone": {"path": "/nowhere/at/all"}, "here": {"path": str(root), "corpora": ["gone"]}})
    assert list(registry.projects) == ["here"]
    assert "gone" in registry.notices[0]
    assert "corpus gone" in registry.notices[1]


@pytest.mark.parametrize(
    ("entry", "key", "says"),
    [
        ({"path": "/x", "indexer": "magic"}, "indexer", "`generic` or `buildsystem`"),
        ({"path": "/x", "test_commands": "make test"}, "test_commands", "a list of shell commands"),
        ({"path": "/x", "test_commands": ["make", 3]}, "test_commands", "a list of shell commands"),
        ({"path": "/x", "test_comands": []}, "test_comands", "did you mean `test_commands`?"),
        ({"path": "/x", "autoindex": "yes"}, "autoindex", "true or false"),
        ({"indexer": "generic"}, "path", "is missing"),
        ({"path": ""}, "path", "an absolute path"),
        ({"path": "/x", "collection": "../y"}, "collection", "the name of the index"),
        ({"path": "a\0b"}, "path", "does not name a directory"),
        ({"path": "~nobody-of-this-name/x"}, "path", "does not name a directory"),
        ("/x", "", "must be an object"),
    ],
)
def test_a_wrong_entry_is_named_with_its_key_and_the_others_stay(root, file, entry, key, says):
    registry = written(file, {"wrong": entry, "right": {"path": str(root)}})
    assert list(registry.projects) == ["right"]
    (problem,) = registry.problems
    assert (problem.entry, problem.key) == ("wrong", key)
    assert says in problem.line()


def test_a_missing_registry_is_empty(file):
    assert load_registry(file).projects == {}


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", '{"a": {"path": "/x"}, "a": {"path": "/y"}}', '{"path": "F:\\d"}', "[" * 100_000]
)
def test_a_registry_that_is_no_object_is_an_error_with_a_way_out(file, text):
    file.write_text(text)
    with pytest.raises(ConfigurationError) as error:
        load_registry(file)
    assert str(file) in error.value.message
    assert error.value.hint


def test_entries_are_added_and_removed_and_the_rest_is_kept(root, file):
    file.write_text(json.dumps({"odd": {"path": 3}}))
    assert add_project(file, "tree", {"path": str(root), "test_commands": ["make test"]}) == ()
    assert add_project(file, "tree", {"path": str(root)})[0].entry == "tree"
    assert add_project(file, "bad", {"path": str(root), "indexer": "x"})[0].key == "indexer"
    registry = load_registry(file)
    assert registry.projects["tree"].declared.test_commands == ("make test",)
    assert registry.problems[0].entry == "odd"
    assert remove_project(file, "odd")
    assert not remove_project(file, "odd")
    assert list(json.loads(file.read_text())) == ["tree"]
    assert [path.name for path in file.parent.glob(".projects-*")] == []


def test_a_tree_declares_itself_and_is_trusted_by_digest(root):
    assert load_tree_declaration(root) is None
    (root / ".spear").mkdir()
    data = b'test_commands = ["make test"]\nprotected = ["gen/*"]\n'
    (root / ".spear/project.toml").write_bytes(data)
    found = load_tree_declaration(root)
    assert found.digest == hashlib.sha256(data).hexdigest()
    assert found.declared.test_commands == ("make test",)


@pytest.mark.parametrize("text", ["test_commands = [", "path = '/etc'", "test_commands = 3", "\udcff"])
def test_a_wrong_declaration_is_reported_and_declares_nothing(root, text):
    (root / ".spear").mkdir()
    (root / ".spear/project.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    found = load_tree_declaration(root)
    assert found.declared is None
    assert found.problems


@pytest.mark.parametrize("kind", ["pipe", "link", "directory", "endless"])
def test_a_declaration_that_is_no_plain_file_is_reported_and_blocks_nobody(root, kind):
    (root / ".spear").mkdir()
    place = root / ".spear/project.toml"
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "link":
            (root / "other.toml").write_text('test_commands = ["make"]')
            place.symlink_to("../other.toml")
        case "directory":
            place.mkdir()
        case "endless":
            place.write_text("#" * 300_000)
    found = load_tree_declaration(root)
    assert found.declared is None
    assert "is not used" in found.problems[0].line()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entries=st.dictionaries(
        st.text(max_size=6), st.dictionaries(st.sampled_from(list(ProjectEntry.model_fields)), JSON) | JSON, max_size=3
    )
)
def test_whatever_an_entry_holds_the_good_one_is_usable(root, file, entries):
    registry = written(file, {**entries, "good": {"path": str(root)}})
    assert registry.projects["good"].root == root
