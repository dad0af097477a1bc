"""Variables that name the program a build uses, set to one that does nothing: `CC=true`, `PYTEST=:` (spec 3.3)."""

from __future__ import annotations

import re

_NAMES_A_PROGRAM = re.compile(
    r"(?:\w+_)?(?:CC|CXX|LD|AR|PYTHON3?|PYTEST|TOX|MAKE|NODE|NPM|JEST|GO|CARGO|RUSTC|RUSTDOC|RUNNER)"
)
_IDLE = frozenset({"true", "false", ":", "echo", "printf"})


def made_idle(variable: str, value: str) -> bool:
    """Whether this setting makes what should do the work do nothing. `DEBUG=true` does not."""
    words = value.split()
    return _NAMES_A_PROGRAM.fullmatch(variable) is not None and bool(words) and words[0].rsplit("/", 1)[-1] in _IDLE
