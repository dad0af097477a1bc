"""Which material each pass of a turn may be shown: the table of spec 4.2 as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from spear.events.names import RequestClass


class Pass(StrEnum):
    """A model pass of a turn, by who runs it and what for."""

    CODING_CORE = "coding_core"
    NORMATIVE = "normative"
    NORMATIVE_WORKFLOW = "normative_workflow"
    MIXED_PREPASS = "mixed_prepass"
    MIXED_IMPLEMENTATION = "mixed_implementation"
    MIXED_POSTCHECK = "mixed_postcheck"


class Material(StrEnum):
    """What can be shown. The order is the order of the sections."""

    PROJECT = "project"
    RULE = "rule"
    SKILL = "skill"
    KNOWLEDGE = "knowledge"
    CAPABILITY = "capability"
    WEB = "web"
    PACKET = "packet"


class ToolFamily(StrEnum):
    """The tools a pass is offered."""

    SIX = "six"
    STANDARD = "standard"
    STANDARD_AND_READING = "standard_and_reading"
    WORKFLOW = "workflow"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TurnShape:
    """What selection knows of a turn: the request, its class, the pass, what it names. `both_sides` is a question about
    standard and tree at once. Built from the classification; no model and no embedding had a part in it.
    """

    request: str
    request_class: RequestClass
    stage: Pass
    read_only: bool = False
    targets: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    both_sides: bool = False

    @property
    def tasks(self) -> frozenset[str]:
        """The task names of rules that hold in this turn. "Go on" is served by the coding core too, so the rules for
        implementation hold in a GENERAL turn as well."""
        match self.stage:
            case Pass.CODING_CORE:
                general = self.request_class is RequestClass.GENERAL
                return frozenset({"general", "implementation"} if general else {"implementation"})
            case Pass.NORMATIVE_WORKFLOW:
                return frozenset({"implementation"})
            case Pass.NORMATIVE:
                return frozenset({"normative"})
            case Pass.MIXED_PREPASS | Pass.MIXED_IMPLEMENTATION | Pass.MIXED_POSTCHECK:
                return frozenset({"mixed"})
            case _:
                assert_never(self.stage)


def materials(stage: Pass) -> frozenset[Material]:
    """What the pass may be shown."""
    match stage:
        case Pass.CODING_CORE:
            return frozenset(Material) - {Material.PACKET}
        case Pass.MIXED_IMPLEMENTATION:  # a standard governs it: a stranger's page is no authority beside it
            return frozenset(Material) - {Material.WEB}
        case Pass.NORMATIVE_WORKFLOW:
            return frozenset({Material.RULE, Material.PROJECT, Material.SKILL})
        case Pass.NORMATIVE | Pass.MIXED_PREPASS:
            return frozenset({Material.RULE})
        case Pass.MIXED_POSTCHECK:
            return frozenset({Material.PACKET})
        case _:
            assert_never(stage)


def tool_family(turn: TurnShape) -> ToolFamily:
    """The tools of the pass."""
    match turn.stage:
        case Pass.CODING_CORE | Pass.MIXED_IMPLEMENTATION:
            return ToolFamily.SIX
        case Pass.NORMATIVE:
            return ToolFamily.STANDARD_AND_READING if turn.both_sides else ToolFamily.STANDARD
        case Pass.MIXED_PREPASS:
            return ToolFamily.STANDARD
        case Pass.NORMATIVE_WORKFLOW:
            return ToolFamily.WORKFLOW
        case Pass.MIXED_POSTCHECK:
            return ToolFamily.NONE
        case _:
            assert_never(turn.stage)
