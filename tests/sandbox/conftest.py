"""Hosts of two users: whoever runs the tests, and an ordinary user when that is root."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ORDINARY = "tester"
# The test interpreter may lie in a home the ordinary user cannot enter; the driver needs the standard library only.
SYSTEM_PYTHON = "/usr/bin/python3"
SECRET = "hunter2-of-the-host"


class Host:
    """A driver process and the trees it works on."""

    def __init__(self, user: str, owner_of_trees: str = "") -> None:
        self.user = user
        self.base = Path(tempfile.mkdtemp(prefix="spear-host-"))
        self.owner = pwd.getpwnam(owner_of_trees or user)
        self._serial = 0
        runner = pwd.getpwnam(user)
        os.chown(self.base, runner.pw_uid, runner.pw_gid)
        self.base.chmod(0o755)
        current = runner.pw_uid == os.geteuid()
        become = [] if current else ["setpriv", "--reuid", user, "--regid", str(runner.pw_gid), "--clear-groups", "--"]
        python = sys.executable if current else SYSTEM_PYTHON
        environment = {
            "PATH": os.environ["PATH"] if current else "/usr/local/bin:/usr/bin:/bin", "HOME": runner.pw_dir,
            "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1", "MY_TOKEN": SECRET,
        }  # fmt: skip
        driver = Path(__file__).with_name("driver.py")
        owner = str(self.tree()) if owner_of_trees else ""
        self.process = subprocess.Popen(
            [*become, python, str(driver), str(self.base), owner],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd="/",
        )  # fmt: skip

    def tree(self, **files: str) -> Path:
        """A new tree with these files (`__` in a keyword stands for `/`)."""
        self._serial += 1
        tree = self.base / f"tree{self._serial}"
        tree.mkdir()
        for name, text in files.items():
            path = tree / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.give(tree)
        return tree

    def give(self, tree: Path) -> None:
        if os.geteuid() == 0:
            for path in (tree, *tree.rglob("*")):
                os.chown(path, self.owner.pw_uid, self.owner.pw_gid, follow_symlinks=False)

    def ask(self, request: dict) -> SimpleNamespace:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the host died"
        return SimpleNamespace(**json.loads(line))

    def run(self, script: str, tree: Path | None = None, **options) -> SimpleNamespace:
        return self.ask({"script": script, "tree": str(tree or self.tree()), **options})

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        shutil.rmtree(self.base, ignore_errors=True)


def users() -> list[str]:
    me = pwd.getpwuid(os.geteuid()).pw_name
    return [me, ORDINARY] if os.geteuid() == 0 else [me]


@pytest.fixture(scope="session")
def ordinary_user() -> str:
    """The name of a user without privileges; made when root runs the tests and there is none."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    try:
        pwd.getpwnam(ORDINARY)
    except KeyError:
        subprocess.run(["useradd", "--create-home", ORDINARY], check=True)
    return ORDINARY


@pytest.fixture(scope="session", params=users())
def host(request, ordinary_user) -> Iterator[Host]:
    running = Host(request.param)
    yield running
    running.close()


@pytest.fixture
def own_host() -> Iterator[Host]:
    """A host of its own, as whoever runs the tests, for tests that end it."""
    running = Host(pwd.getpwuid(os.geteuid()).pw_name)
    yield running
    running.close()


@pytest.fixture
def foreign_host(ordinary_user) -> Iterator[Host]:
    """Root's host on an ordinary user's tree; only where root runs the tests is it another user's."""
    running = Host(pwd.getpwuid(os.geteuid()).pw_name, owner_of_trees=ordinary_user)
    yield running
    running.close()
