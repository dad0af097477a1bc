"""A host in a process of its own, so that the same cases run as root and as an ordinary user: JSON lines in and out."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from spear.agent.host import CommandResult, Outcome, Refusal, ToolRequest, ToolResult
from spear.agent.tools import Toolbox
from spear.events.names import Mode
from spear.host.confirmation import nobody
from spear.host.consent import Approvals
from spear.host.opening import TurnParts, TurnRequest, open_turn
from spear.host.session import HostSession, ShellState
from spear.workspace.roots import Roots
from tests.host_bench import open_session


class Driver:
    """One session; every case is a turn of it on a tree of its own."""

    def __init__(self, base: Path, shfmt: Path) -> None:
        first = base / "first"
        first.mkdir()
        self.session: HostSession = open_session(first, base / "state", shfmt=shfmt, network=False)
        self.turns = 0

    def case(self, asked: dict) -> dict:
        """Run the calls of a case in one turn: a command, or `[tool, arguments]`."""
        session = self.session
        roots, _ = Roots.of(Path(asked["tree"]))
        session.roots, session.shell = roots, ShellState(cwd=roots.primary)
        self.turns += 1
        session.mode = Mode(asked.get("mode", "auto"))
        request = TurnRequest(self.turns, asked.get("read_only", False), tuple(asked.get("targets", ())))
        host = open_turn(session, request, TurnParts(nobody, lambda _: None, Approvals()))
        tools = Toolbox(host, lambda _: True)
        answers = []
        for number, call in enumerate(asked["calls"]):
            tool, arguments = ("terminal", {"command": call}) if isinstance(call, str) else call
            tool_request = ToolRequest(f"c{self.turns}-{number}", tool, arguments)
            refused = host.authorize(tool_request)
            if refused is not None:
                answers.append(answer_of(refused))
                host.after_tool(tool_request, ToolResult("", Outcome.REFUSED, refused))
            elif tool == "terminal":
                done = host.run_command(
                    arguments["command"], asked.get("timeout", 30), arguments.get("workdir"), tool_request
                )
                answers.append(answer_of(done))
                host.after_tool(tool_request, ToolResult("", Outcome.OK))
            else:
                result = tools.run(tool_request)
                answers.append({"refused": result.text if result.refusal else "", "output": result.text})
                host.after_tool(tool_request, result)
        host.close()
        return {"answers": answers}

    def tmp(self) -> str:
        """The host directory that commands see as /tmp, emptied."""
        self.session.runner.start()
        place = self.session.runner.temporary
        for entry in place.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        return str(place)


def answer_of(done: CommandResult | Refusal) -> dict:
    if isinstance(done, Refusal):
        return {"refused": done.line(), "code": done.code, "output": "", "exit": None, "dropped": [], "notes": []}
    return {
        "refused": "",
        "output": done.output,
        "exit": done.exit_code,
        "dropped": [refusal.line() for refusal in done.refusals],
        "notes": list(done.notes),
        "changes": [asdict(change) for change in done.changes],
    }


def main() -> None:
    driver = Driver(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {"tmp": driver.tmp()} if asked.get("tmp") else driver.case(asked)
        print(json.dumps(answer), flush=True)
    driver.session.runner.close()


if __name__ == "__main__":
    main()
