"""The shell grammar: `shfmt` as a subprocess, from text to its JSON tree (spec 2.6).

The tree is the parser's own; it is read by `build` and by nothing else.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from spear.errors import SpearError
from spear.shell.syntax import SyntaxProblem

_PLACE = re.compile(r"^(?:<standard input>:)?(?P<line>\d+):(?P<column>\d+): (?P<message>.*)$", re.DOTALL)
_TIMEOUT_S = 10.0


def find_shfmt() -> Path:
    """The binary the `shfmt-py` wheel installs beside the interpreter, else one on PATH.

    Raises SpearError when there is none: without a grammar no command is judged, so none may run.
    """
    beside = Path(sys.executable).parent / "shfmt"
    if beside.is_file():
        return beside
    scripts = Path(sys.prefix) / ("Scripts" if sys.platform == "win32" else "bin") / "shfmt"
    if scripts.is_file():
        return scripts
    found = shutil.which("shfmt")
    if found is None:
        raise SpearError("the shell grammar (shfmt) is not installed", hint="pip install shfmt-py==4.2.0")
    return Path(found)


def read_grammar(binary: Path, text: str) -> dict[str, Any] | SyntaxProblem:
    """The JSON tree of `text` read as bash, or where it stops being shell.

    Raises SpearError when the parser cannot be run at all.
    """
    try:
        done = subprocess.run(
            [str(binary), "-ln", "bash", "--to-json"],
            input=text.encode("utf-8"),
            capture_output=True,
            timeout=_TIMEOUT_S,
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return SyntaxProblem("the shell grammar gave up: the script is too deeply nested to be analysed")
    except OSError as problem:
        raise SpearError(f"shfmt cannot be run: {problem}", hint="reinstall shfmt-py==4.2.0") from problem
    if done.returncode != 0:
        return _problem(done.stderr.decode("utf-8", "replace").strip())
    try:
        tree = json.loads(done.stdout)
    except (ValueError, RecursionError):
        return SyntaxProblem("the script is too deeply nested to be analysed")
    if not isinstance(tree, dict):
        return SyntaxProblem("the shell grammar gave no tree")
    return tree


def shell_accepts(text: str) -> bool:
    """Whether bash itself reads `text` without complaint; nothing runs (`-n`).

    Asked only where shfmt refused: the two differ on a few rare forms, and a false refusal is a defect.
    """
    shell = shutil.which("bash", path="/bin:/usr/bin")
    if shell is None:
        return False
    try:
        done = subprocess.run(
            [shell, "--noprofile", "--norc", "-n"],
            input=text.encode("utf-8"),
            capture_output=True,
            timeout=_TIMEOUT_S,
            env={"LC_ALL": "C.UTF-8"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and not done.stderr


def _problem(stderr: str) -> SyntaxProblem:
    match = _PLACE.match(stderr)
    if match is None:
        return SyntaxProblem(stderr or "the shell grammar refused the script without a reason")
    return SyntaxProblem(match["message"], int(match["line"]), int(match["column"]))
