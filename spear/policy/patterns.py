"""Path patterns: `*` within a component, `**` across components; compared by component, never by prefix of text."""

from __future__ import annotations

import posixpath
import re
import unicodedata


def normal(path: str) -> str:
    """One spelling of a workspace-relative path: composed Unicode, no `.` or doubled slashes, "" for the root."""
    tidy = posixpath.normpath(unicodedata.normalize("NFC", path)) if path else ""
    return "" if tidy in (".", "") else tidy


def is_pattern(path: str) -> bool:
    """Whether `path` holds a glob character."""
    return any(character in path for character in "*?[")


def inside(path: str, directory: str) -> bool:
    """Whether `path` is `directory` or lies below it."""
    return directory == "" or path == directory or path.startswith(directory + "/")


def _compiled(pattern: str) -> re.Pattern[str]:
    found: list[str] = []
    index = 0
    while index < len(pattern):
        if pattern.startswith("**/", index):
            found.append("(?:[^/]+/)*")
            index += 3
        elif pattern.startswith("**", index):
            found.append(".*")
            index += 2
        elif pattern[index] == "*":
            found.append("[^/]*")
            index += 1
        elif pattern[index] == "?":
            found.append("[^/]")
            index += 1
        elif pattern[index] == "[" and "]" in pattern[index + 2 :]:
            end = pattern.index("]", index + 2)
            body = pattern[index + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            found.append("[" + ("^" + body[1:] if body[0] in "!^" else body) + "]")
            index = end + 1
        else:
            found.append(re.escape(pattern[index]))
            index += 1
    try:
        return re.compile("".join(found), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern), re.DOTALL)


def matches(path: str, pattern: str) -> bool:
    """Whether `path` matches the whole of `pattern`."""
    return _compiled(pattern).fullmatch(path) is not None
