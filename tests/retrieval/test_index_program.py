"""`spear-index` as the operator runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

PROGRAM = [sys.executable, "-m", "spear.cli.index"]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment of its own."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "SPEAR_STATE_DIR": str(tmp_path / "state")}


def run(home: dict[str, str], *words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *map(str, words)], env=home, cwd=cwd, capture_output=True, text=True, timeout=60)


def test_a_directory_is_indexed_and_the_result_told(home, tree):
    done = run(home, cwd=tree)
    assert done.returncode == 0
    assert re.search(r"^tree: 3 files, \d+ passages", done.stdout)
    assert "3 added" in done.stdout
    assert done.stderr == ""
    assert "3 unchanged" in run(home, tree).stdout


def test_json_is_one_object_on_stdout(home, tree):
    (tree / "blob").write_bytes(b"\0")
    found = json.loads(run(home, tree, "--json").stdout)
    assert found["schema"] == "spear.index/1"
    assert (found["files"], found["added"], found["skipped"], found["partial"]) == (3, 3, {"binary": 1}, False)
    assert Path(found["index"]).is_file()


def test_too_many_files_are_an_error_and_may_be_allowed(home, tree):
    home["SPEAR_INDEX_MAX_FILES"] = "2"
    refused = run(home, tree)
    assert refused.returncode == 2
    assert "more than 2 files" in refused.stderr
    assert "docs/" in refused.stderr
    assert not list(Path(home["SPEAR_STATE_DIR"]).glob("index/*.sqlite3"))
    allowed = run(home, tree, "--allow-partial")
    assert allowed.returncode == 0
    assert "PARTIAL" in allowed.stdout


def test_a_directory_inside_a_project_stands_for_the_project(home, tree):
    config = Path(home["HOME"]) / ".config/spear"
    config.mkdir(parents=True)
    entry = {"path": str(tree), "collection": "rings", "exclude": ["docs"]}
    (config / "projects.json").write_text(json.dumps({"demo": entry}))
    found = json.loads(run(home, tree / "src", "--json").stdout)
    assert (found["corpus"], found["root"], found["files"]) == ("demo", str(tree), 2)
    assert Path(found["index"]).name == "rings.sqlite3"


def test_a_damaged_index_is_made_anew_when_asked(home, tree):
    index = Path(json.loads(run(home, tree, "--json").stdout)["index"])
    index.write_bytes(b"junk" * 1000)
    refused = run(home, tree)
    assert refused.returncode == 2
    assert "spear-index --rebuild" in refused.stderr
    assert run(home, tree, "--rebuild").returncode == 0


def test_passages_are_embedded_when_asked(home, tree):
    found = json.loads(run(home, tree, "--json", "--vectors").stdout)
    assert found["vectors"] == found["passages"] > 0


def test_a_bar_is_drawn_on_a_terminal_and_wiped(home, tree):
    child = pexpect.spawn(PROGRAM[0], [*PROGRAM[1:], str(tree)], env=home, encoding="utf-8", timeout=30)
    child.expect_exact("indexing [")
    child.expect(r"3/3 files")
    child.expect_exact("\x1b[K")
    child.expect_exact("tree: 3 files")
    child.expect(pexpect.EOF)


@pytest.mark.parametrize("words", [["/no/such/directory"], ["--no-such-flag"], ["."]])
def test_what_cannot_be_indexed_is_a_usage_error(home, words):
    done = run(home, *words, cwd=Path(home["HOME"]))
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_failure(home, tree):
    command = f"{' '.join(PROGRAM)} {tree} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=home, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0"
    assert "Traceback" not in done.stderr
