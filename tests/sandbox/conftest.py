"""Hosts of two users: whoever runs the tests, and an ordinary user when that is root."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.two_users import DriverProcess, me, ordinary, users


class Host(DriverProcess):
    """A driver process and the trees it works on."""

    def __init__(self, user: str, owner_of_trees: str = "") -> None:
        super().__init__(user, Path(tempfile.mkdtemp(prefix="spear-host-")), owner_of_trees)
        self._serial = 0
        owner = str(self.tree()) if owner_of_trees else ""
        self.start("tests.sandbox.driver", (str(self.base), owner))

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

    def run(self, script: str, tree: Path | None = None, **options) -> SimpleNamespace:
        return SimpleNamespace(**self.ask({"script": script, "tree": str(tree or self.tree()), **options}))


@pytest.fixture(scope="session")
def ordinary_user() -> str:
    return ordinary()


@pytest.fixture(scope="session", params=users())
def host(request, ordinary_user) -> Iterator[Host]:
    running = Host(request.param)
    yield running
    running.close()


@pytest.fixture
def own_host() -> Iterator[Host]:
    """A host of its own, as whoever runs the tests, for tests that end it."""
    running = Host(me())
    yield running
    running.close()


@pytest.fixture
def foreign_host(ordinary_user) -> Iterator[Host]:
    """Root's host on an ordinary user's tree; only where root runs the tests is it another user's."""
    running = Host(me(), owner_of_trees=ordinary_user)
    yield running
    running.close()
