"""Exit statuses a script printed itself: `make test; echo "exit: $?"`, `… | tail; echo ${PIPESTATUS[0]}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spear.shell.syntax import Node, Simple, Word

_STATUS = re.compile(r"\$\?|\$\{\?\}|\$\{?PIPESTATUS\[(?P<stage>\d+)\]\}?")
_ASSIGNED = re.compile(r"\"?(?:\$\?|\$\{PIPESTATUS\[(?P<stage>\d+)\]\})\"?")


@dataclass(frozen=True, slots=True)
class Printed:
    """The status read from the output; `stage` is the pipeline stage it is of, None for the whole statement."""

    code: int
    stage: int | None


def printed_status(statements: Sequence[Node], index: int, output: str) -> Printed | None:
    """The status of `statements[index]` as the very next statement prints it (or saves it for a later one to print).

    The line must match the whole of what is echoed, and the last such line of the output is read.
    """
    if index + 1 >= len(statements):
        return None
    following = statements[index + 1]
    if not isinstance(following, Simple):
        return None
    if following.name in ("echo", "printf"):
        return _read(following, output, _STATUS, None)
    if following.words or len(following.assignments) != 1:
        return None
    name, word = following.assignments[0]
    saved = _ASSIGNED.fullmatch(word.raw) if word is not None else None
    if saved is None:
        return None
    variable = re.compile(rf"\$\{{?{re.escape(name)}\b\}}?")
    for later in statements[index + 2 :]:
        if isinstance(later, Simple) and any(key == name for key, _ in later.assignments):
            return None
        if isinstance(later, Simple) and later.name in ("echo", "printf"):
            found = _read(later, output, variable, saved["stage"])
            if found is not None:
                return found
    return None


def _read(echo: Simple, output: str, status: re.Pattern[str], stage: str | None) -> Printed | None:
    words = [word for word in echo.argv[1:] if word.raw not in ("-e", "-n", "-E")]
    text = " ".join(_unquoted(word) for word in words).replace("\\n", "\n").strip()
    found = status.search(text)
    if found is None or any(word.raw.startswith("'") for word in words) or "$(" in text or "`" in text:
        return None
    line = text[: found.start()].split("\n")[-1], text[found.end() :].split("\n")[0]
    pattern = re.escape(line[0]) + r"(?P<code>\d{1,3})" + re.sub(r"\\\$\S*", ".*", re.escape(line[1]))
    matches = list(re.finditer(rf"^{pattern}[ \t]*$", output, re.MULTILINE))
    if not matches or (not line[0].strip() and output.strip().split("\n")[-1].strip() != matches[-1]["code"]):
        return None
    own = found.groupdict().get("stage")
    chosen = own if own is not None else stage
    return Printed(int(matches[-1]["code"]), int(chosen) if chosen is not None else None)


def _unquoted(word: Word) -> str:
    return word.raw.replace('"', "")
