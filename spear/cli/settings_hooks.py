"""`[[hooks]]` of the operator's own file: never of the tree, each program found beforehand (docs/hooks.md)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spear.cli.settings_layers import Layer, Origin
from spear.errors import ConfigurationError
from spear.policy.hook import Hook

KEY = "hooks"


def without_hooks(project: Layer, user_file: Path) -> tuple[Layer, tuple[str, ...]]:
    """A project's layer without the hooks its file declares, and the sentence that says so. Trust does not change it:
    a hook runs unconfined as the operator, so it stands where no tree and no model writes."""
    if KEY not in project.values:
        return project, ()
    where = project.origins[KEY].where
    values = {key: value for key, value in project.values.items() if key != KEY}
    said = f"{KEY} in {where} is left out: a hook runs outside the sandbox; if it is yours, write it into {user_file}"
    return replace(project, values=values), (said,)


def with_programs(
    user: Layer, hooks: tuple[Hook, ...], user_file: Path, cwd: Path, home: Path, environ: Mapping[str, str]
) -> tuple[Hook, ...]:
    """The hooks of the user's file with their programs as absolute paths: `~` is the home, a relative path starts at
    the file, a bare name is looked for on PATH.

    Raises ConfigurationError naming the entry where a program is not there or cannot be run, and where the file, the
    program or a file among its arguments lies in `cwd`, the tree a model writes in.
    """
    from spear.host.hook_run import of_the_tree

    place = user.origins[KEY].where
    root = cwd.resolve()
    require_outside(user.origins[KEY], (root,))
    found = []
    for number, hook in enumerate(hooks):
        named = f"{KEY}.{number}.command = {hook.command[0]!r} ({place})"
        program = _found(hook.command[0], user_file.parent, home, cwd, environ)
        if not program.is_file():
            raise ConfigurationError(f"{named}: there is no such program", hint="correct it, or install the program")
        if not os.access(program, os.X_OK):
            raise ConfigurationError(f"{named}: it is not executable", hint=f"chmod +x {program}")
        command = (str(program), *hook.command[1:])
        if inside := of_the_tree(command, root, (root,)):
            raise ConfigurationError(
                f"{named}: {inside} lies in the workspace, where a model can write it", hint=f"move it out of {root}"
            )
        found.append(hook.model_copy(update={"command": command}))
    return tuple(found)


def require_outside(origin: Origin, roots: Sequence[Path]) -> None:
    """Raise ConfigurationError where the file that declares hooks is reached through one of these roots: whoever can
    write it runs programs as the operator."""
    from spear.host.hook_run import passes_through

    if origin.file is None or passes_through(origin.file, roots):
        raise ConfigurationError(
            f"{KEY} ({origin.where}): the file lies in the workspace, where a model can write it",
            hint=f"move it out of {', '.join(map(str, roots))}; ~/.config/spear/config.toml is its usual place",
        )


def _found(program: str, base: Path, home: Path, cwd: Path, environ: Mapping[str, str]) -> Path:
    """Where a program is said to be, or found to be; not there where it is not found."""
    if program.startswith("~/"):
        return home / program[2:]
    if "/" in program:
        return cwd / base / program
    return cwd / (shutil.which(program, path=environ.get("PATH", os.defpath)) or f"/nowhere/{program}")
