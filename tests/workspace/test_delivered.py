"""What is delivered source and what a build, a tool or git's ignore rules take out of it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.workspace.delivered import DeliveredSource

CLEAN = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def put(root: Path, *names: str, content: str = "x\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


def test_sources_are_delivered_and_git_is_not(root):
    source = DeliveredSource(root)
    assert source.is_delivered("src/ring.c")
    assert source.is_delivered("new/file.py")
    assert not source.is_delivered(".git/index")
    assert not source.is_delivered("sub/.git/HEAD")


@pytest.mark.parametrize(
    ("beside", "output"),
    [
        ("Cargo.toml", "target/debug/ring"),
        ("pom.xml", "target/classes/A.txt"),
        ("Makefile", "build/test_ring.map"),
        ("CMakeLists.txt", "cmake-build-debug/x.txt"),
        ("package.json", "node_modules/a/index.js"),
        ("package.json", "dist/bundle.js"),
        ("app.csproj", "obj/project.assets.json"),
        ("dune-project", "_build/default/x.ml"),
        ("pyproject.toml", "ring.egg-info/PKG-INFO"),
        ("README.md", "pkg/__pycache__/x.txt"),
        ("README.md", ".pytest_cache/v/x"),
        ("README.md", "src/ring.o"),
        ("README.md", "libring.so.1.2"),
        ("README.md", "a.out"),
        ("README.md", "src/.ring.c.swp"),
        ("README.md", "src/ring.c~"),
        ("README.md", "src/ring.d"),
    ],
)
def test_build_output_is_known_without_any_ignore_file(root, beside, output):
    put(root, beside, output)
    assert not DeliveredSource(root).is_delivered(output)


@pytest.mark.parametrize(
    "source", ["target/notes.md", "go.mod", "dist/readme.txt", "src/main.d", "obj/model.obj.txt", "core", "mod/x.ko.c"]
)
def test_the_same_names_without_a_build_beside_are_source(root, source):
    put(root, source)
    assert DeliveredSource(root).is_delivered(source)


def test_a_program_that_a_build_made_is_told_by_its_first_bytes(root, tmp_path):
    shutil.copy("/bin/true", root / "ring")
    put(root, "tool", content="#!/bin/sh\n")
    source = DeliveredSource(root)
    assert not source.is_delivered("ring")
    assert source.is_delivered("tool")
    assert not source.is_delivered("absent", at=Path("/bin/true"))


def test_a_directory_with_the_mark_of_a_build_is_output(root):
    put(root, "anything/CMakeCache.txt", "anything/x.txt", "env/pyvenv.cfg", "env/lib/a.py")
    source = DeliveredSource(root)
    assert source.prunes("anything")
    assert not source.is_delivered("env/lib/a.py")


def test_a_mark_planted_among_tracked_files_hides_nothing(git_root):
    put(git_root, "src/CMakeCache.txt")
    assert DeliveredSource(git_root).is_delivered("src/new.c")


def test_declared_build_directories_are_output(root):
    source = DeliveredSource(root, ["firmware/out/"])
    assert not source.is_delivered("firmware/out/image.txt")
    assert source.is_delivered("firmware/outline.txt")


def test_what_git_tracks_is_delivered_whatever_its_name(git_root):
    put(git_root, "build/rules.mk", "Makefile", "keep.o", "node_modules/a/i.js")
    subprocess.run(["git", "add", "-f", "."], cwd=git_root, check=True, env=CLEAN)
    put(git_root, "build/made.txt", ".gitignore", content="*.log\n")
    source = DeliveredSource(git_root)
    for tracked in ("build/rules.mk", "keep.o", "node_modules/a/i.js"):
        assert source.is_delivered(tracked)
    assert not source.is_delivered("build/made.txt")
    assert not source.prunes("build")
    assert "node_modules" not in source.prunable_names()


def test_a_turn_cannot_hide_its_changes_by_writing_an_ignore_file(root):
    put(root, "src/.gitignore", content="old.txt\n")
    source = DeliveredSource(root)
    source.seal(["src"])
    put(root, "src/.gitignore", ".gitignore", "docs/.gitignore", content="*\n")
    assert source.is_delivered("src/new.c")
    assert source.is_delivered("docs/new.c")
    assert not source.is_delivered("src/old.txt")


def test_a_workspace_ignored_by_an_outer_repository_is_judged_by_itself(git_root):
    put(git_root, ".gitignore", content="inner/\n")
    put(git_root, "inner/a.c")
    assert DeliveredSource(git_root / "inner").is_delivered("a.c")


def test_rules_of_outer_directories_hold_in_a_workspace_below(git_root):
    put(git_root, ".gitignore", content="*.log\n/src/gen.c\n")
    put(git_root, "src/a.log", "src/gen.c", "src/sub/gen.c")
    source = DeliveredSource(git_root / "src")
    assert not source.is_delivered("a.log")
    assert not source.is_delivered("gen.c")
    assert source.is_delivered("sub/gen.c")


def test_hostile_git_configuration_is_not_run(git_root, tmp_path):
    subprocess.run(["git", "config", "core.fsmonitor", f"touch {tmp_path}/pwned"], cwd=git_root, check=True)
    put(git_root, "Makefile", "build/x.txt")
    assert DeliveredSource(git_root).is_delivered("src/ring.c")
    assert not DeliveredSource(git_root).is_delivered("build/x.txt")
    assert not (tmp_path / "pwned").exists()


def test_an_ignore_rule_that_git_would_reject_spoils_no_other(root):
    put(root, ".gitignore", content="!\nsecret.txt\n")
    assert not DeliveredSource(root).is_delivered("secret.txt")


def test_the_outermost_undelivered_directories_are_pruned(root):
    put(root, "Makefile", "build/a/b/c.txt", "x/y/node_modules/z.js", ".gitignore", content="data/\n")
    put(root, "data/deep/file")
    assert DeliveredSource(root).pruned() == ("build", "data", "x/y/node_modules")


PATTERN = st.sampled_from(
    [
        "*.log",
        "/a",
        "a/",
        "!a/b.log",
        "b/*",
        "**/c",
        "a/**/c.txt",
        "!keep",
        "keep",
        "*.txt",
        "!d/*.txt",
        "c",
        "\\!x",
        "# c",
        "",
    ]
)
NAMES = ["a", "b.log", "a2/b.log", "d/e.txt", "d/keep", "x/c", "x/y/c.txt", "keep", "b/z", "b/q/r", "!x", "d/d/c"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=st.lists(PATTERN, max_size=5), nested=st.lists(PATTERN, max_size=3), exclude=st.lists(PATTERN, max_size=2))
def test_ignore_rules_mean_what_git_means(tmp_path_factory, top, nested, exclude):
    root = tmp_path_factory.mktemp("ignore").resolve()
    put(root, *NAMES)
    (root / ".gitignore").write_text("\n".join(top))
    (root / "d/.gitignore").write_text("\n".join(nested))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, env=CLEAN)
    (root / ".git/info/exclude").write_text("\n".join(exclude))
    shown = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True, capture_output=True, env=CLEAN
    )
    expected = {os.fsdecode(name) for name in shown.stdout.split(b"\0")} & set(NAMES)
    source = DeliveredSource(root)
    assert {name for name in NAMES if source.is_delivered(name)} == expected
    shutil.rmtree(root)
