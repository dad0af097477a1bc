"""git as the host runs it on a tree nobody vouches for: no hook, monitor, filter or setting of anybody's takes part."""

from __future__ import annotations

import os
import subprocess
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
