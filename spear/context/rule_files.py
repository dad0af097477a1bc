"""Rule files: where they lie, how their headers are read, what is wrong with one (spec 4.2).

A rule whose header cannot be read, or that says no scope in `rules.d`, applies nowhere: a misread header must never
make a rule broader than its author meant it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from spear.context import front_matter
from spear.context.documents import DocumentProblem, names_in, read_in_tree, read_own
from spear.context.identity import WorkspaceIdentity
from spear.policy.patterns import inside, is_pattern, matches

AGENT_FILES = ("AGENTS.md", "CLAUDE.md")
"""Files a directory of a tree speaks to agents with."""

TREE_RULES = ".spear/rules"
DEFAULT_TASKS = frozenset({"implementation", "mixed"})
_TASKS = frozenset({"implementation", "mixed", "normative", "general"})
_OPERATORS_FIRST = 1 << 40
_GREATEST_PRIORITY = 1_000_000
_KEYS = ("scope", "tasks", "paths", "priority", "name", "description")


class Origin(StrEnum):
    """Whose rule it is."""

    OPERATOR = "operator"
    TREE = "tree"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `name` is how the operator finds it; `paths` are globs relative to the workspace (empty: everywhere);
    `subtree` is the directory of a nested file; a higher `priority` is kept longer.
    """

    name: str
    text: str
    origin: Origin
    tasks: frozenset[str] = DEFAULT_TASKS
    paths: tuple[str, ...] = ()
    priority: int = 0
    subtree: str = ""

    @property
    def weight(self) -> int:
        """How long the rule is kept when not all fit: the operator's before any of a tree, then by priority."""
        return self.priority + (_OPERATORS_FIRST if self.origin is Origin.OPERATOR else 0)

    def concerns(self, target: str) -> bool:
        """Whether the rule speaks of a path of the workspace, or of something in it where it is a directory."""
        if not inside(target, self.subtree) and not inside(self.subtree, target):
            return False
        return not self.paths or any(_concerns(glob, target.rstrip("/")) for glob in self.paths)


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A rule that applies nowhere, and why."""

    name: str
    text: str


def operator_rules(directory: Path, shown: str, workspace: WorkspaceIdentity) -> Iterator[Rule | RuleProblem]:
    """The rules of one `rules.d`, by name. `shown` is how the directory is called. Rules of other workspaces come as
    problems that say so: nothing is left out without a reason.
    """
    for name in names_in(directory):
        if name.endswith(".md") and not name.startswith("."):
            yield operator_rule(directory / name, f"{shown}/{name}", workspace)


def operator_rule(file: Path, shown: str, workspace: WorkspaceIdentity) -> Rule | RuleProblem:
    """One rule file of the operator's; without a scope it applies nowhere."""
    text = read_own(file)
    if isinstance(text, DocumentProblem):
        return RuleProblem(shown, text.text)
    parsed = parse(text, shown, Origin.OPERATOR)
    if isinstance(parsed, RuleProblem):
        return parsed
    rule, scope = parsed
    if not scope:
        return RuleProblem(shown, "says no scope: write `scope: global` (or corpus NAME, path DIR) between --- lines")
    return _scoped(rule, scope, workspace)


def tree_rules(workspace: WorkspaceIdentity) -> Iterator[Rule | RuleProblem]:
    """The rules a tree carries at its top: agent files from the root down to the launch directory, `.spear/rules`."""
    steps = ["", *_steps(workspace.inner())]
    for step in steps:
        yield from agent_rules(workspace.root, step, "")
    for name in names_in(workspace.root / TREE_RULES):
        if not name.endswith(".md") or name.startswith("."):
            continue
        shown = f"{TREE_RULES}/{name}"
        text = read_in_tree(workspace.root, shown)
        if text is None:
            continue
        parsed = RuleProblem(shown, text.text) if isinstance(text, DocumentProblem) else parse(text, shown, Origin.TREE)
        if isinstance(parsed, RuleProblem):
            yield parsed
            continue
        rule, scope = parsed
        yield _scoped(rule, scope, workspace) if scope else rule


def agent_rules(root: Path, directory: str, subtree: str) -> Iterator[Rule | RuleProblem]:
    """The agent files of one directory of a tree. Two names for the same text are one rule."""
    texts: list[str] = []
    for name in AGENT_FILES:
        shown = f"{directory}/{name}" if directory else name
        if not os.path.lexists(root / shown):  # asked for every path a command may have reached
            continue
        text = read_in_tree(root, shown)
        if text is None:
            continue
        if isinstance(text, DocumentProblem):
            yield RuleProblem(shown, text.text)
            continue
        body = text.strip()
        if body and body not in texts and body != f"@{AGENT_FILES[0]}":
            texts.append(body)
            yield Rule(shown, body, Origin.TREE, DEFAULT_TASKS, subtree=subtree)


def parse(text: str, name: str, origin: Origin) -> tuple[Rule, tuple[str, ...]] | RuleProblem:
    """A rule and its scope as written (empty when it says none)."""
    header, body = front_matter.split(text)
    if header is None and text.startswith("---\n"):
        return RuleProblem(name, "its header is not closed by a --- line")
    if not body.strip():
        return RuleProblem(name, "is empty")
    rule = Rule(name, body.strip(), origin)
    if header is None:
        return rule, ()
    keys = front_matter.lines(header)
    if isinstance(keys, str):
        return RuleProblem(name, f"its header cannot be read at `{keys[:80]}`: lines are `key: value`")
    for key in keys:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(_KEYS[:4])}"
            return RuleProblem(name, f"`{key}` is not a key of a rule; {hint}")
    for key in ("scope", "tasks", "paths"):
        if key in keys and not keys[key]:
            return RuleProblem(name, f"`{key}:` says nothing: fill it in or take it out")
    tasks = frozenset(task.lower() for task in keys.get("tasks", ())) or DEFAULT_TASKS
    if unknown := sorted(tasks - _TASKS):
        return RuleProblem(name, f"`tasks: {unknown[0]}` is not known; known: {', '.join(sorted(_TASKS))}")
    priority = " ".join(keys.get("priority", ("0",)))
    try:
        number = int(priority)
    except ValueError:
        return RuleProblem(name, f"`priority: {priority[:40]}` is not a whole number")
    if abs(number) > _GREATEST_PRIORITY:
        return RuleProblem(name, f"`priority: {priority[:40]}` is beyond {_GREATEST_PRIORITY}")
    return replace(rule, tasks=tasks, paths=keys.get("paths", ()), priority=number), keys.get("scope", ())


def _scoped(rule: Rule, scope: tuple[str, ...], workspace: WorkspaceIdentity) -> Rule | RuleProblem:
    """The rule, fitted to this workspace, or why it does not apply here."""
    word, _, rest = scope[0].partition(" ")
    names = tuple(part for part in (rest.strip(), *scope[1:]) if part)
    match word.lower():
        case "global" if not names:
            return rule
        case "corpus" if names:
            named = {name.removeprefix("corpus ").strip() for name in names}
            if workspace.registered and workspace.name in named:
                return rule
            return RuleProblem(rule.name, f"is for corpus {', '.join(sorted(named))}")
        case "path" if len(names) == 1:
            return _beneath(rule, names[0], workspace)
        case _:
            text = ", ".join(scope)
            return RuleProblem(rule.name, f"`scope: {text[:80]}` is not known: global, corpus NAME or path DIR")


def _beneath(rule: Rule, place: str, workspace: WorkspaceIdentity) -> Rule | RuleProblem:
    """A rule for a directory: one that holds the workspace, or one in it."""
    try:
        given = Path(place).expanduser()
        if not given.is_absolute():
            if rule.origin is Origin.OPERATOR:
                return RuleProblem(rule.name, f"`scope: path {place}` is relative: write the whole path")
            given = workspace.root / given
        directory = given.resolve()
    except (OSError, RuntimeError, ValueError):
        return RuleProblem(rule.name, f"`scope: path {place}` does not name a directory")
    if workspace.directory.is_relative_to(directory):
        return rule
    if directory.is_relative_to(workspace.directory):
        return replace(rule, subtree=directory.relative_to(workspace.directory).as_posix())
    return RuleProblem(rule.name, f"is for {directory}")


def _steps(relative: str) -> list[str]:
    """`a/b/c` as `a`, `a/b`, `a/b/c`."""
    parts = [part for part in relative.split("/") if part]
    return ["/".join(parts[: index + 1]) for index in range(len(parts))]


def _concerns(glob: str, target: str) -> bool:
    glob = glob.removeprefix("./").removeprefix("/")
    if "/" not in glob and not glob.endswith("/"):
        return any(matches(target.rsplit("/", 1)[-1], one) for one in _braces(glob)) or _below(glob, target)
    if glob.endswith("/"):
        glob += "**"
    if any(matches(target, one) for one in _braces(glob)):
        return True
    fixed = glob.split("*", 1)[0].rpartition("/")[0]
    return target == "" or (not is_pattern(target) and fixed != "" and inside(fixed, target))


def _below(name: str, target: str) -> bool:
    """A bare name without glob characters also names a directory: what lies in it is meant."""
    return not is_pattern(name) and name in target.split("/")[:-1]


def _braces(glob: str) -> list[str]:
    """`*.{c,h}` as `*.c` and `*.h`; bounded, so that nested braces cannot multiply without end."""
    found = [glob]
    for _ in range(4):
        grown: list[str] = []
        for one in found:
            start, end = one.find("{"), one.find("}")
            if 0 <= start < end:
                grown += [one[:start] + part + one[end + 1 :] for part in one[start + 1 : end].split(",")]
            else:
                grown.append(one)
        found = grown[:64]
    return found
