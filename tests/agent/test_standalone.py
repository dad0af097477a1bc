"""The coding core can be lifted out: it runs where nothing else of the project can be imported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

WALL = """
import importlib.abc
import sys
from pathlib import Path


class Wall(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("spear.") and name != "spear.agent" and not name.startswith("spear.agent."):
            raise ImportError(f"{name} is behind the wall")
        return None


sys.meta_path.insert(0, Wall())
"""

PROGRAM = """
sys.path[:0] = [str(Path(sys.argv[1]) / "tests" / "agent"), sys.argv[1]]

from fake_host import FakeHost
from spear.agent.loop import run
from spear.agent.messages import Message, ModelTurn, Role, ToolCall
from spear.agent.prompt import system_prompt

work = Path(sys.argv[2])
(work / "a.txt").write_text("alpha\\n")
turns = [
    ModelTurn("", (ToolCall("1", "read_file", '{"path": "a.txt"}'),)),
    ModelTurn("", (ToolCall("2", "patch", '{"path": "a.txt", "old_string": "alpha", "new_string": "omega"}'),)),
    ModelTurn("", (ToolCall("3", "search_files", '{"pattern": "omega"}'),)),
    ModelTurn("", (ToolCall("4", "terminal", '{"command": "cat a.txt"}'),)),
    ModelTurn("Done."),
]
conversation = [Message(Role.SYSTEM, system_prompt()), Message(Role.USER, "Change it.")]
outcome = run(FakeHost(work), lambda request: turns.pop(0), conversation)
foreign = {name.split(".")[1] for name in sys.modules if name.startswith("spear.")} - {"agent"}
heavy = {"openai", "anthropic", "pydantic", "rich", "prompt_toolkit", "mcp"} & set(sys.modules)
print(outcome.stop, outcome.answer, (work / "a.txt").read_text().strip(), foreign or "-", heavy or "-")
"""


def test_the_core_runs_a_turn_with_the_rest_of_the_project_unimportable(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WALL + PROGRAM, str(ROOT), str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["answered", "Done.", "omega", "-", "-"]


def test_the_documentation_s_own_host_runs_as_it_stands_and_is_short(tmp_path: Path) -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (host,) = re.findall(r"^class OpenHost.*?(?=^\S(?<!class))", program, re.DOTALL | re.MULTILINE)
    assert len(host.rstrip().splitlines()) < 80
    (tmp_path / "notes.txt").write_text("milk\n")
    code = f"{WALL}\nsys.path.insert(0, {str(ROOT)!r})\n{program}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("answered It says: 1|milk\n", "")
