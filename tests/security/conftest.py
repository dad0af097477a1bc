"""Hosts of two users: whoever runs the tests, and an ordinary user when that is root. Cases run on copies of one tree."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from spear.shell.shfmt import find_shfmt
from tests.host_bench import IDENTITY
from tests.security.trees import FILES

PROJECT = Path(__file__).resolve().parents[2]
ORDINARY = "tester"
# The test interpreter may lie in a home the ordinary user cannot enter; the system's serves when it is the same version.
SYSTEM_PYTHON = "/usr/bin/python3"
SECRET = "hunter2-of-the-host"


class Host:
    """A driver process of one user, and the trees its cases run on."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.owner = pwd.getpwnam(user)
        # Not below /tmp: the sandbox has a /tmp of its own, and a path there would prove nothing.
        self.base = Path(tempfile.mkdtemp(prefix="spear-security-", dir=self.owner.pw_dir))
        self.give(self.base)
        self._serial = 0
        current = self.owner.pw_uid == os.geteuid()
        become = [] if current else ["setpriv", "--reuid", user, "--regid", str(self.owner.pw_gid), "--clear-groups"]
        private = self.base / "private"
        private.mkdir()
        self.give(private)
        environment = {
            "PATH": os.environ["PATH"] if current else "/usr/local/bin:/usr/bin:/bin", "HOME": self.owner.pw_dir,
            "PYTHONPATH": f"{PROJECT}:{sysconfig.get_path('purelib')}", "PYTHONDONTWRITEBYTECODE": "1",
            "MY_TOKEN": SECRET, "LANG": "C.UTF-8",
        }  # fmt: skip
        python = sys.executable if current else SYSTEM_PYTHON
        self.process = subprocess.Popen(
            [*become, python, "-m", "tests.security.driver", str(private), str(find_shfmt())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd="/",
        )  # fmt: skip

    def give(self, path: Path) -> None:
        """Make a path, and all below it, the user's own."""
        if os.geteuid() == 0 and self.owner.pw_uid != 0:
            for each in (path, *path.rglob("*")):
                os.chown(each, self.owner.pw_uid, self.owner.pw_gid, follow_symlinks=False)

    def place(self, template: Path) -> Path:
        """A fresh copy of the template: `ws` in a directory of its own, with things beside it that are nobody's business."""
        self._serial += 1
        place = self.base / str(self._serial)
        shutil.copytree(template, place, symlinks=True)
        self.give(place)
        return place

    def ask(self, request: dict) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the host died"
        return json.loads(line)

    def tmp(self) -> Path:
        """What commands see as /tmp, emptied."""
        return Path(self.ask({"tmp": True})["tmp"])

    def calls(self, place: Path, *calls: object, **options: object) -> list[dict]:
        return self.ask({"tree": str(place / "ws"), "calls": list(calls), **options})["answers"]

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


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """The tree all cases start from: a repository `ws`, and beside it what a turn must never touch."""
    base = tmp_path_factory.mktemp("template") / "place"
    tree = base / "ws"
    for name, (text, mode) in FILES.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    (base / "outside").mkdir()
    (base / "outside/kept.txt").write_text("beside-the-tree\n")
    (base / "ws-beside").mkdir()
    (base / "ws-beside/kept.txt").write_text("kept\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
        subprocess.run(["git", *IDENTITY, *words], cwd=tree, check=True)
    return base
