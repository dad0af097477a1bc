"""Opens the host of one turn: what the request asked for, what the mode grants, every part put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from spear.events.stream import Sink
from spear.evidence.facts import ProjectFacts
from spear.host.authority import Authority
from spear.host.changes import ChangeLog
from spear.host.confirmation import Confirm
from spear.host.consent import Approvals, Consent
from spear.host.files import Files
from spear.host.host_commands import Handler, HostCommands
from spear.host.keeping import Keeper
from spear.host.paths import PathGate, TurnRules
from spear.host.planted import PlantedMemory
from spear.host.project_facts import builds_with, facts_of
from spear.host.recorder import Recorder
from spear.host.scope import write_scope
from spear.host.session import HostSession, ShellState
from spear.host.spear_host import SpearHost
from spear.host.terminal import Terminal
from spear.host.touch import Touch
from spear.host.turn_checkpoints import TurnCheckpoints
from spear.host.validation import ProjectValidation, declared_checks, declared_commands
from spear.host.web import WebAccess, WebTools
from spear.policy.refusal_breaker import RefusalBreaker
from spear.policy.write_scope import WriteScope
from spear.state.planted import PlantedProducts
from spear.web.tools import COMMAND as WEB_COMMAND
from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.delivered import DeliveredSource


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a classified request asks the host for. `named` are all paths it names as something to change."""

    turn: int
    read_only: bool
    targets: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    excluded_kinds: tuple[str, ...] = ()
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What the front end gives a turn: who is asked, where events go, what the host answers itself. `web` is None in a
    session without the network."""

    confirm: Confirm
    emit: Sink
    approvals: Approvals
    cancelled: Callable[[], bool] = lambda: False
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    rules_of: Callable[[str], str] | None = None
    steered: Callable[[], str] = lambda: ""
    web: WebAccess | None = None


def open_turn(session: HostSession, asked: TurnRequest, parts: TurnParts) -> SpearHost:
    """The host of one turn. Starts a checkpoint; raises OSError when the state directory cannot hold one."""
    primary = session.roots.primary
    authority = Authority(
        lambda: session.mode, read_only=asked.read_only, no_network=not session.options.network
    )  # fmt: skip
    rules = TurnRules(
        authority=authority,
        read_only=asked.read_only,
        scope=write_scope(
            primary, asked.targets, asked.exclusions, asked.symbols, asked.excluded_kinds, everywhere=asked.everywhere
        ),
        protected=session.project.declared.protected if session.project else (),
        named=frozenset(asked.targets),
    )
    gate = PathGate(session.roots, rules, session.state.root)
    recorder = Recorder(asked.turn, session.next_seq, session.evidence.append)
    recorder.products = replace(recorder.products, scratch=session.scratch_planted)
    planted = PlantedMemory(
        lambda root: PlantedProducts(session.state.planted(root)), session.roots, recorder,
        lambda name, place: builds_with(primary, name, place),
    )  # fmt: skip
    delivered = DeliveredSource(primary)
    checkpoints = TurnCheckpoints(
        session.roots, session.checkpoints, lambda: CheckpointManager(session.state.checkpoints), session.identity,
        asked.turn,
    )  # fmt: skip
    log = ChangeLog(
        session.roots, delivered, checkpoints, recorder, rules.created, parts.emit, asked.turn, planted.changed_in
    )  # fmt: skip
    consent = Consent(authority, parts.approvals, parts.confirm, parts.emit, asked.turn, session.options.allowed_hosts)
    declared = {name: declared_checks(project) for name, project in {**session.projects, "": session.project}.items()}
    files = Files(session, gate, consent, log, parts.cancelled)
    hooks = None
    if session.hooks is not None:
        hooks = session.hooks.of_turn(asked.turn, lambda: authority.mode, parts.emit, parts.cancelled)
    handlers, web = dict(parts.handlers), None
    if parts.web is not None:
        web = WebTools(
            parts.web, rules, gate, files, consent, recorder, session.options.allowed_hosts, parts.emit, asked.turn,
            parts.cancelled, hooks,
        )  # fmt: skip
        handlers[WEB_COMMAND] = web.answer
    commands = HostCommands(handlers)

    def facts() -> ProjectFacts:
        return facts_of(primary, declared, session.runner.on_host, log, session.parser.parse, session.roots.others)

    def terminal_under(rules: TurnRules, gate: PathGate, shell: ShellState) -> Terminal:
        return Terminal(
            session, rules, gate, consent, log, recorder, Keeper(session, gate, log),
            commands, facts, parts.emit, asked.turn, parts.cancelled, shell,
        )  # fmt: skip

    terminal = terminal_under(rules, gate, session.shell)
    # In a shell of its own: what the model has exported is no part of how the project is verified.
    own = ShellState(primary)
    # What the project's own commands change is no edit of the model's: it is noticed and opens an epoch (spec 3.5).
    wide = replace(rules, scope=WriteScope(workspace_wide=True))
    validation = ProjectValidation(
        primary, declared_commands(session.project),
        terminal_under(wide, PathGate(session.roots, wide, session.state.root), own), recorder, parts.emit, asked.turn,
        session.options.validation_timeout_s, parts.cancelled, facts,
    )  # fmt: skip
    if rules.may_write:
        log.watch()
    return SpearHost(
        session, asked.turn, rules, gate, files, terminal, web, validation, log, recorder,
        planted, RefusalBreaker(session.options.refusal_repeats), Touch(parts.rules_of), parts.steered, parts.emit,
        hooks,
    )  # fmt: skip


__all__ = ["TurnParts", "TurnRequest", "open_turn"]
