"""The operator's editor on a text of ours, through a private temporary file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from spear.errors import UsageError

_FALLBACKS = ("editor", "nano", "vim", "vi")


def edited(text: str, suffix: str) -> str:
    """`text` as it was left; unchanged when the editor failed. Raises UsageError when there is no editor."""
    command = _command()
    with tempfile.TemporaryDirectory(prefix="spear-") as directory:
        file = Path(directory) / f"text{suffix}"
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        if subprocess.run([*command, str(file)], check=False).returncode != 0:
            return text
        return file.read_bytes().decode("utf-8", "surrogateescape")


def _command() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(variable, "")):
            return words
    for name in _FALLBACKS:
        if found := shutil.which(name):
            return [found]
    raise UsageError("there is no editor", hint="set VISUAL or EDITOR")
