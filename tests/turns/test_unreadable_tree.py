"""A tree that may not be read, whole or in part, as a user without privileges meets it (root may read everything)."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from tests.scripted_model import ModelServer, calls, text
from tests.turns.conftest import sh
from tests.two_users import PROJECT, SYSTEM_PYTHON, ordinary


@pytest.fixture
def place():
    """A directory of the ordinary user's own."""
    user = pwd.getpwnam(ordinary())
    path = Path(tempfile.mkdtemp(dir="/tmp"))
    (path / "ws").mkdir()
    (path / "ws/a.c").write_text("int main(void){return 0;}\n")
    (path / "ws/closed").mkdir()
    (path / "ws/closed/b.c").write_text("int b;\n")
    (path / "ws/secret.c").write_text("int c;\n")
    if os.geteuid() == 0:
        for each in (path, *path.rglob("*")):
            os.chown(each, user.pw_uid, user.pw_gid)
    yield path
    for directory in (path / "ws", path / "ws/closed"):
        directory.chmod(0o700)
    shutil.rmtree(path)


def run(place: Path, request: str, script):
    """One turn of the ordinary user in `ws`: the process, and the tool results of the last request."""
    user = pwd.getpwnam(ordinary())
    become = ["setpriv", "--reuid", user.pw_name, "--regid", str(user.pw_gid), "--clear-groups"]
    python = [*become, SYSTEM_PYTHON] if os.geteuid() == 0 else [sys.executable]
    environment = {
        "PATH": f"/usr/local/bin:/usr/bin:/bin:{sysconfig.get_path('scripts')}", "HOME": str(place), "LANG": "C.UTF-8", "TERM": "dumb",
        "SPEAR_STATE_DIR": str(place / "state"), "SPEAR_MODEL_NAME": "scripted", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{PROJECT}:{sysconfig.get_path('purelib')}",
    }  # fmt: skip
    with ModelServer(script) as server:
        words = ["-m", "spear.cli.main", "-p", request, "--auto", "--output", "json", "--api-base", server.base_url]
        done = subprocess.run(
            [*python, *words], cwd=place / "ws", env=environment, capture_output=True, text=True, timeout=100,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    messages = server.requests[-1]["messages"] if server.requests else []
    return done, [message["content"] for message in messages if message["role"] == "tool"]


def test_what_may_not_be_read_is_named_and_the_rest_of_the_tree_is_worked_on(place):
    (place / "ws/closed").chmod(0)
    (place / "ws/secret.c").chmod(0)
    script = [
        calls(("read_file", {"path": "closed/b.c"}), ("read_file", {"path": "secret.c"})),
        calls(("search_files", {"pattern": "int"}), ("search_files", {"pattern": "*.c", "target": "files"})),
        calls(("write_file", {"path": "closed/new.c", "content": "int d;\n"})),
        calls(("patch", {"path": "secret.c", "old_string": "int c", "new_string": "int e"})),
        calls(sh("cat closed/b.c; python3 closed/check.py; cc -c -o /tmp/a.o a.c && echo built")),
        calls(("patch", {"path": "a.c", "old_string": "return 0", "new_string": "return 1"})),
        text("Done."),
    ]
    done, results = run(place, "Fix a.c, secret.c and closed/b.c, and write closed/new.c", script)
    assert done.returncode == 3, done.stderr
    read, secret, found, files, written, patched, ran, edited = results
    for refused in (read, secret, written, patched):
        assert "permission denied" in refused
    assert "1 matching line in 1 file" in found
    assert "a.c" in files and "closed/" not in files
    assert "Permission denied" in ran and "built" in ran
    assert "+int main(void){return 1;}" in edited
    (place / "ws/closed").chmod(0o700)
    (place / "ws/secret.c").chmod(0o600)
    assert [path.name for path in (place / "ws/closed").iterdir()] == ["b.c"]
    assert (place / "ws/secret.c").read_text() == "int c;\n"


def test_a_launch_directory_that_may_not_be_listed_is_an_error_of_use(place):
    (place / "ws").chmod(0o111)
    done, _ = run(place, "Fix a.c", [text("never")])
    assert done.returncode == 2
    assert "may not be read: permission denied" in done.stderr and "chmod u+rx" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
