"""The four classes of commands (spec 2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from spear.policy.destination_policy import DestinationVerdict
from spear.shell.syntax import Script, Simple


class CommandClass(StrEnum):
    """READ_ONLY: one simple command that only reads. SHELL_COMPLEX: only reads, with pipes, lists or substitutions.
    WORKSPACE_MUTATING: writes to the workspace, or may. DANGEROUS: no mode runs it."""

    READ_ONLY = "READ_ONLY"
    WORKSPACE_MUTATING = "WORKSPACE_MUTATING"
    SHELL_COMPLEX = "SHELL_COMPLEX"
    DANGEROUS = "DANGEROUS"


def classify(script: Script, verdicts: Sequence[DestinationVerdict], *, opaque: bool, dangerous: bool) -> CommandClass:
    """The class of a script whose destinations have been judged."""
    if dangerous:
        return CommandClass.DANGEROUS
    if opaque or any(verdict.in_workspace for verdict in verdicts):
        return CommandClass.WORKSPACE_MUTATING
    return CommandClass.READ_ONLY if _is_plain(script) else CommandClass.SHELL_COMPLEX


def _is_plain(script: Script) -> bool:
    if len(script.statements) > 1:
        return False
    return all(
        isinstance(node, Simple) and not node.redirects and not node.substitutions and node.nested is None
        for node in script.statements
    )
