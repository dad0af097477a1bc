"""A host of under 80 lines on a real directory: what the coding core is tested against, alone."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import BinaryIO

from spear.agent import host as seam
from spear.agent.host import Access, Refusal, Resolved, ToolRequest, ToolResult


class FakeHost:
    """`denied`: tool to refusal; `hidden`: paths search must not show; `append`, `stop`: `after_tool`;
    `command`: what `run_command` returns without running; `log`, `asked`: what happened."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.denied: dict[str, Refusal] = {}
        self.hidden: set[str] = set()
        self.stop: tuple[str, str] | None = None
        self.append = ""
        self.command: seam.CommandResult | Refusal | None = None
        self.log: list[tuple[ToolRequest, ToolResult]] = []
        self.asked: list[tuple[str, int, str | None]] = []

    def authorize(self, request: ToolRequest) -> Refusal | None:
        return self.denied.get(request.tool)

    def resolve(self, path: str, access: Access, tool: str) -> Resolved | Refusal:
        literal = Path(os.path.normpath(self.root / path))
        followed = Path(os.path.realpath(literal))
        real = Path(os.path.realpath(literal.parent)) / literal.name if access is Access.DELETE else followed
        if not real.is_relative_to(self.root):
            return Refusal("outside", tool, path, "outside the workspace", "use a path inside it")
        return Resolved(str(real.relative_to(self.root)), real, os.path.lexists(real), real.is_dir())

    def open_read(self, target: Resolved) -> BinaryIO:
        return target.real.open("rb")

    def readable(self, shown: str) -> bool:
        return shown not in self.hidden

    def write(
        self, target: Resolved, content: bytes, expected_sha256: str | None, request: ToolRequest
    ) -> seam.WriteResult | Refusal:
        before = hashlib.sha256(target.real.read_bytes()).hexdigest() if target.real.exists() else None
        if before != expected_sha256:
            return Refusal("stale", request.tool, target.shown, "changed meanwhile", "read it again")
        after = hashlib.sha256(content).hexdigest()
        target.real.parent.mkdir(parents=True, exist_ok=True)
        if before != after:
            target.real.write_bytes(content)
        return seam.WriteResult(target.shown, len(content), after, before, before is None, before != after)

    def delete(self, target: Resolved, reason: str, request: ToolRequest) -> seam.DeleteResult | Refusal:
        existed, was_link = os.path.lexists(target.real), target.real.is_symlink()
        target.real.unlink(missing_ok=True)
        return seam.DeleteResult(target.shown, existed, was_link)

    def run_command(
        self, command: str, timeout: int, workdir: str | None, request: ToolRequest
    ) -> seam.CommandResult | Refusal:
        self.asked.append((command, timeout, workdir))
        if self.command is not None:
            return self.command
        argv, cwd = ["bash", "-c", command], self.root / (workdir or "")
        done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        return seam.CommandResult((done.stdout + done.stderr).decode(errors="replace"), done.returncode, str(cwd), 0.0)

    def after_tool(self, request: ToolRequest, result: ToolResult) -> seam.AfterTool:
        self.log.append((request, result))
        return seam.AfterTool(self.append, self.stop)
