"""Names near one that does not exist: in its directory first, then anywhere in the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from spear.agent.host import Access, Host, Resolved

MOST = 5
_ENTRIES_LOOKED_AT = 20_000
_TOOL = "read_file"


def near_names(host: Host, path: str) -> list[str]:
    """Up to five workspace paths like `path`, best first; only readable ones."""
    wanted = PurePosixPath(path)
    scores: dict[str, tuple[int, str]] = {}
    parent = host.resolve(str(wanted.parent), Access.SEARCH, _TOOL)
    if isinstance(parent, Resolved) and parent.is_dir:
        for name in _entries(parent.real):
            score = likeness(wanted.name, name)
            if score:
                shown = joined(parent.shown, name)
                scores[shown] = (-score, shown)
    root = host.resolve(".", Access.SEARCH, _TOOL)
    if isinstance(root, Resolved) and root.is_dir:
        for relative in _everywhere(root.real):
            score = likeness(wanted.name, relative.rsplit("/", 1)[-1])
            shown = joined(root.shown, relative)
            if score >= 50 and shown not in scores:
                scores[shown] = (10 - score, shown)
    best = sorted(scores, key=lambda shown: scores[shown])
    return [shown for shown in best if host.readable(shown)][:MOST]


def joined(shown: str, name: str) -> str:
    """The workspace spelling of something below the directory `shown`."""
    return name if shown in ("", ".") else f"{shown}/{name}"


def likeness(wanted: str, name: str) -> int:
    """0 (unlike) to 100: the same but for case, another extension, a prefix, a part, similar letters."""
    a, b = wanted.lower(), name.lower()
    if a == b:
        return 100
    stem_a, stem_b = a.rsplit(".", 1)[0], b.rsplit(".", 1)[0]
    if stem_a and stem_a == stem_b:
        return 90
    if min(len(stem_a), len(stem_b)) > 2 and (a.startswith(stem_b) or b.startswith(stem_a)):
        return 70
    if len(stem_a) > 2 and stem_a in b:
        return 60
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() >= 0.75 and matcher.ratio() >= 0.75:
        return 50
    return 40 if len(stem_b) > 2 and stem_b in a else 0


def _entries(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as found:
            return sorted(entry.name for entry, _ in zip(found, range(_ENTRIES_LOOKED_AT), strict=False))
    except OSError:
        return []


def _everywhere(root: Path) -> Iterator[str]:
    seen = 0
    for directory, below, files in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(files):
            seen += 1
            if seen > _ENTRIES_LOOKED_AT:
                return
            yield os.path.relpath(os.path.join(directory, name), root)  # noqa: PTH118 (strings, for speed)
