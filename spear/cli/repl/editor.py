"""The operator's editor on a text of ours, through a private temporary file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from spear.errors import UsageError

_HINT = "set VISUAL or EDITOR"
_FALLBACKS = ("editor", "nano", "vim", "vi")


def edited(text: str, suffix: str) -> str:
    """`text` as it was left; unchanged when the editor failed. Raises UsageError when there is no editor."""
    command = _command()
    with tempfile.TemporaryDirectory(prefix="spear-") as directory:
        file = Path(directory) / f"text{suffix}"
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            status = subprocess.run([*command, str(file)], check=False).returncode
        except OSError as error:
            raise UsageError(f"the editor {command[0]} cannot be started: {error.strerror}", hint=_HINT) from error
        if status != 0:
            return text
        return file.read_bytes().decode("utf-8", "surrogateescape")


def _command() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(os.environ.get(variable, ""))
        except ValueError as error:
            raise UsageError(f"{variable} is no command: {str(error).lower()}", hint=_HINT) from error
        if words:
            return words
    for name in _FALLBACKS:
        if found := shutil.which(name):
            return [found]
    raise UsageError("there is no editor", hint=_HINT)
