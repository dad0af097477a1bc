"""The contract of read, replace and exec: results a model can read, errors that say what is known."""

import base64
import hashlib
import json
import os
import signal
import sys
import time
from dataclasses import replace as changed
from pathlib import Path

import pytest

from spear.workspace.durable import DurableWriter
from spear.workspace.primitives import DEFINITIONS, EXEC, PAGE_LIMIT, Certainty, ExecutionError, Primitives


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def primitives(root):
    return Primitives(root, host_environment={"PATH": os.environ["PATH"], "SECRET": "hunter2"})


def test_construction_touches_nothing(tmp_path):
    Primitives(tmp_path / "not there yet")
    assert list(tmp_path.iterdir()) == []


def test_a_whole_file_comes_with_its_digest_and_a_page_without(root, primitives):
    whole = primitives.read("1", {"path": "src/ring.c"})
    assert (whole["text"], whole["sha256"], whole["eof"]) == ("int ring;\n", sha(b"int ring;\n"), True)
    page = primitives.read("2", {"path": "src/ring.c", "offset": 4, "limit": 4})
    assert (page["text"], page["bytes"], page["total_bytes"], page["eof"]) == ("ring", 4, 10, False)
    assert "sha256" not in page
    past = primitives.read("3", {"path": "src/ring.c", "offset": 99})
    assert (past["bytes"], past["eof"]) == (0, True)


def test_pages_put_together_are_the_file(root, primitives):
    data = os.urandom(PAGE_LIMIT + 777) + "héé".encode()
    (root / "blob").write_bytes(data)
    parts, offset = [], 0
    while True:
        page = primitives.read("1", {"path": "blob", "offset": offset, "limit": 10_007})
        parts.append(base64.b64decode(page["base64"]) if "base64" in page else page["text"].encode())
        offset += page["bytes"]
        if page["eof"]:
            break
    assert b"".join(parts) == data


def test_bytes_that_are_no_text_or_swell_in_json_come_as_base64(root, primitives):
    (root / "latin").write_bytes(b"caf\xe9")
    (root / "controls").write_bytes(b"\x01" * 100)
    assert base64.b64decode(primitives.read("1", {"path": "latin"})["base64"]) == b"caf\xe9"
    assert base64.b64decode(primitives.read("2", {"path": "controls"})["base64"]) == b"\x01" * 100


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid_arguments"),
        ({"path": 3}, "invalid_arguments"),
        ({"path": "a", "offset": -1}, "invalid_arguments"),
        ({"path": "a", "limit": PAGE_LIMIT + 1}, "invalid_arguments"),
        ({"path": "a", "more": 1}, "invalid_arguments"),
        ({"path": "../outside/secret.txt"}, "outside_workspace"),
        ({"path": "/etc/passwd"}, "outside_workspace"),
        ({"path": "link"}, "outside_workspace"),
        ({"path": "none"}, "not_found"),
        ({"path": "src"}, "is_directory"),
        ({"path": "pipe"}, "not_a_file"),
    ],
)
def test_what_cannot_be_read_is_a_result(root, outside, primitives, arguments, code):
    (root / "link").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "pipe")
    result = primitives.read("1", arguments)
    assert (result["ok"], result["code"]) == (False, code)
    assert len(result["message"]) <= 300


def test_a_creation_and_its_repeat(root, primitives):
    arguments = {"path": "docs/a", "content": "x", "create": True}
    first = primitives.replace("1", arguments)
    assert [first[k] for k in ("ok", "created", "changed", "committed", "durable", "temporary_cleaned")] == [True] * 6
    inode = (root / "docs/a").stat().st_ino
    again = primitives.replace("1", arguments)
    assert (again["ok"], again["created"], again["changed"], again["sha256"]) == (True, False, False, sha(b"x"))
    assert (root / "docs/a").stat().st_ino == inode
    other = primitives.replace("2", {"path": "docs/a", "content": "y", "create": True})
    assert (other["code"], other["current_sha256"]) == ("already_exists", sha(b"x"))


def test_a_replacement_needs_the_digest_of_what_is_there(root, primitives):
    stale = primitives.replace("1", {"path": "src/ring.c", "content": "x", "expected_sha256": "0" * 64})
    assert stale["code"] == "stale"
    arguments = {"path": "src/ring.c", "content": "x", "expected_sha256": sha(b"int ring;\n")}
    assert primitives.replace("2", arguments)["changed"]
    assert primitives.replace("2", arguments)["changed"] is False


@pytest.mark.parametrize(
    "extra", [{}, {"create": True, "expected_sha256": "0" * 64}, {"create": False}, {"expected_sha256": "A" * 64}]
)
def test_a_replacement_says_exactly_what_it_expects(primitives, extra):
    assert primitives.replace("1", {"path": "a", "content": "x", **extra})["code"] == "invalid_arguments"


def test_a_cancellation_before_the_commit_leaves_nothing_and_may_be_retried(root, primitives):
    with pytest.raises(ExecutionError) as error:
        primitives.replace("call-7", {"path": "a", "content": "x", "create": True}, lambda: True)
    assert (error.value.call_id, error.value.certainty, error.value.retry_allowed) == (
        "call-7",
        Certainty.DEFINITIVE,
        True,
    )
    assert not (root / "a").exists()


def test_a_failure_of_the_host_around_the_commit_keeps_its_cause(root):
    class Broken(DurableWriter):
        def write(self, *arguments, **options):
            super().write(*arguments, **options)
            raise LookupError("reporting " + "x" * 1000)

    with pytest.raises(ExecutionError) as error:
        Primitives(root, writer=Broken()).replace("9", {"path": "a", "content": "x", "create": True})
    assert isinstance(error.value.__cause__, LookupError)
    assert (error.value.certainty, error.value.retry_allowed) == (Certainty.UNCERTAIN, True)
    assert len(str(error.value)) < 500
    assert Primitives(root).replace("9", {"path": "a", "content": "x", "create": True})["changed"] is False


def run(primitives, code, call="1", cancelled=lambda: False, **arguments):
    return primitives.exec(call, {"argv": [sys.executable, "-c", code], **arguments}, cancelled)


def test_an_argv_runs_without_shell_or_secrets_in_its_directory(root, primitives):
    result = primitives.exec("1", {"argv": ["printf", "%s", "$(id) *"], "workdir": "src"})
    assert result["stdout"]["text"] == "$(id) *"
    seen = run(
        primitives,
        "import os, sys; print(os.getcwd(), 'SECRET' in os.environ, len(sys.stdin.read()))",
        "2",
        workdir="src",
    )
    assert seen["stdout"]["text"] == f"{root}/src False 0\n"


def test_the_end_of_a_process_is_told_exactly(primitives):
    ended = run(primitives, "raise SystemExit(3)")
    assert (ended["outcome"], ended["code"]) == ("exited", 3)
    killed = run(primitives, "import os; os.kill(os.getpid(), 9)", "2")
    assert (killed["outcome"], killed["code"]) == ("signalled", signal.SIGKILL)
    assert killed["managed_cleanup_completed"] is True


def test_output_is_bounded_and_counted(root):
    bounded = Primitives(root, output_limit=1000)
    result = run(bounded, "print('x' * 200_000)")
    assert result["stdout"]["captured_bytes"] == 1000
    assert (result["stdout"]["observed_bytes"], result["stdout"]["truncated"]) == (200_001, True)
    assert result["stderr"] == {"text": "", "captured_bytes": 0, "observed_bytes": 0, "truncated": False}


def test_a_timeout_kills_the_group_and_a_child_that_stays_holds_nobody(root, primitives):
    started = time.monotonic()
    result = run(primitives, "import time; time.sleep(60)", timeout=1)
    assert (result["timed_out"], result["outcome"]) == (True, "signalled")
    left = primitives.exec("2", {"argv": ["sh", "-c", "sleep 60 & echo $!"]})
    pid = int(left["stdout"]["text"])
    assert left["managed_cleanup_completed"] is True
    stat = Path(f"/proc/{pid}/stat")
    assert not stat.exists() or stat.read_text(encoding="utf-8").split()[2] == "Z"
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("workdir", ["link", "src/up", "none", "..", "/tmp", "README.md"])
def test_a_workdir_reached_through_a_link_or_outside_is_refused(root, primitives, workdir):
    (root / "link").symlink_to("src")
    (root / "src/up").symlink_to("..")
    assert primitives.exec("1", {"argv": ["true"], "workdir": workdir})["code"] == "bad_workdir"


def test_what_cannot_start_is_a_result_and_may_be_tried_again(primitives):
    for _ in range(2):
        assert primitives.exec("1", {"argv": ["no-such-program"]})["code"] == "cannot_start"


@pytest.mark.parametrize("argv", [[], "true", [""], ["a\0b"], [3]])
def test_a_bad_argv_is_a_result(primitives, argv):
    assert primitives.exec("1", {"argv": argv})["code"] == "invalid_arguments"


def test_a_started_call_is_never_started_again(root, primitives):
    append = "open('count', 'a').write('x')"
    run(primitives, append)
    with pytest.raises(ExecutionError) as error:
        run(primitives, append)
    assert error.value.retry_allowed is False
    assert (root / "count").read_text() == "x"


def test_a_cancellation_is_definitive_before_the_launch_and_uncertain_after(root, primitives):
    with pytest.raises(ExecutionError) as before:
        run(primitives, "open('ran', 'w')", cancelled=lambda: True)
    assert (before.value.certainty, before.value.retry_allowed) == (Certainty.DEFINITIVE, True)
    assert not (root / "ran").exists()
    code = "open('ran', 'w').close(); import time; time.sleep(60)"
    with pytest.raises(ExecutionError) as after:
        run(primitives, code, "2", cancelled=lambda: (root / "ran").exists())
    assert (after.value.certainty, after.value.retry_allowed) == (Certainty.UNCERTAIN, False)


def test_a_fingerprint_moves_with_the_contract_and_only_then():
    assert len({definition.fingerprint for definition in DEFINITIONS}) == 3
    assert changed(EXEC).fingerprint == EXEC.fingerprint
    assert changed(EXEC, replay="safe").fingerprint != EXEC.fingerprint
    assert changed(EXEC, schema={**EXEC.schema, "required": []}).fingerprint != EXEC.fingerprint


def test_every_result_is_json(root, primitives):
    for result in (primitives.read("1", {"path": "src/ring.c"}), run(primitives, "print(1)")):
        assert json.loads(json.dumps(result)) == result
