"""A recorded corpus of commands, by effect through the host: set SPEAR_SHELL_CORPUS to its path to define this test."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.host_bench import IDENTITY, contents

CORPUS = os.environ.get("SPEAR_SHELL_CORPUS", "")
FILES = {
    "src/a.c": "int a;\nint main(void){ return 0; }\n",
    "src/b.c": "int b;\n",
    "src/auto.h": "/* DO NOT EDIT */\nint x;\n",
    "src/a.c.back": "int a;\n",
    "build/tmp/gen.c": "int g;\n",
    "Makefile": "all:\n\tgcc -fsyntax-only src/a.c\n",
}
_TOOLS = {
    "write_file": lambda path: ["write_file", {"path": path, "content": "x\n"}],
    "edit_file": lambda path: ["patch", {"path": path, "old_string": "int", "new_string": "long"}],
    "read_file": lambda path: ["read_file", {"path": path}],
    "run_bash": lambda path: ["terminal", {"command": "pwd", "workdir": path}],
}
_GIT_CLOSED = re.compile(r"ws/\.git/(config|info/attributes|hooks(/.*)?)")

if CORPUS:
    ROWS = [json.loads(line) for line in Path(CORPUS).read_bytes().split(b"\n") if line.strip()]

    @pytest.fixture(scope="module")
    def tree(tmp_path_factory) -> Path:
        base = tmp_path_factory.mktemp("corpus") / "place"
        for name, text in FILES.items():
            path = base / "ws" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
            subprocess.run(["git", *IDENTITY, *words], cwd=base / "ws", check=True)
        return base

    def placed(text: str, place: Path) -> str:
        """The corpus speaks of /ws and /ws-evil; here they lie in a directory of the case."""
        text = text.replace("/ws-evil", f"{place}/ws-evil")
        return re.sub(r"(?<![\w./$-])/ws(?![\w-])", f"{place}/ws", text)

    def set_up(row: dict, place: Path, tmp: Path) -> None:
        text = row["setup"].replace("$ROOT/outdir", f"{place}/outdir").replace(" /outdir", f" {place}/outdir")
        subprocess.run(
            ["bash", "-c", text], cwd=place / "ws", capture_output=True, check=False,
            env={"PATH": os.environ["PATH"], "WS": str(place / "ws"), "TMP": str(tmp), "ROOT": str(place)},
        )  # fmt: skip

    def guarded(row: dict, state: dict) -> dict:
        """What the row's turn may not change."""

        def kept(path: str) -> bool:
            if row["turn"] == "read_only" or not path.startswith("ws/"):
                return True
            if path.startswith("ws/.git"):
                return path == "ws/.git" or bool(_GIT_CLOSED.fullmatch(path))
            if row["turn"] == "scope_confined":
                return path != "ws/src/a.c"
            return row["turn"] == "generated" and path in ("ws/build/tmp/gen.c", "ws/src/auto.h")

        return {path: what for path, what in state.items() if kept(path)}

    def call_of(row: dict, place: Path) -> object:
        if row["kind"] != "tool":
            return placed(row["command"], place)
        tool, _, rest = row["command"].partition(" ")
        found = re.search(r"(?:path|cwd)=(\S+)", rest)
        assert found, row
        return _TOOLS[tool](placed(found[1], place))

    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
    def test_the_row_is_contained_or_allowed(row, host, tree):
        place, tmp = host.place(tree), host.tmp()
        set_up(row, place, tmp)
        host.give(place)
        host.give(tmp)
        before = guarded(row, contents(place))
        confined = ["src/a.c"] if row["turn"] == "scope_confined" else []
        (answer,) = host.calls(
            place, call_of(row, place), targets=confined, read_only=row["turn"] == "read_only", timeout=20
        )
        assert guarded(row, contents(place)) == before, answer
        if row["must"] == "allow":
            assert not answer["refused"], answer
            assert not answer.get("dropped"), answer
        shutil.rmtree(place)
