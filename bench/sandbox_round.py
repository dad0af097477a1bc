"""What one command costs over bare bwrap with the same arguments: `python bench/sandbox_round.py [RUNS]` prints JSON.

Both are measured in the same run, alternating, so that the load of the machine hits both alike. The bare run binds the
tree where ours mounts an overlay of it, and executes `true` where ours runs a shell.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from spear.sandbox.namespaces import STAGE
from spear.sandbox.plan import arguments
from spear.sandbox.request import RootMount, RunRequest
from spear.sandbox.runner import CommandRunner
from spear.sandbox.seccomp import program


def bare_words(runner: CommandRunner, request: RunRequest, empty: Path) -> list[str]:
    """The arguments of our plan, for a bwrap started from here: the tree itself as the root's source."""
    words = arguments(runner.plan(request))
    tree = str(request.roots[0].path)
    stage, exchanged = f"{STAGE}/0", {f"{STAGE}/script", f"{STAGE}/report"}
    caches = [at for at, word in enumerate(words) if word.startswith(f"{STAGE}/c")]
    for at in caches:
        words[at] = tree
    words = [str(empty) if word in exchanged else word for word in words]
    return [tree + word.removeprefix(stage) if word.startswith(stage) else word for word in words]


def bare(words: list[str], filter_file: Path) -> float:
    begun = time.perf_counter()
    with filter_file.open("rb") as handle:
        at = words.index("--seccomp")
        argv = ["bwrap", *words[: at + 1], str(handle.fileno()), *words[at + 2 :], "--", "true"]
        subprocess.run(
            argv, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            pass_fds=[handle.fileno()], check=True, executable=shutil.which("bwrap"),
        )  # fmt: skip
    return time.perf_counter() - begun


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        tree = base / "tree"
        (tree / ".git/hooks").mkdir(parents=True)
        (tree / ".git/config").write_text("")
        filter_file = base / "filter"
        filter_file.write_bytes(program(platform.machine(), unix_sockets=True))
        runner = CommandRunner(base / "session", path=os.environ["PATH"], home=Path.home())
        ours: list[float] = []
        floor: list[float] = []
        for turn in range(runs + 10):
            root = RootMount(tree, base / f"writes{turn}", closed=(".git/hooks", ".git/config", ".envrc"))
            request = RunRequest("true", (root,), tree, 30)
            begun = time.perf_counter()
            outcome = runner.run(request)
            spent = time.perf_counter() - begun
            if outcome.exit_code != 0:
                raise SystemExit(f"not run: {outcome.problem or outcome.output}")
            words = bare_words(runner, request, filter_file)
            below = bare(words, filter_file)
            if turn >= 10:
                ours.append(spent)
                floor.append(below)
        runner.close()
    print(
        json.dumps(
            {
                "runs": runs,
                "ours_ms": round(statistics.median(ours) * 1e3, 2),
                "bare_ms": round(statistics.median(floor) * 1e3, 2),
                "ours_min_ms": round(min(ours) * 1e3, 2),
                "bare_min_ms": round(min(floor) * 1e3, 2),
                "ratio": round(statistics.median(ours) / statistics.median(floor), 3),
                "ratio_min": round(min(ours) / min(floor), 3),
            }
        )
    )


if __name__ == "__main__":
    main()
