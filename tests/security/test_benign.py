"""Everyday commands are never refused, and say what they say unconfined (spec 2.6)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.host_bench import contents
from tests.security.benign import CONFINED, READ_ONLY
from tests.security.trees import TARGET


@pytest.fixture(scope="module")
def unconfined(template, tmp_path_factory):
    """What a command prints, run in a copy of the tree with nothing around it."""
    known: dict[str, tuple[str, int]] = {}

    def answer(command: str) -> tuple[str, int]:
        if command not in known:
            base = tmp_path_factory.mktemp("control")
            place = base / "place"
            shutil.copytree(template, place, symlinks=True)
            (base / "tmp").mkdir()
            done = subprocess.run(
                ["bash", "-c", command], cwd=place / "ws", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False, timeout=60,
                env={"PATH": os.environ["PATH"], "HOME": str(base), "TMPDIR": str(base / "tmp"), "LANG": "C.UTF-8",
                     "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
            )  # fmt: skip
            known[command] = (_plain(done.stdout, place / "ws", base / "tmp"), done.returncode)
        return known[command]

    return answer


_TIMES = re.compile(r"^(real|user|sys) [0-9.]+$", re.MULTILINE)
"""What `time` prints: no two runs take the same."""


def _plain(text: str, workspace: Path, tmp: Path) -> str:
    text = text.replace(str(tmp), "/tmp").replace(str(workspace), "WORKSPACE").rstrip("\n")
    return _TIMES.sub(r"\1", text)


def numbered(commands):
    return [pytest.param(command, id=f"{number:03}-{command.split()[0]}") for number, command in enumerate(commands)]


def said(answer: dict, place: Path) -> tuple[str, int]:
    assert not answer["refused"], answer
    assert not answer["dropped"], answer
    return _plain(answer["output"], place / "ws", Path("/tmp")), answer["exit"]


@pytest.mark.parametrize("command", numbered(CONFINED))
def test_a_confined_turn_runs_it_and_it_says_the_same(command, host, template, unconfined):
    place = host.place(template)
    host.tmp()
    assert said(host.calls(place, command, targets=[TARGET])[0], place) == unconfined(command)


@pytest.fixture(scope="module")
def untouched(host, template):
    """One tree for all read-only turns of a host: nothing they do may stay in it, so none can disturb another."""
    place = host.place(template)
    before = contents(place)
    yield place
    assert contents(place) == before


@pytest.mark.parametrize("command", numbered(READ_ONLY))
def test_a_read_only_turn_runs_it_and_it_says_the_same(command, host, untouched, unconfined):
    host.tmp()
    assert said(host.calls(untouched, command, read_only=True)[0], untouched) == unconfined(command)
