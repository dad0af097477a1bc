"""The host of a session, put together from its settings: stores, runner, confinement (spec architecture).

Apart from the application because its imports are a third of the start, and the first request needs none of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from spear.cli.settings_model import Settings
from spear.cli.workspace import Workspace
from spear.host.confinement import Confinement
from spear.host.session import HostOptions, HostSession, ShellState
from spear.sandbox.request import Limits
from spear.sandbox.runner import CommandRunner
from spear.sandbox.selftest import Preflight, preflight
from spear.shell.parse import ShellParser
from spear.state.directory import StateDirectory
from spear.state.files import make_private_directory, state_error
from spear.state.records import EvidenceLog, ToolActionLog
from spear.state.redaction import Redactor
from spear.state.results import ResultStore
from spear.state.sessions import Session
from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.durable import DurableWriter
from spear.workspace.host_git import git_identity


def open_host(
    settings: Settings,
    workspace: Workspace,
    state: StateDirectory,
    record: Session,
    redactor: Redactor,
    environ: Mapping[str, str],
) -> HostSession:
    """What lasts for the session of the host. Starts no process."""
    running = state.root / "run"
    make_private_directory(running)
    CommandRunner.sweep(running)
    scratch = running / record.id
    runner = CommandRunner(
        scratch,
        _toolchains(workspace),
        path=environ.get("PATH", os.defpath),
        home=Path(environ.get("HOME", "/")),
        owner=workspace.roots.primary,
        host_environment=environ,
        limits=_limits(settings),
    )
    session = HostSession(
        identity=record.id,
        roots=workspace.roots,
        state=state,
        scratch=scratch / "layers",
        options=_options(settings),
        runner=runner,
        confinement=Confinement(lambda: _probe(state)),
        parser=ShellParser(),
        writer=DurableWriter(),
        checkpoints=CheckpointManager(state.checkpoints),
        evidence=EvidenceLog(state.evidence(record.id), redactor),
        actions=ToolActionLog(state.tool_actions, redactor),
        results=ResultStore(state.tool_results, record.id),
        shell=ShellState(
            cwd=Path(record.cwd) if record.cwd else workspace.roots.primary,
            environment={**git_identity(workspace.roots.primary, environ), **record.environment},
        ),
        project=workspace.project,
        projects={name: workspace.registry.projects[name] for name in workspace.roots.others},
    )
    session.recall(record.extra)
    return session


def _probe(state: StateDirectory) -> Preflight:
    try:
        return preflight(state.root)
    except OSError as error:
        raise state_error("try the sandbox in", state.root, error) from error


def _options(settings: Settings) -> HostOptions:
    return HostOptions(
        network=not settings.no_network,
        allowed_hosts=settings.network.allow,
        limits=_limits(settings),
        refusal_repeats=settings.refusal_repeats,
        validation_timeout_s=settings.validation_timeout,
        operator=settings.operator,
    )


def _limits(settings: Settings) -> Limits:
    limits = settings.limits
    return Limits(limits.memory, limits.tasks, limits.cpu_quota, limits.open_files)


def _toolchains(workspace: Workspace) -> tuple[Path, ...]:
    """Toolchain prefixes the project declares."""
    project = workspace.project
    return tuple(Path(place).expanduser() for place in project.declared.toolchains) if project else ()
