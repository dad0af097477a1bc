"""Glob patterns as ripgrep and gitignore read them, as regular expressions; ignore files for the search without rg."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_MAGIC = frozenset("*?[{")
_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")


def has_magic(pattern: str) -> bool:
    """Whether the pattern has a glob character."""
    return any(character in _MAGIC for character in pattern)


def selector(pattern: str, *, bare_word: bool = False) -> re.Pattern[str]:
    """Matches workspace-relative paths. No slash: the name at any depth. A slash: the path, at any depth unless it
    starts with one; one at the end means all below. With `bare_word`, a pattern without glob characters matches
    wherever it is part of the name (of the path, when it has a slash).
    """
    if bare_word and not has_magic(pattern):
        return re.compile(f".*{re.escape(pattern)}" + (".*" if "/" in pattern else r"[^/]*\Z"), re.DOTALL)
    if pattern.endswith("/"):
        pattern += "**"
    if pattern.startswith("/"):
        return re.compile(glob_regex(pattern[1:]), re.DOTALL)
    return re.compile("(?:.*/)?" + glob_regex(pattern.removeprefix("./")), re.DOTALL)


def glob_regex(glob: str) -> str:
    """The regular expression (to be matched against the whole path) of a glob; `*` and `?` stop at a slash."""
    result: list[str] = []
    index, depth = 0, 0
    while index < len(glob):
        character = glob[index]
        if glob.startswith("**/", index) and (index == 0 or glob[index - 1] == "/"):
            result.append("(?:.*/)?")
            index += 3
            continue
        if glob.startswith("**", index):
            result.append(".*")
            index += 2
            continue
        if character == "[" and (end := _class_end(glob, index)):
            body = glob[index + 1 : end]
            negated = body[:1] in ("!", "^")
            inner = re.sub(r"([\\\[&~|]|^-|(?<=(?s:.)-)-)", r"\\\1", body[negated:])  # "--" is reserved
            result.append(f"(?!/)[{'^' if negated else ''}{inner}]")
            index = end + 1
            continue
        if character == "{" and "}" in glob[index:]:
            depth += 1
            result.append("(?:")
        elif character == "}" and depth:
            depth -= 1
            result.append(")")
        elif character == "," and depth:
            result.append("|")
        elif character == "\\" and index + 1 < len(glob):
            index += 1
            result.append(re.escape(glob[index]))
        else:
            result.append({"*": "[^/]*", "?": "[^/]"}.get(character) or re.escape(character))
        index += 1
    return "".join(result) + ")" * depth + r"\Z"


def _class_end(glob: str, start: int) -> int:
    first = start + 1 + (glob[start + 1 : start + 2] in ("!", "^"))
    return max(glob.find("]", first + 1), 0)


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    only_directories: bool
    ignores: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one directory's ignore files, strongest last; `git` marks a repository's top."""

    directory: Path
    rules: tuple[_Rule, ...]

    @classmethod
    def of(cls, directory: Path) -> IgnoreRules:
        """Read them; a file that cannot be read rules nothing."""
        rules: list[_Rule] = []
        for name in (".git/info/exclude", *_IGNORE_FILES):
            try:
                lines = (directory / name).read_text("utf-8", "replace").split("\n")
            except OSError:
                continue
            rules.extend(rule for line in lines if (rule := _rule(line)) is not None)
        return cls(directory, tuple(rules))

    def verdict(self, path: Path, is_dir: bool) -> bool | None:
        """Whether the path is ignored, None when no rule speaks of it."""
        if not self.rules:
            return None
        relative = path.relative_to(self.directory).as_posix()
        for rule in reversed(self.rules):
            if (is_dir or not rule.only_directories) and rule.pattern.match(relative):
                return rule.ignores
        return None


def _rule(line: str) -> _Rule | None:
    line = re.sub(r"(?<!\\)[ \t]+$", "", line.rstrip("\r"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[negated:].removeprefix("\\") if line[negated : negated + 2] in ("\\#", "\\!") else line[negated:]
    only_directories = line.endswith("/")
    line = line.rstrip("/")
    if not line:
        return None
    anchored = "/" in line
    prefix = "" if anchored else "(?:.*/)?"
    try:
        return _Rule(re.compile(prefix + glob_regex(line.lstrip("/")), re.DOTALL), only_directories, not negated)
    except re.error:
        return None
