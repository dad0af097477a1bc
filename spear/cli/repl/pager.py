"""A whole text in the operator's pager. What is handed over has been filtered; the pager may start nothing."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess


def page(text: str) -> None:
    """Show `text` until the operator is done; without a pager it is printed."""
    command = shlex.split(os.environ.get("PAGER", "")) or [shutil.which("less") or "cat"]
    environment = {**os.environ, "LESSSECURE": "1", "LESS": "-M"}
    with contextlib.suppress(OSError):
        subprocess.run(command, input=text, text=True, env=environment, check=False, errors="replace")
