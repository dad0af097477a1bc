"""What a turn is told about its workspace: its name, declared commands, a map of the top level (spec 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spear.context.documents import names_in, one_line
from spear.context.identity import WorkspaceIdentity
from spear.workspace import presence
from spear.workspace.build_output import CACHE_DIRECTORIES
from spear.workspace.projects import Declaration

_COMMANDS = (
    ("Build", "build_commands"),
    ("Test", "test_commands"),
    ("Lint", "lint_commands"),
    ("Acceptance", "acceptance_commands"),
)
_MOST_NAMES = 30
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """The workspace, what is declared about it and trusted, and the names of the other roots."""

    workspace: WorkspaceIdentity
    declared: Declaration | None
    roots: tuple[str, ...] = ()


def project_lines(facts: ProjectFacts) -> Iterator[str]:
    """A few short lines, the same for the same tree."""
    name = one_line(facts.workspace.name, _LONGEST_NAME)
    what = f"project {name}" if facts.workspace.registered else f"directory {name}, not registered as a project"
    yield f"Workspace: /workspace ({what}); paths are relative to it."
    if facts.roots:
        yield "Other roots: " + ", ".join(f"/workspaces/{root}" for root in facts.roots) + "."
    for label, key in _COMMANDS:
        commands: tuple[str, ...] = getattr(facts.declared, key, ())
        if commands:
            yield f"{label}: " + "; ".join(" ".join(command.split()) for command in commands)
    if facts.declared is not None and facts.declared.protected:
        yield "Protected (not to be changed): " + ", ".join(facts.declared.protected)
    if names := top_level(facts.workspace.directory):
        yield f"Top level: {names}"


def top_level(directory: Path) -> str:
    """The names in a directory, sorted, `/` behind directories; hidden ones and caches left out."""
    found = [name for name in names_in(directory) if not name.startswith(".") and name not in CACHE_DIRECTORIES]
    shown = [
        one_line(name, _LONGEST_NAME) + ("/" if presence.is_directory(directory / name) else "")
        for name in found[:_MOST_NAMES]
    ]
    more = [f"and {len(found) - _MOST_NAMES} more"] if len(found) > _MOST_NAMES else []
    return ", ".join([*shown, *more])
