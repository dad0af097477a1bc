"""The state directory: laid lazily, private, and clear about why it cannot be used."""

from __future__ import annotations

import stat
import subprocess
import sys

import pytest

from spear.errors import StateError
from spear.state.directory import StateDirectory, safe_name
from spear.state.files import replace_durably


def test_asking_for_paths_creates_nothing(tmp_path):
    state = StateDirectory(tmp_path / "state")
    assert state.events("s1") == tmp_path / "state/audit/sessions/s1/events.jsonl"
    assert state.tool_actions == tmp_path / "state/audit/tool-actions.jsonl"
    assert state.index("main") == tmp_path / "state/index/main.sqlite3"
    assert not (tmp_path / "state").exists()


def test_preparing_makes_a_private_root(tmp_path):
    StateDirectory(tmp_path / "a" / "state").prepare()
    assert stat.S_IMODE((tmp_path / "a" / "state").stat().st_mode) == 0o700
    assert list((tmp_path / "a" / "state").iterdir()) == []


def test_a_directory_of_the_operator_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    StateDirectory(tmp_path).prepare()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_file_in_the_way_is_an_error_with_a_way_out(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(StateError) as caught:
        StateDirectory(tmp_path / "state").prepare()
    assert str(tmp_path / "state") in caught.value.message
    assert "--state-dir" in caught.value.hint


def test_a_directory_that_cannot_be_written_is_an_error_with_a_way_out(tmp_path):
    program = (
        "import sys; from pathlib import Path; from spear.errors import StateError\n"
        "from spear.state.directory import StateDirectory\n"
        "try: StateDirectory(Path(sys.argv[1])).prepare()\n"
        "except StateError as error: print(error)\n"
    )
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            str(tmp_path),
            sys.executable,
            program,
        ],
        capture_output=True,
        text=True,
    )
    assert "cannot write in" in done.stdout, done.stderr
    assert "--state-dir" in done.stdout


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "../x", "/etc", ".hidden", "a\n", "x" * 200, "a\0"])
def test_names_cannot_walk_out(name):
    with pytest.raises(ValueError, match="not a name"):
        safe_name(name)


def test_a_replacement_that_fails_leaves_the_old_content_and_no_debris(tmp_path):
    target = tmp_path / "session.json"
    replace_durably(target, b"old")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    program = (
        "import sys; from pathlib import Path; from spear.errors import StateError\n"
        "from spear.state.files import replace_durably\n"
        "target = Path(sys.argv[1])\n"
        "replace_durably(target, b'old')\n"
        "try: replace_durably(target, b'n' * 100_000)\n"
        "except StateError as error: print(error.message)\n"
        "print(target.read_bytes(), [p.name for p in target.parent.iterdir()])\n"
    )
    script = 'mount -t tmpfs -o size=64k tmpfs "$1" && exec "$2" -c "$3" "$1/file"'
    done = subprocess.run(
        [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            str(tmp_path),
            sys.executable,
            program,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "No space left" in done.stdout
    assert done.stdout.endswith("b'old' ['file']\n")
