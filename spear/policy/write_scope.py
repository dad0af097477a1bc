"""The write scope of a turn: the targets its request names and what genuinely belongs to them (spec 2.3)."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from enum import StrEnum

from spear.policy.belonging import conventional_names, is_counterpart, is_manifest, is_test_of
from spear.policy.patterns import inside, is_pattern, matches, normal

_SHOWN = 6


class ScopeRule(StrEnum):
    """Why a path is in scope or not."""

    WORKSPACE = "workspace"
    TARGET = "target"
    NAMED = "named"
    CREATED = "created"
    COUNTERPART = "counterpart"
    TEST = "test"
    MANIFEST = "manifest"
    EXCLUDED = "excluded"
    OUT_OF_SCOPE = "out_of_scope"


@dataclass(frozen=True, slots=True)
class ScopeDecision:
    """Whether a path may be written, by which rule, and one clause saying why."""

    allowed: bool
    rule: ScopeRule
    reason: str


@dataclass(frozen=True, slots=True)
class WriteScope:
    """What a turn may write. All paths are workspace-relative; directories stand for their subtree, globs for matches.

    `targets` are what the request asks to change, a named symbol already resolved to its file. `named_elsewhere` are
    further files it names as something to change. `exclusions` win over everything. `created` are files the turn
    created, and targets that do not exist yet. `manifests` are the build manifests that exist, so that the nearest can
    be told; empty when nobody looked.
    """

    targets: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    named_elsewhere: tuple[str, ...] = ()
    created: frozenset[str] = frozenset()
    workspace_wide: bool = False
    manifests: tuple[str, ...] = ()

    @property
    def confined(self) -> bool:
        """Whether the scope is narrower than the workspace."""
        return not self.workspace_wide

    def judge(self, path: str) -> ScopeDecision:
        """Whether `path` may be written."""
        path = normal(path)
        excluded = next((item for item in self.exclusions if _excludes(normal(item), path)), None)
        if excluded is not None:
            return ScopeDecision(False, ScopeRule.EXCLUDED, f"the request excludes {excluded}")
        if self.workspace_wide:
            return ScopeDecision(True, ScopeRule.WORKSPACE, "the request names no target")
        if path in {normal(item) for item in self.created}:
            return ScopeDecision(True, ScopeRule.CREATED, "this turn created it")
        for rule, items in ((ScopeRule.TARGET, self.targets), (ScopeRule.NAMED, self.named_elsewhere)):
            if any(_covers(normal(item), path) for item in items):
                return ScopeDecision(True, rule, "the request names it")
        return self._belonging(path)

    def _belonging(self, path: str) -> ScopeDecision:
        for target in (normal(item) for item in self.targets):
            if is_counterpart(path, target):
                return ScopeDecision(True, ScopeRule.COUNTERPART, f"it is the counterpart of {target}")
            if is_test_of(path, target):
                return ScopeDecision(True, ScopeRule.TEST, f"it tests {target}")
        if self._registers(path):
            return ScopeDecision(True, ScopeRule.MANIFEST, "a new file has to be registered in it")
        return ScopeDecision(False, ScopeRule.OUT_OF_SCOPE, "it is outside what this request may change")

    def _registers(self, path: str) -> bool:
        """Whether `path` is the nearest manifest of a file that is new."""
        if not is_manifest(path):
            return False
        directory = posixpath.dirname(path)
        for new in (normal(item) for item in self.created):
            place = posixpath.dirname(new)
            if not inside(place, directory):
                continue
            nearer = (posixpath.dirname(normal(item)) for item in self.manifests)
            if not any(inside(place, other) and len(other) > len(directory) for other in nearer):
                return True
        return False

    def contains_target(self, directory: str) -> bool:
        """Whether something in scope lies below `directory`."""
        directory = normal(directory)
        return any(inside(normal(item), directory) for item in (*self.targets, *self.named_elsewhere, *self.created))

    def may_match(self, pattern: str) -> bool:
        """Whether a glob pattern could stand for anything in scope."""
        if self.workspace_wide:
            return True
        literal = pattern[: next((i for i, c in enumerate(pattern) if c in "*?["), len(pattern))].rpartition("/")[0]
        for item in (normal(item) for item in (*self.targets, *self.named_elsewhere, *self.created)):
            related = inside(literal, item) or (is_pattern(item) and inside(item, literal))
            if related or matches(item, pattern) or any(matches(name, pattern) for name in conventional_names(item)):
                return True
        return False

    def describe(self) -> str:
        """What is in scope, for the refusal: `in scope: src/ring.c with its counterpart and tests`."""
        if self.workspace_wide:
            return "the whole workspace" + (f" except {', '.join(self.exclusions[:_SHOWN])}" if self.exclusions else "")
        items = [*self.targets, *self.named_elsewhere]
        shown = ", ".join(items[:_SHOWN]) + (f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else "")
        return f"{shown or 'nothing'} with {'its counterpart' if len(items) == 1 else 'their counterparts'} and tests"


def _covers(item: str, path: str) -> bool:
    return inside(path, item) or (is_pattern(item) and (matches(path, item) or matches(path, item + "/**")))


def _excludes(item: str, path: str) -> bool:
    """An exclusion without a directory excludes every file of that name."""
    if "/" not in item and not is_pattern(item) and "." in item:
        return inside(path, item) or posixpath.basename(path) == item
    if "/" not in item and is_pattern(item):
        return matches(posixpath.basename(path), item) or _covers(item, path)
    return _covers(item, path)
