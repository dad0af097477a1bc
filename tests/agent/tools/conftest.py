"""A toolbox on a real directory, called as the loop calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.agent.host import Outcome, ToolRequest, ToolResult
from spear.agent.tools import SCHEMAS, Toolbox, coerce
from tests.agent.fake_host import FakeHost


class Bench:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.host = FakeHost(root)
        self.gone: set[str] = set()
        self.calls = 0
        self.tools = Toolbox(self.host, lambda call_id: call_id not in self.gone)

    def call(self, tool: str, **arguments) -> ToolResult:
        self.calls += 1
        schema = next(schema for schema in SCHEMAS if schema.name == tool)
        fitted = coerce(schema, arguments)
        assert isinstance(fitted, dict), fitted
        return self.tools.run(ToolRequest(f"call{self.calls}", tool, fitted))

    def ok(self, tool: str, **arguments) -> str:
        result = self.call(tool, **arguments)
        assert result.outcome is Outcome.OK, result
        return result.text

    def write(self, path: str, content: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def bytes(self, path: str) -> bytes:
        return (self.root / path).read_bytes()


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)
