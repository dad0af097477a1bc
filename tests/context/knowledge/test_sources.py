"""A source counts only when the file really holds the quote."""

import os

import pytest

from spear.context.knowledge.records import KnowledgeProblem, Source
from spear.context.knowledge.sources import again, fresh, verify


@pytest.fixture
def root(tmp_path):
    top = tmp_path / "ws"
    (top / "src").mkdir(parents=True)
    (top / "src/ring.h").write_bytes(b"#ifndef RING_H\r\n#define RING_H\r\nint x;\r\nint x;\r\n")
    return top


def test_a_quote_is_found_with_its_line_and_bound_to_the_bytes(root):
    source = verify(root, "", "src/ring.h:1", "#ifndef RING_H\n#define RING_H")
    assert (source.path, source.line) == ("src/ring.h", 1)
    assert fresh(root, source)
    assert verify(root, "", "src/ring.h", "int x;").line == 3
    assert verify(root, "", "src/ring.h:4", "int x;").line == 4
    assert verify(root, "src", "ring.h", "int x;").path == "src/ring.h"
    assert verify(root, "", "/workspace/src/ring.h", "int x;").path == "src/ring.h"


@pytest.mark.parametrize(
    ("given", "quote", "code"),
    [
        ("src/ring.h", "#pragma once", "not_held"),
        ("src/ring.h:2", "#ifndef RING_H", "other_line"),
        ("src/none.h", "int x;", "outside"),
        ("../outside.h", "int x;", "outside"),
        ("/etc/passwd", "root", "outside"),
        ("src", "int x;", "outside"),
        ("a\0b", "int x;", "outside"),
        ("\udce9.h", "int x;", "outside"),
        ("src/ring.h", None, "no_quote"),
        ("src/ring.h", " x ", "no_quote"),
        ("src/ring.h", "x" * 3000, "long_quote"),
    ],
)
def test_what_shows_nothing_is_refused(root, given, quote, code):
    (root.parent / "outside.h").write_text("int x;")
    (root / "\udce9.h").write_text("int x;")
    problem = verify(root, "", given, quote)
    assert isinstance(problem, KnowledgeProblem)
    assert problem.code == code
    assert problem.remedy


def test_a_link_out_of_the_tree_is_no_source(root):
    (root.parent / "outside.h").write_text("int x;")
    os.symlink(root.parent / "outside.h", root / "link.h")
    assert verify(root, "", "link.h", "int x;").code == "outside"


def test_a_changed_file_is_not_fresh_and_may_be_bound_again(root):
    source = verify(root, "", "src/ring.h", "int x;")
    (root / "src/ring.h").write_text("// moved\n\n\nint x;\n")
    assert not fresh(root, source)
    bound = again(root, source)
    assert bound.line == 4
    assert fresh(root, bound)
    (root / "src/ring.h").unlink()
    assert not fresh(root, bound)
    assert again(root, bound).code == "outside"
    assert not fresh(root, Source("../outside.h", 1, "int", "0" * 64))


def test_a_name_with_a_colon_is_a_name(root):
    (root / "a:3").write_text("hello there")
    assert verify(root, "", "a:3", "hello").path == "a:3"
