"""What a background job is to run as: judged by the policy and the operator's hooks, agreed to where the mode asks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spear.agent.host import Refusal, ToolRequest
from spear.events.stream import Event, Live, Sink
from spear.host.authority import Authority
from spear.host.confirmation import Confirm
from spear.host.consent import Approvals, Consent
from spear.host.mounts import mounts
from spear.host.session import HostSession
from spear.host.tree_facts import tree_facts
from spear.policy.command_policy import Assessment, CommandPolicy
from spear.policy.destination_policy import DestinationCode, PolicyView
from spear.policy.modes import Capability, has_network
from spear.policy.places import Root
from spear.policy.write_scope import WriteScope
from spear.sandbox.network import has_helper
from spear.sandbox.request import Network, RunRequest
from spear.workspace import presence

TOOL = "job"
"""What refusals and questions about a job name as the tool."""
_NEVER_S = 10 * 365 * 24 * 3600.0
"""A job has no time limit."""


@dataclass(frozen=True, slots=True)
class JobParts:
    """What a start needs of the chat: who is asked, what was approved, where its events and notices go."""

    confirm: Confirm
    approvals: Approvals
    emit: Sink


def job_request(command: str, session: HostSession, parts: JobParts) -> RunRequest | Refusal:
    """What is to run, judged and agreed to. The policy judges as in a turn that only reads: a job can write nothing."""
    authority = Authority(lambda: session.mode, read_only=True, no_network=not session.options.network)

    def audited(item: Event | Live) -> None:
        parts.emit(Event(item.name, {**item.data, "by": "operator"}, item.turn) if isinstance(item, Event) else item)

    options, shell, primary = session.options, session.shell, session.roots.primary
    consent = Consent(authority, parts.approvals, parts.confirm, audited, 0, options.allowed_hosts)
    inside = any(shell.cwd.is_relative_to(root) for root in (primary, *session.roots.others.values()))
    cwd = shell.cwd if inside and presence.is_directory(shell.cwd) else primary
    policy, view = CommandPolicy(session.parser), _view(session, consent, authority, cwd)
    assessment = policy.assess(command, view)
    if assessment.refusal is not None:
        return _worded(assessment.refusal)
    if refusal := _hooked(command, session, authority, audited):
        return refusal
    agreed = consent.to_command(assessment, TOOL, [Capability.NETWORK] if assessment.network else [], lasting=False)
    if isinstance(agreed, Refusal):
        return agreed
    if agreed != command:
        assessment = policy.assess(agreed, view)
        if assessment.refusal is not None:
            return _worded(assessment.refusal)
        if refusal := _hooked(agreed, session, authority, audited):
            return refusal
    network = _network(authority, session, assessment)
    if isinstance(network, Refusal):
        return network
    return RunRequest(
        script=assessment.command, roots=mounts(session.roots, session.state.root, None, ()), cwd=cwd,
        timeout_s=_NEVER_S, environment=dict(shell.environment), network=network, allowed_hosts=options.allowed_hosts,
        limits=options.limits,
    )  # fmt: skip


def _hooked(command: str, session: HostSession, authority: Authority, emit: Sink) -> Refusal | None:
    """What the operator's own gates say, which hear of a job as of a command of the terminal."""
    if session.hooks is None:
        return None
    hooks = session.hooks.of_turn(0, lambda: authority.mode, emit, lambda: False)
    return hooks.before(ToolRequest("operator-job", "terminal", {"command": command}))


def _network(authority: Authority, session: HostSession, assessment: Assessment) -> Network | Refusal:
    """The network of a job, as that of a command: none where the mode grants none."""
    if not has_network(authority.grants, asked_for=assessment.network):
        return Network.NONE
    if assessment.network and not has_helper():
        why = "it needs the network, and neither pasta nor slirp4netns is installed to attach one"
        return Refusal("no_network_helper", TOOL, assessment.command, why, "apt install passt")
    return session.options.attachment()


def _view(session: HostSession, consent: Consent, authority: Authority, cwd: Path) -> PolicyView:
    primary, others = session.roots.primary, session.roots.others
    start = str(cwd.relative_to(primary)) if cwd.is_relative_to(primary) else str(cwd)
    return PolicyView(
        roots=(Root(str(primary)), *(Root(str(path), f"/workspaces/{name}") for name, path in others.items())),
        grants=authority.grants,
        scope=WriteScope(workspace_wide=True),
        cwd="" if start == "." else start,
        # Nothing is an output here: a build's own directory is as read-only as the rest.
        facts=tree_facts(primary, lambda _: False),
        denials=consent.denials(),
    )


def _worded(refusal: Refusal) -> Refusal:
    """A refusal as the operator of a job reads it; what speaks of the turn is said of the job."""
    if refusal.code == DestinationCode.READ_ONLY:
        why = "a job sees the workspace read-only"
        return Refusal(refusal.code, TOOL, refusal.target, why, "print it, for the output is kept, or write to /tmp")
    return Refusal(refusal.code, TOOL, refusal.target, refusal.reason, refusal.remedy)
