"""Every path a tool names, judged: where it leads, whether it may be read, whether this turn may write it.

Order (spec 2): grants of the mode, resolution against the roots, credential stores, the write scope, protected and
generated targets. The first no is the answer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from spear.agent.host import Access, Refusal, Resolved
from spear.host.authority import Authority
from spear.policy import target_policy
from spear.policy.modes import Capability, Grants
from spear.policy.write_scope import ScopeRule, WriteScope
from spear.workspace.beneath import Beneath
from spear.workspace.roots import Location, PathProblem, Roots

HEAD_BYTES = 8192
"""How much of a file is read to see whether its head says that it is generated: 40 lines of 200 characters."""


@dataclass(slots=True)
class TurnRules:
    """What this turn may write. `named` are the paths the request names itself; `created` grows with the turn."""

    authority: Authority
    read_only: bool
    scope: WriteScope
    protected: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    created: set[str] = field(default_factory=set)

    @property
    def grants(self) -> Grants:
        """What the call that is being made may do."""
        return self.authority.grants

    @property
    def present_scope(self) -> WriteScope:
        """The scope with what the turn has created by now."""
        return replace(self.scope, created=frozenset(self.created | self.scope.created))

    @property
    def may_write(self) -> bool:
        """Whether anything may be written at all, confirmed or not."""
        writes = self.grants.allowed | self.grants.confirmed
        return not self.read_only and Capability.WORKSPACE_WRITE in writes


class PathGate:
    """Resolves and judges paths for one turn. `resolve` and `readable` are safe from worker threads."""

    def __init__(self, roots: Roots, rules: TurnRules, state_root: Path) -> None:
        self._roots = roots
        self._rules = rules
        self._primary, self._state = f"{roots.primary}/", f"{state_root.resolve()}/"
        self._locations: dict[Path, Location] = {}

    def resolve(self, path: str, access: Access, tool: str) -> Resolved | Refusal:
        """Where a path leads, or why it may not be used that way."""
        writing = access in (Access.WRITE, Access.DELETE)
        if writing and (refusal := self.read_only_refusal(tool, path)):
            return refusal
        found = self._roots.resolve(path, follow_last=access is not Access.DELETE)
        if isinstance(found, PathProblem):
            return Refusal(found.code.value, tool, path, found.text, found.remedy)
        if refusal := self._closed(path, found, tool):
            return refusal
        if writing and (refusal := self.judge_write(found, path, tool)):
            return refusal
        self._locations[found.real] = found
        return Resolved(found.shown, found.real, found.exists, found.is_dir)

    def read_only_refusal(self, tool: str, target: str) -> Refusal | None:
        """The refusal of any write in a turn that may write nothing."""
        if self._rules.may_write:
            return None
        if self._rules.read_only:
            why, remedy = "this turn is read-only", "answer with what to change instead of changing it"
        else:
            why, remedy = (
                "safe mode writes nothing",
                "describe the change; the operator can allow it with --ask or --auto",
            )
        return Refusal("read_only", tool, target, why, remedy)

    def judge_write(self, location: Location, written: str, tool: str, head: bytes | None = None) -> Refusal | None:
        """Whether this turn may change what is at a location: scope first, then what protects the target itself."""
        return self.judge_scope(location, tool) or self.judge_target(location, written, tool, head)

    def judge_scope(self, location: Location, tool: str) -> Refusal | None:
        """Whether the request lets this turn change what is at a location."""
        scope = self._rules.present_scope
        decision = scope.judge(location.shown)
        if decision.allowed:
            return None
        return Refusal(decision.rule.value, tool, location.shown, decision.reason, _in_scope(scope))

    def judge_exclusion(self, location: Location, tool: str) -> Refusal | None:
        """Whether the request excludes what is at a location: that holds for everything, build products included."""
        refusal = self.judge_scope(location, tool)
        return refusal if refusal is not None and refusal.code == ScopeRule.EXCLUDED else None

    def judge_target(self, location: Location, written: str, tool: str, head: bytes | None = None) -> Refusal | None:
        """What protects the target itself, whatever the scope: as written, and as resolved."""
        relative = location.shown
        if head is None and location.exists and not location.is_dir and not location.is_link:
            head = self.head(location)
        return target_policy.judge(
            written,
            relative,
            head,
            declared=self._rules.protected,
            named=self._rules.named,
            creating=not location.exists or relative in self._rules.created,
            tool=tool,
        )

    def head(self, location: Location) -> bytes | None:
        """The first bytes of a regular file, None when they cannot be read."""
        try:
            with Beneath(location.root) as tree:
                descriptor = tree.open(location.relative, os.O_RDONLY | os.O_NONBLOCK)
                with os.fdopen(descriptor, "rb") as stream:
                    return stream.read(HEAD_BYTES)
        except OSError:
            return None

    def location(self, target: Resolved) -> Location:
        """The location behind a resolved path. KeyError for a value this gate did not hand out."""
        return self._locations[target.real]

    def open_read(self, target: Resolved) -> BinaryIO:
        """A descriptor on the file, opened beneath its root. Raises OSError."""
        location = self.location(target)
        with Beneath(location.root) as tree:
            descriptor = tree.open(location.relative, os.O_RDONLY | os.O_NONBLOCK)
        return os.fdopen(descriptor, "rb", buffering=0)

    def readable(self, shown: str) -> bool:
        """Whether a path may appear in search results."""
        return target_policy.credentials(shown) is None and not self._in_state(os.path.join(self._primary, shown))  # noqa: PTH118

    def _closed(self, written: str, found: Location, tool: str) -> Refusal | None:
        if refusal := target_policy.credentials(written, tool=tool) or target_policy.credentials(
            found.shown, tool=tool
        ):
            return refusal
        if self._in_state(str(found.real)):
            return Refusal("own_state", tool, found.shown, "it belongs to spear's own record", "leave it alone")
        return None

    def _in_state(self, path: str) -> bool:
        """Of a path without `..` or doubled slashes. Text, not `Path`: a search asks it thousands of times."""
        return f"{path}/".startswith(self._state)


def _in_scope(scope: WriteScope) -> str:
    """What the model may change instead, and how to say that it is not enough."""
    return f"in scope: {scope.describe()}; if that is too narrow, say so in the answer"
