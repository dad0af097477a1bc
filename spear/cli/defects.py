"""An internal error: the traceback to the log, one line for the operator (spec 1.3, status 1)."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path


def report(error: BaseException, state_dir: str) -> str:
    """Write the traceback down and return the line that says where; it never raises."""
    text = "".join(traceback.format_exception(error))
    default = Path(os.environ.get("HOME", tempfile.gettempdir())) / ".local/state/spear"
    directory = Path(state_dir) if state_dir else default
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = directory / "spear.log"
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        where = f"the traceback is in {log}"
    except OSError:
        sys.stderr.write(text)
        where = "the log could not be written"
    return f"internal error: {type(error).__name__}: {error} — this is a defect; {where}"
