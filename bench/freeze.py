"""Freezing a training set: against reading and hashing the same episodes, and what memory it takes (spec 9.1).

The store is made of the forms a session leaves: the system prompt and tools of the coding core, conversations of
three to fifteen messages, four in ten judged by nothing. Each side runs in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Row, amount_row, paired, ratio_row
from spear.agent.tools.schemas import SCHEMAS
from spear.state.lines import canonical
from spear.training.episode import EpisodeFacts, array, compose
from spear.training.families import family_of
from spear.training.layout import Layout
from spear.training.lists import ManifestLine
from spear.training.visible import neutral_tools, steps
from spear.training.vocabulary import DataOrigin, Rating

_EPISODES, _QUICK = 100_000, 10_000
_TURNS = 10
_RATINGS = (*[Rating.PASS] * 4, *[Rating.FAIL] * 2, *[Rating.UNRATED] * 4)

_OURS = """
import resource, sys, time
from pathlib import Path
from spear.training.bundle import freeze
from spear.training.governance import Governance
from spear.training.source import Source
start, used = time.perf_counter(), time.process_time()
freeze(Source(Path(sys.argv[1])), Governance(), Path(sys.argv[2]))
print(time.perf_counter() - start, time.process_time() - used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

_FLOOR = """
import hashlib, json, resource, sys, time
start, used = time.perf_counter(), time.process_time()
for line in open(sys.argv[1] + "/manifest.jsonl", "rb"):
    known = json.loads(line)
    name = f"{sys.argv[1]}/episodes/{known['session']}/{known['turn']:06d}-{known['sha256'][:16]}.json"
    with open(name, "rb", buffering=0) as file:
        assert hashlib.sha256(file.read()).hexdigest() == known["sha256"]
print(time.perf_counter() - start, time.process_time() - used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def rows(quick: bool) -> list[Row]:
    """The time of a freeze, and its memory at two sizes of the store."""
    count = _QUICK if quick else _EPISODES
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        here = Path(name)
        size = build(here / "store", count)
        build(here / "small", count // 10)
        used: dict[str, list[tuple[float, ...]]] = {"ours": [], "floor": []}

        def side(which: str, program: str, *arguments: Path) -> float:
            used[which].append(run(program, *arguments))
            return used[which][-1][0] * 1000

        def ours() -> float:
            shutil.rmtree(here / "out", ignore_errors=True)
            return side("ours", _OURS, here / "store", here / "out")

        left, right = paired(5 if quick else 3, ours, lambda: side("floor", _FLOOR, here / "store"))
        processor = sum(each[1] for each in used["ours"]) / sum(each[1] for each in used["floor"])
        small = run(_OURS, here / "small", here / "out of small")[2] / 1024
        most = max(each[2] for each in used["ours"]) / 1024
    note = f"reading and hashing the same bytes, {size / count / 1000:.1f} KB each; processor time {processor:.2f} ×"
    return [
        ratio_row(f"freeze of {count} episodes", 3, left, right, note=note),
        amount_row(f"peak memory of it, {count // 10} episodes: {small:.0f} MB", small * 1.2, most, "MB"),
    ]


def run(program: str, *arguments: Path) -> tuple[float, ...]:
    """Seconds, seconds of processor, kilobytes of memory of one run in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def build(root: Path, count: int) -> int:
    """A store of `count` episodes, with the same content for the same count; its size in bytes."""
    layout = Layout(root)
    chance = random.Random(count)
    tools = neutral_tools(SCHEMAS)
    size = 0
    layout.episodes.mkdir(parents=True)
    with layout.manifest.open("wb") as manifest:
        for number in range(count):
            session, turn = f"s{number // _TURNS:06d}", number % _TURNS + 1
            messages = list(_conversation(chance, number))
            family = family_of(str(messages[1]["content"]))
            facts = EpisodeFacts.model_validate(
                {
                    "session": session, "turn": turn, "captured": "2030-01-01T00:00:00Z",
                    "schema": "spear.episode/1", "origin": DataOrigin.NORMAL_USAGE,
                    "outcome": chance.choice(_RATINGS), "judge": "check",
                    "request": messages[1]["content"], "family": family, "families": (family,),
                    "request_class": "IMPLEMENTATION", "path": "coding_core", "verdict": "VERIFIED",
                    "stop": "answered", "changed_files": 1, "tool_calls": len(messages) // 2 - 1, "model": "m",
                    "whole_context": True, "standard_text": False,
                    "steps": tuple((s.place, s.context, s.completion) for s in steps(tools, messages, 2)),
                }
            )  # fmt: skip
            episode, data = compose(facts, array(tools), array(messages[:-1]), canonical(messages[-1]))
            path = layout.episode(session, turn, episode.id)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            line = ManifestLine(session=session, turn=turn, sha256=episode.sha256, bytes=len(data))
            manifest.write(canonical(line.model_dump(mode="json")) + b"\n")
            size += len(data)
    return size


def _conversation(chance: random.Random, number: int) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "content": _words(chance, 1_600)}
    letters = hashlib.sha256(str(number // 3).encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
    yield {"role": "user", "content": f"Fix the module {letters[:8]}. {_words(chance, 120)}"}
    for call in range(chance.randrange(7)):
        arguments = json.dumps({"path": f"src/{letters[:4]}.c", "new_string": _words(chance, 200)})
        function = {"name": "patch", "arguments": arguments}
        calls = [{"id": f"call_{call + 1}", "type": "function", "function": function}]
        yield {"role": "assistant", "content": _words(chance, 80), "train": False, "tool_calls": calls}
        yield {
            "role": "tool",
            "content": _words(chance, chance.randrange(100, 3_000)),
            "tool_call_id": f"call_{call + 1}",
        }
    yield {"role": "assistant", "content": _words(chance, 300), "train": False}


_TEXT = "".join(random.Random(7).choices("etaoin shrdlu \n(){};=_", k=100_000))


def _words(chance: random.Random, length: int) -> str:
    start = chance.randrange(len(_TEXT) - length)
    return _TEXT[start : start + length]
