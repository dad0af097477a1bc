from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"repl_{Path(name).name}", (_HERE / f"{name}.py").resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_terminal, _stand_in = _load("terminal"), _load("stand_in")
import spear.cli.repl.composing  # noqa: E402, F401
import spear.cli.repl.live_chat  # noqa: E402, F401 - loaded before the forks, so that each of them need not
import spear.cli.repl.plain_chat  # noqa: E402, F401
from spear.cli.main import main  # noqa: E402


@pytest.fixture
def terminal() -> Any:
    """The module with the pseudo-terminal."""
    return _terminal


@pytest.fixture
def scripted() -> Any:
    """The module with the scripted model server."""
    return _load("../../scripted_model")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "ws"
    place.mkdir()
    (place / "a.txt").write_text("one\n")
    return place


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def chat(workspace: Path, state: Path, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens chats over the stand-in application, ready for keys."""
    opened: list[Any] = []

    def start(*flags: str, size: tuple[int, int] = (40, 120), env: dict[str, str] | None = None) -> Any:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            **(env or {}),
        }  # fmt: skip
        arguments = [str(workspace), str(state), *flags]
        opened.append(_terminal.Terminal(lambda: _stand_in.main(arguments), workspace, environment, size))
        opened[-1].wait(r"session +s-0001")
        return opened[-1]

    yield start
    for each in opened:
        each.kill()


TEST = "import unittest, app\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(app.f(), 2)\n"


@pytest.fixture
def project(workspace: Path) -> Path:
    """A repository with a function and a test that fails."""
    (workspace / "app.py").write_text("def f():\n    return 1\n")
    (workspace / "test_app.py").write_text(TEST)
    identity = ["-c", "user.name=t", "-c", "user.email=t@e.org"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "s"]):
        subprocess.run(["git", *command], cwd=workspace, check=True)
    return workspace


@pytest.fixture
def real(project: Path, state: Path, tmp_path: Path, scripted: Any) -> Iterator[Callable[..., Any]]:
    """Opens `spear-chat` itself on the project, against a scripted server; `config` is the user's file."""
    opened: list[Any] = []

    def start(
        script: Any,
        *flags: str,
        server: Any = None,
        config: str = "",
        env: dict[str, str] | None = None,
        around: Callable[[Callable[[], int]], int] = lambda run: run(),
    ) -> Any:
        server = server or scripted.ModelServer(script)
        if not server.thread.is_alive():
            server.__enter__()
        (tmp_path / "config.toml").write_text(config)
        environment = {
            "PATH": _terminal.PATH, "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "SPEAR_STATE_DIR": str(state), "OPENAI_API_KEY": "test-key", "SPEAR_MODEL_NAME": "scripted",
            "SPEAR_CONFIG": str(tmp_path / "config.toml"), **(env or {}),
        }  # fmt: skip
        arguments = ["--api-base", server.base_url, *flags]
        shown = _terminal.Terminal(lambda: around(lambda: main(arguments)), project, environment)
        shown.server, shown.state = server, state
        opened.append((shown, server))
        shown.wait(r"session +20")
        return shown

    yield start
    for shown, server in opened:
        shown.kill()
        if server.thread.is_alive():
            server.__exit__()


@pytest.fixture
def requests(state: Path) -> Callable[[], list[str]]:
    """What the application was asked, in order."""

    def read() -> list[str]:
        file = state / "requests.jsonl"
        return [json.loads(line)["request"] for line in file.read_text().splitlines()] if file.exists() else []

    return read
