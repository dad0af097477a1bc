"""Attacks by effect: each works unconfined, and through the host changes nothing outside its scope (spec 9.3)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.host_bench import contents
from tests.security.attacks import ATTACKS, Attack
from tests.security.trees import TARGET
from tests.two_users import SECRET

# What of `.git` makes git run or read something else; the rest is git's own working data and may move.
_GIT_CLOSED = re.compile(r"ws/\.git/(config|info/attributes|hooks(/.*)?)")


def filled(text: str, place: Path) -> str:
    return text.replace("$OUT", str(place / "outside"))


def bash(text: str, place: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", filled(text, place)], cwd=place / "ws", env={"PATH": os.environ["PATH"], **variables},
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30, check=False,
    )  # fmt: skip


def guarded(place: Path) -> dict[str, tuple[str, int, str]]:
    """Everything a confined turn may not change: all but its target, and git's own working data."""
    return {
        path: state
        for path, state in contents(place).items()
        if path != f"ws/{TARGET}" and (not path.startswith("ws/.git/") or _GIT_CLOSED.fullmatch(path))
    }


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_attack_works_where_nothing_confines_it(attack: Attack, template, tmp_path):
    place = tmp_path / "place"
    shutil.copytree(template, place, symlinks=True)
    for name in ("tmp", "home"):
        (tmp_path / name).mkdir()
    bash(attack.setup, place)
    before = guarded(place)
    done = bash(
        attack.command, place, HOME=str(tmp_path / "home"), TMPDIR=str(tmp_path / "tmp"), MY_TOKEN=SECRET,
        GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org", GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org",
    )  # fmt: skip
    if attack.shows == "tree":
        assert guarded(place) != before, (done.stdout, done.stderr)
    else:
        assert re.search(attack.shows, done.stdout), (done.stdout, done.stderr)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_attack_changes_and_learns_nothing_through_the_host(attack: Attack, host, template):
    place = host.place(template)
    host.tmp()
    bash(attack.setup, place)
    host.give(place)
    before = guarded(place)
    (answer,) = host.calls(place, filled(attack.command, place), targets=[TARGET])
    assert guarded(place) == before, answer
    if attack.shows != "tree":
        assert not re.search(attack.shows, answer["output"]), answer


@pytest.mark.parametrize("read_only", [True, False])
def test_nothing_survives_of_all_attacks_in_a_turn_that_may_write_nothing(host, template, read_only):
    place = host.place(template)
    host.tmp()
    before = contents(place)
    commands = [filled(attack.command, place) for attack in ATTACKS if not attack.setup]
    host.calls(place, *commands, mode="auto" if read_only else "safe", read_only=read_only)
    assert contents(place) == before
