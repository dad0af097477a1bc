"""The workspace of a session: its roots, the project it is registered as, what a turn is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spear.cli.settings_model import Settings
from spear.errors import WorkspaceError
from spear.workspace.projects import Project, Registry, load_registry
from spear.workspace.roots import Roots


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a session knows of where it works."""

    roots: Roots
    project: Project | None
    notices: tuple[str, ...] = ()

    def sections(self) -> tuple[str, ...]:
        """The parts of the system message about the workspace: short, byte-stable."""
        lines = [f"Workspace: /workspace (paths are relative to it), project {self.roots.primary.name}."]
        if self.roots.others:
            lines.append("Other roots: " + ", ".join(f"/workspaces/{name}" for name in self.roots.others) + ".")
        project = self.project
        for label, name in (("Build", "build_commands"), ("Test", "test_commands"), ("Lint", "lint_commands")):
            commands = getattr(project, name, ()) if project else ()
            if commands:
                lines.append(f"{label}: " + "; ".join(commands))
        return ("\n".join(lines),)


def open_workspace(settings: Settings, cwd: Path) -> Workspace:
    """The workspace of a launch directory. Raises WorkspaceError when it cannot be one."""
    try:
        primary = cwd.resolve(strict=True)
    except OSError as error:
        raise WorkspaceError(f"the launch directory {cwd} cannot be used: {error.strerror}", hint="cd to an existing directory") from error
    home = Path.home()
    if primary in (Path("/"), home):
        raise WorkspaceError(f"{primary} is not a workspace: everything in it would be within reach", hint="cd to a project directory")
    registry: Registry = load_registry(settings.projects_file, settings.corpus_root)
    project = registry.detect(primary)
    others = {} if settings.single_root else {p.name: p.path for p in registry.projects if p is not project}
    roots, notices = Roots.of(primary, others, allow_absolute=settings.allow_absolute_paths)
    return Workspace(roots, project, (*registry.notices, *notices))
