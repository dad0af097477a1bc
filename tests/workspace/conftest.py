"""A root with a few files in it, outside of which lies something that must never be touched."""

import os
import subprocess
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
