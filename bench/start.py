"""Starting: short commands, start → first model request, start → prompt, the size of the first request (spec 9.1)."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import statistics
import subprocess
import time
from collections.abc import Sequence

from bench.measure import Row, amount_row, paired, ratio_row, timed
from bench.model_process import ModelProcess
from bench.program import Place, executable, interpreter, place, run

_HEAVY = ("openai", "anthropic", "mcp", "prompt_toolkit", "rich")

_OPENAI = """
import sys, openai
client = openai.OpenAI(api_key="none", base_url=sys.argv[1], max_retries=0)
for _ in client.chat.completions.create(model="m", stream=True, messages=[{"role": "user", "content": "hello"}]):
    pass
"""

_PROMPT = """
from prompt_toolkit import PromptSession
PromptSession().prompt("> ")
"""


_READING = b"\x1b[?2004h"
"""Bracketed paste is asked for where input begins to be read."""

_ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


def rows(quick: bool) -> list[Row]:
    """All of them."""
    runs = 15 if quick else 31
    with place() as where:
        return [*_commands(where, runs), *_first_request(where, runs), _prompt(where, runs)]


def _commands(where: Place, runs: int) -> list[Row]:
    made = []
    _quietly(where, [executable(), "doctor", "--fresh"])  # what the bare one says again, as to whoever asks twice
    for words in (["--version"], ["--help"], ["doctor"], ["completion", "bash"]):
        left, right = paired(
            runs,
            lambda words=words: timed(lambda: _quietly(where, [executable(), *words])),
            lambda: timed(lambda: _quietly(where, [interpreter(), "-c", "pass"])),
        )
        loaded = _heavy_imports(where, words)
        made.append(
            ratio_row(f"spear-chat {' '.join(words)}", 2.0, left, right, note=f"imports {loaded or 'none of them'}")
        )
    fresh = statistics.median(
        timed(lambda: _quietly(where, [executable(), "doctor", "--fresh"])) for _ in range(runs // 3)
    )
    note = "runs a sandbox, rg, git, and asks the endpoint"
    return [*made, Row("spear-chat doctor --fresh", round(fresh, 2), None, "ms", None, "", None, runs // 3, note)]


def _quietly(where: Place, argv: Sequence[str]) -> None:
    subprocess.run(
        argv, cwd=where.project, env=where.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def _heavy_imports(where: Place, words: Sequence[str]) -> str:
    argv = [interpreter(), "-X", "importtime", executable(), *words]
    done = subprocess.run(argv, cwd=where.project, env=where.environment, capture_output=True, text=True, check=False)
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return ", ".join(name for name in _HEAVY if name in names)


def _first_request(where: Place, runs: int) -> list[Row]:
    with ModelProcess() as server:
        sizes: list[int] = []

        def ours(*more: str) -> float:
            argv = [executable(), "-p", "hello", "--api-base", server.base_url, *more]
            started = run(where, argv)
            first = server.served()[0]
            sizes.append(first.size)
            return (first.arrived - started) * 1000

        def floor() -> float:
            started = run(where, [interpreter(), "-c", _OPENAI, server.base_url])
            return (server.served()[0].arrived - started) * 1000

        what = "start → first request"
        note = "model and window configured"
        configured = ratio_row(
            what, 1.25, *paired(runs, lambda: ours("--model", "m", "--ctx", "32768"), floor), note=note
        )
        asked = ratio_row(what, 1.25, *paired(runs, ours, floor), note="GET /models first")
        return [configured, asked, amount_row("first request, empty context", 9000, max(sizes), "bytes", len(sizes))]


def _prompt(where: Place, runs: int) -> Row:
    with ModelProcess() as server:
        ours = [executable(), "--api-base", server.base_url]
        floor = [interpreter(), "-c", _PROMPT]
        left, right = paired(runs, lambda: _until_prompt(where, ours), lambda: _until_prompt(where, floor))
    return ratio_row("start → REPL prompt", 2.0, left, right)


def _until_prompt(where: Place, argv: Sequence[str]) -> float:
    """Milliseconds until a `>` stands on a terminal that prompt_toolkit reads from; the program is ended then."""
    started = time.monotonic()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(where.project)
        os.execve(argv[0], list(argv), where.environment)
    seen = b""
    try:
        while b">" not in _ESCAPES.sub(b"", seen.partition(_READING)[2]):
            if not select.select([terminal], [], [], 30)[0]:
                raise SystemExit(f"no prompt from {argv[0]}: {seen[-500:]!r}")
            seen += os.read(terminal, 65536)
            if b"\x1b[6n" in seen:
                seen = seen.replace(b"\x1b[6n", b"")
                os.write(terminal, b"\x1b[1;1R")
        return (time.monotonic() - started) * 1000
    finally:
        os.kill(process, signal.SIGTERM)
        os.close(terminal)
        os.waitpid(process, 0)
