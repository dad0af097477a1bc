"""The sandbox of one command as bwrap's arguments: values in, list of strings out, no look at the machine (spec 2.7).

The order of mounts is the policy: the read-only system, the private trees, the operator's tools, the roots, and last
what is closed inside them. No destination may have a symbolic link on its way; who builds the values sees to that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spear.sandbox.closure import Protection
from spear.sandbox.sealed import HOME, USER
from spear.sandbox.supervisor import SECCOMP_FD
from spear.sandbox.wrapper import REPORT, SCRIPT

VAR_TMP_BYTES = 256 * 1024 * 1024
NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
TEMPORARY = "/tmp"  # noqa: S108 - the sandbox's private one
FIRST_ROOT = "/workspace"
ALIASES = "/workspaces"
CARRIED_LOCALE = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


@dataclass(frozen=True, slots=True)
class Machine:
    """What of the host every plan shows: `links` are the merged-usr names of / (`bin` → `usr/bin`), `system` the ones
    that are directories there; `identity` is (uid, gid) to be inside, None where bwrap maps its own.
    """

    links: Mapping[str, str]
    system: tuple[str, ...]
    identity: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Show:
    """One bind mount."""

    source: str
    destination: str
    writable: bool = False

    def arguments(self) -> tuple[str, str, str]:
        """As bwrap takes it."""
        return ("--bind" if self.writable else "--ro-bind", self.source, self.destination)


@dataclass(frozen=True, slots=True)
class PlacedRoot:
    """A root at `path`, coming from `source` (the merged overlay, or the tree itself when read-only)."""

    path: str
    source: str
    writable: bool
    alias: str
    protection: Protection


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything of one sandbox. `joined_network` means that bwrap starts in a network namespace made for it."""

    machine: Machine
    etc: str
    tmp: str
    home: str
    script: str
    report: str
    nothing: str
    shown: tuple[Show, ...]
    roots: tuple[PlacedRoot, ...]
    environment: Mapping[str, str]
    cwd: str
    shell: tuple[str, ...]
    joined_network: bool = False


def arguments(plan: Plan) -> list[str]:
    """What bwrap reads from --args: everything but the command, so that no process list shows the plan."""
    words = [*NAMESPACES]
    if not plan.joined_network:
        words.append("--unshare-net")
    words += ["--disable-userns", "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "spear"]
    if plan.machine.identity is not None:
        uid, gid = plan.machine.identity
        words += ["--uid", str(uid), "--gid", str(gid)]
    words += _system(plan.machine)
    words += _private(plan)
    for show in sorted((*plan.shown, *_roots(plan.roots)), key=_depth):
        words += show.arguments()
    for root in plan.roots:
        words += _protected(root, plan.nothing)
    words += _aliases(plan.roots)
    words += ["--remount-ro", "/", "--seccomp", str(SECCOMP_FD)]
    for name, value in plan.environment.items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", plan.cwd]


def command(plan: Plan) -> list[str]:
    """The words bwrap executes inside."""
    return [*plan.shell, SCRIPT]


def base_environment(path: str, variables: Mapping[str, str], host: Mapping[str, str], shell: str) -> dict[str, str]:
    """The variables a session starts with: nothing of the host but PATH, the locale and where its tools lie."""
    return {
        "PATH": path,
        "HOME": HOME,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": shell,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": TEMPORARY,
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        **variables,
        **{name: host[name] for name in CARRIED_LOCALE if name in host},
    }


def encode(words: Iterable[str]) -> bytes:
    """As bwrap's --args descriptor takes them. Raises ValueError for a word with a NUL."""
    encoded = [os.fsencode(word) for word in words]
    if any(b"\0" in word for word in encoded):
        raise ValueError("a NUL byte in an argument")
    return b"".join(word + b"\0" for word in encoded)


def _system(machine: Machine) -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name, target in machine.links.items():
        words += ["--symlink", target, f"/{name}"]
    for name in machine.system:
        words += ["--ro-bind", f"/{name}", f"/{name}"]
    return words


def _private(plan: Plan) -> list[str]:
    return [
        "--ro-bind", plan.etc, "/etc", "--proc", "/proc", "--dev", "/dev",
        "--bind", plan.tmp, TEMPORARY, "--bind", plan.home, HOME,
        "--size", str(VAR_TMP_BYTES), "--perms", "1777", "--tmpfs", "/var/tmp",  # noqa: S108 - private
        "--dir", "/run/spear", "--ro-bind", plan.script, SCRIPT, "--bind", plan.report, REPORT,
    ]  # fmt: skip


def _roots(roots: Sequence[PlacedRoot]) -> list[Show]:
    return [Show(root.source, root.path, root.writable) for root in roots]


def _depth(show: Show) -> tuple[int, str]:
    return show.destination.count("/"), show.destination


def _protected(root: PlacedRoot, nothing: str) -> list[str]:
    """Pins first, leaves last: a later mount covers an earlier one."""
    words: list[str] = []
    protection = root.protection
    if root.writable:
        for name in protection.pins:
            words += ["--bind", f"{root.source}/{name}", f"{root.path}/{name}"]
        for name in protection.closed:
            words += ["--ro-bind", f"{root.source}/{name}", f"{root.path}/{name}"]
    for name in protection.hidden_files:
        # A device node on a mount without devices cannot be opened by anybody.
        words += ["--ro-bind", "/dev/null", f"{root.path}/{name}"]
    for name in protection.hidden_directories:
        words += ["--ro-bind", nothing, f"{root.path}/{name}"]
    return words


def _aliases(roots: Sequence[PlacedRoot]) -> list[str]:
    words: list[str] = []
    taken = {root.path for root in roots}
    names = [(FIRST_ROOT, root.path) for root in roots[:1]]
    names += [(f"{ALIASES}/{root.alias}", root.path) for root in roots if root.alias]
    for name, path in dict(names).items():
        if not any(place == name or place.startswith(f"{name}/") or name.startswith(f"{place}/") for place in taken):
            words += ["--symlink", path, name]
    return words
