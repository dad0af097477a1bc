"""One turn as it is seen: finished blocks printed once, a few live rows, one line a call (spec 8.2).

Text of a turn that has changed something is held back until it is known to be narration or until the verdict is there:
an answer nothing shows is printed with its claims marked, and only then (spec 3.4).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from spear.cli.display.changed_lines import ChangedLines
from spear.cli.display.end_block import end_block
from spear.cli.display.filtering import clean, one_line
from spear.cli.display.markdown import MarkdownRenderer
from spear.cli.display.palette import Palette, Style
from spear.cli.display.tool_lines import called, finished
from spear.cli.display.wrapping import wrapped
from spear.cli.repl.blocks import BlockStream
from spear.cli.repl.progress import Progress
from spear.control.controller import FinishedTurn
from spear.events.names import EventName, Stop
from spear.events.stream import RESTARTED, Event, Live, LiveKind

LIVE_ROWS = 4
"""Rows of the block that is still streaming."""

_LIVE_TAIL = 4000
_LAST_OUTPUT = 1 << 20


@dataclass(slots=True)
class Canvas:
    """Where a turn is shown. `show` prints painted text above the input, `changed` says that the live rows differ;
    `activity` that what is going on differs. All three may be called from any thread."""

    palette: Palette
    renderer: MarkdownRenderer
    width: Callable[[], int]
    show: Callable[[str], None]
    changed: Callable[[], None] = lambda: None
    activity: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Said:
    """The message that is streaming: its blocks, what it said in all, whether any of it was printed."""

    stream: BlockStream = field(default_factory=BlockStream)
    whole: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    printed: bool = False

    @property
    def text(self) -> str:
        """Everything of it."""
        return "".join(self.whole).strip()


@dataclass(frozen=True, slots=True)
class Running:
    """A call that has begun: its line, since when (monotonic seconds)."""

    line: str
    since: float


class TurnView:
    """A sink for the events of one turn, and the source of its live rows."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._lock = threading.RLock()
        self._said = Said()
        self._lines = ChangedLines()
        self._running: dict[str, Running] = {}
        self.progress = Progress()
        self.last_output = ""
        self._apart = True
        self._asked_at = self._waited = 0.0

    # --- the stream -------------------------------------------------------------------------------------------------

    def __call__(self, item: Event | Live) -> None:
        """Take one item of the stream."""
        with self._lock:
            if isinstance(item, Live):
                self._live(item)
                return
            self.progress.take(item)
            self._lines(item)
            if handler := self._HANDLERS.get(item.name):
                handler(self, item.data)
        self._canvas.changed()

    def _live(self, item: Live) -> None:
        match item.kind:
            case LiveKind.TEXT:
                self._text(item.text)
                self._canvas.changed()
            case LiveKind.NOTICE:
                self._emit(self._fitted(self._paint(Style.WARN, f"! {one_line(item.text, 400)}")))
            case LiveKind.TOOL_OUTPUT:
                self.last_output = item.text[-_LAST_OUTPUT:]

    def _text(self, delta: str) -> None:
        if delta == RESTARTED:
            self._narrated()
            self._emit(self._fitted(self._paint(Style.MUTED, delta.strip())), apart=True)
            return
        said = self._said
        said.whole.append(delta)
        for block in said.stream.feed(delta):
            if self.progress.changed:
                said.held.append(block)
            else:
                self._print(block)

    def _print(self, block: str) -> None:
        rendered = self._canvas.renderer.render(block, self._canvas.width())
        if rendered:
            self._said.printed = True
            self._emit(rendered, apart=True)

    def _emit(self, text: str, *, apart: bool = False) -> None:
        """Print; blocks stand apart, lines of calls follow each other."""
        gap = "\n" if apart or self._apart else ""
        self._apart = apart
        self._canvas.show(f"{gap}{text}")

    def _requested(self, _: Any) -> None:
        self._narrated()

    def _narrated(self) -> None:
        """What was said so far was no answer: print what is left of it."""
        said = self._said
        for block in [*said.held, said.stream.flush()]:
            self._print(block)
        self._said = Said()

    def _called(self, data: Any) -> None:
        self._narrated()
        line = called(data, self._canvas.width() - 20, self._canvas.palette)
        self._waited = 0.0
        self._running[str(data.get("call_id", ""))] = Running(line, time.monotonic())
        self._canvas.activity()

    def _finished(self, data: Any) -> None:
        begun = self._running.pop(str(data.get("call_id", "")), None)
        call = begun or Running(called(data, self._canvas.width() - 20, self._canvas.palette), 0.0)
        if self._waited and "duration_s" in data:  # the operator's time is not the tool's
            data = {**data, "duration_s": max(0.0, data["duration_s"] - self._waited)}
        self._emit(self._fitted(f"{self._paint(Style.ACCENT, '•')} {call.line} {finished(data, self._canvas.palette)}"))
        self._canvas.activity()

    def _asked(self, _: Any) -> None:
        self._asked_at = time.monotonic()

    def _answered(self, data: Any) -> None:
        self._waited += time.monotonic() - self._asked_at
        if "command" in data:  # the operator's own, in place of what was proposed
            shown = called({"tool": "terminal", "arguments": data}, self._canvas.width() - 20, self._canvas.palette)
            self._running |= {call: replace(running, line=shown) for call, running in self._running.items()}

    def _validating(self, data: Any) -> None:
        commands = data.get("commands") or data.get("command") or ""
        shown = ", ".join(map(str, commands)) if isinstance(commands, list | tuple) else str(commands)
        self._running["validation"] = Running(f"Validate {one_line(shown, 80)}".rstrip(), time.monotonic())
        self._canvas.activity()

    def _validated(self, data: Any) -> None:
        self._running.pop("validation", None)
        steps = data.get("steps") or [{"command": "", "status": "not run"}]
        for step in steps:
            status = str(step.get("status", "")).lower().replace("_", " ")
            style = Style.OK if status == "passed" else Style.BAD if status in ("failed", "error") else Style.WARN
            line = f"{self._paint(Style.TITLE, 'Validate')} {one_line(str(step.get('command', '')), 80)}"
            self._emit(self._fitted(f"{self._paint(Style.ACCENT, '•')} {line} {self._paint(style, status)}"))
        self._canvas.activity()

    def _repairing(self, _: Any) -> None:
        self._said = Said()
        self._emit(self._paint(Style.WARN, "! the project's validation failed: one repair pass"))

    def _guardrail(self, data: Any) -> None:
        self._emit(self._fitted(self._paint(Style.MUTED, f"  {one_line(str(data.get('detail', '')), 200)}")))

    _HANDLERS: ClassVar[dict[EventName, Callable[[TurnView, Any], None]]] = {
        EventName.MODEL_REQUESTED: _requested,
        EventName.TOOL_CALLED: _called,
        EventName.TOOL_FINISHED: _finished,
        EventName.TOOL_REFUSED: _finished,
        EventName.CONFIRMATION_ASKED: _asked,
        EventName.CONFIRMATION_ANSWERED: _answered,
        EventName.VALIDATION_STARTED: _validating,
        EventName.VALIDATION_FINISHED: _validated,
        EventName.VALIDATION_REPAIR_STARTED: _repairing,
        EventName.GUARDRAIL_STOPPED: _guardrail,
    }

    # --- the end ----------------------------------------------------------------------------------------------------

    def finish(self, done: FinishedTurn) -> None:
        """Print what is left of the answer, then the one block that ends the turn."""
        with self._lock:
            result, said = done.result, self._said
            if said.printed and said.text == result.answer.strip():
                self._print(said.stream.flush())
            else:
                if result.stop.reason is not Stop.ANSWERED:
                    self._broken_off()
                self._print(result.answer)
            self._said, self._running = Said(), {}
            if done.failure is not None:
                hint = f" — {done.failure.hint}" if done.failure.hint else ""
                self._emit(self._fitted(self._paint(Style.BAD, f"! {clean(done.failure.message)}{clean(hint)}")))
            block = end_block(result, self._lines.of_file, self._canvas.palette, self.progress.spending.text)
            if block:
                self._emit(self._fitted(block), apart=True)
            self._canvas.activity()

    def _broken_off(self) -> None:
        """What was on the screen of an answer that has no end stays there; nothing it says was looked at."""
        if self._said.text and self.progress.changed:
            self._emit(self._paint(Style.MUTED, "(broken off; nothing of this was verified)"), apart=True)
        self._narrated()

    # --- what is live -----------------------------------------------------------------------------------------------

    def live_rows(self) -> str:
        """The end of what is streaming, and the calls that run, painted. At most a few rows."""
        with self._lock:
            rows = self._streaming()
            now = time.monotonic()
            for call in list(self._running.values())[-LIVE_ROWS:]:
                elapsed = self._paint(Style.MUTED, f"{now - call.since:.0f} s")
                rows.append(f"{self._paint(Style.ACCENT, '◦')} {call.line} {elapsed}")
            return "\n".join(rows)

    def _streaming(self) -> list[str]:
        said = self._said
        text = clean((said.held[-1] + "\n" if said.held else "") + said.stream.open[-_LIVE_TAIL:])
        return [line for line in text.split("\n") if line.strip()][-LIVE_ROWS:]

    def _fitted(self, text: str) -> str:
        return text if self._canvas.palette.plain else wrapped(text, self._canvas.width())

    def _paint(self, style: Style, text: str) -> str:
        return self._canvas.palette.paint(style, text)
