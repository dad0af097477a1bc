"""Going on with a long session: 10 000 events in a log of 50 MB (spec 8.3, 9.1)."""

from __future__ import annotations

import os
import pty
import select
import signal
import statistics
import time
from dataclasses import replace
from pathlib import Path

from bench.measure import Row, amount_row, timed
from bench.model_process import ModelProcess
from bench.program import Place, executable, place
from spear.agent.messages import Message, Role
from spear.cli.repl.earlier import earlier_turns
from spear.events.names import EventName, Mode, Verdict
from spear.state.audit import AuditLog
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.state.sessions import SessionStore

_TURNS, _EVENTS, _BYTES = 200, 10_000, 50_000_000
_LAST = "What the last turn was asked"


def rows(quick: bool) -> list[Row]:
    """The last turns as they are read from the log; the whole program from its start until they stand on the screen."""
    with place() as where, ModelProcess() as server:
        log = _long_session(where)
        megabytes = log.stat().st_size / 1e6
        read = [timed(lambda: earlier_turns(log)) for _ in range(5 if quick else 21)]
        argv = [executable(), "-c", "--api-base", server.base_url]
        shown = [_until_shown(where, argv) for _ in range(3 if quick else 11)]
    took = statistics.median(time_ for time_, _ in shown)
    what = f"resuming {_EVENTS} events, {megabytes:.0f} MB"
    return [
        amount_row(f"{what}: last turns read", 300, statistics.median(read), "ms", len(read)),
        Row(
            f"{what}: start → turns shown", round(took, 1), None, "ms", None, "", None,
            len(shown), "the start of the program included",
        ),
        amount_row(f"{what}: peak memory", 150, max(peak for _, peak in shown), "MB", len(shown)),
    ]  # fmt: skip


def _long_session(where: Place) -> Path:
    """A stored session of many turns; its log."""
    state = StateDirectory(where.state)
    state.prepare()
    redactor = Redactor(())
    store = SessionStore(state, redactor)
    session = store.create(where.project, Mode.SAFE)
    events = _EVENTS // _TURNS
    output = "".join(f"{n:05} a line of what a command printed\n" for n in range(_BYTES // _EVENTS // 40))
    conversation: list[Message] = []
    with AuditLog(state.events(session.id), session.id, redactor) as log:
        for turn in range(1, _TURNS + 1):
            request = f"{_LAST} {turn}"
            log.append(EventName.REQUEST_CLASSIFIED, turn, {"request": request, "route": "IMPLEMENTATION"})
            for step in range(events - 3):
                log.append(EventName.TOOL_FINISHED, turn, {"tool": "terminal", "step": step, "output": output})
            log.append(EventName.MODEL_ANSWERED, turn, {"text": "Done.", "tool_calls": 0})
            log.append(EventName.VERDICT_COMPUTED, turn, {"verdict": Verdict.VERIFIED.value})
            conversation += [Message(Role.USER, request), Message(Role.ASSISTANT, "Done.")]
    store.save(replace(session, turn=_TURNS, conversation=tuple(conversation)))
    return state.events(session.id)


def _until_shown(where: Place, argv: list[str]) -> tuple[float, float]:
    """Milliseconds until the last turn of the session stands on the terminal, and the peak of resident memory in MB."""
    started = time.monotonic()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(where.project)
        os.execve(argv[0], argv, where.environment)
    seen = b""
    try:
        while f"{_LAST} {_TURNS}".encode() not in seen:
            if not select.select([terminal], [], [], 30)[0]:
                raise SystemExit(f"the last turn was not shown: {seen[-500:]!r}")
            seen += os.read(terminal, 65536)
            if b"\x1b[6n" in seen:
                seen = seen.replace(b"\x1b[6n", b"")
                os.write(terminal, b"\x1b[1;1R")
        took = (time.monotonic() - started) * 1000
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        return took, int(status.partition("VmHWM:")[2].split()[0]) / 1024
    finally:
        os.kill(process, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(process, 0)
