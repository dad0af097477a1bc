"""write_file keeps the form of what it replaces and refuses what would destroy it; delete_file removes one thing."""

from __future__ import annotations

import hashlib

import pytest

from spear.agent.host import Outcome
from spear.agent.tools.contents import is_display


def test_a_new_file_is_created_with_its_parents_as_given(bench):
    text = bench.ok("write_file", path="a/b/c.txt", content="x\r\ny")
    assert text == "created a/b/c.txt: 2 lines, 4 bytes"
    assert bench.bytes("a/b/c.txt") == b"x\r\ny"


def test_the_same_content_changes_nothing(bench):
    bench.write("f", "x\n")
    result = bench.call("write_file", path="f", content="x\n")
    assert result.outcome is Outcome.OK
    assert not result.changed
    assert "nothing changed" in result.text


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        (b"caf\xe9\n", "th\u00e9\n", b"th\xe9\n"),
        (b"caf\xe9\n", "\u4e2d\n", "\u4e2d\n".encode()),
        ("\ufeffa\n".encode("utf-16-le"), "b\n", "\ufeffb\n".encode("utf-16-le")),
        (b"\0\1binary", "text\n", b"text\n"),
    ],
)
def test_the_form_of_the_existing_file_is_kept(bench, before, content, after):
    bench.write("f", before)
    bench.ok("write_file", path="f", content=content)
    assert bench.bytes("f") == after


@pytest.mark.parametrize(
    ("name", "content", "language"),
    [
        ("a.json", "{", "JSON"),
        ("a.JSON", '{"a": 1,}', "JSON"),
        ("settings.json", "{", "JSON"),
        ("a.toml", "a = ", "TOML"),
        ("a.yaml", "a: [", "YAML"),
        ("a.yml", "a: b: c", "YAML"),
        ("deep.json", "[" * 100_000, "JSON"),
    ],
)
def test_what_does_not_parse_never_reaches_the_disk(bench, name, content, language):
    result = bench.call("write_file", path=name, content=content)
    assert result.outcome is Outcome.FAILED
    assert f"{language} does not parse" in result.text
    assert not (bench.root / name).exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"a": [1, 2]}\n'),
        ("tsconfig.json", '{ // why\n "a": "http://x", /* y */ "b": [1,],\n}\n'),
        ("a.yaml", "a: !custom 1\n---\nb: 2\n"),
        ("a.toml", "[a]\nb = 1\n"),
        ("a.txt", "{"),
    ],
)
def test_what_parses_is_written(bench, name, content):
    bench.ok("write_file", path=name, content=content)
    assert bench.bytes(name) == content.encode()


def test_a_new_python_syntax_error_is_reported_and_an_old_one_is_not(bench):
    assert "syntax error (Python): line 1" in bench.ok("write_file", path="t.py", content="def f(:\n    pass\n")
    assert "syntax" not in bench.ok("write_file", path="t.py", content="def f(:\n    return\n")
    assert "syntax" not in bench.ok("write_file", path="t.py", content="def f():\n    return\n")


def test_the_display_of_read_file_is_refused(bench):
    bench.write("f", "a\nb\nc\n")
    shown = bench.ok("read_file", path="f")
    result = bench.call("write_file", path="f", content=shown)
    assert result.outcome is Outcome.FAILED
    assert "read_file display" in result.text
    assert bench.bytes("f") == b"a\nb\nc\n"


def test_the_stub_of_a_repeated_read_is_refused(bench):
    bench.write("f", "a\nb\nc\n")
    bench.ok("read_file", path="f")
    stub = bench.ok("read_file", path="f")
    assert bench.call("write_file", path="g", content=stub).outcome is Outcome.FAILED


def test_a_clamped_line_is_refused(bench):
    bench.write("f", "x" * 3000 + "\n")
    row = bench.ok("read_file", path="f").split("\n")[0].removeprefix("1|")
    result = bench.call("write_file", path="f", content=row + "\n")
    assert "clamped line" in result.text
    assert bench.bytes("f") == b"x" * 3000 + b"\n"


@pytest.mark.parametrize("sentinel", ["[redacted]", "«redacted:ghp_…»"])
def test_a_redaction_sentinel_is_refused(bench, sentinel):
    bench.write("f", 'K = "ghp_real"\nx=1\n')
    assert "stands for a secret" in bench.call("write_file", path="f", content=f'K = "{sentinel}"\nx=3\n').text
    assert bench.bytes("f") == b'K = "ghp_real"\nx=1\n'


@pytest.mark.parametrize(
    ("text", "display"),
    [
        ("1|a\n2|b\n", True),
        ("17|a\n18|\n19|b\n[lines 17-19 of 40; continue with offset=20]", True),
        ("1|a\n", False),
        ("1|2|3\n4|5|6\n", False),
        ("7|a\n7|b\n", False),
        ("a|1\nb|2\n", False),
        ("plain\n1|a\n2|b\nplain\nplain\nplain\n", False),
    ],
)
def test_what_counts_as_a_display(text, display):
    assert is_display(text) is display


def test_a_file_changed_since_it_was_read_is_refused_as_stale(bench):
    bench.write("f", "a\n")
    bench.ok("read_file", path="f")
    bench.write("f", "b\n")
    result = bench.call("write_file", path="f", content="c\n")
    assert result.outcome is Outcome.REFUSED
    assert result.refusal is not None
    assert result.refusal.code == "stale"
    assert "changed since you read it" in result.text
    assert bench.bytes("f") == b"b\n"
    bench.ok("read_file", path="f")
    bench.ok("write_file", path="f", content="c\n")


def test_a_touched_file_is_not_stale(bench):
    bench.write("f", "a\n")
    bench.ok("read_file", path="f")
    bench.write("f", "a\n")
    bench.ok("write_file", path="f", content="b\n")


def test_our_own_writes_and_patches_are_no_staleness(bench):
    bench.write("f", "a\n")
    bench.ok("read_file", path="f")
    bench.ok("patch", path="f", old_string="a", new_string="b")
    bench.ok("write_file", path="f", content="c\n")
    bench.ok("write_file", path="f", content="d\n")


def test_a_partial_read_demands_nothing(bench):
    bench.write("f", "a\nb\n")
    bench.ok("read_file", path="f", limit=1)
    bench.write("f", "c\nd\n")
    bench.ok("write_file", path="f", content="e\n")


def test_the_digest_at_the_time_of_the_call_is_expected(bench, monkeypatch):
    bench.write("f", "a\n")
    seen: list[str | None] = []
    write = bench.host.write

    def spying(target, content, expected, request):
        seen.append(expected)
        return write(target, content, expected, request)

    monkeypatch.setattr(bench.host, "write", spying)
    bench.ok("write_file", path="f", content="b\n")
    bench.ok("write_file", path="new", content="b\n")
    assert seen == [hashlib.sha256(b"a\n").hexdigest(), None]


def test_a_directory_and_a_lone_surrogate_are_errors(bench):
    bench.write("d/x", "")
    assert "is a directory" in bench.call("write_file", path="d", content="x").text
    assert "lone surrogate" in bench.call("write_file", path="s", content="\ud83d").text
    assert not (bench.root / "s").exists()


def test_a_file_and_a_link_are_deleted_and_the_target_stays(bench):
    bench.write("f", "a")
    (bench.root / "link").symlink_to("f")
    result = bench.call("delete_file", path="link", reason="tidy")
    assert result.text == "deleted the link (not what it points at) link"
    assert result.changed
    assert bench.bytes("f") == b"a"
    assert bench.ok("delete_file", path="f", reason="tidy") == "deleted the file f"


def test_deleting_what_is_absent_is_a_success_that_changes_nothing(bench):
    result = bench.call("delete_file", path="gone", reason="tidy")
    assert result.outcome is Outcome.OK
    assert not result.changed
    assert "already absent" in result.text


def test_a_directory_is_not_deleted_but_a_link_to_one_is(bench):
    bench.write("d/x", "")
    (bench.root / "l").symlink_to("d")
    assert "is a directory" in bench.call("delete_file", path="d", reason="r").text
    bench.ok("delete_file", path="l", reason="r")
    assert (bench.root / "d/x").exists()


def test_a_deleted_file_written_again_is_not_stale(bench):
    bench.write("f", "a\n")
    bench.ok("read_file", path="f")
    bench.ok("delete_file", path="f", reason="r")
    bench.write("f", "other\n")
    bench.ok("write_file", path="f", content="b\n")
