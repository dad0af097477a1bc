"""What is known of a project before a command is judged: declared commands, targets, scripts, files (spec 3.3)."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spear.evidence.kinds import CheckKind
from spear.shell.syntax import Arguments, Environment, Script, SyntaxProblem


def _no_file(_path: str) -> bool:
    return False


def _no_shell(_text: str, _arguments: Arguments, _environment: Environment) -> Script | SyntaxProblem:
    return SyntaxProblem("nothing here reads scripts")


@dataclass(frozen=True, slots=True)
class MakeTarget:
    """One rule of a makefile: what it depends on and its recipe lines, unexpanded."""

    prerequisites: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Makefile:
    """The explicit rules of one makefile. `default` is the first target, "" when there is none."""

    default: str = ""
    targets: Mapping[str, MakeTarget] = field(default_factory=dict)

    def prints_only(self, target: str) -> bool:
        """Whether making the target only prints something: every command of its recipe does, and nothing it depends
        on has a recipe that does more."""
        rule = self.targets.get(target)
        if rule is None or not rule.recipe:
            return False
        prints = all(_prints(line) for line in rule.recipe)
        return prints and not any(self._does_something(name, frozenset({target})) for name in rule.prerequisites)

    def builds(self, target: str) -> bool:
        """Whether making the target first makes something else that has a recipe of its own."""
        rule = self.targets.get(target)
        return rule is not None and any(self._does_something(name, frozenset({target})) for name in rule.prerequisites)

    def links(self, target: str) -> bool:
        """Whether the recipe of the target has a compiler make a file of its name, and nothing run it."""
        rule = self.targets.get(target)
        return rule is not None and bool(rule.recipe) and _MAKES_IT.search(rule.recipe[-1]) is not None

    def is_empty(self, target: str) -> bool:
        """Whether the target has a rule with nothing in it and nothing before it."""
        rule = self.targets.get(target)
        return rule is not None and not rule.recipe and not rule.prerequisites

    def ignores_errors(self, target: str) -> bool:
        """Whether every command of the recipe has its status thrown away (`-pytest`, `pytest || true`)."""
        rule = self.targets.get(target)
        return rule is not None and bool(rule.recipe) and all(_ignores(line) for line in rule.recipe)

    def _does_something(self, target: str, seen: frozenset[str]) -> bool:
        rule = self.targets.get(target)
        if rule is None or target in seen:
            return False
        if any(not _prints(line) and not _prepares(line) for line in rule.recipe):
            return True
        return any(self._does_something(name, seen | {target}) for name in rule.prerequisites)


_PRINTERS = frozenset({"echo", "printf", "cat", "grep", "egrep", "awk", "sed", "sort", "column", "true", ":", "tput"})
_VARIABLE = re.compile(r"\$[({](?P<name>[\w.@<^?*+-]+)[)}]")
_OWN_TEXT = re.compile(r"\bMAKEFILE_LIST\b|\b(?:GNU)?[Mm]akefile\b")
_MAKES_IT = re.compile(r"\s-o\s*(?:\$@|\$[({]@[)}])")
_PREPARERS = frozenset({"mkdir", "touch", "rm", "cp", "install"})


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of a recipe line: its words, and what stands before it (`|`, `&&`, `;`…, "" at the beginning)."""

    words: tuple[str, ...]
    joint: str

    @property
    def name(self) -> str:
        """Its first word."""
        return self.words[0].lstrip("@-+")

    def decides(self) -> bool:
        """Whether its status says whether something is so: that of one which also prints does where it is asked for."""
        options = [word for word in self.words[1:] if word.startswith("-")]
        match self.name:
            case "grep" | "egrep" | "fgrep":
                quiet = any(word == "--quiet" or ("q" in word and not word.startswith("--")) for word in options)
                return quiet or self.joint != "|"
            case "awk":
                return "-f" in options or any(re.search(r"\bexit\b", word) for word in self.words)
            case "sort":
                return any(word.startswith("--check") or word.lower() == "-c" for word in options)
        return False


def _commands(line: str) -> list[_Command]:
    """The commands of a recipe line; one without a name where it cannot be read."""
    line = _VARIABLE.sub(r"\g<name>", line.lstrip("@-+ \t"))  # whose parentheses begin no command
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return [_Command(("",), "")]
    found: list[_Command] = []
    begun: list[str] = []
    joint = ""
    for word in [*words, ";"]:
        if not set(word) <= set(";|&()"):
            begun.append(word)
            continue
        if begun:
            found.append(_Command(tuple(begun), joint))
        begun, joint = [], word
    return found


def _prints(line: str) -> bool:
    commands = _commands(line)
    return all(command.name in _PRINTERS for command in commands) and not _tells(commands)


def _tells(commands: Sequence[_Command]) -> bool:
    """Whether the status of printing commands says whether something is so: the last of them, or one that `&&` hands
    on. What reads the makefile itself prints its help."""
    if any(_OWN_TEXT.search(word) for command in commands for word in command.words):
        return False
    after: str | None = None
    for command in reversed(commands):
        if after not in (None, "&&", "|"):
            return False
        if after != "|" and command.decides():
            return True
        after = command.joint
    return False


def _prepares(line: str) -> bool:
    return all(command.name in _PREPARERS for command in _commands(line))


def _ignores(line: str) -> bool:
    marks = line[: len(line) - len(line.lstrip("@-+ \t"))]
    return "-" in marks or re.search(r"(\|\||;)\s*(true|:|exit\s+0)\s*$", line) is not None


_RULE = re.compile(r"^(?P<targets>[^\s:=#][^:=#]*?)\s*::?(?!=)\s*(?P<rest>[^#]*)")


def read_makefile(text: str) -> Makefile:
    """The explicit rules of a makefile's text. Variables are not expanded and includes not followed: what cannot be
    read this way is simply not known."""
    needed: dict[str, list[str]] = {}
    recipes: dict[str, list[str]] = {}
    default = ""
    open_targets: tuple[str, ...] = ()
    for line in text.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            command = line.strip()
            if command and not command.startswith("#"):
                for name in open_targets:
                    recipes[name].append(command)
            continue
        rule = _RULE.match(line.rstrip())
        if rule is None:
            if line.strip() and not line.startswith("#"):
                open_targets = ()
            continue
        before, _, inline = rule["rest"].partition(";")
        if "=" in before:
            continue
        open_targets = tuple(dict.fromkeys(rule["targets"].split()))
        for name in open_targets:
            needed.setdefault(name, []).extend(before.split())
            recipes.setdefault(name, []).extend([inline.strip()] if inline.strip() else [])
            if not default and not name.startswith(".") and "%" not in name:
                default = name
    targets = {name: MakeTarget(tuple(needed[name]), tuple(recipes[name])) for name in needed}
    goal = re.search(r"^\.DEFAULT_GOAL\s*[:?]?=\s*(\S+)", text, re.MULTILINE)
    return Makefile(goal[1] if goal else default, targets)


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """Everything recognition may lean on. Paths are workspace-relative, "" is the root of the workspace.

    `declared` maps a command as the project declares it to its kinds; `makefiles` and `scripts` (package.json) are
    keyed by directory; `exists` and `is_executable` answer for files of the tree as it is after the command; `root`
    is the workspace's host path, so that absolute words can be placed; `aliases` are other names commands know it by.
    `other_roots` are the absolute paths of the session's other roots, each with the name its files are shown under.
    `usual_path` are the entries of the operator's own PATH; `made_here` tells what this turn created; `at_home` whether
    a path exists beneath the home directory commands have; `builds_here` whether an absolute directory outside is a
    build directory set up from the workspace. `leads_out` says whether a path leaves the workspace through a symbolic
    link; `is_built` tells what a build makes, `read` the text of a small file by its absolute path, `parse` the tree of
    a script's text with its arguments and variables. `only_new_tests` are the tests with these suffixes where this
    turn wrote all there are, else none; `named_before` tells whether a build file or script that was there before names
    a word; `shown_before` is what the project's own checks could show before this turn. `elsewhere` gives the facts of
    another root by its shown name, relative to that root, and `recorded` the name records have for such a path.
    `made_matching` tells whether this turn created a file that a pattern stands for, `told_here` what it has created or
    changed (`told` all of that with these suffixes), `text_before` what a check's own file that it changed said before,
    `changed_now` what the command at hand changed of what was there before it, `built` finds what builds have made by
    its path, the directories of tools aside; `texts` are the small delivered files with these suffixes and what they
    say; `tests_beside` tells whether there are tests with these suffixes beside those given, by their files and
    directories.
    """

    declared: Mapping[str, frozenset[CheckKind]] = field(default_factory=dict)
    makefiles: Mapping[str, Makefile] = field(default_factory=dict)
    scripts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    exists: Callable[[str], bool] = _no_file
    is_executable: Callable[[str], bool] = _no_file
    root: str = ""
    aliases: tuple[str, ...] = ()
    other_roots: Mapping[str, str] = field(default_factory=dict)
    usual_path: frozenset[str] = frozenset()
    made_here: Callable[[str], bool] = _no_file
    at_home: Callable[[str], bool] = _no_file
    builds_here: Callable[[str], bool] = _no_file
    leads_out: Callable[[str], bool] = _no_file
    is_built: Callable[[str], bool] = _no_file
    read: Callable[[str], str | None] = lambda _path: None
    parse: Callable[[str, Arguments, Environment], Script | SyntaxProblem] = _no_shell
    only_new_tests: Callable[[frozenset[str]], tuple[str, ...]] = lambda _suffixes: ()
    named_before: Callable[[str], bool] = _no_file
    shown_before: Callable[[], frozenset[CheckKind]] = frozenset
    elsewhere: Callable[[str], ProjectFacts | None] = lambda _root: None
    recorded: Callable[[str], str] = lambda path: path
    made_matching: Callable[[str], bool] = _no_file
    told_here: Callable[[str], bool] = _no_file
    text_before: Callable[[str], str | None] = lambda _path: None
    told: Callable[[frozenset[str]], Iterable[str]] = lambda _suffixes: ()
    changed_now: Callable[[str], bool] = _no_file
    built: Callable[[Callable[[str], bool]], Iterable[str]] = lambda _matches: ()
    tests_beside: Callable[[frozenset[str], tuple[str, ...]], bool] = lambda _suffixes, _given: False
    texts: Callable[[frozenset[str]], Iterable[tuple[str, str]]] = lambda _suffixes: ()

    def other_root(self, directory: str) -> str | None:
        """The shown name of the other root an absolute directory lies in: `/workspaces/lib`."""
        found = (
            shown for path, shown in self.other_roots.items() if directory == path or directory.startswith(f"{path}/")
        )
        return next(found, None)

    def shown(self, path: str) -> str | None:
        """The name records have for an absolute path: workspace-relative, `/workspaces/NAME/…` in another root; None
        where it lies in no root. The innermost root counts."""
        path = posixpath.normpath(path)
        if not path.startswith("/"):
            return self.place(path, "")
        own = self.root.rstrip("/")
        for alias in self.aliases if own else ():
            if path == alias or path.startswith(f"{alias}/"):
                path = own + path[len(alias) :]
        roots = {**({own: ""} if own else {}), **self.other_roots}
        around = max((root for root in roots if path == root or path.startswith(f"{root}/")), key=len, default=None)
        if around is None:
            return self.place(path, "")
        return (roots[around] + path[len(around) :]).removeprefix("" if roots[around] else "/")

    def place(self, word: str, cwd: str | None) -> str | None:
        """The workspace-relative path a word names from a directory, None when it lies outside or is not known."""
        if cwd is not None and cwd.startswith("/"):
            word = posixpath.normpath(posixpath.join(cwd, word))
        if word.startswith("/"):
            roots = (self.root.rstrip("/"), *self.aliases)
            root = next((root for root in roots if root and (word == root or word.startswith(root + "/"))), None)
            if root is None:
                return None
            path = posixpath.normpath(word[len(root) + 1 :] or ".")
        else:
            if cwd is None:
                return None
            path = posixpath.normpath(posixpath.join(cwd, word))
        if path == ".." or path.startswith("../"):
            return None
        return "" if path == "." else path
