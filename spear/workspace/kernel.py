"""The two Linux calls that Python does not offer: openat2 confined beneath a directory, and syncfs."""

from __future__ import annotations

import ctypes
import errno
import functools
import os

_SYS_OPENAT2 = 437  # the same number on every architecture: calls added since 2019 share one table
_RESOLVE = 0x02 | 0x04 | 0x08  # NO_MAGICLINKS | NO_SYMLINKS | BENEATH
_AT_FDCWD = -100
_RACES = 64


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(directory: int, relative: str, flags: int, mode: int = 0) -> int:
    """Open `relative` beneath the directory descriptor, following no link at all. Raises OSError: EXDEV for a path
    that would leave, ELOOP for a link, ENOSYS or EPERM where the call is not offered.
    """
    how = _OpenHow(flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, _RESOLVE)
    name = os.fsencode(relative)
    for _ in range(_RACES):
        fd = _libc().syscall(_SYS_OPENAT2, directory, name, ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return int(fd)
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), relative)


@functools.cache
def openat2_works() -> bool:
    """Whether this kernel (and its seccomp filter) offers openat2."""
    try:
        os.close(openat2(_AT_FDCWD, "/", os.O_PATH))
    except OSError as error:
        # BENEATH refuses "/" with EXDEV where the call exists; ENOSYS and EPERM mean that it does not.
        return error.errno == errno.EXDEV
    return True


def sync_file_system(fd: int) -> None:
    """Make everything written to the file system of `fd` durable: one call for many files. Raises OSError."""
    if _libc().syncfs(fd) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
