"""What belongs to a target, and what only looks as if it did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.policy.write_scope import ScopeRule, WriteScope


@pytest.mark.parametrize(
    ("target", "path", "rule"),
    [
        ("src/ring.c", "src/ring.c", ScopeRule.TARGET),
        ("src/ring.c", "./src//ring.c", ScopeRule.TARGET),
        ("src/ring.c", "src/ring.h", ScopeRule.COUNTERPART),
        ("src/ring.c", "include/ring.h", ScopeRule.COUNTERPART),
        ("src/ring.c", "include/net/ring.h", ScopeRule.COUNTERPART),
        ("include/ring.h", "src/ring.c", ScopeRule.COUNTERPART),
        ("lib/a.cpp", "lib/a.hpp", ScopeRule.COUNTERPART),
        ("lib/a.ml", "lib/a.mli", ScopeRule.COUNTERPART),
        ("src/ring.c", "tests/test_ring.c", ScopeRule.TEST),
        ("src/ring.c", "src/ring_test.c", ScopeRule.TEST),
        ("src/ring.c", "tests/ring.c", ScopeRule.TEST),
        ("src/ring.c", "tests/unit/test_ring.py", ScopeRule.TEST),
        ("pkg/ring.py", "tests/pkg/test_ring.py", ScopeRule.TEST),
        ("pkg/ring/__init__.py", "tests/test_ring.py", ScopeRule.TEST),
        ("ring.go", "ring_test.go", ScopeRule.TEST),
        ("src/ring.rs", "tests/ring.rs", ScopeRule.TEST),
        ("src/ring.rs", "src/ring/tests.rs", ScopeRule.TEST),
        ("src/ring.ts", "src/ring.test.ts", ScopeRule.TEST),
        ("src/ring.ts", "src/__tests__/ring.tsx", ScopeRule.TEST),
        ("src/ring.js", "test/ring.spec.js", ScopeRule.TEST),
        ("src/main/java/a/Ring.java", "src/test/java/a/RingTest.java", ScopeRule.TEST),
        ("lib/ring.rb", "spec/ring_spec.rb", ScopeRule.TEST),
        ("src/Ring.php", "tests/RingTest.php", ScopeRule.TEST),
        ("src", "src/deep/x.c", ScopeRule.TARGET),
        ("src", "tests/test_anything.c", ScopeRule.TEST),
        ("src/*.c", "src/uart.c", ScopeRule.TARGET),
        ("src/**/*.c", "src/a/b.c", ScopeRule.TARGET),
    ],
)
def test_what_belongs_is_allowed_by_its_rule(target, path, rule):
    decision = WriteScope((target,)).judge(path)
    assert decision.allowed
    assert decision.rule is rule


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("src/ring.c", "src/ring2.c"),
        ("src/ring.c", "src/ring_arm.c"),
        ("src/ring.c", "src/ring.c.back"),
        ("src/ring.c", "src/ring.cpp"),
        ("src/ring.c", "src/uart.h"),
        ("src/ring.c", "other/ring.h"),
        ("src/ring.c", "tests/test_ring_arm.c"),
        ("src/ring.c", "tests/test_uart.c"),
        ("src/ring.c", "other/tests/test_ring.c"),
        ("src/ring.c", "Makefile"),
        ("src/ring.c", "src/Ring.c"),
        ("src/ring.c", "docs/test_ring.md"),
        ("src/ring.c", "src"),
        ("src", "src2/x.c"),
        ("src", "docs/x.md"),
        ("src/*.c", "src/deep/x.c"),
        ("src/*.c", "src/x.h.in"),
        ("tests/test_ring.c", "tests/test_test_ring.c"),
    ],
)
def test_what_only_resembles_the_target_is_not(target, path):
    decision = WriteScope((target,)).judge(path)
    assert not decision.allowed
    assert decision.rule is ScopeRule.OUT_OF_SCOPE


def test_a_manifest_belongs_once_a_file_is_new_and_only_the_nearest():
    assert not WriteScope(("src/fifo.c",)).judge("src/CMakeLists.txt").allowed
    new = WriteScope(("src/fifo.c",), created=frozenset({"src/fifo.c"}))
    assert new.judge("src/CMakeLists.txt").rule is ScopeRule.MANIFEST
    assert new.judge("Makefile").allowed
    assert not new.judge("other/Makefile").allowed
    nearest = WriteScope(
        ("src/fifo.c",), created=frozenset({"src/fifo.c"}), manifests=("src/CMakeLists.txt", "Makefile")
    )
    assert nearest.judge("src/CMakeLists.txt").allowed
    assert not nearest.judge("Makefile").allowed


def test_exclusions_win_over_everything():
    scope = WriteScope(("src/ring.c",), ("src/ring.h", "docs"), ("docs/a.md",), frozenset({"docs/b.md"}))
    for path in ("src/ring.h", "docs/a.md", "docs/b.md"):
        assert scope.judge(path).rule is ScopeRule.EXCLUDED
    assert WriteScope((), ("ring.h",), workspace_wide=True).judge("src/ring.h").rule is ScopeRule.EXCLUDED
    assert WriteScope((), ("*.h",), workspace_wide=True).judge("src/ring.h").rule is ScopeRule.EXCLUDED
    assert WriteScope((), ("ring.h",), workspace_wide=True).judge("src/string.h").allowed


def test_named_and_created_files_belong():
    scope = WriteScope(("src/ring.c",), named_elsewhere=("docs/ring.md",), created=frozenset({"src/new.c"}))
    assert scope.judge("docs/ring.md").rule is ScopeRule.NAMED
    assert scope.judge("src/new.c").rule is ScopeRule.CREATED


def test_a_request_without_a_target_has_the_workspace():
    assert WriteScope(workspace_wide=True).judge("any/thing").allowed
    assert not WriteScope().judge("any/thing").allowed


def test_the_refusal_can_say_what_is_in_scope():
    assert "src/ring.c" in WriteScope(("src/ring.c",)).describe()
    assert WriteScope(tuple(f"f{n}" for n in range(9))).describe().count("f") < 20


def test_composed_and_decomposed_names_are_one():
    assert WriteScope(("caf\u00e9.c",)).judge("cafe\u0301.c").allowed


NAME = st.text(st.sampled_from("abcdef_"), min_size=1, max_size=8)


@given(NAME, NAME, st.sampled_from([".c", ".py", ".rs", ".ts"]))
def test_no_other_stem_in_the_directory_ever_belongs(stem, other, suffix):
    scope = WriteScope((f"src/{stem}{suffix}",))
    related = {stem, f"test_{stem}", f"{stem}_test", f"{stem}_tests", f"t_{stem}", f"ut_{stem}", f"{stem}_ut"}
    assert scope.judge(f"src/{other}{suffix}").allowed == (other in related)
