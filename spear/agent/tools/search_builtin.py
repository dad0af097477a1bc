"""Searching without ripgrep: the same files, the same order, the same rows, only slower."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from spear.agent import text as texts
from spear.agent.text_endings import to_lf
from spear.agent.tools.globs import IgnoreRules, selector
from spear.agent.tools.search_engine import BadPattern, Deadline, Query, Row, Spot

_LARGEST = 64 << 20
_WIDTH = 4_000
_POSIX = {
    "alpha": "^\\W\\d_", "digit": "0-9", "alnum": "^\\W_", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "word": r"\w", "blank": r" \t",
}  # fmt: skip


class BuiltIn:
    """The engine in Python."""

    def rows(self, spot: Spot, query: Query, deadline: Deadline) -> Iterator[Row]:
        """See Engine.rows."""
        for path, lines, matched, _ in self._searched(spot, query, deadline):
            hits = sorted(matched)
            last_shown = -1
            for position, index in enumerate(hits):
                following = hits[position + 1] if position + 1 < len(hits) else len(lines)
                for near in range(max(index - query.context, last_shown + 1), index):
                    yield Row(path, near + 1, lines[near][:_WIDTH], False)
                yield Row(path, index + 1, lines[index][:_WIDTH], True)
                last_shown = index
                for near in range(index + 1, min(index + query.context + 1, following, len(lines))):
                    yield Row(path, near + 1, lines[near][:_WIDTH], False)
                    last_shown = near

    def counts(
        self,
        spot: Spot,
        query: Query,
        deadline: Deadline,
        *,
        of_lines: bool = False,
        ordered: bool = True,
        beside: bool = False,
    ) -> Iterator[tuple[str, int]]:
        """See Engine.counts."""
        for path, _, matched, count in self._searched(spot, query, deadline):
            yield path, len(matched) if of_lines else count

    def files(self, spot: Spot, everything: bool, deadline: Deadline, name_glob: str = "") -> Iterator[str]:
        """See Engine.files."""
        wanted = selector(name_glob) if name_glob else None
        for path in self._paths(spot, everything, deadline):
            if wanted is None or wanted.match(path.rpartition("/")[2]):
                yield path

    def _paths(self, spot: Spot, everything: bool, deadline: Deadline) -> Iterator[str]:
        if spot.file:
            yield spot.file
            return
        rules = [] if everything else _outer_rules(spot.directory)
        yield from _walk(spot.directory, "", rules, everything, deadline)

    def _searched(self, spot: Spot, query: Query, deadline: Deadline) -> Iterator[tuple[str, list[str], set[int], int]]:
        """Files with a match: path, lines, indexes of matching lines, number of matches."""
        pattern = _compiled(query)
        for path in self.files(spot, query.everything, deadline, query.name_glob):
            text = _content(spot.directory / path)
            if text is None:
                continue
            lines = text.removesuffix("\n").split("\n")
            matched, count = _matches(pattern, text, lines, query.multiline)
            if matched:
                yield path, lines, matched, count


def _matches(pattern: re.Pattern[str], text: str, lines: list[str], multiline: bool) -> tuple[set[int], int]:
    matched: set[int] = set()
    count = 0
    if not multiline:
        for index, line in enumerate(lines):
            found = sum(1 for _ in pattern.finditer(line))
            if found:
                matched.add(index)
                count += found
        return matched, count
    for match in pattern.finditer(text):
        count += 1
        first = text.count("\n", 0, match.start())
        matched.update(range(first, first + max(match[0].removesuffix("\n").count("\n"), 0) + 1))
    return {index for index in matched if index < len(lines)}, count


def _compiled(query: Query) -> re.Pattern[str]:
    flags = (re.IGNORECASE if query.ignore_case else 0) | re.MULTILINE
    source = re.escape(query.pattern) if query.literal else _translated(query.pattern)
    try:
        return re.compile(source, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(str(error)) from error


def _translated(pattern: str) -> str:
    """What ripgrep's dialect writes otherwise: POSIX classes, `\\z`, `\\x{…}`."""
    pattern = re.sub(r"\[:(\^?)(\w+):\]", lambda m: _POSIX.get(m[2], m[0]), pattern)
    pattern = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda m: re.escape(chr(min(int(m[1], 16), 0x10FFFF))), pattern)
    return pattern.replace(r"\z", r"\Z")


def _content(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as stream:
            raw = stream.read(_LARGEST)
    except OSError:
        return None
    decoded = texts.decode(raw)
    return None if decoded is None else to_lf(decoded.text)


def _outer_rules(directory: Path) -> list[IgnoreRules]:
    """Rules of the directories above, outermost first, up to the top of the repository."""
    rules: list[IgnoreRules] = []
    inside = not (directory / ".git").exists()
    for parent in directory.parents:
        if not inside:
            break
        rules.insert(0, IgnoreRules.of(parent))
        inside = not (parent / ".git").exists()
    return rules


def _walk(root: Path, below: str, rules: list[IgnoreRules], everything: bool, deadline: Deadline) -> Iterator[str]:
    directory = root / below if below else root
    here = rules if everything else [*rules, IgnoreRules.of(directory)]
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
    except OSError:
        return
    for entry in entries:
        if deadline.passed():
            return
        if entry.name == ".git" or (not everything and entry.name.startswith(".")):
            continue
        is_dir = entry.is_dir(follow_symlinks=False)
        if not everything and _ignored(here, directory / entry.name, is_dir):
            continue
        path = f"{below}/{entry.name}" if below else entry.name
        if is_dir:
            yield from _walk(root, path, here, everything, deadline)
        elif entry.is_file(follow_symlinks=False):
            yield path


def _ignored(rules: list[IgnoreRules], path: Path, is_dir: bool) -> bool:
    for level in reversed(rules):
        verdict = level.verdict(path, is_dir)
        if verdict is not None:
            return verdict
    return False
