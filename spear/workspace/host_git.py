"""git as the host runs it on a tree nobody vouches for: no hook, monitor or filter takes part."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_GIT = (
    "git",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
)
_TIMEOUT_S = 30


def git_output(root: Path, *words: str) -> bytes | None:
    """What a git command that only reads prints in `root`; None when git is missing, refuses or takes 30 s."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "LC_ALL": "C",
    }
    try:
        done = subprocess.run(
            [*_GIT, *words],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def git_identity(root: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The operator's name and address as variables of a command, so that it can commit without their configuration.

    Empty where git is missing or knows none. Reads the operator's own settings, which the sandbox does not show.
    """
    try:
        done = subprocess.run(
            ["git", "config", "--get-regexp", r"^user\.(name|email)$"],
            cwd=root,
            env={name: environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, str] = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(" ")
        if value:
            name = "NAME" if key == "user.name" else "EMAIL"
            found |= {f"GIT_AUTHOR_{name}": value, f"GIT_COMMITTER_{name}": value}
    return found
