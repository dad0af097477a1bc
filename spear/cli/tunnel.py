"""The ssh tunnel of a backend: the far end's endpoint on a loopback port of this machine (spec 1.3, 8.4)."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from spear.agent.messages import FailureKind, ModelFailure
from spear.models.companion import Child, Ready

_LOOPBACK = "127.0.0.1"
_ANSWER_S = 0.5
_OPTIONS = (
    "BatchMode=yes",  # a question could not be answered: the terminal belongs to the chat
    "ExitOnForwardFailure=yes",
    "ConnectTimeout=15",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ControlMaster=no",  # a connection of its own: a forward put into a shared one would outlive the chat
    "ControlPath=none",
)
_REMEDIES = (
    ("permission denied", "let ssh in without a question: ssh-copy-id {to}, or ssh-add your key"),
    ("too many authentication", "let ssh in without a question: ssh-copy-id {to}, or ssh-add your key"),
    ("host key verification", "see and accept its host key once: ssh {to}"),
    ("host identification has changed", "find out why its host key has changed before you accept another"),
    ("could not resolve", "correct ssh = … of the backend"),
    ("address already in use", "try again: another program took the port"),
)


class Tunnel:
    """The companion that forwards a port. `destination` is what ssh takes: `user@host`, `ssh://user@host:port`, or a
    name of its configuration. `address` is the endpoint as the far end calls it.
    """

    seconds = 30.0

    def __init__(self, destination: str, address: str, environment: Mapping[str, str]) -> None:
        self._destination = destination
        self._address = urlsplit(address)
        self._environment = environment
        self._port = 0

    @property
    def name(self) -> str:
        """The way it takes."""
        return f"the ssh tunnel to {self._destination}"

    def start(self) -> Child:
        """Start it on a port that is free now. Raises `ModelFailure` where there is no ssh."""
        if shutil.which("ssh", path=self._environment.get("PATH")) is None:
            raise ModelFailure(
                FailureKind.UNREACHABLE,
                f"{self.name} cannot be opened: there is no ssh program",
                "sudo apt-get install openssh-client, or name an endpoint that is reached directly with --api-base",
            )
        self._port = _free_port()
        return Child(self.command(), self._environment)

    def command(self) -> list[str]:
        """The words of the command."""
        forward = f"{_LOOPBACK}:{self._port}:{self._far_end()}"
        options = [word for option in _OPTIONS for word in ("-o", option)]
        return ["ssh", "-N", "-T", "-a", "-x", *options, "-L", forward, "--", self._destination]

    def ready(self, child: Child) -> Ready | None:
        """The near end, once it takes connections."""
        try:
            socket.create_connection((_LOOPBACK, self._port), _ANSWER_S).close()
        except OSError:
            return None
        near = self._address._replace(netloc=f"{_LOOPBACK}:{self._port}")
        return Ready(urlunsplit(near), self._address.netloc.rpartition("@")[2])

    def way_out(self, last_words: str) -> str:
        """What helps against the failures ssh names."""
        said = last_words.lower()
        remedy = next((remedy for sign, remedy in _REMEDIES if sign in said), "see by hand what is wrong: ssh -v {to}")
        return remedy.format(to=self._destination)

    def _far_end(self) -> str:
        host = self._address.hostname or ""
        port = self._address.port or (443 if self._address.scheme == "https" else 80)
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])
