"""The host's end of the supervisor: start it, hand it one command, hear how it ended (docs/decisions/0004)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spear.sandbox.limits import Group
from spear.sandbox.network import Namespace

PACKAGE_PARENT = Path(__file__).resolve().parents[2]
BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from spear.sandbox.supervisor import main; main()"
HELLO_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
REPLY_BYTES = 1 << 16


class SupervisorLost(Exception):
    """The supervisor ended without being asked to; the next command starts another."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """One overlay to mount: two existing host directories."""

    lower: Path
    upper: Path


@dataclass(frozen=True, slots=True)
class Start:
    """One command for the supervisor. `walk` are (overlay index, relative path) of mount destinations to look at again
    right before; `stage` are (slot, path) to bind for a user who cannot reach them; `network` a namespace's name;
    `filter` names one of `Settings.filters`.
    """

    overlays: tuple[Overlay, ...]
    walk: tuple[tuple[int, str], ...]
    command: tuple[str, ...]
    network: str = ""
    stage: tuple[tuple[int, str], ...] = ()
    filter: str = "strict"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a supervisor is started with. `work` is an empty directory on the file system of every upper layer;
    `exchange` is where script and report lie when the supervisor has no namespace to keep them in memory. `identity` is
    the user commands run as when that is not the supervisor's own; `blame_commands` is set where memory is bounded.
    `caches` are (lower, upper, work) of overlays that last as long as the supervisor.
    """

    bwrap: str
    filters: Mapping[str, bytes]
    open_files: int
    work: Path
    exchange: Path
    identity: tuple[int, int] | None = None
    blame_commands: bool = False
    caches: tuple[tuple[str, str, str], ...] = ()

    def encoded(self) -> str:
        """As the supervisor reads it."""
        return json.dumps({
            "bwrap": self.bwrap, "open_files": self.open_files,
            "filters": {name: text.hex() for name, text in self.filters.items()},
            "work": str(self.work), "exchange": str(self.exchange),
            "identity": self.identity, "blame_commands": self.blame_commands,
            "caches": self.caches,
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hello:
    """What a supervisor says of itself: whether it can mount overlays, or why not; the directory in which bwrap finds
    `script` and `report`, and descriptors of both.
    """

    overlay: bool
    reason: str
    exchange: str
    caches: tuple[str, ...]
    script: int
    report: int


class Launcher:
    """Starts at once, in the background; `ready` waits for it. One command at a time; `close` is final."""

    def __init__(self, settings: Settings, group: Group) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # A session of its own: Ctrl-C at the terminal is the host's to handle. No environment: nothing to leak.
            self._process = subprocess.Popen(
                [*group.wrapper, sys.executable, "-I", "-S", "-c", BOOT, str(PACKAGE_PARENT), str(theirs.fileno()),
                 str(os.getpid()), settings.encoded()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=dict(group.environment or {}),
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        self._channel = ours
        self._hello: Hello | None = None
        self._serial = 0
        self.killed = 0
        """The number of the last command `kill` was for: it and those before it are gone, whether or not heard of."""

    def ready(self) -> Hello:
        """Wait until it is there. Raises SupervisorLost."""
        if self._hello is None:
            self._channel.settimeout(HELLO_TIMEOUT_S)
            try:
                message, descriptors, _, _ = socket.recv_fds(self._channel, REPLY_BYTES, 2)
            except OSError as error:
                raise SupervisorLost(str(error)) from error
            if not message:
                raise SupervisorLost(f"status {self._process.wait()}")
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
            script, report = descriptors
            self._hello = Hello(**json.loads(message), script=script, report=report)
            self._channel.settimeout(None)
        return self._hello

    @property
    def pid(self) -> int:
        """The supervisor's process."""
        return self._process.pid

    def fileno(self) -> int:
        """Readable when `heard` will not block."""
        return self._channel.fileno()

    def launch(self, start: Start, descriptors: Sequence[int]) -> int:
        """Start a command; `descriptors` are output, bwrap's arguments and release. Its number, for `heard`.

        Raises SupervisorLost.
        """
        return self._send(
            {
                "overlays": [{"lower": str(layer.lower), "upper": str(layer.upper)} for layer in start.overlays],
                "walk": start.walk,
                "command": start.command,
                "network": start.network,
                "stage": start.stage,
                "filter": start.filter,
            },
            descriptors,
        )

    def make_network(self) -> Namespace:
        """The session's namespace for a user-mode stack; the caller closes its descriptors. Raises SupervisorLost."""
        _, descriptors = self._ask({"network": "full"})
        network, user = descriptors
        return Namespace(network, user)

    def network_is_up(self) -> bool:
        """Whether the stack has configured it; from then on link-local addresses are unreachable there."""
        answer, _ = self._ask({"network": "up"})
        return bool(answer.get("up"))

    def listen(self, port: int) -> int:
        """A listening socket on 127.0.0.1:`port` of the namespace of commands with a list of hosts."""
        _, descriptors = self._ask({"network": "listed", "port": port})
        return descriptors[0]

    def kill(self) -> None:
        """Kill the running command and everything it started; its answer still comes. What is launched meanwhile starts
        when it is gone.
        """
        self.killed = self._serial
        with contextlib.suppress(OSError):
            self._channel.send(b'{"kill": true}')

    def heard(self, serial: int) -> dict[str, Any] | None:
        """The next message; None when it speaks of an earlier command than `serial`. Raises SupervisorLost."""
        answer, descriptors = self._receive()
        for descriptor in descriptors:
            os.close(descriptor)
        return answer if answer["serial"] == serial else None

    def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        self.kill()  # the supervisor listens to nothing else while a sandbox stands by
        serial = self._send(request, [])
        answer, descriptors = self._receive()
        while answer["serial"] != serial:
            answer, descriptors = self._receive()
        if "error" in answer:
            raise SupervisorLost(str(answer["error"]))
        return answer, descriptors

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._channel, REPLY_BYTES, 2)
        except OSError as error:
            raise SupervisorLost(str(error)) from error
        if not message:
            raise SupervisorLost(f"status {self._process.poll()}")
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        return json.loads(message), descriptors

    def _send(self, request: dict[str, Any], descriptors: Sequence[int]) -> int:
        self._serial += 1
        message = json.dumps({**request, "serial": self._serial}).encode()
        try:
            socket.send_fds(self._channel, [message], list(descriptors))
        except OSError as error:
            raise SupervisorLost(str(error)) from error
        return self._serial

    def close(self) -> None:
        """End it, and the command it may be running."""
        self._channel.close()
        if self._hello is not None:
            os.close(self._hello.script)
            os.close(self._hello.report)
            self._hello = None
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
