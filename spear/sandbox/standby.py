"""A started sandbox whose shell waits for its script, and the one that stands by for the next command.

Making a sandbox takes longer than most commands do. It needs nothing of the command but where and with what variables
it runs, so that the next one is made while the model thinks. Whether it is still what the command should get is
decided when the command comes, by comparing everything it was made from (docs/decisions/0007).
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import select
import termios
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spear.sandbox.launcher import Launcher, Overlay, Start, SupervisorLost
from spear.sandbox.plan import Plan, arguments, encode

Identity = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """All that makes one sandbox what it is. `found` identifies everything that is looked up on the host's trees while
    it is made (see `identities`).
    """

    plan: Plan
    start: Start
    found: tuple[Identity, ...]


class Waiting:
    """A sandbox on its way to a shell that waits, or there. `output` is the reading end of what it prints; `close`
    releases the host's descriptors, and a shell that still waits then ends by itself.
    """

    def __init__(self, launcher: Launcher, launch: Launch) -> None:
        """Start it. Raises OSError, ValueError (a NUL byte in a variable) and SupervisorLost."""
        self.launcher = launcher
        self.launch = launch
        self.output = self._release = -1
        self._sent = False
        # A shell that did not wait would run what the last one ran.
        os.ftruncate(launcher.ready().script, 0)
        with contextlib.ExitStack() as opened:
            try:
                self.output, write = os.pipe2(os.O_CLOEXEC)
                opened.callback(os.close, write)
                released, self._release = os.pipe2(os.O_CLOEXEC)
                opened.callback(os.close, released)
                words = _memory_file("arguments", encode(arguments(launch.plan)))
                opened.callback(os.close, words)
                self.serial = launcher.launch(launch.start, (write, words, released))
            except BaseException:
                self.close()
                raise

    def release(self, script: bytes, line: bytes) -> None:
        """Put the script where the shell reads it, and let it go on. Raises OSError."""
        hello = self.launcher.ready()
        os.ftruncate(hello.report, 0)
        view, at = memoryview(script), 0
        while at < len(view):
            at += os.pwrite(hello.script, view[at:], at)
        # Nobody reads when bwrap failed or the shell was killed: then the answer says so.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._release, line)
            self._sent = True

    @property
    def began(self) -> bool:
        """Whether its shell took the line `release` wrote: where it did not, nothing of the script has run. A command
        cannot change that, for the shell has closed its end.
        """
        unread = bytearray(4)
        fcntl.ioctl(self._release, termios.FIONREAD, unread)
        return self._sent and not any(unread)

    @property
    def ended(self) -> bool:
        """Whether it ended before it was released: what it was made from is gone, or the supervisor."""
        if self.serial <= self.launcher.killed:
            return True
        poll = select.poll()
        poll.register(self.launcher.fileno(), select.POLLIN)
        try:
            while poll.poll(0):
                if self.launcher.heard(self.serial) is not None:
                    return True
        except SupervisorLost:
            return True
        return False

    def close(self) -> None:
        """Give the descriptors back."""
        for descriptor in (self.output, self._release):
            if descriptor >= 0:
                os.close(descriptor)
        self.output = self._release = -1


class Standby:
    """The sandbox made for a command that has not come yet; at most one."""

    def __init__(self) -> None:
        self._waiting: Waiting | None = None

    def prepare(self, launcher: Launcher, launch: Launch) -> None:
        """Make one, in place of any other. A failure is left to the command it was for."""
        self.discard()
        with contextlib.suppress(OSError, ValueError, SupervisorLost):
            self._waiting = Waiting(launcher, launch)

    def take(self, launcher: Launcher, launch: Launch) -> Waiting | None:
        """The sandbox that stands by, if it is in everything the one this command should get."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            if waiting.launcher is launcher and waiting.launch == launch and not waiting.ended:
                return waiting
            _give_up(waiting)
        return None

    def discard(self) -> None:
        """Let go of it, without waiting until it is gone; the supervisor starts nothing before that."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            _give_up(waiting)


def identities(plan: Plan, overlays: Iterable[Overlay]) -> tuple[Identity, ...]:
    """Device, inode, mode and owner of what `plan` and the shell's start look up on the host's trees, nothing for what
    is not there: an overlay goes on showing what it has once looked up.
    """
    return tuple(_identity(path) for path in dict.fromkeys(_looked_up(plan, overlays)))


def _looked_up(plan: Plan, overlays: Iterable[Overlay]) -> Iterator[str]:
    """What is bound from, and inside each root every step to the working directory and to what is mounted there."""
    yield from (str(overlay.upper) for overlay in overlays)
    yield from (show.source for show in plan.shown)
    everywhere = [plan.cwd, *(show.destination for show in plan.shown), *(root.path for root in plan.roots)]
    for root in plan.roots:
        yield root.path
        above = f"{root.path}/"
        inside = (place.removeprefix(above) for place in everywhere if place.startswith(above))
        for name in (*root.protection.destinations, *inside):
            yield from itertools.accumulate(name.split("/"), "{}/{}".format, initial=root.path)


def _identity(path: str) -> Identity:
    try:
        status = os.lstat(path)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_gid


def _give_up(waiting: Waiting) -> None:
    waiting.launcher.kill()
    waiting.close()


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
