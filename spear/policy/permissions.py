"""What the operator has approved or forbidden for good: commands by words, files by their path (spec 2.1).

An "always" never covers anything outside the workspace, a network grant for another set of hosts, the deletion of a
directory, or a command that could not be read whole. The store is a value; keeping it in a file is someone else's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from spear.policy.command_policy import Assessment, Decision
from spear.policy.denials import DenyRule
from spear.policy.patterns import normal
from spear.policy.permission import Permission, PermissionKind, PermissionScope, unsound
from spear.shell.destinations import commands
from spear.shell.syntax import Simple
from spear.shell.tools.call import WriteKind, names

_FREE = names("cd pwd true false : test [ echo printf")


@dataclass(frozen=True, slots=True)
class PermissionStore:
    """All approvals and prohibitions of a session and its project, oldest first."""

    permissions: tuple[Permission, ...] = field(default=())

    @classmethod
    def of(cls, permissions: Iterable[Permission]) -> PermissionStore:
        """A store of the permissions that are sound; the others are dropped, never widened."""
        return cls(tuple(permission for permission in permissions if not unsound(permission)))

    def grant(self, permission: Permission) -> PermissionStore:
        """The store with one more approval; unchanged when it may not be stored or is there already."""
        if unsound(permission) or permission in self.permissions:
            return self
        return replace(self, permissions=(*self.permissions, permission))

    def revoke(self, index: int) -> PermissionStore:
        """The store without the approval at `index` of `permissions`; unchanged for an index that is not there."""
        if not 0 <= index < len(self.permissions):
            return self
        return replace(self, permissions=(*self.permissions[:index], *self.permissions[index + 1 :]))

    def settled(self, index: int) -> PermissionStore:
        """The store with the approval at `index` holding for the project; unchanged for an index that is not there."""
        if not 0 <= index < len(self.permissions):
            return self
        kept = self.permissions[index].model_copy(update={"scope": PermissionScope.PROJECT})
        return replace(self, permissions=(*self.permissions[:index], kept, *self.permissions[index + 1 :]))

    def denials(self) -> tuple[DenyRule, ...]:
        """What is forbidden, numbered as the store lists it: from 1."""
        return tuple(
            DenyRule(number, item)
            for number, item in enumerate(self.permissions, 1)
            if item.kind is PermissionKind.DENY
        )

    def project(self) -> tuple[Permission, ...]:
        """What is saved to the project file."""
        return tuple(item for item in self.permissions if item.scope is PermissionScope.PROJECT)

    def covers_file(self, path: str) -> bool:
        """Whether writing one workspace file needs no further confirmation. Never true for a path outside."""
        path = normal(path)
        if path.startswith(("/", "../")) or path in ("", ".."):
            return False
        return any(item.kind is PermissionKind.FILE and normal(item.words[0]) == path for item in self.permissions)

    def covers_command(self, assessment: Assessment, hosts: Iterable[str] = ()) -> bool:
        """Whether a command needs no further confirmation: every simple command in it is approved, and nothing in it is
        of the kind no approval covers. `hosts` is the set the network would be granted for."""
        if assessment.script is None or assessment.decision is Decision.REFUSE or _uncoverable(assessment):
            return False
        used = self._used(assessment)
        if not used:
            return False
        wanted = tuple(sorted(hosts))
        return not assessment.network or any(item.network and tuple(sorted(item.hosts)) == wanted for item in used)

    def _used(self, assessment: Assessment) -> list[Permission]:
        """The approvals that together cover a command, empty when some part of it is not covered."""
        exact = (assessment.command.strip(),)
        whole = [item for item in self.permissions if item.kind is PermissionKind.COMMAND and item.words == exact]
        if whole or assessment.script is None:
            return whole
        used = list[Permission]()
        for simple in commands(assessment.script):
            words = _words(simple)
            if words is None:
                return []
            if not words or (words[0] in _FREE and not simple.redirects):
                continue
            match = next((item for item in self.permissions if item.covers_words(words)), None)
            if match is None:
                return []
            used.append(match)
        return used


def _words(simple: Simple) -> tuple[str, ...] | None:
    """The words as written, None when one cannot be known. Assignments before a command change what it does."""
    values = [word.value for word in simple.words]
    known = tuple(value for value in values if value is not None)
    if len(known) != len(values) or any(word.glob for word in simple.words) or (simple.assignments and values):
        return None
    return known


def _uncoverable(assessment: Assessment) -> bool:
    if not assessment.legible:
        return True
    for verdict in assessment.verdicts:
        destination = verdict.destination
        unknown = destination.path is None or verdict.opaque
        outside = verdict.shown.startswith("/") and not verdict.shown.startswith(("/tmp/", "/workspaces/"))  # noqa: S108
        directory = destination.kind is WriteKind.DELETE and destination.tree
        if unknown or outside or directory:
            return True
    return False
