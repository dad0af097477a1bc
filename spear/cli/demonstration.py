"""`spear-chat --demo`: the main job in a throw-away project, with recorded model turns (spec 8.1).

Only the model is a recording, and it is labelled as one; tools, files, sandbox, validation and verdict are real.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from spear.cli.application import Application
from spear.cli.display.changed_lines import ChangedLines
from spear.cli.display.end_block import end_block
from spear.cli.display.filtering import clean
from spear.cli.display.tool_lines import CallLines
from spear.cli.exit_status import exit_status
from spear.cli.invocation import Invocation
from spear.cli.settings import load
from spear.cli.signals import Stopping
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live, LiveKind, Sink, fan_out
from spear.host.files import diff_text

REQUEST = "The test of ring_next() fails. Find out why, fix src/ring.c, then run the tests."
_ROOT = files("spear.cli.demo")
_LINES = 8


def run_demo(parsed: argparse.Namespace) -> int:
    """Copy the project, run the recorded turn in it, show what happened; the exit status of the turn."""
    with tempfile.TemporaryDirectory(prefix="spear-demo-") as place, as_file(_ROOT) as source:
        home = Path(place)
        project = home / "ring"
        shutil.copytree(source / "project", project)
        before = (project / "src/ring.c").read_bytes()
        print("A small C project whose test fails. The model's turns are a recording, played back;")
        print("the tools, the files, the sandbox, the project's own tests and the verdict are real.\n")
        print(f"> {REQUEST}\n")
        environ = {**os.environ, "SPEAR_STATE_DIR": str(home / "state")}
        parsed.mode, parsed.state_dir = Mode.AUTO, str(home / "state")
        loaded = load(parsed, environ, project)
        app = Application(Invocation(loaded, environ, project, replay=source / "turns.jsonl"))
        lines = ChangedLines()
        with Stopping() as stopping:
            try:
                done = app.run_turn(REQUEST, sink=fan_out(_shown(), lines), cancelled=stopping.cancelled)
            finally:
                app.close()
        after = (project / "src/ring.c").read_bytes()
        print(f"\n{clean(diff_text('src/ring.c', before, after))}")
        print(f"{clean(done.result.answer)}\n")
        print(end_block(done.result, lines.of_file))
    print("\nNow with a model of your own, in a project of your own:")
    print(f"  {_program()} --api-base http://127.0.0.1:8080/v1")
    return exit_status(done, stopping.status)


def _program() -> str:
    """How this program is called from anywhere: by its name where a shell finds it, else by its path."""
    running = Path(sys.argv[0])
    found = shutil.which(running.name)
    return running.name if found and Path(found).samefile(running) else shlex.quote(os.fspath(running.absolute()))


def _shown() -> Sink:
    """A sink that prints each call, the beginning of what it said, and what the host does by itself."""
    calls = CallLines(lambda text: print(text, end="", flush=True), "  [recorded] ")

    def show(item: Event | Live) -> None:
        if isinstance(item, Live):
            if item.kind is not LiveKind.TEXT:
                _print_beginning(clean(item.text).strip("\n").split("\n"))
            return
        match item.name:
            case EventName.TOOL_CALLED:
                calls.begin(item.data)
            case EventName.TOOL_FINISHED | EventName.TOOL_REFUSED:
                calls.end(item.data)
            case EventName.VALIDATION_STARTED:
                print(f"  [host] validates: {'; '.join(item.data['commands'])}", flush=True)
            case _:
                return

    return show


def _print_beginning(lines: list[str]) -> None:
    kept = lines if len(lines) <= _LINES + 1 else [*lines[:_LINES], f"… {len(lines) - _LINES} more lines"]
    print("\n".join(f"    {line}" for line in kept))
