"""The words checks are described with: what a check is for, how far it reaches, how it ended (spec 3.3)."""

from __future__ import annotations

from enum import StrEnum


class CheckKind(StrEnum):
    """What a command does for the record. INSPECT looks at something and proves nothing about it."""

    BUILD = "build"
    TEST = "test"
    LINT = "lint"
    RUN = "run"
    CLEAN = "clean"
    INSPECT = "inspect"


PROVING = frozenset({CheckKind.BUILD, CheckKind.TEST, CheckKind.LINT, CheckKind.RUN})
"""Kinds that can show something about the source they ran on."""

SUBSTANTIAL = frozenset({CheckKind.BUILD, CheckKind.TEST, CheckKind.RUN})
"""Kinds one of which an answer that claims nothing still needs (spec 3.4)."""


class Scope(StrEnum):
    """How far a check reaches."""

    PROJECT = "project"
    SELECTION = "selection"
    PROGRAM = "program"
    LOOSE = "loose"
    TASK = "task"
    DOCUMENTATION = "documentation"


class CheckStatus(StrEnum):
    """How a check ended. INCONCLUSIVE proves nothing either way."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


class CheckCode(StrEnum):
    """Why a check counts as it does: the closed list (spec 3.3's table)."""

    EXIT_STATUS = "exit_status"
    OUTPUT_SUMMARY = "output_summary"
    PRINTED_STATUS = "printed_status"
    BACKGROUND = "background"
    STATUS_LOST = "status_lost"
    NEGATED = "negated"
    PRINTS_HELP = "prints_help"
    NOTHING_TESTED = "nothing_tested"
    DRY_RUN = "dry_run"
    LISTING = "listing"
    TESTS_SKIPPED_BY_FLAG = "tests_skipped_by_flag"
    SINGLE_TASK = "single_task"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    COULD_NOT_START = "could_not_start"
    DID_NOT_RUN = "did_not_run"
    MAY_NOT_HAVE_RUN = "may_not_have_run"
    CHANGED_SOURCE = "changed_source"
    ONE_OF_THESE_FAILED = "one_of_these_failed"
    SUMMARY_CONTRADICTS = "summary_contradicts"
    ELSEWHERE = "elsewhere"
    NOT_ITSELF = "not_itself"
    PRODUCT_PLANTED = "product_planted"
    BUILT_BEFORE = "built_before"


WHY: dict[CheckCode, str] = {
    CheckCode.EXIT_STATUS: "its own exit status",
    CheckCode.OUTPUT_SUMMARY: "its exit status was lost; what it printed decides",
    CheckCode.PRINTED_STATUS: "the exit status it printed",
    CheckCode.BACKGROUND: "it was sent to the background, so nobody saw it end",
    CheckCode.STATUS_LOST: "its exit status does not reach the end of the command, and its output has no summary",
    CheckCode.NEGATED: "its exit status was turned around",
    CheckCode.PRINTS_HELP: "it only prints its help",
    CheckCode.NOTHING_TESTED: "no test ran",
    CheckCode.DRY_RUN: "a dry run runs nothing",
    CheckCode.LISTING: "it only lists, prints or configures",
    CheckCode.TESTS_SKIPPED_BY_FLAG: "its tests were switched off",
    CheckCode.SINGLE_TASK: "a single task validates that task, not the build",
    CheckCode.TIMED_OUT: "it timed out",
    CheckCode.STOPPED: "it was stopped before it ended",
    CheckCode.COULD_NOT_START: "it could not start",
    CheckCode.DID_NOT_RUN: "it did not run",
    CheckCode.MAY_NOT_HAVE_RUN: "what stands before it may have failed, so it may not have run",
    CheckCode.CHANGED_SOURCE: "source changed while it ran, or after it, or was put back",
    CheckCode.ONE_OF_THESE_FAILED: "the command failed and its status does not say at which of its checks",
    CheckCode.ELSEWHERE: "it ran on files outside the workspace",
    CheckCode.NOT_ITSELF: "something else may have stood for it (through PATH, an alias, a variable, a sourced file)",
    CheckCode.PRODUCT_PLANTED: "what it ran may be a product that no build made",
    CheckCode.BUILT_BEFORE: "what it ran was built before the source changed",
    CheckCode.SUMMARY_CONTRADICTS: "its exit status is 0, but what it printed shows failures",
}
"""One clause a code, for reasons shown to the operator."""
