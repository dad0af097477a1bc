"""`terminal`: from a command's text to what is left of it in the tree (spec 2.5, 2.6).

    host commands → policy → working directory → consent → run over the overlay → judge what it wrote
                  → checkpoint and promote the accepted → evidence

What a command wrote never reaches the tree before it has been judged; what is refused is simply not promoted.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from spear.agent.host import CommandResult, FileChange, Refusal, ToolRequest
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.evidence.assess import CommandFacts, assess_command, complaints
from spear.evidence.checks.candidates import recognise
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts
from spear.evidence.generating import generated
from spear.evidence.heard import heard
from spear.evidence.kinds import CheckCode
from spear.evidence.provenance import products_after
from spear.evidence.records import CheckRecord, command_record
from spear.evidence.source_state import SourceState
from spear.host.changes import ChangeLog
from spear.host.consent import Consent
from spear.host.host_commands import HostCommands
from spear.host.keeping import Keeper, Kept
from spear.host.making import Making, making
from spear.host.mounts import mounts
from spear.host.paths import PathGate, TurnRules
from spear.host.recorder import Draft, Recorder
from spear.host.session import HostSession, ShellState
from spear.host.tree_facts import tree_facts
from spear.policy.command_class import CommandClass
from spear.policy.command_policy import Assessment, CommandPolicy
from spear.policy.denials import DENIED
from spear.policy.destination_policy import PolicyView
from spear.policy.modes import Capability, has_network
from spear.policy.places import Root
from spear.sandbox.network import has_helper
from spear.sandbox.request import Ending, Network, RootMount, RunOutcome, RunRequest
from spear.shell.destinations import commands
from spear.shell.located import located
from spear.workspace import presence
from spear.workspace.roots import PathProblem

_SHOWN_CHANGES = 20
_RENAME_FAILED = "cross-device link"
_RENAME_NOTE = (
    "a directory of the workspace is renamed by copying it: use `mv OLD NEW`, then `git add -A`, in place of `git mv` "
    "or rename()"
)


class Terminal:
    """Runs the commands of one turn, one after another in `shell`."""

    def __init__(
        self,
        session: HostSession,
        rules: TurnRules,
        gate: PathGate,
        consent: Consent,
        log: ChangeLog,
        recorder: Recorder,
        keeper: Keeper,
        commands: HostCommands,
        facts: Callable[[], ProjectFacts],
        emit: Sink,
        turn: int,
        cancelled: Callable[[], bool],
        shell: ShellState,
    ) -> None:
        self._session = session
        self._shell = shell
        self._rules = rules
        self._gate = gate
        self._consent = consent
        self._log = log
        self._recorder = recorder
        self._keeper = keeper
        self._commands = commands
        self._facts = facts
        self._emit = emit
        self._turn = turn
        self._cancelled = cancelled
        self._policy = CommandPolicy(session.parser)
        self._scratch = session.scratch / f"turn-{turn}"

    def run(
        self,
        command: str,
        timeout: int,
        workdir: str | None,
        request: ToolRequest,
        draft: Draft,
        without: Collection[str] = (),
        removed: Collection[str] = (),
    ) -> CommandResult | Refusal:
        """Run one command, or say why not. Nothing has run when a Refusal comes back. The command finds nothing at the
        paths it is to do `without`, build products of the primary root; what it does not make anew stays as it was, but
        for those that are to be `removed` for good.
        """
        where = self._directory(workdir, request.tool)
        if isinstance(where, Refusal):
            return where
        cwd, notes = where
        assessment = self._policy.assess(command, self._view(cwd))
        if assessment.refusal is not None and assessment.refusal.code == DENIED:
            return assessment.refusal  # before the host answers: a rule may name one of its own commands
        answered = self._commands.answer(command, assessment.script, self._shown(cwd), request)
        if answered is not None:
            return answered
        if assessment.refusal is not None:
            return assessment.refusal
        consented = self._consented(assessment, request)
        if isinstance(consented, Refusal):
            return consented
        if consented != command:
            notes.append(f"the operator changed the command; this ran: {consented}")
            assessment = self._policy.assess(consented, self._view(cwd))
            if assessment.refusal is not None:
                return assessment.refusal
        return self._perform(assessment, timeout, cwd, notes, request, draft, frozenset(without), frozenset(removed))

    def _perform(
        self,
        assessment: Assessment,
        timeout: int,
        cwd: Path,
        notes: list[str],
        request: ToolRequest,
        draft: Draft,
        without: frozenset[str],
        removed: frozenset[str],
    ) -> CommandResult | Refusal:
        command = assessment.command
        network, lacking = self._network(assessment)
        if network is not Network.NONE and assessment.network and not has_helper():
            return _no_helper(request.tool, command)
        roots, upper = self._roots()
        exported = self._shell.environment
        script = f"{self._removal(without | removed)}{command}"
        asked = self._asked(script, timeout, cwd, network, roots, draft)
        outcome = self._execute(asked)
        notes += lacking + self._notes(outcome, assessment, network)
        if outcome.ending is Ending.NOT_STARTED:
            self._shell.cwd = self._session.roots.primary
            return Refusal(
                "not_started", request.tool, command, outcome.problem, "run `spear-chat doctor` to see what is missing"
            )
        before, stock = self._recorder.ledger, self._recorder.products
        kept = Kept()
        if self._may_keep(assessment):
            made = self._making(assessment, cwd)
            kept = self._keeper.keep(roots, upper, outcome, made, request.tool, draft, without)
        if kept.only_locks:
            before = self._recorder.ledger  # a tool resolves before it builds: what it checked is what it locked
        draft.refusals = kept.refusals
        result = self._result(outcome, [*notes, *kept.notes], kept, asked.capture)
        ended = CommandFacts(
            exit_code=outcome.exit_code,
            output=outcome.output,
            pipe_status=outcome.pipe_status,
            signal=outcome.signal,
            timed_out=outcome.ending is Ending.TIMED_OUT,
            cancelled=outcome.ending is Ending.CANCELLED,
            start=self._relative(cwd),
            environment=exported,
            ended=None if outcome.cwd is None else str(outcome.cwd),
            rewrote=bool(kept.rewrote),
            dropped=kept.dropped,
            wrote=kept.products,
            backdated=kept.backdated,
        )
        self._record(assessment, outcome, result, cwd, ended, before, draft, asked.capture, kept.rewrote)
        has_made = self._recorder.products.has_made
        self._keeper.renew((write for write in kept.products if write.time_ns and has_made(write)), time.time_ns())
        self._session.runner.prepare(replace(asked, cwd=self._shell.cwd, environment=self._shell.environment))
        result = _warned(result, self._recorder.products.planted, stock.planted)
        return replace(result, notes=(*result.notes, *_ran_old(draft.check)))

    def close(self) -> None:
        """Remove the turn's overlay layers."""
        self._session.runner.rest()
        shutil.rmtree(self._scratch, ignore_errors=True)

    # --- before -----------------------------------------------------------------------------------------------------

    def _directory(self, workdir: str | None, tool: str) -> tuple[Path, list[str]] | Refusal:
        """The directory to run in: as asked, else where the last command ended, else the root (spec 2.5)."""
        shell, roots = self._shell, self._session.roots
        notes: list[str] = []
        if not self._is_there(shell.cwd):
            notes.append(f"the directory {self._shown(shell.cwd)} is gone: running in the workspace root")
            shell.cwd = roots.primary
        if workdir is None or not workdir.strip():
            return shell.cwd, notes
        base = str(shell.cwd.relative_to(roots.primary)) if shell.cwd.is_relative_to(roots.primary) else ""
        found = replace(roots, allow_absolute=True).resolve(workdir, "" if base == "." else base)
        if isinstance(found, PathProblem):
            return Refusal(found.code.value, tool, f"workdir {workdir}", found.text, "use a directory of the workspace")
        if not found.is_dir:
            what = "is not a directory" if found.exists else "does not exist"
            return Refusal(
                "no_directory", tool, f"workdir {workdir}", f"it {what}", "use an existing directory of the workspace"
            )
        return found.real, notes

    def _is_there(self, directory: Path) -> bool:
        """Whether a directory the shell was in still is one. One in the sandbox's own /tmp or home must be no link."""
        roots = self._session.roots
        if any(directory.is_relative_to(root) for root in (roots.primary, *roots.others.values())):
            return presence.is_directory(directory)
        place = self._session.runner.on_host(directory)
        return presence.is_directory(place) and (place == directory or place.resolve() == place)

    def _view(self, cwd: Path) -> PolicyView:
        roots = self._session.roots
        others = (Root(str(path), f"/workspaces/{name}") for name, path in roots.others.items())
        return PolicyView(
            roots=(Root(str(roots.primary)), *others),
            grants=self._rules.grants,
            scope=self._rules.present_scope,
            cwd=self._relative(cwd),
            protected=self._protected,
            facts=tree_facts(roots.primary, self._is_output),
            denials=self._consent.denials(),
        )

    def _is_output(self, path: str) -> bool:
        if path.startswith("/"):
            return False
        # A directory about to be made is one too: `build/` in the ignore rules matches no file.
        return not self._log.is_delivered_path(path) or not self._log.may_hold_delivered(path)

    def _protected(self, path: str) -> Refusal | None:
        """What protects the target itself, its head and the end of its links seen (spec 2.4)."""
        found = replace(self._session.roots, allow_absolute=True).resolve(path or ".", follow_last=True)
        if isinstance(found, PathProblem):
            return Refusal(found.code.value, "terminal", path, found.text, found.remedy)
        return self._gate.judge_target(found, path, "terminal")

    def _consented(self, assessment: Assessment, request: ToolRequest) -> str | Refusal:
        """The command to run once the operator agrees; the same one where nothing needs asking."""
        needs = [] if _only_reads(assessment) else [Capability.WORKSPACE_WRITE]
        if assessment.network:
            needs.append(Capability.NETWORK)
        return self._consent.to_command(assessment, request.tool, needs)

    def _network(self, assessment: Assessment) -> tuple[Network, list[str]]:
        if has_network(self._rules.grants, asked_for=assessment.network):
            return self._session.options.attachment(), []
        lacking = ["this turn has no network"] if assessment.network else []
        return Network.NONE, lacking

    # --- the run ----------------------------------------------------------------------------------------------------

    def _roots(self) -> tuple[tuple[RootMount, ...], Path]:
        """The roots of the next command, and the directory of their layers: emptied after every command where writes
        may stay, kept for the whole turn where nothing does, so that a later command finds what was built."""
        session = self._session
        upper = self._scratch / ("writes" if self._rules.may_write else "kept-for-the-turn")
        return mounts(session.roots, session.state.root, upper, self._rules.named), upper

    def _removal(self, without: Collection[str]) -> str:
        """What removes these paths from what the command sees of the tree."""
        root = self._session.roots.primary
        paths = (shlex.quote(str(root / path)) for path in sorted(without))
        return f"rm -f -- {' '.join(paths)} 2>/dev/null; " if without else ""

    def _asked(
        self, script: str, timeout: int, cwd: Path, network: Network, roots: tuple[RootMount, ...], draft: Draft
    ) -> RunRequest:
        session = self._session
        return RunRequest(
            script=script,
            roots=roots,
            cwd=cwd,
            timeout_s=timeout,
            environment=self._shell.environment,
            network=network,
            allowed_hosts=session.options.allowed_hosts,
            limits=session.options.limits,
            capture=session.results.reserve(draft.request.call_id),
            cancelled=self._cancelled,
        )

    def _execute(self, asked: RunRequest) -> RunOutcome:
        outcome = self._session.runner.run(asked)
        if outcome.cwd is not None:
            self._shell.cwd = outcome.cwd
        if outcome.environment is not None:
            self._shell.environment = outcome.environment
        return outcome

    # --- after ------------------------------------------------------------------------------------------------------

    def _result(self, outcome: RunOutcome, notes: list[str], kept: Kept, capture: Path | None) -> CommandResult:
        return CommandResult(
            output=outcome.output,
            exit_code=outcome.exit_code,
            cwd=self._shown(self._shell.cwd),
            duration_s=outcome.duration_s,
            pipe_status=outcome.pipe_status,
            signal=outcome.signal,
            timed_out=outcome.ending is Ending.TIMED_OUT,
            cancelled=outcome.ending is Ending.CANCELLED,
            truncated=outcome.truncated,
            output_ref=str(capture) if capture is not None and outcome.output_bytes else "",
            changes=tuple(FileChange(c.path, c.kind) for c in kept.changes if c.delivered)[:_SHOWN_CHANGES],
            notes=tuple(notes),
            refusals=kept.refusals,
        )

    def _notes(self, outcome: RunOutcome, assessment: Assessment, network: Network) -> list[str]:
        notes = list(outcome.notes)
        if _RENAME_FAILED in outcome.output and outcome.exit_code:
            notes.append(_RENAME_NOTE)
        if outcome.left_running:
            notes.append(f"stopped at the end of the call: {', '.join(outcome.left_running)}")
        if network is not Network.NONE and outcome.network is Network.NONE and assessment.network:
            notes.append("the network could not be attached: install passt or slirp4netns")
        return notes

    def _may_keep(self, assessment: Assessment) -> bool:
        """Whether what the command wrote may stay: not where it ran unasked because it was to write nothing."""
        unasked = _only_reads(assessment) and self._consent.needed(Capability.WORKSPACE_WRITE)
        return self._rules.may_write and not unasked

    def _making(self, assessment: Assessment, cwd: Path) -> Making:
        """What the command may write by its nature (spec 2.3, 2.4)."""
        if assessment.script is None:
            return Making()
        found = recognise(located(assessment.script, str(cwd)), self._facts(), start=self._relative(cwd))
        return making(found, _programs(assessment), self._rules.created)

    def _record(
        self,
        assessment: Assessment,
        outcome: RunOutcome,
        result: CommandResult,
        cwd: Path,
        facts: CommandFacts,
        before: EpochLedger,
        draft: Draft,
        capture: Path | None,
        rewrote: Collection[str],
    ) -> None:
        if assessment.script is not None:
            changed = frozenset(change.path for change in draft.changes if change.before_sha256 is not None)
            known = replace(self._facts(), changed_now=changed.union(rewrote).__contains__)
            now = self._recorder.ledger
            products = self._recorder.products.in_state(SourceState.of(now, known))
            script = located(assessment.script, str(cwd))
            delivered = [change.path for change in draft.changes if change.delivered]
            undelivered = [change.path for change in draft.changes if not change.delivered]
            self._log.note_generated(generated(script, known, facts.setting, undelivered, delivered))
            draft.check = assess_command(script, facts, known, before, now, products)
            draft.output = heard(script, facts.output, known, facts.start) if draft.check is not None else ""
            self._recorder.products = products_after(script, facts.setting, known, facts.wrote, draft.check, products)
        if capture is not None and outcome.output_bytes:
            draft.output_ref = str(capture.relative_to(self._session.state.root))
        draft.command = command_record(
            assessment.command, result, argv0s=_programs(assessment), cwd_before=self._shown(cwd),
            background=bool(outcome.left_running), network=outcome.network.value, limits=outcome.limits,
            complaints=complaints(draft.check, outcome.output),
        )  # fmt: skip
        for check in draft.check.results if draft.check else ():
            data = {"command": check.command, "kinds": [k.value for k in check.kinds], "status": check.status.value,
                    "code": check.code.value, "epoch": check.epoch}  # fmt: skip
            self._emit(Event(EventName.CHECK_RECORDED, data, self._turn))

    def _relative(self, path: Path) -> str:
        primary = self._session.roots.primary
        shown = str(path.relative_to(primary)) if path.is_relative_to(primary) else str(path)
        return "" if shown == "." else shown

    def _shown(self, path: Path) -> str:
        relative = self._relative(path)
        return f"/workspace/{relative}" if relative and not relative.startswith("/") else relative or "/workspace"


def _warned(
    result: CommandResult, now: tuple[tuple[str, str | None], ...], before: tuple[tuple[str, str | None], ...]
) -> CommandResult:
    """The result with a word about the build products this command put there itself: checks do not count on them."""
    planted = [path for path, _ in sorted(set(now) - set(before))]
    if not planted:
        return result
    note = f"{planted[0]} was not made by a build: no check counts until one makes it anew or it is removed"
    return replace(result, notes=(*result.notes, note))


def _ran_old(check: CheckRecord | None) -> tuple[str, ...]:
    """A word about the first check that ran what was built before the source changed."""
    old = (result for result in (check.results if check else ()) if result.code is CheckCode.BUILT_BEFORE)
    found = next(old, None)
    if found is None:
        return ()
    return (
        f"`{found.command}` ran what was built before the source changed, so it does not count: build that first; where"
        " the build finds nothing to do, clean first",
    )


def _only_reads(assessment: Assessment) -> bool:
    """Whether everything the command does was read, and none of it writes to the workspace."""
    return assessment.command_class in (CommandClass.READ_ONLY, CommandClass.SHELL_COMPLEX)


def _programs(assessment: Assessment) -> tuple[str, ...]:
    """The programs a command names, wrappers taken off, as far as they can be read."""
    if assessment.script is None:
        return ()
    return tuple(dict.fromkeys(simple.name for simple in commands(assessment.script) if simple.name))


def _no_helper(tool: str, command: str) -> Refusal:
    """A command that plainly needs the network, where none can be attached (spec 2.7)."""
    why = "it needs the network, and neither pasta nor slirp4netns is installed to attach one"
    return Refusal("no_network_helper", tool, command, why, "work offline; the operator can run: apt install passt")
