"""Whether checks that passed show the values and the qualities an answer names (spec 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spear.evidence.kinds import CheckKind
from spear.evidence.qualities import VERSIONS, WARNINGS
from spear.evidence.turn import SeenCheck
from spear.evidence.values import Role, Value, stands_in_output, stands_in_source

_BY_SHELLS = 126
"""From here on a status is a shell's or a signal's word for what went wrong."""


def exit_statuses(values: Iterable[Value]) -> frozenset[int]:
    """The statuses that something is said to end with."""
    said = (int(value.text) for value in values if value.role is Role.EXIT_STATUS and value.text.isdigit())
    return frozenset(status for status in said if 0 < status < _BY_SHELLS)


def unseen_values(values: Iterable[Value], running: Sequence[SeenCheck], texts: Sequence[str]) -> tuple[Value, ...]:
    """The values that no check which ran something shows, in order.

    What is printed stands in the output of one. What a function returns, and whatever tests looked at, may stand in the
    tests and in the changed source as well: tests assert values without printing them, and code states them.
    """
    tested = any(CheckKind.TEST in seen.result.kinds for seen in running)
    return tuple(value for value in values if not _is_seen(value, running, texts, tested=tested))


def _is_seen(value: Value, running: Sequence[SeenCheck], texts: Sequence[str], *, tested: bool) -> bool:
    ended = value.role is Role.EXIT_STATUS and any(str(seen.result.exit_code) == value.text for seen in running)
    if ended or any(stands_in_output(value, seen.output) or _asserts(seen.result.command, value) for seen in running):
        return True
    stated = tested or value.role is Role.RETURNED
    return stated and any(stands_in_source(value, text) for text in texts)


def _asserts(command: str, value: Value) -> bool:
    """Whether a command of its own asserts the value: `python3 -c "…; assert add(1, 2) == 3"`."""
    return "assert" in command and stands_in_source(value, command)


def is_named(name: str, values: Sequence[Value], checks: Sequence[SeenCheck]) -> bool:
    """Whether a passing check names a quality, and those that do show the figures that are claimed of it.

    A compiler's warnings are named by every build whose output was seen, several versions of a language by whatever
    names each of them.
    """
    if name == VERSIONS:
        return all(any(stands_in_output(value, _said(seen)) for seen in checks) for value in values)
    naming = [seen for seen in checks if name in seen.result.names]
    if name == WARNINGS:
        return any(CheckKind.BUILD in seen.result.kinds for seen in naming)
    return bool(naming) and all(any(stands_in_output(value, seen.output) for seen in naming) for value in values)


def _said(seen: SeenCheck) -> str:
    return f"{seen.result.command}\n{seen.output}"
