"""What patch and write_file share: a file's bytes as the edit saw them, the write, and its report."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from spear.agent import text as texts
from spear.agent.host import Edited, Host, Refusal, Resolved, ToolRequest, ToolResult, WriteResult
from spear.agent.tools import results, syntax
from spear.agent.tools.reads import Reads
from spear.agent.tools.windows import beginning

LARGEST = 64 << 20
_DIFF_LIMIT = 20_000
_CONTEXT = 3
_MOST_COMPARED = 1_000_000
_HUNK = re.compile(r"(@@ -)(\d+)((?:,\d+)? \+)(\d+)((?:,\d+)? @@)")


@dataclass(frozen=True, slots=True)
class Present:
    """A file as it is: its bytes, and its text unless it is binary."""

    raw: bytes
    decoded: texts.Decoded | None


def load(host: Host, target: Resolved) -> Present | ToolResult:
    """The file's bytes, or the result to return instead."""
    if target.is_dir:
        return results.failed(f"{target.shown} is a directory; name a file in it")
    try:
        if not target.real.is_file():
            return results.failed(f"{target.shown} is not a regular file; it was not opened")
        with host.open_read(target) as stream:
            raw = beginning(stream, LARGEST + 1)
    except OSError as error:
        return results.system_error(target.shown, error, "check the path and its permissions")
    if len(raw) > LARGEST:
        return results.failed(f"{target.shown} is larger than 64 MiB; edit it with a program in the terminal")
    return Present(raw, texts.decode(raw))


def commit(
    host: Host, reads: Reads, target: Resolved, content: bytes, expected: str | None, request: ToolRequest
) -> WriteResult | ToolResult:
    """Write through the host; its refusal or an error of the system is the result to return."""
    try:
        written = host.write(target, content, expected, request)
    except OSError as error:
        return results.system_error(target.shown, error, "nothing was written; check the permissions")
    if isinstance(written, Refusal):
        return results.refused(written)
    return written


def durability(written: WriteResult) -> list[str]:
    """A warning where the file system could not promise that the write survives a crash."""
    return [] if written.durable else ["[written, but the file system did not confirm that it is durable]"]


def diff(shown: str, before: str, after: str) -> str:
    """A unified diff with a/ and b/ names; line endings are not shown. Bounded."""
    start, old, new = _apart(before, after, context=_CONTEXT)
    lines = unified_diff(old, new, f"a/{shown}", f"b/{shown}", lineterm="")
    text = "\n".join(_HUNK.sub(lambda m: _moved(m, start), line) if line[:3] == "@@ " else line for line in lines)
    if len(text) <= _DIFF_LIMIT:
        return text
    kept = text[: text.rfind("\n", 0, _DIFF_LIMIT)]
    return f"{kept}\n[diff cut: {len(text) - len(kept)} more characters]"


def edited(shown: str, before: str | None, after: str) -> Edited:
    """How many lines an edit added and removed. Where very much differs, all of that counts as replaced."""
    _, gone, come = _apart(before or "", after, context=0)
    kept = 0
    if len(gone) * len(come) <= _MOST_COMPARED:
        kept = sum(block.size for block in SequenceMatcher(None, gone, come, autojunk=False).get_matching_blocks())
    return Edited(shown, len(come) - kept, len(gone) - kept)


def _apart(before: str, after: str, *, context: int) -> tuple[int, list[str], list[str]]:
    """Where two texts differ, with some lines around it: how many lines stand before that, and the lines of each."""
    shorter, old, new = min(len(before), len(after)), len(before), len(after)
    start = _line_start(before, _common(shorter, lambda a, b: before[a:b] == after[a:b]))
    same_at_end = _common(shorter - start, lambda a, b: before[old - b : old - a] == after[new - b : new - a])
    end = _after_line(before, old - same_at_end)
    for _ in range(context):
        start, end = _line_start(before, max(start - 1, 0)), _after_line(before, end)
    return before.count("\n", 0, start), _lines(before[start:end]), _lines(after[start : new - (old - end)])


def _common(most: int, is_same: Callable[[int, int], bool]) -> int:
    """How much is the same, `most` at most, by whether a piece is. Asked by halves: long pieces compare at once."""
    same = 0
    while same < most:
        half = (most - same + 1) // 2
        if is_same(same, same + half):
            same += half
        else:
            most = same + half - 1
    return same


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _after_line(text: str, position: int) -> int:
    return text.find("\n", position) + 1 or len(text)


def _moved(hunk: re.Match[str], lines: int) -> str:
    return f"{hunk[1]}{int(hunk[2]) + lines}{hunk[3]}{int(hunk[4]) + lines}{hunk[5]}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def report(shown: str, before: str | None, after: str) -> Sequence[str]:
    """The syntax error this edit added, as a line for the model."""
    problem = syntax.new_problem(shown, before, after)
    return [f"[{problem}]"] if problem else []
