"""A small real application behind the chat: its turns emit real events, change real files, ask real questions.

    python stand_in.py WORKSPACE STATE [FLAGS…]

A request is a scenario: `say TEXT`, `edit` (ask mode asks), `sleep SECONDS`, `stream N`, `output BYTES`, `narrate`,
`defect`. What each request was is appended to STATE/requests.jsonl.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spear.agent.messages import Message, Role
from spear.cli.commands.table import handlers_of
from spear.cli.keystrokes import DEFAULTS
from spear.cli.permission_file import PermissionFile
from spear.cli.repl.background import ChatJobs
from spear.cli.repl.completion import NoProvisions
from spear.cli.repl.driver import Driver
from spear.cli.repl.history import InputHistory
from spear.cli.repl.opening import Opened, converse
from spear.cli.repl.ports import CommandHandler, CommandIO, PastTurn, SessionRow
from spear.control.controller import FinishedTurn
from spear.errors import SpearError
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live, LiveKind, Sink
from spear.events.turn import TurnResult
from spear.host.confirmation import Choice, Confirm, Question, Subject
from spear.host.consent import Approvals
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.state.trust import TrustStore
from spear.workspace.checkpoints import CheckpointInfo, CheckpointManager, UndoReport
from spear.workspace.roots import Roots
from spear.workspace.undo_plan import UndoPlan

_CHOICES = (Choice.YES, Choice.NO, Choice.ALWAYS_FILE)
_FOR_COMMANDS = (Choice.YES, Choice.NO, Choice.ALWAYS_COMMAND, Choice.ALWAYS_PREFIX, Choice.EDITED)


class StandIn:
    """The chat's application, without a model."""

    def __init__(self, workspace: Path, state: Path, mode: Mode) -> None:
        self.state = StateDirectory(state)
        self.state.prepare()
        self.roots, _ = Roots.of(workspace, {})
        self.mode = mode
        self.session = "s-0001"
        self.turn_number = 0
        self.last: FinishedTurn | None = None
        self.conversation: tuple[Message, ...] = ()
        self.notices: tuple[str, ...] = ()
        self.backend_label, self.model_label = "http://127.0.0.1:1/v1", "scripted"
        self.limits_label = "bubblewrap, limits by cgroup"
        self.standard_label, self.context_window, self.standards = "", 32768, NoProvisions()
        self.price = None
        self.keys = DEFAULTS
        self.jobs = ChatJobs(lambda: self)  # none is started here
        self.commands: Mapping[str, CommandHandler] = {"knowledge": self._knowledge}
        self.approvals, self.backends = Approvals(), {}
        self.permission_file = PermissionFile(workspace, TrustStore(self.state.trusted))
        self.manager = CheckpointManager(self.state.checkpoints)
        self.steered: list[str] = []

    @property
    def last_result(self) -> TurnResult | None:
        return None if self.last is None else self.last.result

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode

    def steer(self, text: str) -> bool:
        self.steered.append(text)
        return True

    def run_turn(
        self,
        request: str,
        *,
        sink: Sink,
        confirm: Confirm,
        cancelled: Callable[[], bool],
        command_cancelled: Callable[[], bool],
    ) -> FinishedTurn:
        self.turn_number += 1
        with (self.state.root / "requests.jsonl").open("a") as log:
            log.write(json.dumps({"request": request, "mode": self.mode.value}) + "\n")
        turn = _Turn(self, sink, confirm, cancelled, command_cancelled)
        word, _, rest = request.partition(" ")
        answer = getattr(turn, f"do_{word}", turn.do_say)(rest if hasattr(turn, f"do_{word}") else request)
        self.conversation += (Message(Role.USER, request), Message(Role.ASSISTANT, answer))
        self.last = FinishedTurn(turn.result(request, answer), self.conversation)
        return self.last

    def run_tool(
        self, tool: str, arguments: Mapping[str, Any], *, sink: Sink, confirm: Confirm, cancelled: Callable[[], bool]
    ) -> str:
        if tool == "read_file":
            return (self.roots.primary / arguments["path"]).read_text()
        return f"{tool} {json.dumps(dict(arguments))}"

    def file_text(self, path: str) -> str:
        return (self.roots.primary / path).read_text()

    def switch_model(self, name: str) -> None:
        self.model_label = name

    def undo_plan(self, n: int = 1, file: str | None = None) -> UndoPlan:
        return self.manager.undo(self.roots.primary, n, file)

    def redo_plan(self, n: int = 1) -> UndoPlan:
        return self.manager.redo(self.roots.primary, n)

    def apply_undo(self, plan: UndoPlan, force: bool = False) -> UndoReport:
        return self.manager.apply(plan, force)

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        return self.manager.listing(self.roots.primary)

    def diff(self, scope: str) -> str:
        return "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new \x1b]0;PWNED\x07\n"

    def explain(self, request: str) -> dict[str, Any]:
        return {"request": request}

    def new_session(self) -> None:
        self.session, self.conversation = "s-0002", ()

    def resume(self, session: str) -> tuple[PastTurn, ...]:
        if not session.startswith("s-"):
            raise SpearError(f"there is no session {session}", hint="/sessions lists them")
        self.session = session
        return (PastTurn("an earlier request", "an **earlier** answer", "VERIFIED"),)

    def fork(self) -> str:
        self.session = "s-0003"
        return self.session

    def sessions(self) -> tuple[SessionRow, ...]:
        return (SessionRow("s-0001", 1.0, 2, "the first"), SessionRow("s-0009", 2.0, 1, "another"))

    def export(self, form: str) -> Path:
        return self.state.root / f"session.{form}"

    def close(self) -> None:
        return

    def _knowledge(self, words: str, io: CommandIO) -> str:
        if words == "defect":
            raise KeyError("planned")
        return f"knowledge of {words or 'everything'} \x1b]0;PWNED\x07[red]x[/red]"


class _Turn:
    """One scripted turn."""

    def __init__(
        self,
        app: StandIn,
        sink: Sink,
        confirm: Confirm,
        cancelled: Callable[[], bool],
        command_cancelled: Callable[[], bool],
    ) -> None:
        self.app, self.sink, self.confirm = app, sink, confirm
        self.cancelled, self.command_cancelled = cancelled, command_cancelled
        self.changed: list[str] = []
        self.refused: list[dict[str, Any]] = []
        self.stop, self.calls = "answered", 0

    def event(self, name: EventName, **data: Any) -> None:
        self.sink(Event(name, data, self.app.turn_number))

    def say(self, text: str, step: int = 7) -> str:
        self.event(EventName.MODEL_REQUESTED, round=1, estimated_tokens=1000)
        for start in range(0, len(text), step):
            self.sink(Live(LiveKind.TEXT, text[start : start + step]))
        self.event(EventName.MODEL_ANSWERED, input_tokens=10, output_tokens=5, tool_calls=[])
        return text

    def call(self, tool: str, work: Callable[[], dict[str, Any]], **arguments: Any) -> None:
        self.calls += 1
        base = {"call_id": f"c{self.calls}", "tool": tool}
        self.event(EventName.TOOL_CALLED, **base, arguments=arguments)
        done = work()
        self.sink(Live(LiveKind.TOOL_OUTPUT, done.pop("text", "")))
        name = EventName.TOOL_REFUSED if done["outcome"] == "refused" else EventName.TOOL_FINISHED
        self.event(name, **base, **done)

    def do_say(self, text: str) -> str:
        return self.say(text.replace("\\n", "\n").replace("\\e", "\x1b").replace("\\a", "\x07"))

    def do_stream(self, number: str) -> str:
        return self.say("\n\n".join(f"paragraph {n} of the stream" for n in range(int(number))), 11)

    def do_linger(self, seconds: str) -> str:
        """Answer, and take a while to end."""
        said = self.say("the answer is there")
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end:
            if self.cancelled():
                self.stop = "interrupted"
                break
            time.sleep(0.02)
        return said

    def do_slow(self, number: str) -> str:
        said = ""
        for n in range(int(number)):
            if self.cancelled():
                self.stop = "interrupted"
                return said
            said += self.say(f"line {n}\n\n")
            time.sleep(0.05)
        return said

    def do_narrate(self, _: str) -> str:
        self.say("First I look.")
        self.call("read_file", lambda: {"outcome": "ok", "text": "1|int main"}, path="src/ring.c")
        self.say("Then I look again.")
        self.call("terminal", lambda: {"outcome": "failed", "text": "boom", "duration_s": 0.4}, command="make test")
        return self.say("That is all.")

    def do_output(self, size: str) -> str:
        line = "0123456789" * 8 + "\n"
        text = line * (int(size) // len(line))
        self.call("terminal", lambda: {"outcome": "ok", "text": text}, command="cat big")
        return self.say("read")

    def do_defect(self, _: str) -> str:
        raise KeyError("planned")

    def do_sleep(self, seconds: str) -> str:
        def work() -> dict[str, Any]:
            end = time.monotonic() + float(seconds)
            while time.monotonic() < end:
                if self.command_cancelled():
                    return {"outcome": "cancelled", "text": "cancelled"}
                time.sleep(0.02)
            return {"outcome": "ok", "text": "slept"}

        self.call("terminal", work, command=f"sleep {seconds}")
        if self.cancelled():
            self.stop = "interrupted"
            return "Interrupted."
        return self.say("went on")

    def do_steer(self, seconds: str) -> str:
        self.do_sleep(seconds)
        return self.say(f"told: {self.app.steered}")

    def do_run(self, command: str) -> str:
        command = command.replace("\\a", "\x07")

        def work() -> dict[str, Any]:
            if self.app.mode is not Mode.ASK:
                return {"outcome": "ok", "text": "ran"}
            question = Question(Subject.COMMAND, "terminal", command, command, True, ("build/",), _FOR_COMMANDS)
            reply = self.confirm(question)
            self.answer = f"{reply.choice.value} {reply.reason} {reply.command!r}"
            if reply.choice is Choice.NO:
                return {"outcome": "refused", "text": "refused", "reason": f"the operator said no: {reply.reason}"}
            return {"outcome": "ok", "text": "ran"}

        self.answer = "ran"
        self.call("terminal", work, command=command)
        return self.say(f"answer: {self.answer}")

    def do_edit(self, words: str) -> str:
        """Really change a.txt: one line, or as many as asked for, after as many seconds as asked for."""
        count, _, delay = words.partition(" ")
        time.sleep(float(delay or 0))
        place = self.app.roots.primary / "a.txt"
        before = place.read_text()
        after = before.replace("one", "two") + "".join(f"added {n}\n" for n in range(int(count or 0)))

        def work() -> dict[str, Any]:
            if self.app.mode is Mode.ASK:
                diff = "".join(
                    difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/a.txt", "b/a.txt")
                )
                reply = self.confirm(Question(Subject.EDIT, "patch", "a.txt", diff, choices=_CHOICES))
                if reply.choice is Choice.NO:
                    self.refused.append({"tool": "patch", "target": "a.txt", "reason": "no", "count": 1})
                    return {"outcome": "refused", "reason": f"the operator said no: {reply.reason}"}
            manager, root = self.app.manager, self.app.roots.primary
            manager.begin(self.app.session, self.app.turn_number, root)
            manager.protect(["a.txt"])
            place.write_text(after)
            manager.record_after(["a.txt"])
            manager.finish()
            self.changed.append("a.txt")
            added = len(after.splitlines()) - len(before.splitlines()) + 1
            return {"outcome": "ok", "changed": True, "path": "a.txt", "added": added, "removed": 1, "duration_s": 0.2}

        self.call("patch", work, path="a.txt")
        return self.say("I changed it. All tests pass.")

    def result(self, request: str, answer: str) -> TurnResult:
        verdict = "UNVERIFIED" if self.changed else "NO_CHANGE"
        reasons = [{"code": "nothing_ran", "text": "a.txt: nothing that ran reads this file."}] if self.changed else []
        shown = answer.replace("pass.", "pass. *(not verified)*") if self.changed else answer
        return TurnResult.model_validate(
            {
                "schema": "spear.turn/1", "session": self.app.session, "turn": self.app.turn_number,
                "request": request, "class": "GENERAL", "path": "coding_core", "mode": self.app.mode,
                "read_only": False, "answer": shown, "verdict": verdict, "reasons": reasons,
                "stop": {"reason": self.stop}, "epoch": len(self.changed),
                "changed_files": [{"path": path, "change": "modified"} for path in self.changed],
                "commands": [], "checks": [], "validation": [], "repair": None, "refusals": self.refused,
                "usage": {"input_tokens": 10, "output_tokens": 5, "requests": 1}, "rounds": 1,
                "tool_calls": self.calls, "duration_s": 0.5,
                "audit": {"session_dir": str(self.app.state.session(self.app.session))},
            }
        )  # fmt: skip


def main(arguments: list[str]) -> int:
    workspace, state, *flags = arguments
    mode = next((Mode(flag[2:]) for flag in flags if flag in ("--safe", "--ask", "--auto")), Mode.SAFE)
    app = StandIn(Path(workspace), Path(state), mode)
    if "--notice" in flags:
        app.notices = ("a notice \x1b]0;PWNED\x07",)

    def defect(error: Exception) -> str:
        return f"internal error: {type(error).__name__}"

    opened = Opened(
        app=app,
        driver=lambda screen: Driver(app, screen, handlers_of(app), defect),
        history=InputHistory(app.state, app.roots.primary, Redactor.of_environment(os.environ).text),
        vi="--vi" in flags,
        notify="--notify" in flags,
        earlier=(PastTurn("what was", "it **was**", "NO_CHANGE"),) if "--earlier" in flags else (),
    )
    return converse(lambda: opened, os.environ, plain="--plain" in flags)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
