"""A root with a few files in it, outside of which lies something that must never be touched."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A canonical directory: src/ring.c, README.md."""
    tree = tmp_path.resolve() / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src/ring.c").write_text("int ring;\n")
    (tree / "README.md").write_text("# Ring\n")
    return tree


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory beside the root, holding secret.txt."""
    directory = tmp_path.resolve() / "outside"
    directory.mkdir()
    (directory / "secret.txt").write_text("secret\n")
    return directory


@pytest.fixture
def git_root(root: Path) -> Path:
    """The root as a git repository with one commit."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True, env=environment)
    return root


@pytest.fixture
def overlaid(tmp_path: Path):
    """Runs a shell script on an overlay of a tree, in a namespace of its own; the upper directory it leaves."""
    counter = iter(range(1000))

    def run(root: Path, script: str, *, user_namespace: bool = True) -> Path:
        base = tmp_path / f"overlay{next(counter)}"
        upper, work = base / "upper", base / "work"
        upper.mkdir(parents=True)
        work.mkdir()
        how = "-Urm" if user_namespace or os.geteuid() != 0 else "-m"
        flags = "userxattr," if how == "-Urm" else "redirect_dir=off,metacopy=off,"
        mount = f"mount -t overlay overlay -o {flags}lowerdir={root},upperdir={upper},workdir={work} {root}"
        done = subprocess.run(
            [
                "unshare",
                how,
                "--propagation",
                "private",
                "bash",
                "-c",
                f'{mount} && cd {root} && bash -c "$1"',
                "-",
                script,
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return upper

    return run


@pytest.fixture
def as_tester():
    """Runs a function as the unprivileged user, for what root cannot show; gives what it said."""

    def run(act: Callable[[], str]) -> str:
        """What `act` says when it runs as the unprivileged user `tester` (as ourselves when we are not root)."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if os.geteuid() == 0:
                    user = pwd.getpwnam("tester")
                    os.setgroups([])
                    os.setgid(user.pw_gid)
                    os.setuid(user.pw_uid)
                os.write(writer, act().encode())
            finally:
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader) as pipe:
            return pipe.read()

    return run


@pytest.fixture
def public_path():
    """A directory that the unprivileged user can enter."""
    path = Path(tempfile.mkdtemp(dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)
