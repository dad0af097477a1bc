"""Where an edit applies: seven strategies from exact to forgiving, and a plan of splices or the reason for none.

Everything here is a pure function over text whose line endings are LF (spec coding-core, patch). The first strategy
that finds the quoted text anywhere decides. Likeness is never enough to edit: it only names the nearest region in a
refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from spear.agent.matching_advice import advise
from spear.agent.matching_characters import folded, folding_pattern
from spear.agent.matching_weave import Region, weave
from spear.agent.text_endings import Splice

_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\([ntr])")
_LEADING_TABS = re.compile(r"^(?:\\t)+", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]+")
_ENOUGH_TO_RECOGNIZE = 8
_ALIKE = 0.6


class Strategy(StrEnum):
    """How the quoted text was found, from strict to forgiving."""

    EXACT = "exact"
    LINE_TRIMMED = "line_trimmed"
    WHITESPACE_NORMALIZED = "whitespace_normalized"
    INDENTATION_FLEXIBLE = "indentation_flexible"
    ESCAPE_NORMALIZED = "escape_normalized"
    TRIMMED_BOUNDARY = "trimmed_boundary"
    UNICODE_NORMALIZED = "unicode_normalized"


class Reason(StrEnum):
    """Why there is no edit."""

    EMPTY = "empty"
    IDENTICAL = "identical"
    AMBIGUOUS = "ambiguous"
    NOT_FOUND = "not_found"
    ESCAPED = "escaped"
    ALREADY_APPLIED = "already_applied"


@dataclass(frozen=True, slots=True)
class Edit:
    """Splices that make the edit, sorted and apart from each other."""

    splices: tuple[Splice, ...]
    strategy: Strategy


@dataclass(frozen=True, slots=True)
class NoEdit:
    """Why nothing is changed, and what to do, in text the model reads. ALREADY_APPLIED is a success."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a strategy found the text, and the two strings that correspond to it there."""

    spans: tuple[tuple[int, int], ...]
    old: str
    new: str


def plan(text: str, old: str, new: str, *, replace_all: bool = False) -> Edit | NoEdit:
    """The edit that puts `new` where `text` has `old`. All three have LF line endings."""
    if not old:
        return NoEdit(Reason.EMPTY, "old_string is empty: quote the text to replace, or use write_file for a new file.")
    if old == new:
        return NoEdit(Reason.IDENTICAL, "old_string and new_string are identical: nothing to change.")
    for strategy, find in _STRATEGIES:
        found = find(text, old, new)
        if found is None or not found.spans:
            continue
        if len(found.spans) > 1 and not replace_all:
            return _ambiguous(text, found.spans)
        if strategy is Strategy.ESCAPE_NORMALIZED and _still_escaped(old, found.new):
            return NoEdit(
                Reason.ESCAPED,
                "old_string matched only after reading its \\n as line breaks, and new_string has \\n too: it is not "
                "clear which are line breaks. Send both with real line breaks.",
            )
        return Edit(tuple(_splices(text, found, strategy)), strategy)
    if _present(text, old, new):
        return NoEdit(
            Reason.ALREADY_APPLIED, "Already applied: new_string is in the file and old_string is not. Nothing changed."
        )
    return NoEdit(Reason.NOT_FOUND, advise(text, old))


def _present(text: str, old: str, new: str) -> bool:
    """Whether the text has `new` already: verbatim, or in its own indentation where `new` varies `old`. What is too
    short to tell does not count."""
    if sum(not character.isspace() for character in new) < _ENOUGH_TO_RECOGNIZE:
        return False
    if new in text:
        return True
    found = _line_trimmed(text, new, new)
    alike = SequenceMatcher(None, old, new, autojunk=False)
    return found is not None and bool(found.spans) and alike.quick_ratio() > _ALIKE and alike.ratio() > _ALIKE


def _splices(text: str, found: _Found, strategy: Strategy) -> Iterable[Splice]:
    done = 0
    for start, end in found.spans:
        if strategy is Strategy.EXACT:
            yield Splice(start, end, found.new)
        else:
            keep_characters = strategy is Strategy.UNICODE_NORMALIZED
            region = Region.of(text, start, end, done)
            yield Splice(region.start, end, weave(text, region, found.old, found.new, keep_characters))
        done = end


def _ambiguous(text: str, spans: tuple[tuple[int, int], ...]) -> NoEdit:
    listed = []
    for start, _ in spans[:5]:
        begin = text.rfind("\n", 0, start) + 1
        line = text[begin : text.find("\n", start) if "\n" in text[start:] else len(text)].strip()
        listed.append(f"line {text.count(chr(10), 0, start) + 1}: {line[:80]}")
    more = f"\n… and {len(spans) - 5} more" if len(spans) > 5 else ""
    return NoEdit(
        Reason.AMBIGUOUS,
        f"old_string matches {len(spans)} times; quote more surrounding lines to make it unique, or set "
        "replace_all to change all of them.\n" + "\n".join(listed) + more,
    )


def _still_escaped(old: str, new: str) -> bool:
    return bool(re.search(r"(?<!\\)(?:\\\\)*\\n", old) and re.search(r"(?<!\\)(?:\\\\)*\\n", new)) and "\n" not in new


def _occurrences(text: str, needle: str) -> tuple[tuple[int, int], ...]:
    spans = []
    start = text.find(needle)
    while start >= 0:
        spans.append((start, start + len(needle)))
        start = text.find(needle, start + len(needle))
    return tuple(spans)


def _exact(text: str, old: str, new: str) -> _Found | None:
    return _Found(_occurrences(text, old), old, new)


def _by_lines(text: str, old: str, new: str, key: Callable[[str], str]) -> _Found | None:
    """Whole lines of the text whose keys are those of the lines of `old`, one for one."""
    if not old.strip():
        return None
    lines = text.split("\n")
    wanted = [key(line) for line in old.split("\n")]
    closing = len(wanted) > 1 and old.endswith("\n")
    if closing:
        wanted.pop()
    keys = [key(line) for line in lines]
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    spans = []
    index = 0
    while index + len(wanted) <= len(keys):
        if keys[index] == wanted[0] and keys[index : index + len(wanted)] == wanted:
            stop = index + len(wanted)
            spans.append((offsets[index], min(offsets[stop] - (0 if closing else 1), len(text))))
            index = stop
        else:
            index += 1
    return _Found(tuple(spans), old, new)


def _line_trimmed(text: str, old: str, new: str) -> _Found | None:
    return _by_lines(text, old, new, str.strip)


def _whitespace_normalized(text: str, old: str, new: str) -> _Found | None:
    if not old.strip():
        return None
    pattern = r"[ \t]+".join(re.escape(piece) for piece in _BLANKS.split(old))
    if old[0] in " \t":
        pattern = r"(?<![ \t])" + pattern
    return _Found(tuple(m.span() for m in re.finditer(pattern, text)), old, new)


def _indentation_flexible(text: str, old: str, new: str) -> _Found | None:
    """As line-trimmed, with runs of blanks inside a line equal to one: both the indentation and the inner spacing may
    be the model's own."""
    return _by_lines(text, old, new, lambda line: _BLANKS.sub(" ", line.strip()))


def _escape_normalized(text: str, old: str, new: str) -> _Found | None:
    real = {"n": "\n", "t": "\t", "r": "\r"}
    unescaped = _ESCAPE.sub(lambda m: m[1] + real[m[2]], old).replace("\r\n", "\n")
    if unescaped == old or not unescaped.strip():
        return None
    if _LEADING_TABS.search(old) and "\t" in unescaped:
        new = _LEADING_TABS.sub(lambda m: "\t" * (len(m[0]) // 2), new)
    return _Found(_occurrences(text, unescaped), unescaped, new)


def _trimmed_boundary(text: str, old: str, new: str) -> _Found | None:
    """Blank lines before and after the quoted block do not count; those `new` has as well are dropped with them."""
    before = re.match(r"(?:[ \t]*\n)*", old)
    after = re.search(r"(?:\n[ \t]*)*\Z", old)
    if before is None or after is None or not old.strip() or not (before[0] or after[0]):
        return None
    leading, trailing = before[0].count("\n"), after[0].count("\n")
    core = old[before.end() : after.start()]
    kept = re.sub(rf"\A(?:[ \t]*\n){{0,{leading}}}", "", new)
    kept = re.sub(rf"(?:\n[ \t]*){{0,{trailing}}}\Z", "", kept, count=1)
    return _line_trimmed(text, core, kept)


def _unicode_normalized(text: str, old: str, new: str) -> _Found | None:
    if not old.strip() or (text.isascii() and old.isascii()):
        return None
    spans = tuple(m.span() for m in re.finditer(folding_pattern(old), text))
    if spans:
        return _Found(spans, old, new)
    return _by_lines(text, old, new, lambda line: folded(line).strip())


_Find = Callable[[str, str, str], _Found | None]
_STRATEGIES: tuple[tuple[Strategy, _Find], ...] = (
    (Strategy.EXACT, _exact),
    (Strategy.LINE_TRIMMED, _line_trimmed),
    (Strategy.WHITESPACE_NORMALIZED, _whitespace_normalized),
    (Strategy.INDENTATION_FLEXIBLE, _indentation_flexible),
    (Strategy.ESCAPE_NORMALIZED, _escape_normalized),
    (Strategy.TRIMMED_BOUNDARY, _trimmed_boundary),
    (Strategy.UNICODE_NORMALIZED, _unicode_normalized),
)
