"""The program in a process that has everything loaded: forked from one that imported it, for loading takes longer than
most turns do. Whatever is about starting the program runs the program itself.

Run as a script it is that process: it takes orders from the socket on its standard input, one after the other.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_LONGEST_ORDER = 1 << 20


def run(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float = 100
) -> subprocess.CompletedProcess[str]:
    """`spear-chat` with these words, directory and environment and nothing to read. Raises TimeoutExpired."""
    loaded = _idle.pop() if _idle else _Loaded()
    try:
        return loaded.run(list(words), cwd, env, timeout)
    finally:
        _idle.append(loaded)


class _Loaded:
    """A loaded process, kept for as long as the tests run."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # It ends when this process does: then nobody can send it anything any more.
        self._process = subprocess.Popen([sys.executable, "-P", __file__], stdin=theirs, stdout=subprocess.DEVNULL)
        theirs.close()

    def run(
        self, words: list[str], cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        order = json.dumps({"words": words, "cwd": str(cwd), "env": dict(env)}).encode()
        assert len(order) < _LONGEST_ORDER
        out, their_out = os.pipe()
        err, their_err = os.pipe()
        with open(os.devnull, "rb") as nothing:
            handed = array.array("i", [nothing.fileno(), their_out, their_err])
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST_ORDER)
            self._socket.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed)])
        os.close(their_out)
        os.close(their_err)
        pid = int(self._socket.recv(32))
        said, ended = _read_all((out, err), time.monotonic() + timeout)
        if not ended:
            os.kill(pid, signal.SIGKILL)
        status = int(self._socket.recv(32))
        if not ended:
            raise subprocess.TimeoutExpired(words, timeout, *said)
        return subprocess.CompletedProcess(words, status, *(text.decode("utf-8", "replace") for text in said))


_idle: list[_Loaded] = []


def _read_all(descriptors: Sequence[int], until: float) -> tuple[list[bytes], bool]:
    """What comes from each of these pipes, and whether all of it came in time."""
    said = {descriptor: b"" for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < until:
            for key, _ in selector.select(until - time.monotonic()):
                data = os.read(key.fd, 1 << 16)
                said[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
        ended = not selector.get_map()
    for descriptor in descriptors:
        os.close(descriptor)
    return list(said.values()), ended


def _serve() -> int:
    """Load the program, then run it in a fork for every order. Returns when there are no more; in a fork, its status."""
    import importlib
    import pkgutil

    import anthropic.resources.messages  # noqa: F401
    import openai.resources.chat.completions  # noqa: F401

    import spear
    from spear.cli.main import main

    for module in pkgutil.walk_packages(spear.__path__, "spear."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # what an extra brings
                importlib.import_module(module.name)
    gc.freeze()
    orders = socket.socket(fileno=os.dup(0))
    while True:
        order, descriptors, _, _ = socket.recv_fds(orders, _LONGEST_ORDER, 3)
        if not order:
            return 0
        pid = os.fork()
        if pid == 0:
            orders.close()
            _become(json.loads(order), descriptors)
            return main()
        for descriptor in descriptors:
            os.close(descriptor)
        orders.send(b"%d" % pid)
        orders.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _become(order: dict[str, object], descriptors: Sequence[int]) -> None:
    """In the fork: what a new process would find."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "w" if n else "r", encoding="utf-8") for n in range(3))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(str(order["cwd"]))
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[arg-type]
    sys.argv = ["spear-chat", *order["words"]]  # type: ignore[misc]


if __name__ == "__main__":
    sys.exit(_serve())
