"""read_file shows exactly the lines there are, and says what it did not show."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.agent.host import Outcome, Refusal
from spear.agent.tools.windows import beginning, window


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("x1\nx2\nx3\n", ["1|x1", "2|x2", "3|x3"]),
        ("x1\nx2\nx3", ["1|x1", "2|x2", "3|x3"]),
        ("\n\n", ["1|", "2|"]),
        ("a\r\nb\r\n", ["1|a", "2|b"]),
        ("a\fb\x0bc\u2028d\n", ["1|a\fb\x0bc\u2028d"]),
    ],
)
def test_there_are_as_many_rows_as_lines(bench, content, rows):
    bench.write("f", content)
    assert bench.ok("read_file", path="f").split("\n") == rows


def test_the_last_line_without_newline_can_be_paged_to(bench):
    bench.write("f", "x1\nx2\nx3")
    assert bench.ok("read_file", path="f", limit=2).split("\n") == [
        "1|x1",
        "2|x2",
        "[lines 1-2 of 3; continue with offset=3]",
    ]
    assert bench.ok("read_file", path="f", offset=3).split("\n") == ["3|x3", "[lines 3-3 of 3; end of file]"]


def test_an_offset_past_the_end_says_how_many_lines_there_are(bench):
    bench.write("f", "a\nb\n")
    assert bench.ok("read_file", path="f", offset=9) == "[offset 9 is past the end: the file has 2 lines]"


def test_an_empty_file_is_said_to_be_empty(bench):
    bench.write("f", "")
    assert bench.ok("read_file", path="f") == "[the file is empty]"


def test_bad_windows_are_clamped(bench):
    bench.write("f", "".join(f"{n}\n" for n in range(3000)))
    assert bench.ok("read_file", path="f", offset=-5, limit=0).split("\n")[0] == "1|0"
    assert "[lines 1-2000 of 3000; continue with offset=2001]" in bench.ok("read_file", path="f", limit=10**9)


def test_a_long_line_is_clamped_and_marked(bench):
    bench.write("f", "a" * 5000 + "\nb\n")
    text = bench.ok("read_file", path="f")
    assert text.split("\n")[0] == "1|" + "a" * 2000 + "… [clamped: the line has 5000 bytes]"
    assert "1 long line(s) clamped" in text


def test_a_line_of_exactly_the_limit_is_whole(bench):
    bench.write("f", "é" * 2000 + "\n")
    assert bench.ok("read_file", path="f") == "1|" + "é" * 2000


def test_the_budget_cuts_between_lines(bench):
    bench.write("f", ("x" * 900 + "\n") * 500)
    text = bench.ok("read_file", path="f")
    assert len(text) < 101_000
    rows = [row for row in text.split("\n") if not row.startswith("[")]
    assert all(len(row.split("|")[1]) == 900 for row in rows)
    assert f"continue with offset={len(rows) + 1}" in text


def test_utf8_bom_is_not_shown(bench):
    bench.write("f", b"\xef\xbb\xbfa\n")
    assert bench.ok("read_file", path="f") == "1|a"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_with_a_mark_is_shown_and_marked(bench, codec):
    bench.write("f", "\ufeffé\nb\n".encode(codec))
    assert bench.ok("read_file", path="f").split("\n") == ["1|é", "2|b", f"[{codec.upper()} with a byte order mark]"]


def test_latin1_text_is_shown_and_marked(bench):
    bench.write("f", b"caf\xe9 x=1\n")
    assert bench.ok("read_file", path="f").split("\n")[0] == "1|café x=1"
    assert "Latin-1" in bench.ok("read_file", path="f", limit=7)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (bytes(range(256)), "unknown type, 256 bytes"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "PNG image"),
        (b"\x7fELF\x02\x01" + b"\0" * 20, "ELF"),
        (b"PK\x03\x04" + b"\0" * 20, "ZIP"),
        (b"\x1f\x8b\x08\xff\xfe\xfd", "gzip"),
        (b"\xff\xd8\xff\xe0abc", "JPEG"),
    ],
)
def test_a_binary_is_described(bench, content, kind):
    bench.write("f", content)
    text = bench.ok("read_file", path="f")
    assert kind in text
    assert "binary" in text


def test_a_text_that_begins_like_a_bitmap_is_text(bench):
    bench.write("f", "BM is two letters\n")
    assert bench.ok("read_file", path="f") == "1|BM is two letters"


def test_a_directory_is_named_and_the_way_to_list_it_given(bench):
    bench.write("src/a.c", "")
    result = bench.call("read_file", path="src")
    assert result.outcome is Outcome.FAILED
    assert "src is a directory" in result.text
    assert 'search_files(pattern="*", target="files", path="src")' in result.text


def test_a_fifo_and_a_socket_are_named_and_not_opened(bench, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        assert "is a FIFO" in bench.call("read_file", path="pipe").text
        assert "is a socket" in bench.call("read_file", path="sock").text


def test_a_device_is_named_and_not_opened(bench):
    bench.host.root = Path("/dev")
    assert "is a character device" in bench.call("read_file", path="null").text


def test_a_missing_file_suggests_near_names_anywhere(bench):
    for path in ("src/ring.c", "src/ring.h", "deep/down/rings.c", "other.txt"):
        bench.write(path, "x")
    result = bench.call("read_file", path="src/rings.c")
    assert result.outcome is Outcome.FAILED
    assert "src/ring.c" in result.text
    assert "deep/down/rings.c" in result.text
    assert "other.txt" not in result.text


def test_at_most_five_names_are_suggested_and_only_readable_ones(bench):
    for number in range(9):
        bench.write(f"ring{number}.c", "x")
    bench.host.hidden = {"ring0.c"}
    text = bench.call("read_file", path="ring.c").text
    assert text.count("ring") == 6
    assert "ring0.c" not in text


def test_a_refusal_of_the_host_is_the_result(bench):
    result = bench.call("read_file", path="../x")
    assert result.outcome is Outcome.REFUSED
    assert result.text == "refused: ../x — outside the workspace; use a path inside it"


def test_a_denied_call_is_refused_before_anything(bench):
    bench.host.denied["read_file"] = Refusal("mode", "read_file", "f", "not now", "")
    assert bench.call("read_file", path="f").text == "refused: f — not now"


def test_an_identical_read_is_a_stub_while_its_content_is_visible(bench):
    bench.write("f", "a\n")
    assert bench.ok("read_file", path="f") == "1|a"
    stub = bench.ok("read_file", path="f")
    assert stub.startswith("[unchanged")
    assert "\n" not in stub
    bench.gone.add("call1")
    assert bench.ok("read_file", path="f") == "1|a"
    assert bench.ok("read_file", path="f").startswith("[unchanged")


def test_a_changed_file_is_shown_again(bench):
    bench.write("f", "a\n")
    bench.ok("read_file", path="f")
    before = os.stat(bench.root / "f")
    bench.write("f", "b\n")
    os.utime(bench.root / "f", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert bench.ok("read_file", path="f") == "1|b"


def test_another_window_is_not_a_repetition(bench):
    bench.write("f", "a\nb\n")
    bench.ok("read_file", path="f")
    assert bench.ok("read_file", path="f", offset=2).startswith("2|b")


def test_a_file_without_permission_is_an_error_with_its_name(bench, monkeypatch):
    bench.write("f", "a")

    def denied(target):
        raise PermissionError(13, "Permission denied", "/internal")

    monkeypatch.setattr(bench.host, "open_read", denied)
    result = bench.call("read_file", path="f")
    assert result.outcome is Outcome.FAILED
    assert result.text.startswith("error: f: permission denied")
    assert "/internal" not in result.text


def test_threads_may_read_at_once(bench):
    for number in range(8):
        bench.write(f"f{number}", f"{number}\n" * 100)
    seen: dict[int, str] = {}
    threads = [Thread(target=lambda n=n: seen.__setitem__(n, bench.ok("read_file", path=f"f{n}"))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(seen[n].startswith(f"1|{n}\n") for n in range(8))


def test_memory_stays_bounded_for_a_huge_file_and_a_huge_line(tmp_path):
    big = tmp_path / "big.txt"
    with big.open("wb") as stream:
        stream.write(b"first\n")
        for _ in range(300):
            stream.write(b"x" * (1 << 20))
        stream.write(b"\nlast line\n")
    script = textwrap.dedent("""
        import re, sys
        from pathlib import Path
        from spear.agent.host import ToolRequest
        from spear.agent.tools import Toolbox
        from tests.agent.fake_host import FakeHost
        tools = Toolbox(FakeHost(Path(sys.argv[1])), lambda call: False)
        print(tools.run(ToolRequest("1", "read_file", {"path": "big.txt", "offset": 2, "limit": 2})).text[-200:])
        print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text(encoding="ascii"))[1])
    """)
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    *text, peak = done.stdout.strip().split("\n")
    assert "3|last line" in text
    assert int(peak) < 120_000, peak


@given(
    st.lists(st.sampled_from([b"", b"a", b"bc", b"\r", b"long line"])),
    st.booleans(),
    st.integers(1, 9),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_any_window_of_any_blocks_is_the_lines(lines, closed, offset, limit, size):
    raw = b"\n".join(lines) + (b"\n" if closed and lines else b"")
    expected = raw.split(b"\n")
    if not expected[-1]:
        expected.pop()
    blocks = [raw[start : start + size] for start in range(0, len(raw), size)]
    found = window(iter(blocks), offset, limit, 1 << 30)
    assert found.lines.heads == expected[offset - 1 : offset - 1 + limit]
    assert found.lines.sizes == [len(line) for line in expected[offset - 1 : offset - 1 + limit]]
    assert found.total == len(expected)
    assert found.complete


@given(st.binary(max_size=40), st.integers(0, 50), st.integers(1, 7))
def test_the_beginning_of_a_stream_is_all_of_it_up_to_a_bound(raw, most, at_once):
    class Slow(io.BytesIO):
        def read(self, size=-1, /):
            return super().read(min(size, at_once))

    assert beginning(Slow(raw), most) == raw[:most]


ANY_LINES = st.lists(
    st.sampled_from(["", "a", "\r", "a\r", "\r\r", "é" * 1500, "é" * 2000, "é" * 2000 + "\r", "é" * 2001, "€" * 3000]),
    max_size=30,
)


@given(ANY_LINES, st.booleans(), st.integers(1, 5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_are_shown_as_each_of_them_is(bench, lines, closed, offset):
    """They are decoded all at once, for speed."""
    path = f"f{bench.calls}"  # a second read of one file would be answered from memory
    bench.write(path, ("\n".join(lines) + ("\n" if closed and lines else "")).encode())
    if not closed and lines and not lines[-1]:
        lines = lines[:-1]
    rows = [
        f"{number}|{line.removesuffix(chr(13))}"
        if len(line) <= 2000
        else f"{number}|{line[:2000]}… [clamped: the line has {len(line.encode())} bytes]"
        for number, line in enumerate(lines, 1)
    ][offset - 1 :]
    result = bench.call("read_file", path=path, offset=offset)
    shown = result.text.split("\n")[: len(rows)]
    assert shown == rows
    clamped = sum("clamped: the line" in row for row in rows)
    assert (f"{clamped} long line(s) clamped" in result.text) is bool(clamped)


def test_counting_lines_is_given_up_after_a_bound():
    found = window(iter([b"a\nb\n", b"c\n" * 10, b"d\n" * 10]), 1, 2, 25)
    assert found.lines.heads == [b"a", b"b"]
    assert not found.complete
    assert found.total >= 2
