"""One turn and out: `-p`, its three outputs, its exit status (spec 1.3). stdout carries only the answer or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from spear.agent.messages import FailureKind
from spear.cli.answer_schema import AnswerMismatch, AnswerSchema, load_schema
from spear.cli.application import Application
from spear.cli.display.changed_lines import ChangedLines
from spear.cli.display.end_block import end_block
from spear.cli.display.filtering import clean
from spear.cli.display.tool_lines import CallLines
from spear.cli.exit_status import NOT_SHOWN, exit_status
from spear.cli.invocation import Invocation
from spear.cli.resuming import resumed
from spear.cli.settings import load
from spear.cli.signals import Stopping
from spear.cli.spending import Spending
from spear.cli.streams import Printed
from spear.control.controller import FinishedTurn
from spear.errors import UsageError
from spear.events.names import EventName, Stop, Verdict
from spear.events.stream import Event, Live, LiveKind, Sink, fan_out

WAYS_OUT = (
    "spear-chat: no endpoint is configured. Point it at one (--api-base URL), see it work without one (--demo), play a "
    "recording (--replay FILE), or serve a GGUF file with the spear-chat[local] extra (--gguf FILE); undo, audit, "
    "policy, classify, standard and doctor need none."
)
_LARGEST_ATTACHMENT = 1 << 20


def run_one_shot(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Run the turn that `-p` asks for; the exit status of spec 1.3. Raises SpearError where it cannot start."""
    output = parsed.output or "text"
    loaded = load(parsed, environ, cwd)
    request = _request(parsed)
    attachment = _stdin() if parsed.stdin else ""
    schema = load_schema(parsed.schema, cwd) if parsed.schema is not None else None
    resume = resumed(parsed, loaded.settings, environ, cwd)
    invocation = Invocation.of(parsed, loaded, environ, cwd, resume)
    app = Application(replace(invocation, answer_form=schema.instruction) if schema else invocation)
    for notice in app.notices:
        _diagnose(notice)
    if parsed.explain:
        print(json.dumps({"request": request, **app.explain(request)}, ensure_ascii=False, indent=2))
        app.close()
        return 0
    spending, printed, lines = Spending(app.price), Printed(), ChangedLines()
    with Stopping() as stopping:

        def cancelled() -> bool:
            return stopping.cancelled() or printed.unread

        try:
            sink = fan_out(_sink(output, printed), spending, lines)
            done = app.run_turn(request, sink=sink, cancelled=cancelled, attachment=attachment)
        finally:
            app.close(stopping.cancelled)
    if printed.unread and done.result.stop.reason is Stop.INTERRUPTED:
        _diagnose("spear-chat: nobody reads stdout any more: the turn was stopped")
    mismatch = ""
    if schema is not None:
        done, mismatch = _in_form(done, schema)
    _print(
        done,
        output,
        printed,
        end_block(done.result, lines.of_file, cost=spending.text),
        default_endpoint=loaded.is_default("api_base"),
    )
    if mismatch:
        _diagnose(f"spear-chat: {mismatch}")
    return exit_status(done, stopping.status) or (NOT_SHOWN if mismatch else 1 if app.unsaved else 0)


def _in_form(done: FinishedTurn, schema: AnswerSchema) -> tuple[FinishedTurn, str]:
    """The turn with the JSON of its answer as the answer, or as it is and why not. A turn that stopped early has no
    answer to judge; the marks of an unverified one are not taken off it (spec 3.4)."""
    result = done.result
    if result.stop.reason is not Stop.ANSWERED:
        return done, ""
    if result.verdict is Verdict.UNVERIFIED:
        return done, f"the answer is unverified and marked so: it is not given as JSON of {schema.path}"
    try:
        answer = schema.accept(result.answer)
    except AnswerMismatch as error:
        return done, f"the answer does not satisfy {schema.path}: {error}"
    return replace(done, result=result.model_copy(update={"answer": answer})), ""


def _request(parsed: argparse.Namespace) -> str:
    text: str = _stdin() if parsed.print == "-" else parsed.print
    if not text.strip():
        raise UsageError("the request is empty", hint='say what to do: spear-chat -p "…"')
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _stdin() -> str:
    """What is piped in, bounded. A terminal is not read: nobody would know that it is waiting."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("nothing is piped in", hint="pipe the text in, or give it as an argument")
    data = sys.stdin.buffer.read(_LARGEST_ATTACHMENT + 1)
    if len(data) > _LARGEST_ATTACHMENT:
        raise UsageError("more than 1 MiB is piped in", hint="write it to a file of the workspace and name the file")
    return data.decode("utf-8", "replace")


def _sink(output: str, printed: Printed) -> Sink:
    if output == "stream-json":
        return lambda item: _stream_json(item, printed)
    return _progress() if sys.stderr.isatty() else _quiet


def _quiet(item: Event | Live) -> None:
    """Nothing is shown while the turn runs but what the operator must be told."""
    if isinstance(item, Live) and item.kind is LiveKind.NOTICE:
        _diagnose(item.text)


def _progress() -> Sink:
    """A sink that prints one line a call, for the person at the terminal."""
    calls = CallLines(lambda text: _diagnose(text, end=""))

    def show(item: Event | Live) -> None:
        if not isinstance(item, Event):
            _quiet(item)
        elif item.name is EventName.TOOL_CALLED:
            calls.begin(item.data)
        elif item.name in (EventName.TOOL_FINISHED, EventName.TOOL_REFUSED):
            calls.end(item.data)

    return show


def _stream_json(item: Event | Live, printed: Printed) -> None:
    if isinstance(item, Event):
        row = {"event": item.name.value, "turn": item.turn, "data": dict(item.data)}
    elif item.kind is LiveKind.TEXT:
        row = {"event": "text", "data": item.text}
    else:
        _quiet(item)
        return
    printed.line(json.dumps(row, ensure_ascii=True, default=str))


def _print(done: FinishedTurn, output: str, printed: Printed, block: str, *, default_endpoint: bool) -> None:
    result = done.result
    if output == "text":
        if result.answer.strip():
            printed.line(clean(result.answer))
        if block:
            _diagnose(block)
    else:
        document = result.model_dump(mode="json", by_alias=True)
        printed.line(json.dumps(document, ensure_ascii=output == "stream-json"))
    if done.failure is not None:
        hint = f" — {done.failure.hint}" if done.failure.hint else ""
        _diagnose(f"spear-chat: {done.failure.message}{hint}")
        if done.failure.kind is FailureKind.UNREACHABLE and default_endpoint:
            _diagnose(WAYS_OUT)


def _diagnose(text: str, end: str = "\n") -> None:
    with suppress(OSError):  # a terminal or reader that is gone is no reason to lose the turn
        print(clean(text), file=sys.stderr, flush=True, end=end)
