"""A driver process of a user: what must hold for root and for an ordinary user is tested as both. JSON lines in and out."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
ORDINARY = "tester"
SECRET = "hunter2-of-the-host"
# The test interpreter may lie in a home the ordinary user cannot enter; the system's serves when it is the same version.
SYSTEM_PYTHON = "/usr/bin/python3"


class DriverProcess:
    """A module run as `user`, with `base` as its own directory; `owner_of_trees` is whom the trees belong to."""

    def __init__(self, user: str, base: Path, owner_of_trees: str = "") -> None:
        self.user = pwd.getpwnam(user)
        self.owner = pwd.getpwnam(owner_of_trees or user)
        self.base = base
        base.chmod(0o755)
        _own(base, self.user)

    def start(self, module: str, words: Sequence[str]) -> None:
        """Run it. It gets a secret of the host in its environment, for commands not to find."""
        user = self.user
        current = user.pw_uid == os.geteuid()
        become = [] if current else ["setpriv", "--reuid", user.pw_name, "--regid", str(user.pw_gid), "--clear-groups"]
        environment = {
            "PATH": os.environ["PATH"] if current else "/usr/local/bin:/usr/bin:/bin", "HOME": user.pw_dir,
            "PYTHONPATH": f"{PROJECT}:{sysconfig.get_path('purelib')}", "PYTHONDONTWRITEBYTECODE": "1",
            "MY_TOKEN": SECRET, "LANG": "C.UTF-8",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [*become, sys.executable if current else SYSTEM_PYTHON, "-m", module, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd="/",
        )  # fmt: skip

    def give(self, path: Path) -> None:
        """Make a path, and all below it, the owner's own."""
        for each in (path, *path.rglob("*")):
            _own(each, self.owner)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one answer."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the host died"
        return json.loads(line)

    def close(self) -> None:
        """End it, and remove its directory."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        shutil.rmtree(self.base, ignore_errors=True)


def me() -> str:
    """Whoever runs the tests."""
    return pwd.getpwuid(os.geteuid()).pw_name


def users() -> list[str]:
    """Whom to test as: an ordinary user as well when root runs the tests."""
    return [me(), ORDINARY] if os.geteuid() == 0 else [me()]


def ordinary() -> str:
    """The name of a user without privileges; made when root runs the tests and there is none."""
    if os.geteuid() != 0:
        return me()
    try:
        pwd.getpwnam(ORDINARY)
    except KeyError:
        subprocess.run(["useradd", "--create-home", ORDINARY], check=True)
    return ORDINARY


def _own(path: Path, owner: pwd.struct_passwd) -> None:
    if os.geteuid() == 0 and owner.pw_uid != 0:
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
