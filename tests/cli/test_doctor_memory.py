"""What doctor says again: only what is healthy, only while all it rests on is as it was, and never of the endpoint."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.cli.doctor_memory import FORM, GOOD_FOR_S, digest, recall
from tests.scripted_model import ModelServer

AGAIN = "were examined"


class Machine:
    """A home of one's own, and `spear-chat doctor` in it."""

    def __init__(self, root: Path) -> None:
        self.home, self.project, self.bin = root / "home", root / "project", root / "bin"
        for directory in (self.home, self.project, self.bin):
            directory.mkdir()
        kept = {name: value for name, value in os.environ.items() if name.startswith(("LANG", "XDG_RUNTIME", "DBUS"))}
        self.environ = {**kept, "HOME": str(self.home), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        self.state = self.home / ".local/state/spear"
        self.kept = self.state / "doctor.txt"

    def doctor(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "spear.cli.main", "doctor", *words],
            cwd=self.project, env=self.environ, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout

    def serve(self, server: ModelServer) -> None:
        self.environ["SPEAR_API_BASE"] = server.base_url

    def program(self, name: str) -> None:
        """Another program of that name, first in the path, that works."""
        (self.bin / name).write_text(f'#!/bin/sh\nexec {shutil.which(name)} "$@"\n')
        (self.bin / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    if AGAIN not in made.doctor() + made.doctor():
        pytest.skip("this machine lacks something, and what is lacking is never said again")
    return made


def test_a_healthy_report_is_said_again_with_its_age_and_nothing_is_run(machine):
    tried = (machine.state / "preflight.json").stat().st_mtime_ns
    fresh, again = machine.doctor("--fresh"), machine.doctor()
    assert (machine.state / "preflight.json").stat().st_mtime_ns > tried
    tried = (machine.state / "preflight.json").stat().st_mtime_ns
    *said, last = again.splitlines()
    assert "\n".join(said) == fresh.rstrip("\n")
    assert "s ago" in last and "--fresh" in last
    assert AGAIN not in fresh
    assert (machine.state / "preflight.json").stat().st_mtime_ns == tried


CHANGES = {
    "a user's file": lambda m: (
        (m.home / ".config/spear").mkdir(parents=True)
        or (m.home / ".config/spear/config.toml").write_text("theme = 'dark'\n")
    ),
    "a project's file": lambda m: (m.project / ".spear").mkdir() or (m.project / ".spear/config.toml").write_text(""),
    "another ripgrep": lambda m: m.program("rg"),
    "a variable": lambda m: m.environ.update(SPEAR_CTX="9000"),
    "another directory": lambda m: setattr(m, "project", m.home),
    "a backend that was used": lambda m: (m.state / "last-backend").write_text("none\n"),
    "a standard that is ingested": lambda m: (m.state / "standards/TCP/1").mkdir(parents=True),
    "a torn file": lambda m: m.kept.write_bytes(m.kept.read_bytes()[:300]),
    "a row that says nothing": lambda m: m.kept.write_text(m.kept.read_text() + "surprise\n"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_it_rests_on_changes_it_is_examined_again(machine, what):
    CHANGES[what](machine)
    assert AGAIN not in machine.doctor()
    assert AGAIN in machine.doctor()


def test_after_an_hour_and_from_the_future_nothing_is_said_again(machine):
    taken = int(machine.kept.read_text().split("\t", 2)[1])
    at = (machine.environ, str(machine.project))
    assert [bool(recall(*at, taken + age)) for age in (-1, 0, GOOD_FOR_S - 1, GOOD_FOR_S)] == [False, True, True, False]
    assert "59 min ago" in recall(*at, taken + 3_541)


def test_the_endpoint_is_looked_at_each_time(machine):
    with ModelServer(context_window=9000) as server:
        machine.serve(server)
        assert "window 9000" in machine.doctor()
        asked = len(server.paths)
        again = machine.doctor()
        assert "window 9000 (it listens; asked" in again and AGAIN in again
        assert len(server.paths) == asked
    gone = machine.doctor()
    assert f"{server.base_url} cannot be used: Connection refused" in gone and "window" not in gone
    assert AGAIN in gone


def test_an_endpoint_that_answers_again_is_asked(machine):
    with ModelServer() as server:
        machine.serve(server)
    assert "cannot be used" in machine.doctor()
    assert AGAIN in machine.doctor()
    with ModelServer() as server:
        kept = machine.kept.read_text()
        address = urlsplit(machine.environ["SPEAR_API_BASE"])
        there = kept.replace(f"\t{address.port}\t", f"\t{urlsplit(server.base_url).port}\t")
        machine.kept.write_text(there)
        assert there != kept
        assert AGAIN not in machine.doctor()


def test_what_is_amiss_is_never_kept(machine):
    machine.environ["PATH"] = str(machine.bin)
    assert "missing ripgrep" in machine.doctor()
    assert not machine.kept.exists()
    assert "missing ripgrep" in machine.doctor()
    machine.environ["PATH"] = os.environ["PATH"]
    assert "missing" not in machine.doctor()


def test_what_a_program_reads_is_always_examined(machine):
    tried = (machine.state / "preflight.json").stat().st_mtime_ns
    assert '"findings"' in machine.doctor("--json")
    assert (machine.state / "preflight.json").stat().st_mtime_ns > tried


def test_a_flag_is_of_that_run_alone(machine):
    before = machine.kept.read_bytes()
    assert "http://127.0.0.1:9/v1" in machine.doctor("--api-base", "http://127.0.0.1:9/v1")
    assert machine.kept.read_bytes() == before
    assert "127.0.0.1:9" not in machine.doctor()


def test_a_kept_report_holds_no_secret(machine):
    machine.environ["SPEAR_API_KEY"] = "sk-hunter2hunter2"
    machine.doctor()
    assert "hunter2" not in machine.kept.read_text()
    assert machine.kept.stat().st_mode & 0o777 == 0o600


WORD = st.one_of(
    st.sampled_from(
        [FORM, "0", "1", "ground", "file", "program", "text", "lines", "line", "endpoint", "state", "/", ""]
    ),
    st.text(max_size=5),
)


@given(st.lists(st.lists(WORD, max_size=6), max_size=6), st.booleans())
def test_whatever_the_file_holds_is_a_report_or_nothing(tmp_path_factory, rows, sealed):
    state = tmp_path_factory.mktemp("state")
    environ = {"SPEAR_STATE_DIR": str(state)}
    head = "" if not sealed else f"{FORM}\t1\t{digest([], environ, '/')}\n"
    text = head + "".join(
        "\t".join(row) + "\n" for row in rows if not sealed or row[:1] not in (["state"], ["endpoint"])
    )
    (state / "doctor.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert isinstance(recall(environ, "/", 2.0), str)
