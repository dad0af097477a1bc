"""Limits of a command's whole tree of processes: the mechanism this machine offers, chosen once (spec 2.7).

The supervisor lives in the session's group and so does what it starts; no command pays for being moved. When memory
runs out the kernel is pointed at the command, not at the supervisor.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from spear.sandbox.request import Limits

CGROUPS = Path("/sys/fs/cgroup")
MIB = 1024 * 1024
CPU_PERIOD_US = 100_000


class Mechanism(StrEnum):
    """What enforces the limits, as results name it."""

    SYSTEMD = "systemd"
    CGROUP2 = "cgroup2"
    CGROUP1 = "cgroup1"
    RLIMIT_ONLY = "rlimit-only"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits with every default filled in: bytes, processes, share of one core (None: as much as there is)."""

    memory_bytes: int
    tasks: int
    cpu_quota: float | None


def bounds(limits: Limits, machine_memory: int, cores: int) -> Bounds:
    """Memory 2 GiB or an eighth of the machine if larger, max(256, 12 × cores) tasks, no CPU quota."""
    memory = limits.memory_bytes if limits.memory_bytes is not None else max(2048 * MIB, machine_memory // 8)
    tasks = limits.tasks if limits.tasks is not None else max(256, 12 * cores)
    return Bounds(memory, tasks, limits.cpu_quota)


def machine_memory() -> int:
    """Physical memory in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Group:
    """Where a supervisor has to be put. `wrapper` goes before its command line, with `environment`; `directories` are
    control groups made for it.
    """

    mechanism: Mechanism
    wrapper: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None
    directories: tuple[Path, ...] = ()

    def adopt(self, pid: int) -> None:
        """Move the supervisor in. Raises OSError."""
        for directory in self.directories:
            (directory / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def out_of_memory(self) -> int:
        """How many processes the kernel has killed for memory so far; 0 where nobody counts."""
        for directory in self.directories:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    for line in (directory / name).read_text(encoding="ascii").splitlines():
                        key, _, value = line.partition(" ")
                        if key == "oom_kill":
                            return int(value)
        return 0

    def remove(self) -> None:
        """Remove the groups once nothing lives in them."""
        for directory in self.directories:
            for _ in range(50):
                try:
                    directory.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.002)  # the kernel still counts a process that has just been waited for
                else:
                    break


def systemd_group(wanted: Bounds, host: Mapping[str, str], uid: int) -> Group | None:
    """A transient scope of the operator's own service manager; of the system's for root."""
    program = shutil.which("systemd-run")
    runtime = host.get("XDG_RUNTIME_DIR", f"/run/user/{uid}")
    reachable = Path("/run/systemd/system").is_dir() if uid == 0 else Path(runtime, "systemd/private").exists()
    if program is None or not reachable:
        return None
    properties = [f"MemoryMax={wanted.memory_bytes}", "MemorySwapMax=0", f"TasksMax={wanted.tasks}"]
    if wanted.cpu_quota is not None:
        properties.append(f"CPUQuota={round(wanted.cpu_quota * 100)}%")
    words = [program, *([] if uid == 0 else ["--user"]), "--scope", "--quiet", "--collect"]
    for text in properties:
        words += ["-p", text]
    names = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    environment = {"XDG_RUNTIME_DIR": runtime, **{name: host[name] for name in names if name in host}}
    return Group(Mechanism.SYSTEMD, (*words, "--"), environment)


def cgroup2_group(wanted: Bounds, memberships: str, mount: Path, name: str) -> Group | None:
    """A child of the own group, or of its parent, where memory and tasks can be bounded there."""
    own = next((line[3:] for line in memberships.splitlines() if line.startswith("0::")), None)
    if own is None:
        return None
    here = mount / own.strip("/")
    for parent in dict.fromkeys((here, here.parent if here != mount else here)):
        values = {"memory.max": str(wanted.memory_bytes), "memory.swap.max": "0", "pids.max": str(wanted.tasks)}
        if wanted.cpu_quota is not None:
            values["cpu.max"] = f"{round(wanted.cpu_quota * CPU_PERIOD_US)} {CPU_PERIOD_US}"
        if _make(parent / name, values, optional=("memory.swap.max",)):
            return Group(Mechanism.CGROUP2, directories=(parent / name,))
    return None


def cgroup1_group(wanted: Bounds, memberships: str, mount: Path, name: str) -> Group | None:
    """One child in each hierarchy that is needed."""
    memory = str(wanted.memory_bytes)
    values = {
        "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory, "memory.swappiness": "0"},
        "pids": {"pids.max": str(wanted.tasks)},
    }
    if wanted.cpu_quota is not None:
        values["cpu"] = {
            "cpu.cfs_period_us": str(CPU_PERIOD_US),
            "cpu.cfs_quota_us": str(round(wanted.cpu_quota * CPU_PERIOD_US)),
        }
    made: list[Path] = []
    for controller, settings in values.items():
        own = next(
            (
                line.split(":", 2)[2]
                for line in memberships.splitlines()
                if controller in line.split(":", 2)[1].split(",")
            ),
            None,
        )
        directory = mount / controller / (own or "").strip("/") / name
        if own is None or not _make(directory, settings, optional=("memory.memsw.limit_in_bytes", "memory.swappiness")):
            Group(Mechanism.CGROUP1, directories=tuple(made)).remove()
            return None
        made.append(directory)
    return Group(Mechanism.CGROUP1, directories=tuple(made))


def choose(limits: Limits, host: Mapping[str, str], serial: int, *, systemd: bool = True) -> Group:
    """The best mechanism there is, with its groups made. `serial` tells this process's supervisors apart; `systemd` is
    False where a scope has been asked for in vain.
    """
    wanted = bounds(limits, machine_memory(), os.cpu_count() or 1)
    memberships = Path("/proc/self/cgroup").read_text(encoding="ascii")
    name = f"spear-{os.getpid()}-{serial}"
    unified = CGROUPS / "unified" if (CGROUPS / "unified").is_dir() else CGROUPS
    return (
        (systemd_group(wanted, host, os.geteuid()) if systemd else None)
        or cgroup2_group(wanted, memberships, unified, name)
        or cgroup1_group(wanted, memberships, CGROUPS, name)
        or Group(Mechanism.RLIMIT_ONLY)
    )


def _make(directory: Path, values: Mapping[str, str], optional: tuple[str, ...]) -> bool:
    """Make a group with these values; False, with nothing left behind, where that cannot be."""
    _sweep(directory.parent)
    try:
        directory.mkdir(exist_ok=True)
    except OSError:
        return False
    for name, value in values.items():
        try:
            # Never created: on a plain directory a missing control file is a missing controller.
            descriptor = os.open(directory / name, os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            if name in optional:
                continue
            directory.rmdir()
            return False
        try:
            os.write(descriptor, value.encode("ascii"))
        except OSError:
            if name not in optional:
                directory.rmdir()
                return False
        finally:
            os.close(descriptor)
    return True


def _sweep(parent: Path) -> None:
    """Remove what killed sessions left: empty groups named after processes that are gone."""
    with contextlib.suppress(OSError):
        for entry in parent.glob("spear-*-*"):
            pid = entry.name.split("-")[1]
            if pid.isdigit() and not Path("/proc", pid).exists():
                with contextlib.suppress(OSError):
                    entry.rmdir()
