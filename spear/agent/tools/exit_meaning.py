"""What an exit code means where the number alone misleads, and when it speaks of another command than it seems to.

The last command of a script is found by a scan that respects quotes; where it is not certain that it ran, nothing is
said about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANYWHERE = {
    124: "timed out (timeout)",
    126: "found but not executable",
    127: "command not found",
    137: "killed (SIGKILL; often out of memory)",
    139: "segmentation fault",
    134: "aborted (SIGABRT)",
    143: "terminated (SIGTERM)",
}
_BY_PROGRAM: dict[str, dict[int, str]] = {
    **{name: {1: "no match"} for name in ("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep")},
    **{name: {1: "they differ"} for name in ("diff", "colordiff", "cmp")},
    **{name: {1: "false"} for name in ("test", "[")},
    "find": {1: "parts could not be read"},
}
_SEPARATORS = re.compile(r"&&|\|\||\|&?|;|&|\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_HARMLESS = frozenset({"echo", "printf", "true", ":"})


@dataclass(frozen=True, slots=True)
class _Segment:
    joined_by: str
    words: list[str]

    @property
    def program(self) -> str:
        for word in self.words:
            if not _ASSIGNMENT.match(word):
                return word.rsplit("/", 1)[-1]
        return ""


def meaning(command: str, code: int, silent: bool) -> str:
    """What `code` means, "" where the number says it. `silent`: the command printed nothing."""
    if code in _ANYWHERE:
        return _ANYWHERE[code]
    if "pipefail" in command:
        return ""
    segments = _segments(command)
    if not segments:
        return ""
    last = segments[-1]
    if not all(_surely_ran(segments, index, silent) for index in range(1, len(segments))):
        return ""
    explained = _BY_PROGRAM.get(last.program, {}).get(code, "")
    return f"{last.program}: {explained}" if explained else ""


def benign(command: str, code: int, silent: bool) -> bool:
    """Whether a non-zero code is an answer rather than a failure."""
    return code == 1 and bool(meaning(command, code, silent))


def masked(command: str, code: int, pipe_status: tuple[int, ...]) -> str:
    """A warning where exit 0 may hide a failure, else ""."""
    if code != 0:
        return ""
    if any(status not in (0, 141) for status in pipe_status[:-1]):
        return "exit 0 is the last stage's; an earlier stage of the pipeline failed"
    segments = _segments(command)
    if segments and segments[-1].joined_by == "||" and segments[-1].program in _HARMLESS:
        return f"exit 0 may be that of `|| {segments[-1].program}`, not of the command before it"
    return ""


def _surely_ran(segments: list[_Segment], index: int, silent: bool) -> bool:
    """After `&&` a non-zero code may be an earlier command's: only a silent `cd` is known to have succeeded."""
    if segments[index].joined_by != "&&":
        return True
    return silent and segments[index - 1].program == "cd"


def _segments(command: str) -> list[_Segment]:
    """Simple commands in order; empty when the script has more structure than this reads."""
    if re.search(r"<<|\$\(|`|[(){}]|\b(?:if|for|while|until|case|function|select)\b", _blank_quotes(command)):
        return []
    plain = _blank_quotes(command).rstrip(" \t\n;")
    segments: list[_Segment] = []
    joined_by, start = "", 0
    for match in _SEPARATORS.finditer(plain):
        before = plain[match.start() - 1 : match.start()]
        if match[0] in ("&", "|") and (before in (">", "<", "&") or plain[match.end() : match.end() + 1] == ">"):
            continue
        segments.append(_Segment(joined_by, plain[start : match.start()].split()))
        joined_by, start = match[0], match.end()
    segments.append(_Segment(joined_by, plain[start:].split()))
    return [segment for segment in segments if segment.words]


def _blank_quotes(command: str) -> str:
    """The script with quoted text, escapes and comments as `_`, of the same length."""
    return re.sub(
        r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(?:(?<=\s)|^)#[^\n]*",
        lambda m: " " * len(m[0]) if m[0].startswith("#") else "_" * len(m[0]),
        command,
        flags=re.DOTALL | re.MULTILINE,
    )
