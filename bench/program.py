"""The program as a user runs it: its executable, a project and a state directory of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where a measured program runs."""

    project: Path
    home: Path
    state: Path

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the operator's own settings."""
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "SPEAR_STATE_DIR": str(self.state), "OPENAI_API_KEY": "none",
        }  # fmt: skip


@contextmanager
def place() -> Iterator[Place]:
    """A small repository, an empty home, an empty state directory; all gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        base = Path(name).resolve()
        found = Place(base / "project", base / "home", base / "state")
        for directory in (found.project, found.home, found.state):
            directory.mkdir()
        (found.project / "a.c").write_text("int x;\n")
        subprocess.run(["git", "init", "-q"], cwd=found.project, check=True)
        yield found


def executable() -> str:
    """`spear-chat` beside this interpreter, else on PATH. SPEAR_CHAT names another one."""
    beside = Path(sys.executable).with_name("spear-chat")
    found = os.environ.get("SPEAR_CHAT") or (str(beside) if beside.exists() else shutil.which("spear-chat"))
    if not found:
        raise SystemExit("spear-chat is not installed here: pip install -e .")
    return found


def interpreter() -> str:
    """The Python the executable runs on: the floors are taken with the same one."""
    first = Path(executable()).read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("#!").strip()


def run(where: Place, argv: Sequence[str]) -> float:
    """Run to the end; the monotonic second it was started at. Raises CalledProcessError."""
    started = time.monotonic()
    subprocess.run(
        argv, cwd=where.project, env=where.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    return started
