"""A host in a process of its own, so that the same test runs as root and as an ordinary user: JSON lines in and out."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from dataclasses import asdict, replace
from pathlib import Path

from spear.sandbox.request import Limits, Network, RootMount, RunRequest
from spear.sandbox.runner import CommandRunner


def listing(upper: Path) -> dict[str, str]:
    kinds = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "dir",
        stat.S_IFLNK: "link",
        stat.S_IFCHR: "gone",
        stat.S_IFIFO: "fifo",
    }
    found = {}
    for path in sorted(upper.rglob("*")):
        found[str(path.relative_to(upper))] = kinds.get(stat.S_IFMT(path.lstat().st_mode), "other")
    return found


def main() -> None:
    base, owner = Path(sys.argv[1]), sys.argv[2]
    # A directory descriptor somebody forgot: a command must not get it.
    os.set_inheritable(os.open("/", os.O_RDONLY | os.O_DIRECTORY), True)
    # As `nohup` and background jobs do.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    runner = CommandRunner(
        base / "session", path=os.environ["PATH"], home=Path(os.environ["HOME"]), owner=Path(owner) if owner else None
    )
    serial = 0
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("close"):
            runner.close()
            print(json.dumps({"left": [str(path) for path in base.rglob("*")]}), flush=True)
            continue
        if asked.get("rest"):
            runner.rest()
            print("{}", flush=True)
            continue
        serial += 1
        upper = base / "uppers" / asked.get("upper", str(serial))
        tree = Path(asked["tree"])
        root = RootMount(
            tree,
            upper if asked.get("writes", True) else None,
            alias=asked.get("alias", ""),
            closed=tuple(asked.get("closed", ())),
            hidden=tuple(asked.get("hidden", ())),
        )
        request = RunRequest(
            asked["script"],
            (root,),
            Path(asked.get("cwd", tree)),
            asked.get("timeout", 20.0),
            environment=asked.get("environment", {}),
            network=Network(asked.get("network", "none")),
            allowed_hosts=tuple(asked.get("allowed", ())),
            limits=Limits(**asked.get("limits", {})),
            capture=Path(asked["capture"]) if "capture" in asked else None,
            output_limit=asked.get("output_limit", 50_000),
        )
        if "shell" in asked:
            runner._session.shell = tuple(asked["shell"])
        outcome = runner.run(request)
        if asked.get("prepare"):
            runner.prepare(replace(request, cwd=outcome.cwd or tree, environment=outcome.environment or {}))
        answer = {**asdict(outcome), "cwd": str(outcome.cwd) if outcome.cwd else None, "upper": listing(upper)}
        answer["upper_path"] = str(upper)
        answer["standing_by"] = runner._standby._waiting is not None
        print(json.dumps(answer), flush=True)
    runner.close()


if __name__ == "__main__":
    main()
