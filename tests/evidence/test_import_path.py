"""Whether Python finds an older copy of a changed module before the module itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spear.evidence.checks.candidates import recognise
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.facts import ProjectFacts
from spear.evidence.import_path import imports_a_copy
from spear.shell.parse import ShellParser
from spear.shell.syntax import Script

OLD = "def step(v, limit):\n    return 0 if v >= limit else v + 1\n"
NEW = OLD.replace(">=", ">")
TEST = "from counter import step\n"
CONFIG = "version = 3.11.4\n"
OUTSIDE = "/opt/env/lib/python3.11/site-packages/counter.py"


def facts(files: dict[str, str], told: str, usual_path: frozenset[str] = frozenset()) -> ProjectFacts:
    texts = {path if path.startswith("/") else f"/ws/{path}": text for path, text in files.items()}

    def delivered(suffixes: frozenset[str]) -> Iterator[tuple[str, str]]:
        inside = ((path, text) for path, text in files.items() if path[0] not in "/." and "build" not in path)
        return ((path, text) for path, text in inside if path.endswith(tuple(suffixes)))

    return ProjectFacts(
        root="/ws", read=texts.get, exists=files.__contains__, texts=delivered, told=lambda _: (told,),
        is_built=lambda path: path.startswith((".venv/", "build/")), usual_path=usual_path,
        built=lambda matches: (path for path in files if path.startswith("build/") and matches(path)),
    )  # fmt: skip


def seen(command: str, project: ProjectFacts) -> SeenCheck:
    script = ShellParser().parse(command)
    assert isinstance(script, Script)
    (candidate,) = recognise(script, project)
    return SeenCheck("", candidate, project)


SRC = {"src/counter.py": NEW, "tests/test_counter.py": TEST}
FLAT = {"counter.py": NEW, "tests/test_counter.py": TEST}
VENV = {".venv/pyvenv.cfg": CONFIG, ".venv/lib/python3.11/site-packages/counter.py": OLD}
ENV = {"/opt/env/pyvenv.cfg": CONFIG, OUTSIDE: OLD}
INI = "[tool.pytest.ini_options]\npythonpath = [\n  'src',\n  'build/lib',\n]\n"
CASES = {
    "an environment of the tree": ({**SRC, **VENV}, ".venv/bin/pytest", True),
    "its interpreter": ({**SRC, **VENV}, ".venv/bin/python -m pytest", True),
    "through a tool": ({**SRC, **VENV}, "uv run pytest", True),
    "another interpreter": ({**SRC, **VENV}, "python3 -m pytest", False),
    "source in the directory it starts in": ({**FLAT, **VENV}, ".venv/bin/python -m pytest", False),
    "source in no directory it looks in": ({**FLAT, **VENV}, ".venv/bin/pytest", True),
    "a conftest beside the source": ({**FLAT, **VENV, "conftest.py": ""}, ".venv/bin/pytest", False),
    "the same text": ({**SRC, **VENV, ".venv/lib/python3.11/site-packages/counter.py": NEW}, ".venv/bin/pytest", False),
    "imported by nothing": (
        {**SRC, **VENV, "tests/test_counter.py": "from src.counter import step\n"}, ".venv/bin/pytest", False,
    ),
    "the operator's own environment": ({**SRC, **ENV}, "python3 -m pytest", True),
    "source first": ({**SRC, **ENV, "pyproject.toml": INI, "build/lib/counter.py": OLD}, "python3 -m pytest", False),
    "a build's copy first": (
        {**SRC, "pytest.ini": "[pytest]\npythonpath =\n    build/lib\n    src\n", "build/lib/counter.py": OLD},
        "python3 -m pytest", True,
    ),
    "put first by a conftest": (
        {**FLAT, "conftest.py": "import sys\nsys.path.insert(0, 'build/lib')\n", "build/lib/counter.py": OLD},
        "python3 -m pytest", True,
    ),
    "put first in pieces": (
        {**SRC, "tests/conftest.py": "import sys\nsys.path.insert(0, str(ROOT / 'build' / 'lib'))\n", "build/lib/counter.py": OLD},
        "pytest", True,
    ),
    "the source put first": (
        {**SRC, **ENV, "tests/conftest.py": "import sys\nsys.path.insert(0, 'src')\n"}, "pytest", False,
    ),
    "no runner of Python's": ({**SRC, **VENV}, "make test", False),
}  # fmt: skip


@pytest.mark.parametrize(("files", "command", "copy"), CASES.values(), ids=CASES)
def test_the_first_place_a_module_is_found_in_counts(files, command, copy):
    source = "src/counter.py" if "src/counter.py" in files else "counter.py"
    project = facts(files, source, frozenset({"/opt/env/bin"}))
    assert imports_a_copy(seen(command, project), (), ()) is copy


def test_variables_lead_to_places():
    project = facts({**SRC, **VENV}, "src/counter.py")
    check = seen("python3 -m pytest", project)
    assert imports_a_copy(check, (("VIRTUAL_ENV", "/ws/.venv"),), ())
    assert imports_a_copy(check, (("PYTHONPATH", "/ws/.venv/lib/python3.11/site-packages"),), ())
    assert not imports_a_copy(check, (("PYTHONPATH", "src:/ws/.venv/lib/python3.11/site-packages"),), ())
    assert imports_a_copy(check, (), (".venv/bin/activate",))
