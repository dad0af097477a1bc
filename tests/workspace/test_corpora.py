"""The registry by command: listing, adding, removing, and splitting a tree into corpora."""

import json

import pytest

from spear.workspace.corpora import CorpusCommands, scan
from spear.workspace.projects import load_registry


@pytest.fixture
def commands(tmp_path):
    (tmp_path / "tree").mkdir()
    return CorpusCommands(tmp_path / "config/projects.json", tmp_path)


def fill(directory, files):
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        (directory / f"f{number}").write_text("")


def test_a_tree_is_added_listed_and_removed(tmp_path, commands):
    assert "spear-corpus add" in commands.answer([]).text
    done = commands.answer(
        ["add", "demo", "tree", "test_commands=make test", "test_commands=make lint A=B", "autoindex=true", "kind=c"]
    )
    assert done.status == 0
    project = load_registry(tmp_path / "config/projects.json").projects["demo"]
    assert project.root == tmp_path / "tree"
    assert project.declared.test_commands == ("make test", "make lint A=B")
    assert project.declared.autoindex is True
    assert f"demo  {tmp_path / 'tree'}  (c)" in commands.answer(["list"]).text
    assert json.loads(commands.answer(["list", "--json"]).text)[0]["test_commands"] == ["make test", "make lint A=B"]
    assert commands.answer(["rm", "demo"]).status == 0
    assert (tmp_path / "tree").is_dir()
    assert "registered: none" in commands.answer(["rm", "demo"]).text


def test_the_corpus_of_the_present_directory_is_marked(tmp_path, commands):
    commands.answer(["add", "demo", "tree"])
    inside = CorpusCommands(tmp_path / "config/projects.json", tmp_path / "tree")
    assert inside.answer(["list"]).text.startswith("* demo")
    assert commands.answer(["list"]).text.startswith("  demo")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add", "demo", "nowhere"], "not a directory"),
        (["add", "demo", "a\0b"], "not a directory"),
        (["add", "de mo", "tree"], "names are letters"),
        (["add", "demo", "tree", "indexr=x"], "did you mean `indexer`?"),
        (["add", "demo", "tree", "indexer=magic"], "`generic` or `buildsystem`"),
        (["add", "demo", "tree", "kind"], "not KEY=VALUE"),
        (["add", "demo"], "usage"),
        (["list", "--jsn"], "usage"),
        (["scan", "--max", "0"], "usage"),
        (["scan", "nowhere"], "not a directory"),
        (["nonsense"], "usage"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path, commands, words, says):
    answer = commands.answer(words)
    assert answer.status == 2
    assert says in answer.text
    assert not (tmp_path / "config/projects.json").exists()


def test_a_broken_entry_is_listed_and_can_be_removed(tmp_path, commands):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/projects.json").write_text('{"odd": {"path": 3}}')
    assert "! project odd, key path" in commands.answer(["list"]).text
    assert "problem" in json.loads(commands.answer(["list", "--json"]).text)[0]
    assert commands.answer(["rm", "odd"]).status == 0


def test_a_small_tree_is_one_corpus(tmp_path):
    fill(tmp_path / "tree/src", 10)
    fill(tmp_path / "tree/node_modules/x", 500)
    (component,) = scan(tmp_path / "tree", 100)
    assert (component.name, component.files, component.exclude) == ("tree", 10, ())


def test_a_large_tree_is_split_by_files_and_every_file_is_in_one_part(tmp_path):
    tree = tmp_path / "tree"
    fill(tree, 3)
    fill(tree / "big/one", 90)
    fill(tree / "big/two", 80)
    fill(tree / "middle", 60)
    fill(tree / "tiny", 2)
    found = {component.name: component for component in scan(tree, 100)}
    assert {name: part.files for name, part in found.items()} == {
        "tree-big-one": 90,
        "tree-big-two": 80,
        "tree-middle": 60,
        "tree": 5,
    }
    assert found["tree"].exclude == ("./big", "./middle")
    assert sum(part.files for part in found.values()) == 235


def test_scanning_registers_only_when_asked(tmp_path, commands):
    fill(tmp_path / "tree/a b", 30)
    fill(tmp_path / "tree/c", 30)
    shown = commands.answer(["scan", "tree", "--max", "40"]).text
    assert "nothing was registered" in shown
    assert not (tmp_path / "config/projects.json").exists()
    assert commands.answer(["scan", "tree", "--max", "40", "--add"]).status == 0
    projects = load_registry(tmp_path / "config/projects.json").projects
    assert sorted(projects) == ["tree-a-b", "tree-c"]


def test_components_of_one_name_are_told_apart(tmp_path):
    fill(tmp_path / "tree/x y", 30)
    fill(tmp_path / "tree/x-y", 30)
    assert [part.name for part in scan(tmp_path / "tree", 40)] == ["tree-x-y", "tree-x-y-2"]
