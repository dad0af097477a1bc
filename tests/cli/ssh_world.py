"""A real sshd of this user's own, on a port of its own, and an `ssh` on PATH that is configured for it alone."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin") or ""


class SshWorld:
    """The server runs while it is entered. `bin` goes first on PATH; `destination` is what a backend names."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.bin = place / "bin"
        self.bin.mkdir(parents=True)
        self.destination = f"{getpass.getuser()}@far-end"
        self._server: subprocess.Popen[bytes] | None = None
        for name in ("host", "client"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
            subprocess.run(command, check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._write("authorized", (place / "client.pub").read_text())
        self._write("known", f"[127.0.0.1]:{self.port} {(place / 'host.pub').read_text()}")
        self._write(
            "sshd_config",
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {place}/host\nPidFile {place}/pid\n"
            f"AuthorizedKeysFile {place}/authorized\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPermitRootLogin yes\nAllowTcpForwarding yes\n",
        )
        self.configure()

    def configure(self, *, identity: str = "client", known: str = "known") -> None:
        """Write the configuration of the client, and the `ssh` that uses it."""
        place = self._place
        self._write(
            "ssh_config",
            f"Host far-end\n  HostName 127.0.0.1\n  Port {self.port}\n  IdentityFile {place}/{identity}\n"
            f"  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile {place}/{known}\n"
            "  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n",
        )
        real = shutil.which("ssh", path="/usr/bin:/usr/local/bin")
        self._write("bin/ssh", f'#!/bin/sh\nexec {real} -F {place}/ssh_config "$@"\n', 0o755)

    def __enter__(self) -> SshWorld:
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self._server = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", str(self._place / "sshd_config")], stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert self._server.poll() is None, "sshd did not start"
                continue
            return self
        raise AssertionError("sshd does not answer")

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        for child in children(self._server.pid):
            os.kill(child, signal.SIGKILL)
        self._server.kill()
        self._server.wait()

    @property
    def tunnels(self) -> int:
        """How many connections there are."""
        assert self._server is not None
        return len(children(self._server.pid))

    def cut(self) -> None:
        """End every connection, as a network that goes away."""
        assert self._server is not None
        for child in children(self._server.pid):
            os.kill(child, signal.SIGKILL)

    def _write(self, name: str, content: str, mode: int = 0o600) -> None:
        file = self._place / name
        file.write_text(content)
        file.chmod(mode)


def children(pid: int) -> list[int]:
    """All living descendants of a process."""
    try:
        own = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]
    except OSError:
        return []
    return own + [below for child in own for below in children(child)]


STAND_IN = '''#!{python}
"""An `ssh` that forwards one port to where it is told, on this machine."""
import os, socket, sys, threading
with open("{pids}", "a") as file:
    file.write(str(os.getpid()) + "\\n")
words = sys.argv[1:]
assert words[0] == "-N" and words[-2] == "--" and "BatchMode=yes" in words
near, port, host, far = words[words.index("-L") + 1].split(":")
listener = socket.create_server((near, int(port)))
def pump(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)
while True:
    line, _ = listener.accept()
    end = socket.create_connection(("127.0.0.1", int(far)))
    for pair in ((line, end), (end, line)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
'''


class StandInWorld:
    """For machines without an sshd: an `ssh` on PATH that really forwards."""

    def __init__(self, place: Path) -> None:
        self.bin = place / "bin"
        self.bin.mkdir(parents=True)
        self.destination = "ann@far-end"
        self._pids = place / "pids"
        program = self.bin / "ssh"
        program.write_text(STAND_IN.format(python=sys.executable, pids=self._pids))
        program.chmod(0o755)

    def __enter__(self) -> StandInWorld:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    @property
    def tunnels(self) -> int:
        """How many tunnels are open."""
        return len(self._living())

    @property
    def opened(self) -> int:
        """How many tunnels were ever opened."""
        return len(self._pids.read_text(encoding="utf-8").split())

    def cut(self) -> None:
        """End every tunnel."""
        for pid in self._living():
            os.kill(pid, signal.SIGKILL)

    def _living(self) -> list[int]:
        pids = self._pids.read_text().split() if self._pids.exists() else []
        return [int(pid) for pid in pids if _runs(int(pid))]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
