"""One approval or prohibition of the operator's: what it is about, as it is kept in a file (spec 2.1)."""

from __future__ import annotations

import posixpath
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class PermissionKind(StrEnum):
    """What a permission is about."""

    COMMAND = "command"
    PREFIX = "prefix"
    FILE = "file"
    DENY = "deny"


class PermissionScope(StrEnum):
    """How long it holds."""

    SESSION = "session"
    PROJECT = "project"


class Permission(BaseModel):
    """One approval, or with DENY one prohibition, which goes before every approval. `words` is the whole text of a
    command, the first words of one simple command (PREFIX, DENY), or the one path.

    `hosts` is the set of hosts a network grant was given for; empty for none. `granted` is a date, `workspace` the root
    it was given in. A prefix carries `examples`, which it must cover, and beginnings it does `never` cover; a
    prohibition has no exceptions. What `unsound` has a word about is not kept.
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
        excluded = any(words[: len(no)] == no for no in self.never)
        return self.kind is PermissionKind.PREFIX and self.begins(words) and not excluded

    def begins(self, words: tuple[str, ...]) -> bool:
        """Whether these words begin with the ones of the permission."""
        return words[: len(self.words)] == self.words

    def shown(self) -> str:
        """One line for `/permissions`."""
        text = " ".join(self.words) + (" …" if self.kind in (PermissionKind.PREFIX, PermissionKind.DENY) else "")
        notes = [self.scope.value, self.granted, "with the network" if self.network else ""]
        notes += [f"such as {' '.join(example)}" for example in self.examples[:1] if example != self.words]
        notes += [f"never {' '.join(no)}" for no in self.never]
        return f"{self.kind}: {text} ({', '.join(filter(None, notes))})"


_TOO_BROAD = frozenset(
    {
        "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "nodejs", "php", "lua",
        "env", "xargs", "find", "sudo", "eval", "exec", "source", ".", "curl", "wget", "ssh", "scp", "rsync", "nc",
        "pip", "pip3", "npm", "npx", "pnpm", "yarn", "cargo", "go", "gem", "apt", "apt-get", "brew", "conda", "uv",
        "poetry",
    }
)  # fmt: skip


def too_broad(words: tuple[str, ...]) -> bool:
    """Whether a prefix would approve nearly anything: an interpreter, network tool or package manager by name only, or
    with nothing but options after it (`python3 -c`)."""
    if not words:
        return True
    named = any(not word.startswith("-") for word in words[1:])
    return words[0].rsplit("/", 1)[-1] in _TOO_BROAD and not named


def unsound(permission: Permission) -> str:
    """Why a permission may not be kept, in words that go on `it …`; "" when it may."""
    words = permission.words
    if permission.kind is PermissionKind.PREFIX:
        if too_broad(words):
            return f"would approve nearly anything that begins with {' '.join(words)}: name more words"
        wrong = next((example for example in permission.examples if not permission.covers_words(example)), None)
        if wrong is not None:
            return f"does not cover its own example {' '.join(wrong)}"
        return next((f"never begins as {' '.join(no)}" for no in permission.never if no[: len(words)] != words), "")
    if permission.kind is PermissionKind.DENY:
        return _unsound_denial(permission)
    if permission.examples or permission.never:
        return "should be a prefix to have examples"
    if permission.kind is PermissionKind.FILE and (len(words) != 1 or not _inside(words[0])):
        return "should name one path inside the workspace"
    return ""


def _unsound_denial(permission: Permission) -> str:
    if not permission.words[0].strip():
        return "should name a program"
    if permission.never or permission.network or permission.hosts:
        return "should have no never, network or hosts: what is denied has no exceptions"
    wrong = next((example for example in permission.examples if not permission.begins(example)), None)
    return "" if wrong is None else f"does not deny its own example {' '.join(wrong)}"


def _inside(path: str) -> bool:
    plain = posixpath.normpath(path)
    return bool(path) and not plain.startswith(("/", "..")) and plain != "."
