"""Append-only files: whole lines whatever happens, read from both ends."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.errors import StateError
from spear.state.lines import LineFile, canonical, read_records, records_backwards

WRITER = """
import sys
from pathlib import Path
from spear.state.lines import LineFile, canonical
log = LineFile(Path(sys.argv[1]))
n = 0
while n < int(sys.argv[2]):
    n += 1
    log.append(canonical({"writer": sys.argv[3], "n": n, "pad": "x" * 300}))
"""


def test_appended_records_come_back_in_order(tmp_path):
    log = LineFile(tmp_path / "deep" / "log.jsonl")
    for n in range(5):
        log.append(canonical({"n": n}))
    assert [r["n"] for r in read_records(log.path)] == [0, 1, 2, 3, 4]
    assert [r["n"] for r in records_backwards(log.path)] == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_files_are_private_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        LineFile(tmp_path / "a" / "b" / "log.jsonl").append(b"{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b" / "log.jsonl").stat().st_mode) == 0o600


def test_a_torn_last_line_is_set_aside_before_the_next_append(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2')
    assert [r["n"] for r in read_records(path)] == [1]
    assert [r["n"] for r in records_backwards(path)] == [1]
    log = LineFile(path)
    log.append(canonical({"n": 3}))
    assert path.read_bytes() == b'{"n":1}\n{"n":3}\n'
    assert (tmp_path / "log.jsonl.torn").read_bytes() == b'{"n":2\n'
    assert len(log.torn) == 1
    assert "set aside in log.jsonl.torn" in str(log.torn[0])


def test_a_line_separator_in_a_string_is_no_line_end(tmp_path):
    log = LineFile(tmp_path / "log.jsonl")
    log.append(canonical({"text": "a\u2028b\x85c\nd\ud83d"}))
    log.append(canonical({"text": "second"}))
    assert log.path.read_bytes().count(b"\n") == 2
    assert [r["text"] for r in read_records(log.path)] == ["a\u2028b\x85c\nd\ud83d", "second"]


def test_several_processes_share_one_file(tmp_path):
    path = tmp_path / "log.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), "150", str(n)]) for n in range(4)]
    assert [w.wait(30) for w in writers] == [0, 0, 0, 0]
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    records = [json.loads(line) for line in lines]
    assert len(records) == 600
    for writer in "0123":
        assert [r["n"] for r in records if r["writer"] == writer] == list(range(1, 151))


def test_threads_of_one_process_share_one_file(tmp_path):
    log = LineFile(tmp_path / "log.jsonl")
    threads = [
        threading.Thread(target=lambda: [log.append(b'{"a":"%s"}' % (b"y" * 50)) for _ in range(50)]) for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(list(read_records(log.path))) == 200


FILLER = """
import sys
from pathlib import Path
from spear.errors import StateError
from spear.state.lines import LineFile, canonical
log = LineFile(Path(sys.argv[1]))
line = canonical({"pad": "x" * 5000})
try:
    for n in range(100):
        log.append(line)
except StateError as error:
    print(error)
assert log.path.read_bytes() == (line + b"\\n") * n and n > 5, n
"""


def on_a_small_disk(mount: Path, program: str) -> str:
    """What a program prints whose first argument is a file on a file system of 64 KiB."""
    script = 'mount -t tmpfs -o size=64k tmpfs "$1" && exec "$2" -c "$3" "$1/file"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(mount)]
    done = subprocess.run([*command, sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_full_disk_is_a_clear_error_and_tears_nothing(tmp_path):
    message = on_a_small_disk(tmp_path, FILLER)
    assert "No space left" in message
    assert "free some space" in message


def test_a_directory_in_the_way_is_named(tmp_path):
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(StateError, match=r"log\.jsonl"):
        LineFile(tmp_path / "log.jsonl").append(b"{}")


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError):
        LineFile(tmp_path / "log.jsonl").append(b"{}")
    assert (tmp_path / "elsewhere").read_text() == ""


@given(lines=st.lists(st.integers(0, 200_000), max_size=8), torn=st.integers(0, 70_000))
def test_reading_backwards_is_reading_reversed(tmp_path_factory, lines, torn):
    path = tmp_path_factory.mktemp("lines") / "log.jsonl"
    records = [{"n": n, "pad": "x" * size} for n, size in enumerate(lines)]
    path.write_bytes(b"".join(canonical(r) + b"\n" for r in records) + b"y" * torn)
    assert list(records_backwards(path)) == records[::-1]
    assert list(read_records(path)) == records
