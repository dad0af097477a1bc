"""The system call filter of a command: a classic BPF program built in pure Python, no library (spec 2.7).

An allow-list would break programs with every kernel; this denies what a build or a test never needs and an escape does.
Calls that libraries probe (io_uring, clone3) answer ENOSYS so that they fall back; the rest answers EPERM.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from errno import ENOSYS, EPERM
from types import MappingProxyType

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
CALL, ARCHITECTURE = 0, 4
CLONE_NEWUSER = 0x10000000
X32_BIT = 0x40000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

NEVER_NEEDED = (
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "keyctl", "add_key", "request_key", "userfaultfd", "bpf",
    "perf_event_open", "mount", "umount2", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree",
    "mount_setattr", "unshare", "setns", "pivot_root", "chroot", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "open_by_handle_at", "reboot", "swapon", "swapoff", "acct", "quotactl",
    "settimeofday", "clock_settime", "syslog",
)  # fmt: skip
PROBED = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3")

_MODERN = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "mount_setattr": 442,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Architecture:
    """One machine's audit number and call numbers; `x32` marks a second call table that must not be a way round."""

    audit: int
    calls: Mapping[str, int]
    x32: bool


ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType({
    "x86_64": Architecture(0xC000003E, MappingProxyType({
        **_MODERN, "ioctl": 16, "socket": 41, "clone": 56, "ptrace": 101, "syslog": 103, "pivot_root": 155,
        "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
        "reboot": 169, "init_module": 175, "delete_module": 176, "quotactl": 179, "clock_settime": 227, 
        "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
        "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    }), x32=True),
    "aarch64": Architecture(0xC00000B7, MappingProxyType({
        **_MODERN, "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "quotactl": 60, "acct": 89,
        "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116,
        "ptrace": 117, "reboot": 142, "settimeofday": 170, "socket": 198, "add_key": 217, "request_key": 218,
        "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241, "open_by_handle_at": 265,
        "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "bpf": 280,
        "userfaultfd": 282, "kexec_file_load": 294,
    }), x32=False),
})  # fmt: skip


def _instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _argument(index: int) -> int:
    """Offset of the low half of an argument in struct seccomp_data, little-endian machines only."""
    return 16 + 8 * index


def _answer(code: int) -> bytes:
    return _instruction(RETURN, code)


def _refuse(numbers: Sequence[int], errno: int) -> bytes:
    return b"".join(_instruction(JUMP_EQUAL, number, 0, 1) + _answer(ERRNO | errno) for number in numbers)


def _when(number: int, body: Sequence[bytes]) -> bytes:
    """Run `body` for one call; it must end every path or reload nothing, since the call number is reloaded after."""
    code = b"".join(body)
    return _instruction(JUMP_EQUAL, number, 0, len(code) // 8 + 1) + code + _instruction(LOAD, CALL)


def program(machine: str, *, unix_sockets: bool) -> bytes:
    """The filter for `machine` (`platform.machine()`), as bwrap's --seccomp reads it.

    `unix_sockets` permits AF_UNIX: safe where every visible tree is an overlay or private, since a socket of the host
    cannot be reached through either; refused where the tree itself is bound. Raises KeyError for another machine.
    """
    architecture = ARCHITECTURES[machine]
    calls = architecture.calls
    families = [AF_INET, AF_INET6, AF_NETLINK, *([AF_UNIX] if unix_sockets else [])]
    allowed = b"".join(
        _instruction(JUMP_EQUAL, family, len(families) - index, 0) for index, family in enumerate(families)
    )
    parts = [
        _instruction(LOAD, ARCHITECTURE),
        _instruction(JUMP_EQUAL, architecture.audit, 1, 0),
        _answer(KILL),
        _instruction(LOAD, CALL),
    ]
    if architecture.x32:
        parts += [_instruction(JUMP_AT_LEAST, X32_BIT, 0, 1), _answer(ERRNO | EPERM)]
    parts += [
        _refuse([calls[name] for name in PROBED], ENOSYS),
        _refuse([calls[name] for name in NEVER_NEEDED], EPERM),
        _when(calls["clone"], [
            _instruction(LOAD, _argument(0)), _instruction(JUMP_ANY_BIT, CLONE_NEWUSER, 0, 1), _answer(ERRNO | EPERM),
        ]),
        _when(calls["ioctl"], [
            _instruction(LOAD, _argument(1)), _refuse([TIOCSTI, TIOCLINUX], EPERM),
        ]),
        _when(calls["socket"], [
            _instruction(LOAD, _argument(0)), allowed, _answer(ERRNO | EPERM),
        ]),
        _answer(ALLOW),
    ]  # fmt: skip
    return b"".join(parts)
