"""Real commands on a real tree: run under bash, with the status of the last pipeline, and judged as a host would."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spear.agent.host import Outcome
from spear.evidence.assess import CommandFacts, assess_command, complaints
from spear.evidence.completion import VerdictReport, judge
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts, read_makefile
from spear.evidence.heard import heard
from spear.evidence.kinds import CheckKind
from spear.evidence.records import Change, CheckRecord, CommandRecord, EvidenceRecord
from spear.evidence.turn import TurnEvidence
from spear.evidence.weakened import is_test_file
from spear.shell.parse import ShellParser
from spear.shell.syntax import Script

RING_C = """\
#include "ring.h"

int ring_next(int index, int size)
{
    index = index + 1;
    if (index > size)
        index = 0;
    return index;
}
"""
TEST_C = """\
#include <stdio.h>
#include "ring.h"

int main(void)
{
    if (ring_next(3, 4) != 0) {
        printf("FAIL: ring_next(3, 4) = %d\\n", ring_next(3, 4));
        return 1;
    }
    printf("ok\\n");
    return 0;
}
"""
MAKEFILE = """\
all: build/test_ring
build/test_ring: src/ring.c src/ring.h tests/test_ring.c
\tmkdir -p build
\tcc -Wall -Isrc -o $@ src/ring.c tests/test_ring.c
test: build/test_ring
\t./build/test_ring
clean:
\trm -rf build
.PHONY: all test clean
"""
IGNORED = ("build/", "__pycache__/", ".pytest_cache/", "node_modules/", "target/")


@pytest.fixture(scope="session")
def parser() -> ShellParser:
    return ShellParser()


@dataclass
class Project:
    """A tree whose every change and command leaves an evidence record, as the host would write it."""

    root: Path
    parser: ShellParser
    declared: Mapping[str, frozenset[CheckKind]] = field(default_factory=dict)
    records: list[EvidenceRecord] = field(default_factory=list)
    outputs: dict[int, str] = field(default_factory=dict)
    ledger: EpochLedger = field(default_factory=EpochLedger)

    def setup(self, path: str, content: str, mode: int = 0o644) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        target.chmod(mode)

    def facts(self) -> ProjectFacts:
        makefile = self.root / "Makefile"
        return ProjectFacts(
            declared=self.declared,
            makefiles={"": read_makefile(makefile.read_text())} if makefile.exists() else {},
            exists=lambda path: (self.root / path).exists(),
            is_executable=lambda path: os.access(self.root / path, os.X_OK),
            root=str(self.root),
            read=lambda path: Path(path).read_text("utf-8", "replace") if Path(path).is_file() else None,
            texts=lambda suffixes: (
                (path, (self.root / path).read_text("utf-8", "replace"))
                for path in self.tree()
                if Path(path).suffix in suffixes
            ),
        )

    def tree(self) -> dict[str, tuple[str, int]]:
        found = {}
        for path in sorted(self.root.rglob("*")):
            shown = path.relative_to(self.root).as_posix()
            if path.is_file() and not any(f"/{name}" in f"/{shown}" for name in IGNORED):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[shown] = (digest, path.stat().st_mode & 0o777)
        return found

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a file; the whole of it where `old` is empty."""
        before = self.tree()
        target = self.root / path
        text = target.read_text() if target.exists() else ""
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace(old, new) if old else new)
        self._record("patch", before)

    def delete(self, path: str) -> None:
        before = self.tree()
        (self.root / path).unlink()
        self._record("delete_file", before)

    def run(self, command: str, start: str = "", timeout: float = 60) -> CheckRecord | None:
        """Run a command under bash and judge it; None when it holds no check."""
        script = self.parser.parse(command)
        assert isinstance(script, Script), script
        before = self.tree()
        report = self.root.parent / "pipe_status"
        wrapped = f"trap 'echo \"${{PIPESTATUS[@]}}\" > {report}' EXIT\n{command}"
        timed_out, exit_code, output = False, None, ""
        try:
            done = subprocess.run(
                ["bash", "-c", wrapped],
                cwd=self.root / start,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=timeout,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            exit_code, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            timed_out = True
        pipes = tuple(int(word) for word in report.read_text().split()) if report.exists() else ()
        report.unlink(missing_ok=True)
        after = self.ledger.after(self._changes(before))
        facts = CommandFacts(exit_code, output, pipes, timed_out=timed_out, start=start)
        check = assess_command(script, facts, self.facts(), self.ledger, after)
        self.outputs[len(self.records)] = heard(script, output, self.facts(), start)
        ran = CommandRecord(
            script=command, exit_code=exit_code, pipe_status=pipes, complaints=complaints(check, output)
        )
        self._record("terminal", before, ran, check)
        return check

    def _changes(self, before: dict[str, tuple[str, int]]) -> tuple[Change, ...]:
        now = self.tree()
        found = []
        for path in sorted(before.keys() | now.keys()):
            old, new = before.get(path), now.get(path)
            if old == new:
                continue
            kind = (
                "created" if old is None else "deleted" if new is None else "modified" if old[0] != new[0] else "mode"
            )
            found.append(
                Change(
                    path=path,
                    kind=kind,
                    before_sha256=old and old[0],
                    after_sha256=new and new[0],
                    delivered=True,
                    before_mode=old and old[1],
                    after_mode=new and new[1],
                )
            )
        return tuple(found)

    def _record(
        self,
        tool: str,
        before: dict[str, tuple[str, int]],
        command: CommandRecord | None = None,
        check: CheckRecord | None = None,
    ) -> None:
        changes = self._changes(before)
        after = self.ledger.after(changes)
        self.records.append(
            EvidenceRecord(
                seq=len(self.records),
                turn=1,
                call_id=f"call-{len(self.records)}",
                tool=tool,
                arguments_digest="",
                started="2026-01-01T00:00:00Z",
                duration_s=0.0,
                outcome=Outcome.OK,
                changes=changes,
                command=command,
                check=check,
                epoch_before=self.ledger.epoch,
                epoch_after=after.epoch,
                effect="mutating",
                replay="unsafe",
            )
        )
        self.ledger = after

    def verdict(self, answer: str, **more: object) -> VerdictReport:
        changed = [path for path, _ in self.ledger.net_changes()]
        paths = dict.fromkeys([*changed, *filter(is_test_file, self.tree())])
        texts = tuple((self.root / path).read_text(errors="replace") for path in paths if (self.root / path).is_file())
        given = {"outputs": self.outputs, "texts": texts, **more}
        return judge(TurnEvidence.from_records(self.records, answer, **given))


@pytest.fixture
def project(tmp_path: Path, parser: ShellParser) -> Project:
    """An empty tree."""
    root = tmp_path / "tree"
    root.mkdir()
    return Project(root, parser)


@pytest.fixture
def ring(project: Project) -> Project:
    """A small C project whose test fails because of an off-by-one in src/ring.c."""
    project.setup("src/ring.c", RING_C)
    project.setup("src/ring.h", "#ifndef RING_H\n#define RING_H\nint ring_next(int index, int size);\n#endif\n")
    project.setup("tests/test_ring.c", TEST_C)
    project.setup("Makefile", MAKEFILE)
    return project


@pytest.fixture
def fixed(ring: Project) -> Project:
    """The ring project with its off-by-one fixed in this turn."""
    ring.edit("src/ring.c", "index > size", "index >= size")
    return ring


@pytest.fixture
def broken(ring: Project) -> Project:
    """The ring project changed in this turn, but not for the better."""
    ring.edit("src/ring.c", "index > size", "index > size + 1")
    return ring
