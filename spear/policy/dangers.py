"""Commands no mode runs: what would leave, break or take over the sandbox or the machine (spec 2.6).

Looked for at command positions only, on the parsed tree. Quoted text is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from spear.shell.destinations import commands
from spear.shell.options import read_options
from spear.shell.syntax import AndOr, Background, Compound, CompoundKind, Node, Pipeline, Script, Simple
from spear.shell.tools.call import names


@dataclass(frozen=True, slots=True)
class Danger:
    """One refused command: what it is, why it is never run, what to do instead."""

    command: str
    reason: str
    remedy: str


_ESCALATION = names("sudo doas su pkexec runuser sudoedit visudo gosu")
_CONTAINERS = names(
    "docker podman nerdctl ctr crictl buildah lxc lxd machinectl minikube kind docker-compose podman-compose"
)
_BUSES = names("systemctl systemd-run dbus-send gdbus busctl loginctl service initctl at batch")
_MACHINE = names(
    "shutdown reboot halt poweroff telinit kexec insmod modprobe rmmod pivot_root nsenter setenforce swapoff"
)
_DISKS = re.compile(r"mkfs(?:\.\w+)?|mke2fs|mkswap|fdisk|sfdisk|parted|wipefs|blkdiscard|badblocks|hdparm|cryptsetup")
_BLOCK_DEVICE = re.compile(
    r"/dev/(?:sd[a-z]\d*|hd[a-z]\d*|vd[a-z]\d*|xvd[a-z]\d*|nvme\d\w*|mmcblk\d\w*|loop\d+|dm-\d+|mapper/.+|disk/.+|mem|kmem|port)"
)
_TERMINAL = re.compile(r"/dev/(?:tty\w*|pts/\d+|console|vcsa?\d*|ptmx)")
_HARMLESS = names("--version --help -h -V version help")


def block_device(path: str) -> bool:
    """Whether a path names a disk or the machine's memory."""
    return bool(_BLOCK_DEVICE.fullmatch(path))


def terminal(path: str) -> bool:
    """Whether a path names a terminal."""
    return bool(_TERMINAL.fullmatch(path))


def dangers(script: Script) -> Iterator[Danger]:
    """Every dangerous command in `script`, in order."""
    for name in _fork_bombs(script):
        yield Danger(name, "it starts copies of itself without end", "call it a bounded number of times")
    for simple in commands(script):
        danger = _dangerous(simple)
        if danger is not None:
            yield danger


def _dangerous(simple: Simple) -> Danger | None:
    name = simple.name
    if name is None or simple.function:
        return None
    words = [word.value for word in simple.argv[1:]]
    if words and all(word in _HARMLESS for word in words[:1]) and name not in _ESCALATION:
        return None
    reader = _READERS.get(name)
    if reader is not None:
        return reader(simple)
    if name in _ESCALATION:
        return Danger(name, "it asks for more privileges than the turn has", "run the command without it")
    if name in _CONTAINERS:
        return Danger(name, "it talks to a container runtime outside the sandbox", "run the program itself here")
    if name in _BUSES:
        return Danger(name, "it asks a service of the host to act outside the sandbox", "run the program itself here")
    if name in _MACHINE or _DISKS.fullmatch(name):
        return Danger(name, "it acts on the machine, not on the workspace", "leave this to the operator")
    return None


def _killed(simple: Simple) -> Danger | None:
    words = [word.value for word in simple.argv[1:]]
    if words[:1] in (["-0"], ["-l"], ["-L"]) or words[:2] in (["-s", "0"], ["-n", "0"]):
        return None
    signal_first = bool(words) and (words[0] or "").startswith("-") and len(words) > 1
    targets = [word for word in (words[1:] if signal_first else words) if word not in ("--", None)]
    if any(target in ("1", "-1") for target in targets):
        return Danger(
            "kill", "it ends processes this command did not start", "kill by the id of a job started here: $!"
        )
    return None


def _scheduled(simple: Simple) -> Danger | None:
    if any(word.value == "-l" for word in simple.argv[1:]):
        return None
    return Danger("crontab", "a job queue would run it outside the sandbox", "run the command now")


def _wrote_message(simple: Simple) -> Danger | None:
    return Danger(simple.name or "", "it writes to terminals of the operator", "print to standard output")


def _sysctl(simple: Simple) -> Danger | None:
    options = read_options(simple.argv[1:], "-p -r")
    writes = options.has("-w", "--write", "-p", "--system") or any(
        "=" in (word.value or "") for word in options.operands
    )
    return Danger("sysctl", "it changes the running kernel", "leave this to the operator") if writes else None


def _initialised(simple: Simple) -> Danger | None:
    levels = [word.value for word in simple.argv[1:]]
    return (
        Danger("init", "it stops the machine", "leave this to the operator") if levels[:1] in (["0"], ["6"]) else None
    )


_READERS: Mapping[str, Callable[[Simple], Danger | None]] = {
    "kill": _killed,
    "crontab": _scheduled,
    "wall": _wrote_message,
    "write": _wrote_message,
    "sysctl": _sysctl,
    "init": _initialised,
}


def _fork_bombs(script: Script) -> Iterator[str]:
    for node in _nodes(script):
        if isinstance(node, Compound) and node.kind is CompoundKind.FUNCTION and node.name:
            calls = [inner for part in node.parts for inner in _nodes(part)]
            doubled = any(isinstance(inner, Pipeline) and _calls(inner, node.name) > 1 for inner in calls)
            detached = any(isinstance(inner, Background) and _calls(inner, node.name) for inner in calls)
            if doubled or detached:
                yield node.name


def _calls(node: Node, name: str) -> int:
    return sum(simple.name == name for simple in commands(Script((node,))))


def _nodes(script: Script) -> Iterator[Node]:
    waiting: list[Node] = list(script.statements)
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case Pipeline(stages=stages):
                waiting.extend(stages)
            case AndOr(left=left, right=right):
                waiting.extend((left, right))
            case Background(body=body):
                waiting.append(body)
            case Compound(parts=parts):
                waiting.extend(inner for part in parts for inner in part.statements)
            case Simple():
                pass
