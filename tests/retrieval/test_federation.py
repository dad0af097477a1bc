"""Several corpora, one answer: the size of a corpus decides nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spear.errors import ConfigurationError
from spear.retrieval.federation import corpora_of, corpus_of, fuse_ranks, search_corpora
from spear.retrieval.indexing import IndexOptions, finish, index_tree
from spear.state.directory import StateDirectory
from spear.workspace.projects import Declaration, Project, Registry, load_registry


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def registry(tmp_path: Path, **entries: dict[str, object]) -> Registry:
    for name in entries:
        (tmp_path / name).mkdir(exist_ok=True)
    file = tmp_path / "projects.json"
    file.write_text(json.dumps({name: {"path": name, **entry} for name, entry in entries.items()}))
    found = load_registry(file)
    assert not found.problems
    return found


def names(corpora) -> list[str]:
    return [corpus.name for corpus in corpora]


def test_a_session_searches_its_own_corpus_what_it_federates_and_what_is_shared(tmp_path, state):
    found = registry(tmp_path, mine={"corpora": ["lib"]}, lib={}, other={}, manual={"shared": True})
    mine = found.projects["mine"]
    assert names(corpora_of(found, mine, mine.root, state)) == ["mine", "lib", "manual"]
    assert names(corpora_of(found, mine, mine.root, state, also=["other"], without=["lib"])) == [
        "mine",
        "manual",
        "other",
    ]
    assert names(corpora_of(found, mine, mine.root, state, without=["mine"])) == ["lib", "manual"]
    assert names(corpora_of(found, None, tmp_path, state)) == [tmp_path.name, "manual"]


def test_a_corpus_that_is_not_registered_is_an_error(tmp_path, state):
    found = registry(tmp_path, mine={})
    for given in ({"also": ["yours"]}, {"without": ["yours"]}):
        with pytest.raises(ConfigurationError, match="no corpus yours"):
            corpora_of(found, found.projects["mine"], tmp_path, state, **given)


def test_a_federated_corpus_that_is_gone_is_left_out(tmp_path, state):
    found = registry(tmp_path, mine={"corpora": ["gone"]})
    assert names(corpora_of(found, found.projects["mine"], tmp_path, state)) == ["mine"]


def test_the_index_is_named_by_the_project_its_collection_or_its_path(tmp_path, state):
    found = registry(tmp_path, mine={}, named={"collection": "books"})
    assert corpus_of(found.projects["mine"], tmp_path, state).index == state.index("mine")
    assert corpus_of(found.projects["named"], tmp_path, state).index == state.index("books")
    (tmp_path / "a/src").mkdir(parents=True)
    (tmp_path / "b/src").mkdir(parents=True)
    one, two = (corpus_of(None, tmp_path / name / "src", state) for name in "ab")
    assert one.name == two.name == "src"
    assert one.index != two.index


def test_what_a_trusted_tree_declares_is_declared_for_its_index_whose_name_it_takes_from_nobody(tmp_path, state):
    found = registry(tmp_path, src={})
    (tmp_path / "a/src").mkdir(parents=True)
    declared = Declaration(exclude=("*.md",), corpora=("src",), autoindex=True)
    tree = Project("src", (tmp_path / "a/src").resolve(), declared, registered=False)
    own, other = corpora_of(found, tree, tree.root, state)
    assert (own.tree.exclude, own.autoindex, other.index) == (("*.md",), True, state.index("src"))
    assert own.index == corpus_of(None, tree.root, state).index != other.index


def test_an_index_that_cannot_be_read_leaves_the_others_usable(tmp_path, state):
    found = registry(tmp_path, broken={}, sound={})
    broken, sound = (corpus_of(found.projects[name], tmp_path, state) for name in ("broken", "sound"))
    fill(sound, **{"a.txt": "zebra"})
    broken.index.write_bytes(b"no database, but long enough to be read as one" * 40)
    answer = search_corpora((broken, sound), "zebra")
    assert names(hit.corpus for hit in answer.hits) == ["sound"]
    ((corpus, error),) = answer.unusable
    assert corpus is broken and str(broken.index) in error.message and "--rebuild" in error.hint


def test_exclude_and_build_are_those_of_the_entry(tmp_path, state):
    found = registry(tmp_path, mine={"exclude": ["./x"], "include_build": True, "autoindex": True})
    corpus = corpus_of(found.projects["mine"], tmp_path, state)
    assert (corpus.tree.exclude, corpus.tree.include_build, corpus.autoindex) == (("./x",), True, True)


def fill(corpus, **files: str) -> None:
    for name, text in files.items():
        (corpus.tree.root / f"{name}.txt").write_text(text)
    finish(index_tree(corpus.tree, corpus.index))


def test_a_large_corpus_does_not_crowd_out_a_small_one(tmp_path, state):
    found = registry(tmp_path, large={}, small={})
    large, small = (corpus_of(found.projects[name], tmp_path, state) for name in ("large", "small"))
    fill(large, **{f"f{n}": f"zebra zebra zebra {n}" for n in range(60)})
    fill(small, one="the zebra", two="nothing")
    answer = search_corpora((large, small), "zebra", 4)
    assert [hit.corpus.name for hit in answer.hits] == ["large", "small", "large", "large"]


def test_at_equal_rank_the_hit_that_holds_more_of_the_query_is_first(tmp_path, state):
    found = registry(tmp_path, first={}, second={})
    first, second = (corpus_of(found.projects[name], tmp_path, state) for name in ("first", "second"))
    fill(first, one="zebra alone")
    fill(second, one="zebra crossing lights")
    assert names(hit.corpus for hit in search_corpora((first, second), "zebra crossing lights").hits) == [
        "second",
        "first",
    ]


def test_corpora_without_an_index_or_with_part_of_one_are_named(tmp_path, state):
    found = registry(tmp_path, none={}, part={})
    none, part = (corpus_of(found.projects[name], tmp_path, state) for name in ("none", "part"))
    (part.tree.root / "a.txt").write_text("zebra")
    (part.tree.root / "b.txt").write_text("zebra")
    finish(index_tree(part.tree, part.index, IndexOptions(max_files=1, allow_partial=True)))
    answer = search_corpora((none, part), "zebra")
    assert (names(answer.not_indexed), names(answer.incomplete), len(answer.hits)) == (["none"], ["part"], 1)


def test_what_two_rankings_agree_on_comes_first():
    assert fuse_ranks([(1, 2, 3), (9, 2, 8)], 3) == (2, 1, 9)
