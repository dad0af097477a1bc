"""CommandPolicy: what a command would do, judged before it runs: refuse, run, or run opaque (spec 2.6).

Refused is only what is known: a command the operator has forbidden, a destination the turn may not write, a danger, a
text the shell itself would refuse.
What cannot be read is run opaque: the mounts and the comparison of the tree afterwards decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spear.agent.host import Refusal
from spear.policy.command_class import CommandClass, classify
from spear.policy.dangers import dangers
from spear.policy.denials import denial
from spear.policy.destination_policy import DestinationVerdict, PolicyView, judge_all
from spear.shell.destinations import Destination, effects
from spear.shell.network import network_intent
from spear.shell.parse import ShellParser
from spear.shell.syntax import Script, SyntaxProblem

TOOL = "terminal"


class Decision(StrEnum):
    """The three answers."""

    REFUSE = "refuse"
    RUN = "run"
    RUN_OPAQUE = "run_opaque"


class CommandCode(StrEnum):
    """Codes of refusals that are not about one destination."""

    SYNTAX = "syntax_error"
    DANGEROUS = "dangerous"


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was decided about a command. `refusal` is set exactly when the decision is REFUSE.

    `verdicts` has one entry a destination; `script` is None when there is no tree. `network` says that the need of the
    network is plain. `legible` is false when it cannot even be read which commands run (`eval "$x"`, `| sh`).
    """

    command: str
    decision: Decision
    command_class: CommandClass
    verdicts: tuple[DestinationVerdict, ...]
    network: bool
    script: Script | None
    reasons: tuple[str, ...]
    refusal: Refusal | None = None
    refusals: tuple[Refusal, ...] = ()
    legible: bool = True

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """Every destination that was read."""
        return tuple(verdict.destination for verdict in self.verdicts)

    @property
    def certain(self) -> bool:
        """Whether everything the command does was read."""
        return self.decision is Decision.RUN


class CommandPolicy:
    """Assesses commands with one parser, whose cache it shares."""

    def __init__(self, parser: ShellParser) -> None:
        self._parser = parser

    def assess(self, command: str, view: PolicyView) -> Assessment:
        """Decide about `command` in the light of `view`. Never raises for any text."""
        script = self._parser.parse(command)
        if isinstance(script, SyntaxProblem):
            return _unreadable(command, script)
        network = network_intent(script)
        danger = next(dangers(script), None)
        read = effects(script)
        verdicts = judge_all(read.destinations, view)
        refusals = tuple(verdict.refusal for verdict in verdicts if verdict.refusal is not None)
        if danger is not None:
            target = f"`{danger.command}`"
            refusals = (Refusal(CommandCode.DANGEROUS, TOOL, target, danger.reason, danger.remedy), *refusals)
        forbidden = denial(script, view.denials, view.cwd, view.roots, TOOL)
        if forbidden is not None:
            refusals = (forbidden, *refusals)
        dangerous = danger is not None or any(verdict.dangerous for verdict in verdicts)
        opaque = bool(read.opaque) or any(verdict.opaque for verdict in verdicts)
        decision = Decision.REFUSE if refusals else Decision.RUN_OPAQUE if opaque else Decision.RUN
        return Assessment(
            command,
            decision,
            classify(script, verdicts, opaque=opaque, dangerous=dangerous),
            verdicts,
            bool(network),
            script,
            _reasons(verdicts, refusals, read.opaque, network),
            refusals[0] if refusals else None,
            refusals,
            legible="" not in read.opaque,
        )


def _unreadable(command: str, problem: SyntaxProblem) -> Assessment:
    where = f"line {problem.line}, column {problem.column}: " if problem.line else ""
    refusal = Refusal(
        CommandCode.SYNTAX,
        TOOL,
        _excerpt(command),
        f"bash: syntax error: {where}{problem.message}; nothing was run",
        "correct the script and call terminal again; write longer programs to a file with write_file",
    )
    return Assessment(
        command, Decision.REFUSE, CommandClass.SHELL_COMPLEX, (), False, None, (refusal.reason,), refusal, (refusal,)
    )


def _excerpt(command: str) -> str:
    shown = "".join(character if character.isprintable() else " " for character in command)
    shown = " ".join(shown.split())
    return f"`{shown[:60]}…`" if len(shown) > 60 else f"`{shown}`"


def _reasons(
    verdicts: tuple[DestinationVerdict, ...],
    refusals: tuple[Refusal, ...],
    opaque: tuple[str, ...],
    network: tuple[str, ...],
) -> tuple[str, ...]:
    found = [refusal.line() for refusal in refusals]
    found.extend(verdict.reason for verdict in verdicts if verdict.refusal is None)
    found.extend(f"`{name}` runs code of its own" if name else "a command's name cannot be known" for name in opaque)
    found.extend(f"`{name}` needs the network" for name in network)
    return tuple(dict.fromkeys(found))
