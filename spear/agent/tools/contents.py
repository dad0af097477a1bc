"""Contents that must not be written: what a tool displayed, mistaken for what the file holds."""

from __future__ import annotations

import re
from itertools import pairwise

from spear.agent.tools.hidden_text import sentinels
from spear.agent.tools.read_file import CLAMP_MARK

_ROW = re.compile(r"\s*(\d+)\|")
_STUB = "[unchanged: the result of the earlier identical read of"
_SHARE_OF_ROWS = 0.6


def unwritable(new: str, existing: str) -> str:
    """Why `new` must not enter a file that now holds `existing`; "" when it may."""
    if is_display(new) and not is_display(existing):
        return "the content is a read_file display (rows `N|text`); send it without the line numbers"
    if new.lstrip().startswith(_STUB):
        return "the content is a note of read_file, not file content"
    if CLAMP_MARK.search(new) and not CLAMP_MARK.search(existing):
        return "the content has a clamped line of read_file, whose rest would be lost; change that file with patch"
    added = sentinels(new)
    if added and (added := added - sentinels(existing)):
        return (
            f"the content has {sorted(added)[0]}, which stands for a secret that was hidden from you; writing it would "
            "destroy the secret. Change the other lines with patch and leave that one out"
        )
    return ""


def is_display(text: str) -> bool:
    """Whether the text is numbered rows as read_file shows them: consecutive numbers on most lines, at least two."""
    if text.count("|") < 2:
        return False  # most of what is written, and counting is fast
    lines = [line for line in text.split("\n") if line.strip()]
    numbers = [int(match[1][:12]) for line in lines if (match := _ROW.match(line))]
    if len(numbers) < 2 or len(numbers) < _SHARE_OF_ROWS * len(lines):
        return False
    steps = [b - a for a, b in pairwise(numbers)]
    return all(step >= 1 for step in steps) and sum(step == 1 for step in steps) * 2 >= len(steps)
