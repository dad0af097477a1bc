"""The workspace of a session: its roots, the project it is registered as, what a turn is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spear.cli.settings_model import Settings
from spear.errors import UsageError, WorkspaceError
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore
from spear.workspace.projects import DECLARATION, Project, Registry, load_registry, load_tree_declaration
from spear.workspace.roots import Roots

_SHOWN = 6
"""Commands of an untrusted declaration that the notice names; `spear-chat trust` shows all of it."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a session knows of where it works. `registered` is the entry of this machine's registry, `project` that or
    what the tree declares itself and the operator trusts."""

    roots: Roots
    project: Project | None
    registered: Project | None
    registry: Registry
    notices: tuple[str, ...] = ()


def open_workspace(settings: Settings, cwd: Path) -> Workspace:
    """The workspace of a launch directory. Raises WorkspaceError when it cannot be one."""
    try:
        primary = cwd.resolve(strict=True)
    except OSError as error:
        raise WorkspaceError(
            f"the launch directory {cwd} cannot be used: {error.strerror}", hint="cd to an existing directory"
        ) from error
    home = Path.home()
    if primary in (Path("/"), home):
        raise WorkspaceError(
            f"{primary} is not a workspace: everything in it would be within reach", hint="cd to a project directory"
        )
    registry: Registry = load_registry(settings.projects_file, settings.corpus_root)
    registered = belongs_to(registry, settings, primary)
    project, trust = _declared(registered, primary, settings)
    known = registry.projects.values() if not settings.single_root else ()
    others = {each.name: each.root for each in known if each is not project or not primary.is_relative_to(each.root)}
    roots, notices = Roots.of(primary, others, allow_absolute=settings.allow_absolute_paths)
    return Workspace(
        roots,
        project,
        registered,
        registry,
        (*(problem.line() for problem in registry.problems), *registry.notices, *notices, *trust),
    )


def belongs_to(registry: Registry, settings: Settings, directory: Path) -> Project | None:
    """The registered corpus a session belongs to: the one that is named, none with `--here`, else the one that holds
    the directory. Raises UsageError when a corpus is named that nobody has registered."""
    for name in filter(None, (settings.corpus, *settings.with_corpora, *settings.without_corpora)):
        if name not in registry.projects:
            known = ", ".join(registry.projects) or "none is registered"
            raise UsageError(f"there is no corpus {name}", hint=f"known: {known}")
    if settings.corpus:
        return registry.projects[settings.corpus]
    return None if settings.here else registry.detect(directory)


def _declared(project: Project | None, primary: Path, settings: Settings) -> tuple[Project | None, tuple[str, ...]]:
    """The project with what the tree itself declares, once the operator trusts that text (spec 4.1). The registry of
    this machine wins over the tree."""
    found = load_tree_declaration(primary)
    if found is None or project is not None:
        return project, ()
    notices = tuple(problem.line() for problem in found.problems)
    if found.declared is None:
        return None, notices
    trusted = TrustStore(StateDirectory(settings.state_dir).trusted)
    if trusted.approved().get(str(found.file.resolve())) != found.digest:  # the very text that was read
        said = found.declared
        commands = (
            *said.build_commands, *said.test_commands, *said.lint_commands, *said.acceptance_commands,
            *filter(None, [said.bench]),
        )  # fmt: skip
        more = f"; and {len(commands) - _SHOWN} more" if len(commands) > _SHOWN else ""
        shown = ("; ".join(commands[:_SHOWN]) + more) or "no commands"
        text = f"{DECLARATION} is not trusted yet and is ignored ({shown}); trust it with: spear-chat trust"
        return None, (*notices, text)
    return Project(primary.name, primary, found.declared, registered=False), notices
