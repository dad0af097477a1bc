"""The replacement for a match that was not exact: the file's own lines and indentation, the model's changes.

Lines of the quoted text and of the region correspond one for one. A line the edit does not change stays as the file
has it; a changed or added line gets its indentation through a map learnt from that correspondence, line by line, so
that nothing is ever shifted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from spear.agent.matching_characters import carry_over
from spear.agent.matching_indent import IndentMap, split_indent


@dataclass(frozen=True, slots=True)
class Region:
    """A matched part of the text. `partial` says that its first line has other text before it."""

    start: int
    text: str
    partial: bool

    @classmethod
    def of(cls, text: str, start: int, end: int, floor: int) -> Region:
        """The region, widened to the start of its line where only indentation precedes it and `floor` allows it."""
        begin = text.rfind("\n", 0, start) + 1
        partial = begin < floor or bool(text[begin:start].strip())
        start = start if partial else begin
        return cls(start, text[start:end], partial)


def weave(text: str, region: Region, old: str, new: str, keep_characters: bool) -> str:
    """What replaces the region: `new`, told in the file's own indentation (and characters)."""
    actual, quoted, wanted = region.text.split("\n"), old.split("\n"), new.split("\n")
    if len(quoted) == len(actual) + 1 and not quoted[-1]:
        # The quoted text ends in a line break that the end of the file does not have.
        quoted.pop()
        if len(wanted) > 1 and not wanted[-1]:
            wanted.pop()
    first = 1 if region.partial else 0
    pairs = list(zip(quoted[first:], actual[first:], strict=True))
    indents = IndentMap(pairs, text, [*quoted, *wanted])
    result: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, quoted, wanted, autojunk=False).get_opcodes():
        if tag == "equal":
            result.extend(actual[i1:i2])
            continue
        paired = (i2 - i1) == (j2 - j1)
        for j in range(j1, j2):
            i = i1 + (j - j1)
            line = wanted[j]
            if region.partial and not result:
                result.append(carry_over(actual[0], quoted[0], line) if keep_characters and i == 0 else line)
                continue
            near = min(i, i2 - 1) if i2 > i1 else i1 - 1
            indented = indents.apply(line, max(near - first, 0))
            if keep_characters and paired:
                indent, _ = split_indent(indented)
                body = carry_over(actual[i].strip(), quoted[i].strip(), line.strip())
                trailing = line[len(line.rstrip()) :]
                indented = indent + body + trailing
            result.append(indented)
    return "\n".join(result)
