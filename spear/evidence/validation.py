"""The project's own validation: which commands it is, how each ended, and the one repair (spec 3.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from spear.events.names import Stop
from spear.evidence.checks.invocation import base_name
from spear.evidence.completion import KINDS_OF_VALIDATION
from spear.evidence.kinds import WHY, CheckCode, CheckKind, CheckStatus
from spear.evidence.probes import ProjectFiles, probe
from spear.evidence.records import CheckResult
from spear.evidence.runners.output import could_not_start, prints_help, read_summaries, together
from spear.evidence.turn import Origin, Repair, ValidationKind, ValidationOutcome, ValidationStatus

CEILING_S = 900
"""Most seconds one validation command may take (SPEAR_PROJECT_VERIFY_TIMEOUT)."""

MESSAGE_OUTPUT = 6_000
"""Characters of output the repair message carries, the larger part from the end."""


class ValidationMode(StrEnum):
    """`--validation`: the project's declared commands and probed ones, declared ones only, or none."""

    AUTO = "auto"
    DECLARED = "declared"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class ValidationStep:
    """One command of the validation, to be run from the root of the workspace."""

    kind: ValidationKind
    origin: Origin
    command: str


@dataclass(frozen=True, slots=True)
class StepResult:
    """How a step's command ended. `check` is what `assess_command` says of it, None when it knows no check in it.

    `exit_code` is None when it did not end by itself; `could_not_run` is why it never began (a refusal, no sandbox).
    """

    exit_code: int | None
    output: str
    timed_out: bool = False
    stopped: bool = False
    could_not_run: str = ""
    check: CheckResult | None = None


def telling(results: Sequence[CheckResult], kind: ValidationKind) -> CheckResult | None:
    """The check of a step's command that tells how it went: one that failed, one that ran what no build made, else the
    last of the kind the step is of; None where it holds no check."""
    own = [result for result in results if set(result.kinds) & KINDS_OF_VALIDATION[kind]] or list(results)
    failed = (result for result in results if result.status is CheckStatus.FAILED)
    doubtful = (result for result in results if result.code in _DOUBTFUL)
    return next(failed, next(doubtful, own[-1] if own else None))


_BUILDS_FIRST = {ValidationKind.TEST, ValidationKind.ACCEPTANCE}


def plan_validation(
    declared: Mapping[ValidationKind, Sequence[str]], files: ProjectFiles, mode: ValidationMode = ValidationMode.AUTO
) -> tuple[ValidationStep, ...]:
    """The steps in the order build, lint, test, acceptance. Declared commands win per kind; a probe fills a kind left
    undeclared, and acceptance is never probed. A declared empty list declares that the kind has no command.

    Whoever declares how the project is tested has declared how it is built for that: a build is probed only where
    neither is declared.
    """
    if mode is ValidationMode.OFF:
        return ()
    probed = probe(files) if mode is ValidationMode.AUTO else {}
    steps: list[ValidationStep] = []
    for kind in (ValidationKind.BUILD, ValidationKind.LINT, ValidationKind.TEST, ValidationKind.ACCEPTANCE):
        if kind in declared:
            steps += [ValidationStep(kind, Origin.DECLARED, command) for command in declared[kind]]
        elif kind in probed and not (kind is ValidationKind.BUILD and declared.keys() & _BUILDS_FIRST):
            steps.append(ValidationStep(kind, Origin.PROBED, probed[kind]))
    return tuple(steps)


def classify(step: ValidationStep, result: StepResult) -> tuple[ValidationStatus, str]:
    """How a step ended, and why where the status alone does not say it.

    A probed command that prints help, collects nothing or needs what is not installed is NOT_RUN, never a failure; so
    is a declared one whose own program cannot be found. What was cut off (timed out, killed, stopped) is an ERROR.
    """
    if result.could_not_run:
        return ValidationStatus.NOT_RUN, result.could_not_run
    if result.timed_out:
        return ValidationStatus.ERROR, "it timed out"
    if result.stopped or result.exit_code is None:
        return ValidationStatus.ERROR, "it was stopped before it ended"
    missing = _missing(step, result)
    if missing:
        return ValidationStatus.NOT_RUN, missing
    if result.check is not None and result.check.status is CheckStatus.FAILED:
        if result.exit_code == 0:
            return ValidationStatus.FAILED, "its exit status is 0, but its output shows failures"
        return ValidationStatus.FAILED, ""
    nothing = _nothing(step, result)
    if nothing:
        return ValidationStatus.NOT_RUN, nothing
    if result.exit_code == 0:
        return ValidationStatus.PASSED, ""
    if result.exit_code in (130, 137, 143):
        return ValidationStatus.ERROR, "it was killed"
    return ValidationStatus.FAILED, ""


def declared_kinds(declared: Mapping[ValidationKind, Sequence[str]]) -> dict[str, frozenset[CheckKind]]:
    """What `ProjectFacts.declared` wants: each declared command, and the last part of one that is a chain, with its
    kinds, so that the model running it counts as what the project says it is."""
    found: dict[str, frozenset[CheckKind]] = {}
    for kind, commands in declared.items():
        for command in commands:
            for part in {command, command.rsplit("&&", 1)[-1]}:
                key = " ".join(part.split())
                found[key] = found.get(key, frozenset()) | KINDS_OF_VALIDATION[kind]
    return found


_NOT_FOUND = re.compile(
    r"^(?:.*: )?(?:line \d+: |\d+: )?(?P<program>[\w./+-]+): (?:command )?not found\s*$", re.MULTILINE
)
_NOT_INSTALLED = re.compile(
    r"No module named '?(?P<module>[\w.]+)|command not found|: not found$|ERR_MODULE_NOT_FOUND|Cannot find module|"
    r"Could not find a package configuration file|Could not resolve (?:host|dependencies)|Network is unreachable|"
    r"Temporary failure in name resolution|ENOTFOUND|EAI_AGAIN|failed to (?:download|fetch)"
    r"|Could not transfer artifact|"
    r"No CMAKE_C(?:XX)?_COMPILER could be found|Unknown CMake command|dial tcp|is not installed"
    r"|Could not find gem|no such command|"
    r"spurious network error|Unable to connect|could not be resolved|toolchain .* is not installed"
    r"|SDK .* was not found",
    re.MULTILINE,
)


def _missing(step: ValidationStep, result: StepResult) -> str:
    """Why the command never really began, "" when it did."""
    if result.exit_code in (126, 127):
        found = _NOT_FOUND.search(result.output)
        name = found["program"] if found else _first_word(step.command)
        if step.origin is Origin.PROBED or base_name(name) in _own_words(step.command):
            return f"`{base_name(name)}` is not there"
    if step.origin is Origin.PROBED and result.exit_code != 0:
        installed = _NOT_INSTALLED.search(result.output)
        summary = together(read_summaries(result.output))
        ran_and_failed = summary is not None and summary.failed > 0
        if installed and not ran_and_failed and not _is_of_the_tree(installed, result.output):
            return f"it needs what is not installed ({' '.join(installed[0].split())})"
        if could_not_start(result.output):
            return "it could not start"
    return ""


def _is_of_the_tree(missing: re.Match[str], output: str) -> bool:
    """A module the tree's own code imports relatively or by a path of its own is the project's failure."""
    line = output[output.rfind("\n", 0, missing.start()) + 1 : output.find("\n", missing.end())]
    return re.search(r"Cannot find module '\.{1,2}/", line) is not None


def _own_words(command: str) -> set[str]:
    """The first word of each command of a script, assignments aside: the programs it names itself."""
    words: set[str] = set()
    for part in re.split(r"&&|\|\||[;|\n]", command):
        rest = [word for word in part.split() if not re.fullmatch(r"\w+=.*", word)]
        words |= {base_name(word) for word in rest[:1]}
    return words


def _first_word(command: str) -> str:
    return next((word for word in command.split() if not re.fullmatch(r"\w+=.*", word)), command)


_DOUBTFUL = frozenset({CheckCode.PRODUCT_PLANTED, CheckCode.BUILT_BEFORE, CheckCode.STATUS_LOST})
_NOTHING = frozenset({CheckCode.NOTHING_TESTED, CheckCode.PRINTS_HELP, CheckCode.DRY_RUN, CheckCode.LISTING})


def _nothing(step: ValidationStep, result: StepResult) -> str:
    """Why the command ran and still validated nothing, "" when it did validate."""
    if result.check is not None and result.check.code in _DOUBTFUL:
        return WHY[result.check.code]
    if result.check is not None and result.check.status is CheckStatus.INCONCLUSIVE and result.check.code in _NOTHING:
        return "it prints its help" if result.check.code is CheckCode.PRINTS_HELP else "it tested nothing"
    if step.origin is Origin.PROBED and prints_help(result.output):
        return "it prints its help"
    if step.kind is ValidationKind.TEST:
        summary = together(read_summaries(result.output))
        if summary is not None and summary.nothing:
            return "it tested nothing"
        if result.exit_code == 5 and re.search(r"\bpytest|unittest\b", step.command):
            return "it tested nothing"
    return ""


_NO_REPAIR = frozenset(Stop) - {Stop.ANSWERED}


def may_repair(
    outcomes: Sequence[ValidationOutcome], *, stop: Stop, read_only: bool, mixed: bool, already: Repair = Repair.NONE
) -> bool:
    """Whether the one repair is offered: something ran and failed on the final state, in a turn that answered, may
    write, is no MIXED implementation pass and has had no repair."""
    if stop in _NO_REPAIR or read_only or mixed or already is not Repair.NONE:
        return False
    return any(outcome.status is ValidationStatus.FAILED for outcome in outcomes)


def repair_message(outcomes: Sequence[ValidationOutcome], outputs: Mapping[str, str]) -> str:
    """What the coding core is told for its one more pass: each failed step as the host ran it. `outputs` maps a
    command to its output."""
    parts = [
        "The host ran the project's own validation on the final state of your work, and it failed. "
        "Correct the work; this is the only further pass, and the same validation runs again after it. "
        "Do not change the validation itself."
    ]
    for outcome in outcomes:
        if outcome.status is not ValidationStatus.FAILED:
            continue
        detail = f" ({outcome.detail})" if outcome.detail else ""
        parts.append(
            f"kind: {outcome.kind}\norigin: {outcome.origin}\ncommand: {outcome.command}\n"
            f"exit status: {outcome.exit_code}{detail}\nepoch: {outcome.epoch}\n"
            f"output:\n{_bounded(outputs.get(outcome.command, ''))}"
        )
    return "\n\n".join(parts)


def _bounded(output: str) -> str:
    text = output.strip("\n")
    if len(text) <= MESSAGE_OUTPUT:
        return text
    head, tail = MESSAGE_OUTPUT * 2 // 5, MESSAGE_OUTPUT * 3 // 5
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"
