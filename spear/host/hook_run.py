"""Runs one hook as a plain process of the operator's: bounded, in a session of its own, nothing left (docs/hooks.md).

It is not confined, since it is the operator's program and not the model's. That holds only as long as the model cannot
write what is run: a program, or a file its command names, inside the workspace is not run.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spear.policy.hook import Hook
from spear.policy.hook_answer import OUTPUT_LIMIT, Ended
from spear.state.redaction import secret_values
from spear.workspace.execution import ExecOutcome, execute

_MOST_LINKS = 40
"""Links the kernel follows on one path."""


@dataclass(frozen=True, slots=True)
class HookPlace:
    """Where hooks run: the workspace's root, every root a model may write in, and the environment they get."""

    workspace: Path
    roots: tuple[Path, ...]
    environment: Mapping[str, str]

    @classmethod
    def of(
        cls, workspace: Path, others: Iterable[Path], environ: Mapping[str, str], keys: Iterable[str] = ()
    ) -> HookPlace:
        """The place of a session. `keys` are the variables that hold the keys of endpoints."""
        roots = (workspace, *others)
        return cls(workspace, roots, environment_of(environ, frozenset(keys), roots))


def environment_of(environ: Mapping[str, str], keys: frozenset[str], roots: Sequence[Path]) -> dict[str, str]:
    """The operator's environment without their secrets, and without directories of the tree on `PATH`: `#!/usr/bin/env
    python3` must not find what the model wrote."""
    secrets = secret_values(environ, keys)
    kept = {name: value for name, value in environ.items() if name not in keys and value not in secrets}
    if "PATH" in kept:
        places = (Path(place) for place in kept["PATH"].split(os.pathsep))
        kept["PATH"] = os.pathsep.join(
            str(place) for place in places if place.is_absolute() and not passes_through(place, roots)
        )
    return kept


def run_hook(hook: Hook, document: bytes, place: HookPlace, cancelled: Callable[[], bool]) -> Ended:
    """Run `hook` with `document` on its stdin. Blocks its own time at most, plus what ending it takes."""
    if inside := of_the_tree(hook.command, place.workspace, place.roots):
        return Ended(None, stopped=f"{inside} is in the workspace, where a model can write it; move it out")
    given = directory = -1
    try:
        # A file and no pipe: however large the call is and however little the hook reads, nobody waits for anybody.
        given = os.memfd_create("hook", os.MFD_CLOEXEC)
        with open(given, "wb", closefd=False) as stream:
            stream.write(document)
        os.lseek(given, 0, os.SEEK_SET)
        directory = os.open(place.workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        done = execute(
            hook.command, directory, place.environment, timeout_s=hook.timeout_s, output_limit=OUTPUT_LIMIT,
            cancelled=cancelled, stdin=given,
        )  # fmt: skip
    except OSError as error:
        why = "its first line names no interpreter (#!…)" if error.errno == errno.ENOEXEC else error.strerror
        return Ended(None, stopped=f"it cannot be started: {why}")
    finally:
        for descriptor in (given, directory):
            if descriptor >= 0:
                os.close(descriptor)
    status = done.code if done.outcome is ExecOutcome.EXITED else -done.code if done.code else None
    said = done.stderr.data.decode("utf-8", "replace").strip()
    return Ended(status, bytes(done.stdout.data), done.stdout.truncated, done.stopped, not done.cleaned, said)


def of_the_tree(command: Sequence[str], directory: Path, roots: Sequence[Path]) -> str:
    """The word of a command that names a file inside a root, "" when none does. `--option=FILE` counts too.

    A program is looked at whatever it is, an argument where it leads to something that is no directory.
    """
    program, *arguments = command
    if passes_through(directory / program, roots):
        return program
    for word in arguments:
        for spelt in {word, word.partition("=")[2]} if word.startswith("-") else {word}:
            path = directory / spelt
            if spelt and os.path.lexists(path) and not os.path.isdir(path) and passes_through(path, roots):  # noqa: PTH112
                return spelt
    return ""


def passes_through(path: Path, roots: Sequence[Path]) -> bool:
    """Whether following `path` comes by a place inside one of the canonical `roots`: whoever writes there decides where
    it leads. A path that never ends does."""
    try:
        return any(place.is_relative_to(root) for place in _followed(path) for root in roots)
    except OSError:
        return True


def _followed(path: Path) -> Iterator[Path]:
    """Every place a look-up of `path` comes by, parents of links resolved. Raises OSError for a circle of links."""
    ahead = list(reversed(path.absolute().parts[1:]))
    at, links = Path("/"), 0
    while ahead:
        name = ahead.pop()
        if name == "..":
            at = at.parent
            continue
        here = at / name
        yield here
        if not here.is_symlink():
            at = here
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = here.readlink()
        if target.is_absolute():
            at = Path("/")
        ahead += reversed([part for part in target.parts if part != "/"])
