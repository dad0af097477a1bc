"""The host's end of the supervisor: start it, hand it one command, hear how it ended (docs/decisions/0004)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spear.sandbox import supervisor

HELLO_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
REPLY_BYTES = 1 << 16


class SupervisorLost(Exception):
    """The supervisor ended without being asked to; the next command starts another."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """One overlay to mount: three existing host directories; `work` is empty and beside `upper`."""

    lower: Path
    upper: Path
    work: Path


class Launcher:
    """Starts at once, in the background; `ready` waits for it. One command at a time; `close` is final."""

    def __init__(self, bwrap: str, filter_program: bytes, open_files: int, wrapper: Sequence[str] = ()) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = json.dumps({"bwrap": bwrap, "seccomp": filter_program.hex(), "open_files": open_files})
        with theirs:
            # A session of its own: Ctrl-C at the terminal is the host's to handle. No environment: nothing to leak.
            self._process = subprocess.Popen(
                [*wrapper, sys.executable, "-I", "-S", str(Path(supervisor.__file__)), str(theirs.fileno()),
                 str(os.getpid()), settings],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={},
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        self._channel = ours
        self._hello: dict[str, Any] | None = None

    def ready(self) -> dict[str, Any]:
        """What it said of itself: `overlay`, and the `reason` when there is none. Raises SupervisorLost."""
        if self._hello is None:
            self._channel.settimeout(HELLO_TIMEOUT_S)
            try:
                self._hello = self.reply()
            except TimeoutError as error:
                raise SupervisorLost("it did not answer") from error
            self._channel.settimeout(None)
        return self._hello

    def fileno(self) -> int:
        """Readable when `reply` will not block."""
        return self._channel.fileno()

    def launch(
        self,
        overlays: Sequence[Overlay],
        walk: Sequence[tuple[int, str]],
        command: Sequence[str],
        descriptors: Sequence[int],
    ) -> None:
        """Start a command; `descriptors` are output, bwrap's arguments and script. Raises SupervisorLost."""
        request = {
            "overlays": [{"lower": str(o.lower), "upper": str(o.upper), "work": str(o.work)} for o in overlays],
            "walk": walk,
            "command": command,
        }
        try:
            socket.send_fds(self._channel, [json.dumps(request).encode()], list(descriptors))
        except OSError as error:
            raise SupervisorLost(str(error)) from error

    def kill(self) -> None:
        """Kill the running command and everything it started; the reply still comes."""
        with contextlib.suppress(OSError):
            self._channel.send(b'{"kill": true}')

    def reply(self) -> dict[str, Any]:
        """The next message. Raises SupervisorLost."""
        try:
            message = self._channel.recv(REPLY_BYTES)
        except ConnectionError as error:
            raise SupervisorLost(str(error)) from error
        if not message:
            raise SupervisorLost(f"status {self._process.poll()}")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def close(self) -> None:
        """End it, and the command it may be running."""
        self._channel.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
