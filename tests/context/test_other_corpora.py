"""A request that names another corpus is told how to go there."""

import pytest

from spear.context.other_corpora import named_elsewhere
from spear.workspace.projects import Declaration, Project, Registry


@pytest.fixture
def registry(tree, tmp_path):
    def project(name, root):
        root.mkdir(exist_ok=True)
        return Project(name, root, Declaration())

    projects = [
        project("demo", tree.root),
        project("modem", tmp_path / "mo dem"),
        project("parser", tmp_path / "parser"),
    ]
    return Registry({one.name: one for one in projects})


@pytest.mark.parametrize(
    ("request_text", "named"),
    [
        ("Fix the modem", ["modem"]),
        ("Fix Modem.", ["modem"]),
        ("Fix the parser", []),
        ("Fix the parser project", ["parser"]),
        ("Compare with corpus `parser`", ["parser"]),
        ("Fix src/modem.c and modem.h and modems and my-modem", []),
        ("Fix demo", []),
    ],
)
def test_only_a_whole_name_that_means_the_corpus_counts(tree, registry, request_text, named):
    tree.write("parser/a.c", "")
    sentences = named_elsewhere(request_text, tree.workspace("demo"), registry)
    assert [sentence.split()[0] for sentence in sentences] == named


def test_the_sentence_is_the_way_there(tree, registry):
    (sentence,) = named_elsewhere("Fix the modem", tree.workspace("demo"), registry)
    assert "cd '" in sentence
    assert "mo dem' && spear-chat" in sentence
