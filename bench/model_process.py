"""The scripted model server in a process of its own, so that its parsing of a growing request burdens nobody measured.

`python -m bench.model_process COMMANDS` prints its address, answers the first COMMANDS requests with one trivial
terminal call each, the rest with text; for each line read it prints what it has seen since the last one as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from scripted_model import ModelServer, calls  # noqa: E402


@dataclass(frozen=True, slots=True)
class Served:
    """One request: when it had arrived whole and when its reply had left (monotonic seconds), and its size in bytes."""

    arrived: float
    replied: float
    size: int


class ModelProcess:
    """A running server. `commands` bounds the tool calls it answers with, over all its clients."""

    def __init__(self, commands: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.model_process", str(commands)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.base_url = self._process.stdout.readline().strip()

    def served(self) -> list[Served]:
        """What arrived since the last call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [Served(*row) for row in json.loads(self._process.stdout.readline())]

    def __enter__(self) -> ModelProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.communicate()


class _Clocked(ModelServer):
    """Notes when each request had arrived and when its reply had left; keeps no request."""

    def __init__(self, commands: int) -> None:
        super().__init__(context_window=32768)
        self.left_over = commands
        self.seen: list[list[float]] = []
        seen = self.seen

        class Handler(self.httpd.RequestHandlerClass):  # type: ignore[name-defined,misc]
            def do_POST(self) -> None:
                super().do_POST()
                seen[-1][1] = time.monotonic()

        self.httpd.RequestHandlerClass = Handler

    def take(self, path: str, headers: dict[str, str], data: bytes, connection: Any) -> dict[str, Any]:
        self.seen.append([time.monotonic(), 0.0, len(data)])
        self.requests[:-1], self.raw[:] = [], []
        step = super().take(path, headers, data, connection)
        if self.left_over <= 0:
            return step
        self.left_over -= 1
        return calls(("terminal", {"command": f"true {self.left_over}"}))


def main() -> None:
    """Serve until stdin ends."""
    with _Clocked(int(sys.argv[1])) as server:
        print(server.base_url, flush=True)
        for _ in sys.stdin:
            print(json.dumps(server.seen), flush=True)
            server.seen.clear()


if __name__ == "__main__":
    main()
