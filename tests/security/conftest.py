"""Hosts of two users: whoever runs the tests, and an ordinary user when that is root. Cases run on copies of one tree."""

from __future__ import annotations

import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from spear.shell.shfmt import find_shfmt
from tests.host_bench import IDENTITY
from tests.security.trees import FILES
from tests.two_users import DriverProcess, ordinary, users


class Host(DriverProcess):
    """A driver process of one user, and the trees its cases run on."""

    def __init__(self, user: str) -> None:
        # Not below /tmp: the sandbox has a /tmp of its own, and a path there would prove nothing.
        super().__init__(user, Path(tempfile.mkdtemp(prefix="spear-security-", dir=pwd.getpwnam(user).pw_dir)))
        self._serial = 0
        private = self.base / "private"
        private.mkdir()
        self.give(private)
        self.start("tests.security.driver", (str(private), str(find_shfmt())))

    def place(self, template: Path) -> Path:
        """A fresh copy of the template: `ws` in a directory of its own, with things beside it that are nobody's business."""
        self._serial += 1
        place = self.base / str(self._serial)
        shutil.copytree(template, place, symlinks=True)
        self.give(place)
        return place

    def tmp(self) -> Path:
        """What commands see as /tmp, emptied."""
        return Path(self.ask({"tmp": True})["tmp"])

    def calls(self, place: Path, *calls: object, **options: object) -> list[dict]:
        return self.ask({"tree": str(place / "ws"), "calls": list(calls), **options})["answers"]


@pytest.fixture(scope="session")
def ordinary_user() -> str:
    return ordinary()


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
