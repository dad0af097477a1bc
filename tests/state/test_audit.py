"""The hash chain: it survives crashes, and it misses nothing that was removed, reordered or edited."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.events.names import EventName
from spear.state.audit import AuditLog, heads_of, read, tail_records, tail_turns, verify
from spear.state.lines import canonical
from spear.state.redaction import Redactor

WRITER = """
import sys
from pathlib import Path
from spear.events.names import EventName
from spear.state.audit import AuditLog
from spear.state.lines import canonical
from spear.state.redaction import Redactor
log = AuditLog(Path(sys.argv[1]), "s1", Redactor())
print("ready", flush=True)
n = 0
while n < int(sys.argv[2]):
    n += 1
    log.append(EventName.TOOL_CALLED, 1, {"n": n, "pad": "x" * (n * 37 % 9000)})
    if n % 7 == 0:
        log.flush()
log.close()
"""


def make_log(directory: Path, count: int, session: str = "s1") -> Path:
    path = directory / session / "events.jsonl"
    with AuditLog(path, session, Redactor(), clock=lambda: "2026-01-01T00:00:00.000000Z") as log:
        for n in range(count):
            log.append(EventName.TOOL_CALLED, n // 3 + 1, {"n": n, "ratio": n / 7, "text": f"é\u2028{n}"})
    return path


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    return make_log(tmp_path_factory.mktemp("chain"), 9)


def test_a_log_that_was_only_appended_to_verifies(chain):
    report = verify(chain)
    assert report.ok
    assert report.records == 9
    assert [r["seq"] for r in read(chain)] == list(range(1, 10))
    assert set(next(read(chain))) == {"ts", "seq", "session", "turn", "event", "data", "prev", "hash"}


def test_reopening_continues_the_chain(tmp_path):
    path = make_log(tmp_path, 3)
    with AuditLog(path, "s1", Redactor()) as log:
        assert log.append(EventName.SESSION_CLOSED, 0, {}) == 4
    assert verify(path).ok


def test_two_writers_of_one_session_make_one_chain(tmp_path):
    path = tmp_path / "s1" / "events.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), "200"], stdout=-1) for _ in range(2)]
    assert [w.wait(30) for w in writers] == [0, 0]
    for w in writers:
        w.stdout.close()
    report = verify(path)
    assert report.ok, report.problems
    assert report.records == 400


def test_what_is_no_json_is_written_as_text(tmp_path):
    path = tmp_path / "s1" / "events.jsonl"
    with AuditLog(path, "s1", Redactor()) as log:
        log.append(
            EventName.TOOL_CALLED, 1, {"path": Path("/x"), "nan": float("nan"), "set": {"b", "a"}, "s": "\ud83d"}
        )
    assert verify(path).ok
    assert next(read(path))["data"] == {"path": "/x", "nan": "nan", "set": ["a", "b"], "s": "\ud83d"}


def test_secrets_do_not_reach_the_log(tmp_path):
    path = tmp_path / "s1" / "events.jsonl"
    with AuditLog(path, "s1", Redactor(["correct-horse"])) as log:
        log.append(EventName.TOOL_CALLED, 1, {"command": "x --token abc1234 correct-horse", "env": {"API_KEY": "zzz"}})
    blob = path.read_text()
    for secret in ("abc1234", "correct-horse", "zzz"):
        assert secret not in blob


def tampered(lines: list[bytes], how: str, data) -> list[bytes]:
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.integers(0, len(lines) - 1).filter(lambda n: n != at))
    match how:
        case "remove":
            return lines[:at] + lines[at + 1 :]
        case "cut":
            return lines[:at]
        case "swap":
            swapped = list(lines)
            swapped[at], swapped[other] = lines[other], lines[at]
            return swapped
        case "repeat":
            return [*lines[: at + 1], lines[at], *lines[at + 1 :]]
        case "byte":
            position = data.draw(st.integers(0, len(lines[at]) - 1))
            byte = data.draw(st.integers(0, 255).filter(lambda b: b not in (lines[at][position], 10)))
            edited = bytearray(lines[at])
            edited[position] = byte
            return [*lines[:at], bytes(edited), *lines[at + 1 :]]
        case "insert":
            position = data.draw(st.integers(0, len(lines[at])))
            extra = data.draw(st.sampled_from([b" ", b"x", b"0", b'"', b"}", b"\r", b',"n":1']))
            return [*lines[:at], lines[at][:position] + extra + lines[at][position:], *lines[at + 1 :]]
    raise AssertionError(how)


@given(how=st.sampled_from(["remove", "cut", "swap", "repeat", "byte", "insert"]), data=st.data())
@settings(max_examples=300, deadline=None)
def test_any_removal_reordering_or_edit_is_found(tmp_path_factory, chain, how, data):
    lines = chain.read_bytes().split(b"\n")[:-1]
    directory = tmp_path_factory.mktemp("tampered") / "s1"
    directory.mkdir()
    copy = directory / "events.jsonl"
    copy.write_bytes(b"".join(line + b"\n" for line in tampered(lines, how, data)))
    heads_of(copy).write_bytes(heads_of(chain).read_bytes())
    assert not verify(copy).ok


def test_a_whole_log_that_was_removed_is_found(tmp_path):
    path = make_log(tmp_path, 3)
    path.unlink()
    assert not verify(path).ok


def test_a_log_of_another_session_is_found(tmp_path):
    path = make_log(tmp_path, 3)
    other = tmp_path / "s2" / "events.jsonl"
    other.parent.mkdir()
    other.write_bytes(path.read_bytes())
    assert any("belongs to session s1" in problem.what for problem in verify(other).problems)


def test_a_torn_tail_is_reported_and_is_no_damage(tmp_path):
    path = make_log(tmp_path, 3)
    with path.open("ab") as file:
        file.write(b'{"data":{')
    report = verify(path)
    assert report.ok
    assert report.torn == 9
    log = AuditLog(path, "s1", Redactor())
    log.append(EventName.SESSION_STARTED, 0, {})
    assert len(log.torn) == 1
    log.close()
    assert verify(path).ok
    assert verify(path).torn == 0


def test_records_cut_off_and_overgrown_stay_found(tmp_path):
    path = make_log(tmp_path, 6)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    with AuditLog(path, "s1", Redactor()) as log:
        for _ in range(6):
            log.append(EventName.TOOL_CALLED, 9, {})
    assert any("record 6 was replaced" in problem.what for problem in verify(path).problems)


def test_killed_at_any_moment_the_chain_verifies_and_goes_on(tmp_path):
    """Two hundred kills of a process that appends as fast as it can, all on one log."""
    path = tmp_path / "s1" / "events.jsonl"
    rng = random.Random(7)
    fork = (
        "import os, signal, sys, time\n"
        "from pathlib import Path\n"
        "from spear.events.names import EventName\n"
        "from spear.state.audit import AuditLog\n"
        "from spear.state.redaction import Redactor\n"
        "for trial in sys.argv[2:]:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        log = AuditLog(Path(sys.argv[1]), 's1', Redactor())\n"
        "        n = 0\n"
        "        while True:\n"
        "            n += 1\n"
        "            log.append(EventName.TOOL_CALLED, 1, {'n': n, 'pad': 'x' * (n * 7919 % 60000)})\n"
        "            n % 11 or log.flush()\n"
        "    time.sleep(float(trial))\n"
        "    os.kill(child, signal.SIGKILL)\n"
        "    os.waitpid(child, 0)\n"
    )
    delays = [f"{rng.uniform(0.0005, 0.012):.4f}" for _ in range(200)]
    subprocess.run([sys.executable, "-c", fork, str(path), *delays], check=True, timeout=60)
    before = verify(path)
    assert before.ok, before.problems
    assert before.records >= 50
    with AuditLog(path, "s1", Redactor()) as log:
        assert log.append(EventName.SESSION_STARTED, 0, {}) == before.records + 1
    assert verify(path).ok


def test_the_tail_of_a_large_log_is_read_without_reading_the_log(tmp_path):
    path = make_log(tmp_path, 6)
    small = path.read_bytes()
    line = json.dumps({"seq": 0, "turn": 0, "pad": "x" * 100_000}).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(500):
            file.write(line)
        file.write(small)
    read_bytes = Path("/proc/self/io").read_text(encoding="utf-8").split("rchar: ")[1].split("\n")[0]
    assert [r["seq"] for r in tail_records(path, 4)] == [3, 4, 5, 6]
    assert [r["seq"] for r in tail_turns(path, 1)] == [4, 5, 6]
    after = Path("/proc/self/io").read_text(encoding="utf-8").split("rchar: ")[1].split("\n")[0]
    assert int(after) - int(read_bytes) < 1_000_000


def test_a_line_forged_with_a_hash_of_its_own_is_found(tmp_path):
    path = make_log(tmp_path, 5)
    lines = path.read_bytes().splitlines()
    record = json.loads(lines[2])
    record["data"]["n"] = 99
    del record["hash"]
    record["hash"] = hashlib.sha256(canonical(record)).hexdigest()
    lines[2] = canonical(record)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert [(p.line, p.what) for p in verify(path).problems] == [(4, "does not continue the record before it")]
