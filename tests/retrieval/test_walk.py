"""Which files are indexed, and what happens when there are too many."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from spear.errors import WorkspaceError
from spear.retrieval.walk import Tree, walk


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")


def met(root: Path, **options: object) -> set[str]:
    return set(walk(Tree(root, **options)).files)  # type: ignore[arg-type]


def test_ignored_files_caches_and_build_output_are_not_met(tmp_path):
    lay(tmp_path, "a.py", "skip.log", "node_modules/x.js", "build/out.py", "Makefile", "gen/b.py", "sub/keep.py", "a.o")
    (tmp_path / ".gitignore").write_text("*.log\n/gen/\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert met(tmp_path) == {"a.py", ".gitignore", "Makefile", "sub/keep.py"}


def test_a_leading_dot_slash_anchors_and_a_bare_name_matches_anywhere(tmp_path):
    lay(tmp_path, "old/a.py", "new/old/b.py", "docs/c.md", "new/docs/d.md", "x.min.js", "new/y.min.js", "deep/a/b/e.py")
    assert met(tmp_path, exclude=("./old", "docs/", "*.min.js", "a/b")) == {"new/old/b.py"}


def test_build_output_is_met_when_it_is_asked_for(tmp_path):
    lay(tmp_path, "Makefile", "build/generated.c", "build/deep/more.c", "build/node_modules/no.js", "ignored/z.c")
    (tmp_path / ".gitignore").write_text("build/\nignored/\n")
    assert met(tmp_path) == {"Makefile", ".gitignore"}
    assert met(tmp_path, include_build=True) == {"Makefile", ".gitignore", "build/generated.c", "build/deep/more.c"}


def test_credentials_links_and_special_files_are_not_met(tmp_path):
    lay(tmp_path, "a.py", ".env", ".env.local", ".env.example", "keys/id_rsa", "tls/site.pem", "tls/site.key")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    lay(outside, "secret.py")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "file-link.py").symlink_to(outside / "secret.py")
    subprocess.run(["mkfifo", tmp_path / "pipe"], check=True)
    assert met(tmp_path) == {"a.py", ".env.example"}


def test_too_many_files_name_the_directories_that_hold_them(tmp_path):
    lay(tmp_path, *(f"assets/icons/big/{n}.svg" for n in range(30)), *(f"src/{n}.py" for n in range(6)))
    with pytest.raises(WorkspaceError) as caught:
        walk(Tree(tmp_path), 33)
    assert "more than 33 files" in caught.value.message
    assert "assets/icons/big/ (30), src/ (3)" in caught.value.message
    assert "--allow-partial" in caught.value.hint


def test_exactly_as_many_files_as_allowed_are_not_too_many(tmp_path):
    lay(tmp_path, "a", "b", "c")
    assert walk(Tree(tmp_path), 3).files == ("a", "b", "c")
    assert not walk(Tree(tmp_path), 3).partial


def test_the_first_files_are_taken_when_that_is_allowed(tmp_path):
    lay(tmp_path, "a", "b", "c")
    found = walk(Tree(tmp_path), 2, allow_partial=True)
    assert found.files == ("a", "b")
    assert found.partial


def test_a_name_that_is_not_text_is_left_out(tmp_path):
    lay(tmp_path, "a.py")
    (tmp_path / "b\udcff.py").write_text("x")
    assert met(tmp_path) == {"a.py"}


def test_a_root_that_is_gone_is_an_error(tmp_path):
    with pytest.raises(WorkspaceError, match="cannot be read"):
        walk(Tree(tmp_path / "gone"))
