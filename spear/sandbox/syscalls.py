"""The system calls the supervisor needs and Python lacks, by ctypes. Standard library only (see supervisor.py)."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x2, 0x4, 0x1000, 0x4000, 0x40000, 0x2
PR_SET_CHILD_SUBREAPER = 36
OPEN_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError named `what` when a libc call returned -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """mount(2)."""
    done = libc.mount(
        source.encode(), os.fsencode(target), kind.encode() if kind else None, flags, data.encode() or None
    )
    check(done, f"mount {kind or 'bind'} on {target}")


def mount_overlay(lower: str, upper: str, work: str, target: str) -> None:
    """Mount one. Paths go in as descriptors: no quoting, no length limit, no second look-up."""
    opened: list[int] = []
    try:
        for path in (lower, upper, work):
            opened.append(os.open(path, OPEN_DIRECTORY))
        names = [f"/proc/self/fd/{descriptor}" for descriptor in opened]
        # volatile: unmounting must not flush the file system; what is kept is made durable when promoted.
        mount(
            "overlay", target, "overlay", MS_NOSUID | MS_NODEV,
            f"lowerdir={names[0]},upperdir={names[1]},workdir={names[2]},"
            "userxattr,redirect_dir=nofollow,metacopy=off,index=off,xino=off,volatile",
        )  # fmt: skip
    finally:
        for descriptor in opened:
            os.close(descriptor)
