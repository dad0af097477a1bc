"""The process between the host and one stdio provider: it bounds what comes out and takes the provider along.

Run as `python -I -S provider_guard.py SETTINGS WORD…`; nothing of the package is imported. SETTINGS is JSON: `log`
(path), `line_limit` and `log_limit` (bytes), `env` (names of the variables the provider gets), `home` (where it runs).

It speaks newline-delimited JSON-RPC on both sides and passes whole messages on. What is no message goes to the log. A
message above the limit, the provider's end or a program that cannot be started is told to the host as a JSON-RPC error
(code -32099, `data.spear`) to every request that waits, so the host never has to guess. When the host's pipe closes, or
the host dies, the provider and everything it started is killed (spec 4.4).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ERROR_CODE = -32099
CHUNK = 256 * 1024
GRACE_S, TERM_S, KILL_S = 0.5, 0.3, 1.0
SAID_LIMIT = 400

libc = ctypes.CDLL(None, use_errno=True)


class Stopped(Exception):
    """The host is gone, or a signal asked for the end."""


class Log:
    """The provider's stderr and stray output: two files of half the limit each, the newer one at `path`."""

    def __init__(self, path: str, limit: int) -> None:
        self._path = path
        self._half = limit // 2
        self._file = open(path, "ab", opener=private)  # noqa: SIM115 — open for the life of the process
        self._size = os.path.getsize(path)  # noqa: PTH202 — pathlib costs start-up time here
        self._tail = b""

    def write(self, data: bytes) -> None:
        """Append, turning the file over when it is full. A full disk loses the log, never the provider."""
        self._tail = (self._tail + data)[-SAID_LIMIT:]
        with contextlib.suppress(OSError):
            for start in range(0, len(data), self._half):
                piece = data[start : start + self._half]
                if self._size + len(piece) > self._half:
                    os.replace(self._path, self._path + ".1")  # noqa: PTH105
                    self._file.close()
                    self._file = open(self._path, "ab", opener=private)  # noqa: SIM115
                    self._size = 0
                self._file.write(piece)
                self._file.flush()
                self._size += len(piece)

    def last_line(self) -> str:
        """The provider's last words."""
        lines = self._tail.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


class Lines:
    """Bytes into lines. A line above the limit is dropped as it arrives and reported as None."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes | None]:
        """The lines that `data` completes."""
        *ends, rest = data.split(b"\n")
        found: list[bytes | None] = []
        for end in ends:
            self._add(end)
            found.append(b"".join(self._kept) if self._size <= self._limit else None)
            self._kept, self._size = [], 0
        self._add(rest)
        return found

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._kept = []
        elif piece:
            self._kept.append(piece)


class Guard:
    """One provider and the messages between it and the host."""

    def __init__(self, settings: dict[str, Any], command: list[str]) -> None:
        self._log = Log(settings["log"], settings["log_limit"])
        self._limit: int = settings["line_limit"]
        self._from_host, self._from_provider = Lines(self._limit), Lines(self._limit)
        self._waiting: dict[str, Any] = {}
        self._outgoing = bytearray()
        self._selector = selectors.DefaultSelector()
        self._ended: dict[str, Any] | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._settings, self._command = settings, command

    def _start(self) -> subprocess.Popen[bytes] | None:
        settings, command = self._settings, self._command
        environment = {name: os.environ[name] for name in settings["env"] if name in os.environ}
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment, cwd=settings["home"],
                start_new_session=True, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            self._ended = {"spear": "cannot_start", "why": f"{command[0]}: {why}"}
            return None
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        return child

    def run(self) -> None:
        """Start the provider and pass messages until the host is gone. Raises Stopped.

        Not the constructor's work: a signal that lands while the provider starts must find a guard to `kill` with.
        """
        self._child = self._start()
        self._selector.register(0, selectors.EVENT_READ, self._hear_host)
        if self._child and self._child.stdout and self._child.stderr:
            self._selector.register(self._child.stdout, selectors.EVENT_READ, self._hear_provider)
            self._selector.register(self._child.stderr, selectors.EVENT_READ, self._hear_stderr)
            self._selector.register(os.pidfd_open(self._child.pid), selectors.EVENT_READ, self._hear_end)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj in self._selector.get_map():
                    key.data()

    def _hear_host(self) -> None:
        data = os.read(0, CHUNK)
        if not data:
            raise Stopped
        for line in self._from_host.feed(data):
            message = parsed(line)
            if message is None:
                continue
            if "method" in message and message.get("id") is not None:
                self._waiting[json.dumps(message["id"])] = message["id"]
            elif message.get("method") == "notifications/cancelled":
                self._waiting.pop(json.dumps((message.get("params") or {}).get("requestId")), None)
            if self._ended is None:
                self._outgoing += (line or b"") + b"\n"
        if self._ended is not None:
            self._answer_all(self._ended)
        elif self._outgoing:
            self._push()

    def _push(self) -> None:
        """Write what the provider will take; the rest when it is ready. It may never read: nothing blocks on it."""
        stream = self._child.stdin if self._child else None
        if stream is None or stream.closed:
            return
        try:
            written = os.write(stream.fileno(), self._outgoing)
            del self._outgoing[:written]
        except BlockingIOError:
            pass
        except OSError:  # it closed its stdin; its end, if it ends, is noticed by itself
            self._outgoing.clear()
        wanted = bool(self._outgoing)
        registered = stream in self._selector.get_map()
        if wanted and not registered:
            self._selector.register(stream, selectors.EVENT_WRITE, self._push)
        elif registered and not wanted:
            self._selector.unregister(stream)

    def _hear_provider(self) -> bool:
        data = self._read(self._child.stdout if self._child else None)
        for line in self._from_provider.feed(data):
            if line is None:
                self._answer_all({"spear": "too_large", "limit": self._limit})
                continue
            message = parsed(line)
            if message is None or "jsonrpc" not in message:
                self._log.write(line + b"\n")
            elif "method" in message or self._waiting.pop(json.dumps(message.get("id")), None) is not None:
                tell(line)
        return bool(data)

    def _hear_stderr(self) -> bool:
        data = self._read(self._child.stderr if self._child else None)
        self._log.write(data)
        return bool(data)

    def _read(self, stream: Any) -> bytes:
        """What a pipe of the provider holds now; a pipe at its end is not listened to any more."""
        if stream not in self._selector.get_map():
            return b""
        try:
            data = os.read(stream.fileno(), CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(stream)
            if self._child and stream is self._child.stdout:
                self._hear_end()
        return data

    def _hear_end(self) -> None:
        """The provider has ended, or closed its output: pass on what it still said, then tell whoever waits."""
        child = self._child
        if child is None or self._ended is not None:
            return
        self._ended = {"spear": "ended"}
        while self._hear_provider() or self._hear_stderr():
            pass
        status = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = child.wait(TERM_S)
        while self._hear_stderr():
            pass
        why = "it closed its output" if status is None else ending(status)
        self._ended |= {"why": why, "said": self._log.last_line()}
        self._answer_all(self._ended)
        self.kill()

    def _answer_all(self, data: dict[str, Any]) -> None:
        for identity in self._waiting.values():
            error = {"code": ERROR_CODE, "message": data["spear"], "data": data}
            tell(json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode())
        self._waiting.clear()

    def kill(self) -> None:
        """End the provider and all it started: its input closes, then SIGTERM, then SIGKILL."""
        child, self._child = self._child, None
        if child is not None:
            if child.stdin:
                with contextlib.suppress(OSError):
                    child.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(GRACE_S)
            signal_group(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(TERM_S)
            signal_group(child.pid, signal.SIGKILL)
        for key in [key for key in self._selector.get_map().values() if key.fileobj != 0]:
            self._selector.unregister(key.fileobj)
        # What left the group is a child of this process now, or of one that is (PR_SET_CHILD_SUBREAPER).
        deadline = time.monotonic() + KILL_S
        while (left := descendants(os.getpid())) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(0.005)


def private(path: str, flags: int) -> int:
    """Open a file nobody else may read, without a umask the provider would inherit."""
    return os.open(path, flags, 0o600)


def parsed(line: bytes | None) -> dict[str, Any] | None:
    """The JSON object of a line, or None."""
    try:
        found = json.loads(line or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def tell(line: bytes) -> None:
    """Write one message to the host."""
    data = memoryview(line + b"\n")
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError as error:
        raise Stopped from error


def ending(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"it ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"it was ended by {signal.Signals(-status).name}"
    return f"it was ended by signal {-status}"


def signal_group(pid: int, number: int) -> None:
    """Signal the process group `pid` leads."""
    with contextlib.suppress(OSError):
        os.killpg(pid, number)


def descendants(pid: int) -> list[int]:
    """All living descendants of a process."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found + [below for child in found for below in descendants(child)]


def stop(number: int, frame: FrameType | None) -> None:
    """End in order on a signal."""
    del number, frame
    raise Stopped


def main() -> None:
    """Guard one provider until the host is gone."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    guard: Guard | None = None
    try:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, stop)
        guard = Guard(json.loads(sys.argv[1]), sys.argv[2:])
        guard.run()
    except Stopped:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    finally:
        if guard is not None:
            guard.kill()


if __name__ == "__main__":
    main()
