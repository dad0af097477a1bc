"""Tool rounds of the whole program: `true` in the sandbox against its parts, round 500 against round 5, memory.

A round runs from one request's arrival at the model server to the next one's. The floor of a round is bare bubblewrap
with the same arguments and one exchange of the same client with the same server, measured alternately.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from bench.measure import Row, amount_row, ratio_row
from bench.model_process import ModelProcess, Served
from bench.program import Place, executable, place, run
from bench.sandbox_round import bare, bare_words
from spear.agent.messages import Message, ModelRequest, Role
from spear.agent.tools import SCHEMAS
from spear.models.backend import BackendSettings
from spear.models.openai_backend import OpenAIBackend
from spear.sandbox.request import RootMount, RunRequest
from spear.sandbox.runner import CommandRunner
from spear.sandbox.seccomp import program

_FLAGS = (
    "--auto",
    "--no-network",
    "--model",
    "m",
    "--ctx",
    "8000000",
    "--max-tool-rounds",
    "999",
    "--max-commands",
    "999",
)
_SETTLED = 2
"""Rounds of a process that are not counted: the first ones open the sandbox."""


def rows(quick: bool) -> list[Row]:
    """One `true` round, the growth of a round, the memory."""
    return [_one_round(blocks=3 if quick else 8, each=12), *_many_rounds(100 if quick else 500)]


def _one_round(blocks: int, each: int) -> Row:
    left: list[float] = []
    right: list[float] = []
    with place() as where, _bare_round(where) as floor:
        for _ in range(blocks):
            with ModelProcess(commands=each) as server:
                _turn(where, server)
                seen = server.served()
            left += [1000 * (b.arrived - a.arrived) for a, b in pairwise(seen)][_SETTLED:]
            right += [floor() for _ in range(each - _SETTLED)]
    return ratio_row("one round: true in the sandbox", 1.5, left, right, note="floor: bwrap + one exchange")


def _turn(where: Place, server: ModelProcess) -> float:
    return run(where, [executable(), "-p", "work", "--api-base", server.base_url, *_FLAGS])


@contextmanager
def _bare_round(where: Place) -> Iterator[Callable[[], float]]:
    """Bare bubblewrap, then one exchange over a kept connection; in milliseconds."""
    with tempfile.TemporaryDirectory() as name, ModelProcess() as server:
        scratch = Path(name)
        runner = CommandRunner(scratch / "session", path=os.environ["PATH"], home=where.home)
        closed = (".git/hooks", ".git/config", ".envrc")
        words = bare_words(
            runner, RunRequest("true", (RootMount(where.project, scratch / "w", closed=closed),), where.project, 30),
            scratch / "empty",
        )  # fmt: skip
        (scratch / "empty").touch()
        filter_file = scratch / "filter"
        filter_file.write_bytes(program(platform.machine(), unix_sockets=True))
        client = OpenAIBackend(BackendSettings(server.base_url, model="m"))
        asked = ModelRequest((Message(Role.SYSTEM, "s" * 1500), Message(Role.USER, "work")), SCHEMAS, 16384)
        client.complete(asked)

        def once() -> float:
            inside = bare(words, filter_file)
            begun = time.perf_counter()
            client.complete(asked)
            return 1000 * (inside + time.perf_counter() - begun)

        once()
        yield once
        client.close()
        runner.close()


def _many_rounds(count: int) -> list[Row]:
    with place() as where, ModelProcess(commands=count) as server:
        own, whole = _watched(where, server)
        seen = server.served()
    if len(seen) <= count:
        raise SystemExit(f"only {len(seen)} of {count} rounds ran")
    early, late = range(3, 13), range(count - 10, count)
    ours = [_without_server(seen, n) for n in range(count)]
    everything = [1000 * (seen[n + 1].arrived - seen[n].arrived) for n in range(count)]
    ratio = statistics.median(everything[n] for n in late) / statistics.median(everything[n] for n in early)
    grown = ratio_row(
        f"round {count} against round 5", 1.2, [ours[n] for n in late],
        [statistics.median(ours[n] for n in early)] * len(late),
        note=f"without the server's own time; with it {ratio:.2f}; last request {seen[-1].size / 1000:.0f} kB",
    )  # fmt: skip
    note = f"all processes of the program together {whole:.0f} MB (PSS)"
    return [grown, amount_row(f"peak memory, {count} rounds", 150, own, "MB", note=note)]


def _without_server(seen: list[Served], n: int) -> float:
    return 1000 * (seen[n + 1].arrived - seen[n].replied)


def _watched(where: Place, server: ModelProcess) -> tuple[float, float]:
    """Run the turn; peak resident memory of the program, and the largest sum over its processes seen, in MB."""
    argv = [executable(), "-p", "work", "--api-base", server.base_url, *_FLAGS]
    process = subprocess.Popen(
        argv, cwd=where.project, env=where.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    peak, ended = [0.0, 0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            family = _family(process.pid)
            peak[0] = max(peak[0], _field(process.pid, "status", "VmHWM"))
            peak[1] = max(peak[1], sum(_field(one, "smaps_rollup", "Pss") for one in family))

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    ended.set()
    watcher.join()
    if status not in (0, 3):
        raise SystemExit(f"the turn of many rounds ended with status {status}")
    return peak[0], peak[1]


def _family(root: int) -> list[int]:
    """A process and everything below it."""
    found = [root]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def _field(process: int, file: str, name: str) -> float:
    """A kB figure of /proc, in MB; 0 when the process is gone."""
    try:
        lines = Path(f"/proc/{process}/{file}").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), 0.0)
