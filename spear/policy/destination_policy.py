"""One destination of a command, judged exactly as `write_file` to the same path would be (spec 2.3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from spear.agent.host import Refusal
from spear.policy import target_policy
from spear.policy.course import Course
from spear.policy.dangers import block_device, terminal
from spear.policy.denials import DenyRule
from spear.policy.modes import Capability, Grants
from spear.policy.places import SCRATCH, Place, Root, TreeFacts, locate
from spear.policy.write_scope import ScopeRule, WriteScope
from spear.shell.destinations import Destination
from spear.shell.tools.call import WriteKind

TOOL = "terminal"


class DestinationCode(StrEnum):
    """Codes of refusals about one destination of a command."""

    OUTSIDE = "outside_workspace"
    START_UP = "start_up_file"
    READ_ONLY = "read_only"
    SCOPE = "out_of_scope"
    DANGEROUS = "dangerous"


def _path_protection(path: str) -> Refusal | None:
    return target_policy.judge(path, path, tool=TOOL)


@dataclass(frozen=True, slots=True)
class PolicyView:
    """What a command is judged against. `cwd` is where it starts, relative to the primary root (the first of `roots`).

    `protected` judges a workspace path (shown spelling) as target policy does; the host supplies one that has seen the
    file's head and where its links lead. `facts` is what is known of the tree.
    `denials` are the commands the operator has forbidden.
    """

    roots: tuple[Root, ...]
    grants: Grants
    scope: WriteScope
    cwd: str = ""
    protected: Callable[[str], Refusal | None] = field(default=_path_protection)
    facts: TreeFacts = field(default_factory=TreeFacts)
    scratch: tuple[str, ...] = SCRATCH
    denials: tuple[DenyRule, ...] = ()

    @property
    def writable(self) -> bool:
        """Whether this turn may write to the workspace at all."""
        return self.grants.possible(Capability.WORKSPACE_WRITE)


@dataclass(frozen=True, slots=True)
class DestinationVerdict:
    """What was decided about a destination. `shown` is its path as the model is shown it, "" when unknown.

    `opaque` says that what is written there cannot be told; `in_workspace` that it is, or may be, in the workspace.
    """

    destination: Destination
    shown: str
    reason: str
    refusal: Refusal | None = None
    opaque: bool = False
    in_workspace: bool = False
    dangerous: bool = False


_SOURCE_LIKE = re.compile(
    r"\.(?:c|h|cc|hh|cpp|hpp|cxx|hxx|py|pyi|go|rs|js|jsx|ts|tsx|mjs|java|kt|rb|php|cs|swift|sh|pl|lua|hs|ml|md|txt|toml"
    r"|json|ya?ml|cfg|ini|cmake|mk|s|S|asm|v|sv|vhd|proto|sql|html|css)$"
)
_CONDITIONAL = frozenset({WriteKind.EDIT, WriteKind.FORMAT})
"""What is written only where there is something to change: which of many files that is, only running it shows."""


_MAKING = frozenset({WriteKind.WRITE, WriteKind.CREATE, WriteKind.TRUNCATE, WriteKind.MKDIR})


def judge_all(destinations: Sequence[Destination], view: PolicyView) -> tuple[DestinationVerdict, ...]:
    """Decide about the destinations of one command, in order, each in the tree as the command has it by then."""
    judge = _Judge(view, _removed(destinations, view))
    return tuple(judge.judge(destination) for destination in destinations)


def _removed(destinations: Sequence[Destination], view: PolicyView) -> list[str]:
    """The paths of the workspace the command removes, in the spelling they are shown in."""
    found = []
    for destination in destinations:
        if destination.kind is WriteKind.DELETE and destination.path is not None and not destination.glob:
            located = locate(destination.path, view.cwd, view.roots, view.scratch)
            if located.place is Place.WORKSPACE:
                found.append(located.shown)
    return found


class _Judge:
    """Judges the destinations of one command, in order."""

    def __init__(self, view: PolicyView, removed: Sequence[str]) -> None:
        self._view = view
        self._course = Course(view.facts, removed)

    def judge(self, destination: Destination) -> DestinationVerdict:
        """Decide about one destination, and note what it does to the tree."""
        verdict = self._judged(destination)
        if destination.path is not None and not destination.glob:
            if destination.kind is WriteKind.DELETE:
                self._course.removes(verdict.shown)
            elif destination.kind is WriteKind.MKDIR:
                self._course.makes_directory(verdict.shown)
        return verdict

    def _judged(self, destination: Destination) -> DestinationVerdict:
        if destination.path is None:
            reason = f"`{destination.operator}` writes where only running it shows"
            return DestinationVerdict(destination, "", reason, opaque=True, in_workspace=True)
        located = locate(destination.path, self._view.cwd, self._view.roots, self._view.scratch)
        match located.place:
            case Place.WORKSPACE:
                return self._workspace(destination, located.shown)
            case Place.SCRATCH:
                return DestinationVerdict(
                    destination, located.shown, f"{located.shown} is scratch space of the sandbox"
                )
            case Place.START_UP:
                return self._refused(
                    destination, located.shown, DestinationCode.START_UP,
                    "start-up files of the home directory are not for a turn to write",
                    "pass options or variables on the command itself",
                )  # fmt: skip
            case Place.DEVICE:
                return self._device(destination, located.shown)
            case Place.SYSTEM | Place.OUTSIDE:
                return self._outside(destination, located.shown, located.place)

    # -- outside the workspace -----------------------------------------------------------------------------------

    def _outside(self, destination: Destination, shown: str, place: Place) -> DestinationVerdict:
        if destination.kind is WriteKind.DELETE and destination.tree and shown.count("/") <= 1:
            return self._refused(
                destination, shown, DestinationCode.DANGEROUS, f"`{destination.operator}` would destroy it",
                "name the files inside the workspace that should go", dangerous=True,
            )  # fmt: skip
        if place is Place.SYSTEM and destination.kind is WriteKind.CREATE:
            reason = f"{shown} belongs to the system, which the sandbox mounts read-only"
            return DestinationVerdict(destination, shown, reason)
        return self._refused(
            destination, shown, DestinationCode.OUTSIDE,
            f"{_does(destination)} it and it is outside the workspace",
            "write inside the workspace, or to /tmp for scratch files",
        )  # fmt: skip

    def _device(self, destination: Destination, shown: str) -> DestinationVerdict:
        if block_device(shown):
            return self._refused(
                destination, shown, DestinationCode.DANGEROUS, "it is a disk of the machine",
                "write to a file in /tmp instead", dangerous=True,
            )  # fmt: skip
        if terminal(shown):
            return self._refused(
                destination, shown, DestinationCode.DANGEROUS, "it is a terminal of the operator",
                "print to standard output or standard error instead", dangerous=True,
            )  # fmt: skip
        return DestinationVerdict(destination, shown, f"{shown} is a device of the sandbox")

    # -- inside the workspace ------------------------------------------------------------------------------------

    def _workspace(self, destination: Destination, shown: str) -> DestinationVerdict:
        if self._destroys_root(destination, shown):
            return self._refused(
                destination, shown or ".", DestinationCode.DANGEROUS,
                f"`{destination.operator}` would destroy the whole workspace",
                "name the files or directories that should go", dangerous=True,
            )  # fmt: skip
        if destination.glob:
            return self._pattern(destination, shown)
        candidates = self._candidates(destination, shown)
        verdicts = [self._one(destination, path) for path in candidates]
        allowed = next((verdict for verdict in verdicts if verdict.refusal is None), None)
        if allowed is None:
            return verdicts[0]
        unsure = len({verdict.refusal is None for verdict in verdicts}) > 1
        return DestinationVerdict(
            destination, allowed.shown, allowed.reason, opaque=unsure or allowed.opaque, in_workspace=True
        )

    def _destroys_root(self, destination: Destination, shown: str) -> bool:
        if destination.kind is not WriteKind.DELETE or destination.operator == "git":
            return False
        if shown == "":
            return destination.tree
        if not destination.glob or destination.operator not in ("rm", "find", "mv"):
            return False
        return (destination.operator == "rm" and destination.tree and shown == "*") or shown == "**/*"

    def _candidates(self, destination: Destination, shown: str) -> tuple[str, ...]:
        """What is really written: names below a directory, the path itself, or either when nobody looked."""
        below = tuple(posixpath.join(shown, name) for name in destination.into)
        if not below:
            return (shown,)
        known = self._course.is_directory(shown)
        if destination.directory or known or shown == "":
            return below[:1] if len(below) == 1 else (_worst(below, self._forbidden),)
        return (shown,) if known is False or _SOURCE_LIKE.search(shown) else (shown, *below[:1])

    def _forbidden(self, path: str) -> bool:
        return not self._view.scope.judge(path).allowed

    def _pattern(self, destination: Destination, shown: str) -> DestinationVerdict:
        """A glob: its matches where the host looked, else whether it could stand for something in scope."""
        found = self._view.facts.expand(shown)
        if found:
            return self._matched(destination, shown, [self._one(destination, path) for path in found])
        if found == () and destination.kind in (WriteKind.DELETE, WriteKind.MODE, *_CONDITIONAL):
            return DestinationVerdict(destination, shown, f"nothing matches {shown}", in_workspace=True)
        verdict = self._one(destination, shown)
        if verdict.refusal is None or verdict.refusal.code != DestinationCode.SCOPE:
            return verdict
        if self._view.scope.may_match(shown):
            return self._some_of(destination, shown)
        return verdict

    def _matched(
        self, destination: Destination, shown: str, verdicts: Sequence[DestinationVerdict]
    ) -> DestinationVerdict:
        """What a pattern stands for. One match that may not be written is enough, unless nobody knows that it is."""
        refused = next((verdict for verdict in verdicts if verdict.refusal is not None), None)
        if refused is None:
            return verdicts[0]
        reachable = any(verdict.refusal is None for verdict in verdicts)
        if destination.kind in _CONDITIONAL and self._view.writable and reachable:
            return self._some_of(destination, shown)
        return refused

    def _some_of(self, destination: Destination, shown: str) -> DestinationVerdict:
        reason = (
            f"`{destination.operator}` writes some of what {shown or '.'} stands for; only what may be written stays"
        )
        return DestinationVerdict(destination, shown, reason, opaque=True, in_workspace=True)

    def _one(self, destination: Destination, shown: str) -> DestinationVerdict:
        if destination.kind is WriteKind.MKDIR and (shown == "" or self._course.is_directory(shown)):
            return DestinationVerdict(destination, shown, f"{shown or '.'} exists already", in_workspace=True)
        protection = None if destination.kind is WriteKind.MKDIR and shown == "" else self._protection(shown)
        if protection is not None and not (self._is_artefact(destination, shown) and _by_place(protection)):
            return DestinationVerdict(
                destination, shown, protection.reason, _for_command(protection), in_workspace=True
            )
        if self._is_artefact(destination, shown):
            return DestinationVerdict(destination, shown, f"{shown} is a build output", in_workspace=True)
        if not self._view.writable:
            return self._read_only(destination, shown)
        return self._scoped(destination, shown)

    def _protection(self, shown: str) -> Refusal | None:
        """What protects a path; of a file the command has removed before, its head and its links protect no more."""
        return _path_protection(shown) if self._course.is_gone(shown) else self._view.protected(shown)

    def _is_artefact(self, destination: Destination, shown: str) -> bool:
        """Build outputs and caches are never out of scope; a compiler's output is one unless it hides a source."""
        if destination.kind is WriteKind.BUILD and not _SOURCE_LIKE.search(shown):
            self._course.made(shown)
            return True
        if destination.kind is WriteKind.DELETE and self._course.is_own(shown):
            return True
        return shown != "" and self._view.facts.is_output(shown)

    def _read_only(self, destination: Destination, shown: str) -> DestinationVerdict:
        if destination.kind is WriteKind.FORMAT:
            reason = f"{shown} is rewritten in a copy of the workspace that is thrown away"
            return DestinationVerdict(destination, shown, reason, opaque=True, in_workspace=True)
        return self._refused(
            destination, shown or ".", DestinationCode.READ_ONLY,
            f"{_does(destination)} it and this turn is read-only",
            "read, build and test freely, and keep scratch files in /tmp",
        )  # fmt: skip

    def _scoped(self, destination: Destination, shown: str) -> DestinationVerdict:
        scope = self._view.scope
        decision = scope.judge(shown)
        if decision.allowed:
            return DestinationVerdict(destination, shown, f"{shown or '.'}: {decision.reason}", in_workspace=True)
        if destination.kind is WriteKind.MKDIR and scope.contains_target(shown):
            return DestinationVerdict(destination, shown, f"{shown} holds what is in scope", in_workspace=True)
        if decision.rule is ScopeRule.OUT_OF_SCOPE:
            if destination.kind is WriteKind.FORMAT and self._holds_files_in_scope(shown):
                return self._some_of(destination, shown)
            if self._course.is_passing(shown):
                self._course.made(shown)
                reason = f"{shown} is removed again by the same command"
                return DestinationVerdict(destination, shown, reason, opaque=True, in_workspace=True)
        return self._refused(
            destination, shown or ".", decision.rule.value,
            f"{_does(destination)} it and {decision.reason}", self._instead(destination, shown),
        )  # fmt: skip

    def _holds_files_in_scope(self, shown: str) -> bool:
        """Whether `shown` is a directory, as far as is known, and a file below it may be in scope."""
        if self._course.is_directory(shown) is False or _SOURCE_LIKE.search(shown):
            return False
        return self._view.scope.may_match(posixpath.join(shown, "**"))

    def _instead(self, destination: Destination, shown: str) -> str:
        new = destination.kind in _MAKING and self._view.facts.exists(shown) is False
        scratch = ", keep scratch files in /tmp" if new else ""
        change = self._view.scope.describe()
        return f"change {change}, with patch or write_file{scratch}, or say which further file the request needs"

    def _refused(
        self, destination: Destination, shown: str, code: str, reason: str, remedy: str, *, dangerous: bool = False
    ) -> DestinationVerdict:
        refusal = Refusal(code, TOOL, shown, reason, remedy)
        workspace = not shown.startswith("/")
        return DestinationVerdict(destination, shown, reason, refusal, in_workspace=workspace, dangerous=dangerous)


def _worst(paths: tuple[str, ...], forbidden: Callable[[str], bool]) -> str:
    return next((path for path in paths if forbidden(path)), paths[0])


def _by_place(refusal: Refusal) -> bool:
    """Whether a protection is only about where build products lie: a build may write there."""
    return refusal.code == target_policy.TargetCode.THIRD_PARTY


def _for_command(refusal: Refusal) -> Refusal:
    return Refusal(refusal.code, TOOL, refusal.target, refusal.reason, refusal.remedy)


def _does(destination: Destination) -> str:
    verb = {
        WriteKind.DELETE: "would delete",
        WriteKind.MODE: "would change",
        WriteKind.LINK: "would link",
        WriteKind.CREATE: "would create",
        WriteKind.MKDIR: "would create",
    }.get(destination.kind, "would write")
    return f"`{destination.operator}` {verb}"
