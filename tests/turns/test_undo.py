"""`spear-chat undo|redo`: every byte, whoever wrote it; other people's changes are left alone (spec 3.6)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

from tests.scripted_model import ModelServer, calls, text
from tests.turns.conftest import ASK, FIX, PROGRAM, sh


def test_undo_and_redo_restore_bytes_modes_links_and_directories(counter):
    counter.write("run.sh", b"#!/bin/sh\r\necho hi\r\n", mode=0o755)
    counter.write("latin.txt", b"caf\xe9\n")
    (counter.root / "alias").symlink_to("src/counter.c")
    before, status = counter.files(), counter.git("status", "--porcelain")
    counter.turn(
        "Rework this tree thoroughly", FIX, ("write_file", {"path": "docs/new/a.md", "content": "x\n"}),
        ("delete_file", {"path": "alias", "reason": "t"}),
        sh("sed -i s/hi/ho/ run.sh; rm latin.txt; mkdir -p deep/er; echo 1 > deep/er/f; chmod 600 Makefile; ln -s x y"), "Reworked.",
    )  # fmt: skip
    changed = counter.files()
    assert changed != before
    assert counter.run("undo", "--yes").returncode == 0
    assert counter.files() == before and counter.git("status", "--porcelain") == status
    assert counter.run("redo", "--yes").returncode == 0
    assert counter.files() == changed


def test_a_file_changed_since_is_named_and_left_alone(counter):
    other = ("patch", {"path": "tests/test_counter.c", "old_string": "ok", "new_string": "fine"})
    counter.turn(ASK, FIX, other, "Fixed.", flags=("--validation", "off"))
    counter.write("tests/test_counter.c", "/* mine now */\n")
    done = counter.run("undo", "--yes")
    assert "tests/test_counter.c" in done.stdout
    assert counter.read("tests/test_counter.c") == "/* mine now */\n" and "value > limit" in counter.read(
        "src/counter.c"
    )


def test_two_turns_are_undone_one_by_one_or_together(tree):
    tree.write("a.txt", "0\n")
    for n in (1, 2):
        tree.turn("Change a.txt", ("write_file", {"path": "a.txt", "content": f"{n}\n"}), "Changed.")
    assert tree.run("undo", "--yes").returncode == 0 and tree.read("a.txt") == "1\n"
    assert tree.run("redo", "--yes").returncode == 0 and tree.read("a.txt") == "2\n"
    assert tree.run("undo", "2", "--yes").returncode == 0 and tree.read("a.txt") == "0\n"


def test_undo_asks_where_somebody_can_be_asked_and_refuses_where_nobody_can(tree):
    tree.write("a.txt", "0\n")
    tree.turn("Change a.txt", ("write_file", {"path": "a.txt", "content": "1\n"}), "Changed.")
    done = tree.run("undo")
    assert done.returncode == 2 and "--yes" in done.stderr and tree.read("a.txt") == "1\n"


def test_undo_with_nothing_to_undo_says_so(tree):
    done = tree.run("undo", "--yes")
    assert done.returncode == 2 and "no turn to undo" in done.stderr


def test_a_turn_killed_at_any_instant_can_be_put_back(counter):
    """kill -9 during writes and commands: whole files, an exact undo, a readable log, a working next turn."""
    seed = int(os.environ.get("SPEAR_CRASH_SEED", random.randrange(1 << 30)))
    rng = random.Random(seed)
    before = counter.files()
    content = "x" * 5000
    steps = [calls(("write_file", {"path": f"docs/n{i}.md", "content": content})) for i in range(20)]
    steps[5::6] = [calls(sh("for i in $(seq 40); do printf '%5000s' x > docs/c$i.md; done")) for _ in steps[5::6]]
    for trial in range(int(os.environ.get("SPEAR_CRASH_TRIALS", "8"))):
        with ModelServer([*steps, text("ok")]) as server:
            words = [PROGRAM, "-p", "Write many notes under docs/", "--auto", "--validation", "off", "--output", "json"]
            process = subprocess.Popen(
                [*words, "--api-base", server.base_url], cwd=counter.root, env=counter.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            limit = time.monotonic() + 30
            wanted = rng.randrange(2, 18)
            while len(server.requests) < wanted and process.poll() is None and time.monotonic() < limit:
                server.arrived.wait(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        for path in counter.root.rglob("docs/*.md"):
            assert len(path.read_bytes()) == 5000, (seed, trial, path)
        done = counter.run("undo", "--yes")
        assert done.returncode == 0, (seed, trial, done.stderr)
        assert counter.files() == before, (seed, trial)
        assert counter.run("audit", "verify").returncode == 0, (seed, trial)
    assert counter.turn("What is in Makefile?", "A Makefile.").done.returncode == 0
