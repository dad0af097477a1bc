"""What the operator has approved for good: commands by their words, files by their path (spec 2.1).

An "always" never covers anything outside the workspace, a network grant for another set of hosts, the deletion of a
directory, or a command that could not be read whole. The store is a value; keeping it in a file is someone else's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from spear.policy.command_policy import Assessment, Decision
from spear.policy.patterns import normal
from spear.shell.destinations import commands
from spear.shell.syntax import Simple
from spear.shell.tools.call import WriteKind, names


class PermissionKind(StrEnum):
    """What a permission is about."""

    COMMAND = "command"
    PREFIX = "prefix"
    FILE = "file"


class PermissionScope(StrEnum):
    """How long it holds."""

    SESSION = "session"
    PROJECT = "project"


class Permission(BaseModel):
    """One approval. `words` is the whole text of a command, the first words of one simple command, or the one path.

    `hosts` is the set of hosts a network grant was given for; empty for none. `granted` is a date, `workspace` the root
    it was given in. A prefix carries `examples` it must cover and `never` it must not: a permission whose examples
    disagree with its words is not loaded.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: PermissionKind
    words: tuple[str, ...] = Field(min_length=1)
    scope: PermissionScope = PermissionScope.SESSION
    hosts: tuple[str, ...] = ()
    network: bool = False
    granted: str = ""
    workspace: str = ""
    examples: tuple[tuple[str, ...], ...] = ()
    never: tuple[tuple[str, ...], ...] = ()

    def covers_words(self, words: tuple[str, ...]) -> bool:
        """Whether a simple command with these words begins as what was approved. Only a prefix covers words."""
        begins = words[: len(self.words)] == self.words and words not in self.never
        return self.kind is PermissionKind.PREFIX and begins

    def consistent(self) -> bool:
        """Whether every example is covered; only a prefix has any."""
        return all(map(self.covers_words, self.examples))

    def shown(self) -> str:
        """One line for `/permissions`."""
        text = " ".join(self.words) + (" …" if self.kind is PermissionKind.PREFIX else "")
        return f"{self.kind}: {text} ({self.scope}{', ' + self.granted if self.granted else ''})"


_TOO_BROAD = names(
    "sh bash dash zsh ksh fish python python3 perl ruby node nodejs php lua env xargs find sudo eval exec source . "
    "curl wget ssh scp rsync nc pip pip3 npm npx pnpm yarn cargo go gem apt apt-get brew conda uv poetry"
)
_FREE = names("cd pwd true false : test [ echo printf")


def too_broad(words: tuple[str, ...]) -> bool:
    """Whether a prefix would approve nearly anything: an interpreter, network tool or package manager by name only, or
    with nothing but options after it (`python3 -c`)."""
    if not words:
        return True
    named = any(not word.startswith("-") for word in words[1:])
    return words[0].rsplit("/", 1)[-1] in _TOO_BROAD and not named


@dataclass(frozen=True, slots=True)
class PermissionStore:
    """All approvals of a session and its project, oldest first."""

    permissions: tuple[Permission, ...] = field(default=())

    @classmethod
    def of(cls, permissions: Iterable[Permission]) -> PermissionStore:
        """A store of the permissions that are consistent; the others are dropped, never widened."""
        return cls(tuple(permission for permission in permissions if permission.consistent() and _storable(permission)))

    def grant(self, permission: Permission) -> PermissionStore:
        """The store with one more approval; unchanged when it may not be stored or is there already."""
        if not permission.consistent() or not _storable(permission) or permission in self.permissions:
            return self
        return replace(self, permissions=(*self.permissions, permission))

    def revoke(self, index: int) -> PermissionStore:
        """The store without the approval at `index` of `permissions`; unchanged for an index that is not there."""
        if not 0 <= index < len(self.permissions):
            return self
        return replace(self, permissions=(*self.permissions[:index], *self.permissions[index + 1 :]))

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


def _storable(permission: Permission) -> bool:
    return permission.kind is not PermissionKind.PREFIX or not too_broad(permission.words)


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
