"""`RuleBook`: which rules hold in a turn and which for a path, within 8 000 characters (spec 4.2).

The operator's rules come before those a tree carries, so that no tree can push them out. A rule that does not fit is
left out whole, lowest priority first, and the operator is told which; nothing is cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spear.context.documents import DocumentProblem, read_in_tree
from spear.context.identity import WorkspaceIdentity
from spear.context.passes import Pass, TurnShape
from spear.context.rule_files import Origin, Rule, RuleProblem, agent_rules, operator_rule, operator_rules, tree_rules
from spear.workspace import presence

LIMIT = 8_000
"""Characters of all rules injected into a turn, those of first touches included."""

RULES_DIRECTORY = "rules.d"


@dataclass(frozen=True, slots=True)
class RulePlaces:
    """Where the operator's rules lie: the configuration directory, the state directory, the file of `/recall`."""

    config: Path
    state: Path
    learned: Path


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """The rules of a turn in the order they are shown, and the others with the reason. `over` are those left out for
    want of room alone: the operator is to trim.
    """

    kept: tuple[Rule, ...]
    rejected: tuple[tuple[str, str], ...]
    over: tuple[Rule, ...]

    def notices(self) -> tuple[str, ...]:
        """What the operator is told at once."""
        if not self.over:
            return ()
        which = ", ".join(f"{rule.name} ({len(rule.text)} characters)" for rule in self.over)
        return (f"the rules are longer than {LIMIT} characters; left out of this turn: {which} — trim them (/rules)",)


class RuleBook:
    """The rules of one session's workspace. Files are read anew for every turn. What a touch has shown stays in the
    conversation and is not shown again; what only the prompt of a turn held is gone with that turn."""

    def __init__(self, workspace: WorkspaceIdentity, places: RulePlaces, prompt_file: str | None = None) -> None:
        self._workspace = workspace
        self._places = places
        self._prompt_file = prompt_file
        self._tasks: frozenset[str] = frozenset({"implementation"})
        self._prompted: frozenset[str] = frozenset()
        self._touched: set[str] = set()
        self._spent = 0
        self._nested: list[str] = []
        self._rules: list[Rule] | None = None

    def choose(self, turn: TurnShape) -> RuleChoice:
        """The rules that hold in a turn."""
        rules, rejected = self._read()
        self._rules = rules
        fitting: list[Rule] = []
        for rule in rules:
            if reason := _unfit(rule, turn):
                rejected.append((rule.name, reason))
            else:
                fitting.append(rule)
        kept, over = _within(fitting)
        self._tasks = turn.tasks
        self._spent = sum(len(rule.text) for rule in kept)
        self._prompted = frozenset(map(_mark, kept))
        rejected += [(rule.name, f"the rules are longer than {LIMIT} characters") for rule in over]
        return RuleChoice(kept, tuple(rejected), over)

    def on_touch(self, path: str) -> str:
        """The rules that hold for a path and have not been shown yet, as text for the model; "" mostly. `path` is as a
        tool call spells it; outside the workspace nothing is shown.
        """
        touched = self._workspace.relative(path)
        if not touched:
            return ""
        blocks = [block for rule in self._for_path(touched) if (block := self._block(rule))]
        return "\n".join(blocks)

    def report(self, turn: TurnShape | None = None) -> tuple[str, ...]:
        """The lines of `/rules`: every rule found, whether it holds and why not. Changes nothing."""
        rules, problems = self._read()
        lines = [_described(rule, "" if turn is None else _unfit(rule, turn)) for rule in rules]
        lines += [f"✗ {name}: {reason}" for name, reason in problems]
        lines += [f"✓ {name} (shown at the first touch of its directory)" for name in self._nested]
        _, over = _within([rule for rule in rules if not rule.paths and not rule.subtree])
        lines += [f"! {rule.name}: does not fit into {LIMIT} characters, trim it" for rule in over]
        return tuple(lines) or ("no rules: put AGENTS.md into the tree, or files with a scope into rules.d",)

    def _read(self) -> tuple[list[Rule], list[tuple[str, str]]]:
        rules: list[Rule] = []
        problems: list[tuple[str, str]] = []
        for found in self._files():
            if isinstance(found, Rule):
                rules.append(found)
            else:
                problems.append((found.name, found.text))
        return rules, problems

    def _files(self) -> Iterable[Rule | RuleProblem]:
        workspace, places = self._workspace, self._places
        yield from operator_rules(places.config / RULES_DIRECTORY, RULES_DIRECTORY, workspace)
        if places.state != places.config:
            yield from operator_rules(places.state / RULES_DIRECTORY, f"state/{RULES_DIRECTORY}", workspace)
        if places.learned.exists():
            yield operator_rule(places.learned, places.learned.name, workspace)
        if self._prompt_file:
            yield from _prompt(workspace, self._prompt_file)
        yield from tree_rules(workspace)

    def _for_path(self, touched: str) -> Iterable[Rule]:
        """Rules bound to paths, then nested agent files from the outermost directory to the nearest."""
        for rule in self._read()[0] if self._rules is None else self._rules:
            if (rule.paths or rule.subtree) and rule.tasks & self._tasks and rule.concerns(touched):
                yield rule
        if not self._tasks & {"implementation", "mixed"}:
            return
        parts = touched.split("/")
        depth = len(parts) if presence.is_directory(self._workspace.directory / touched) else len(parts) - 1
        for length in range(1, depth + 1):
            directory = "/".join(parts[:length])
            for found in agent_rules(self._workspace.directory, directory, directory):
                if isinstance(found, Rule):
                    yield found

    def _block(self, rule: Rule) -> str:
        mark = _mark(rule)
        if mark in self._prompted or mark in self._touched:
            return ""
        self._touched.add(mark)
        if rule.subtree:
            self._nested.append(rule.name)
        where = f"{rule.subtree}/" if rule.subtree else ", ".join(rule.paths)
        if self._spent + len(rule.text) > LIMIT:
            how = "read it with read_file before changing anything there"
            note = how if rule.origin is Origin.TREE else "ask the operator to trim the rules"
            return f"[rules for {where}: {rule.name} has {len(rule.text)} characters, too long to show here; {note}]"
        self._spent += len(rule.text)
        return (
            f"[rules for {where} from {rule.name}; there they go before more general ones]\n{rule.text}\n[end of rules]"
        )


def section(rules: Iterable[Rule], over: Iterable[Rule] = ()) -> str:
    """The rules as one part of the prompt; "" for none. Files of the tree that did not fit are named."""
    blocks = [f"From {rule.name}{_bound(rule)}:\n{rule.text}" for rule in rules]
    blocks += [
        f"{rule.name} ({len(rule.text)} characters) did not fit here: read it with read_file first."
        for rule in over
        if rule.origin is Origin.TREE
    ]
    return "Rules of this workspace:\n\n" + "\n\n".join(blocks) if blocks else ""


def _within(rules: list[Rule]) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules that fit, in their order, and those that do not: operator's first, then by priority."""
    ranked = sorted(rules, key=lambda rule: -rule.weight)
    kept: set[int] = set()
    spent = 0
    for rule in ranked:
        if spent + len(rule.text) <= LIMIT:
            spent += len(rule.text)
            kept.add(id(rule))
    return tuple(r for r in rules if id(r) in kept), tuple(r for r in ranked if id(r) not in kept)


def _unfit(rule: Rule, turn: TurnShape) -> str:
    """Why a rule does not hold in a turn, "" when it does."""
    if turn.stage is Pass.MIXED_POSTCHECK:
        return "the check afterwards is shown no rules"
    if not rule.tasks & turn.tasks:
        return f"is for {', '.join(sorted(rule.tasks))} turns"
    if (rule.paths or rule.subtree) and not any(rule.concerns(target) for target in turn.targets):
        place = f"{rule.subtree}/" if rule.subtree else ", ".join(rule.paths)
        return f"is for {place}, which the request does not name; shown when it is touched"
    return ""


def _described(rule: Rule, reason: str) -> str:
    details = [f"{len(rule.text)} characters", f"tasks: {', '.join(sorted(rule.tasks))}"]
    details += [f"paths: {', '.join(rule.paths)}"] if rule.paths else []
    details += [f"in {rule.subtree}/"] if rule.subtree else []
    details += [f"priority {rule.priority}"] if rule.priority else []
    return f"{'✗' if reason else '✓'} {rule.name} ({'; '.join(details)}){': ' + reason if reason else ''}"


def _bound(rule: Rule) -> str:
    place = f"{rule.subtree}/" if rule.subtree else ", ".join(rule.paths)
    return f" (for {place})" if place else ""


def _mark(rule: Rule) -> str:
    """A rule by name and text: a file that changed since is a new rule."""
    return f"{rule.name}\0{hashlib.sha256(rule.text.encode()).hexdigest()}"


def _prompt(workspace: WorkspaceIdentity, name: str) -> Iterable[Rule | RuleProblem]:
    """The prompt file a project declares, as a rule of the tree."""
    match read_in_tree(workspace.root, name):
        case None:
            yield RuleProblem(name, "is declared as prompt_file and is not there")
        case DocumentProblem(text):
            yield RuleProblem(name, text)
        case text if text.strip():
            yield Rule(name, text.strip(), Origin.TREE)
        case _:
            yield RuleProblem(name, "is empty")
