"""patch changes what was quoted and not one byte more, or says why not."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.agent.host import Outcome, Refusal
from spear.agent.tools.edits import diff, edited


def test_the_result_is_a_diff_with_both_names(bench):
    bench.write("src/a.c", "a\nb\nc\n")
    result = bench.call("patch", path="src/a.c", old_string="b", new_string="B")
    assert result.text.split("\n") == ["--- a/src/a.c", "+++ b/src/a.c", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]
    assert result.changed
    assert result.outcome is Outcome.OK


def test_a_forgiving_match_names_its_strategy(bench):
    bench.write("a.c", "\tb();\n")
    assert bench.ok("patch", path="a.c", old_string="    b();", new_string="    c();").endswith(
        "[matched by line_trimmed: check the diff]"
    )
    assert bench.bytes("a.c") == b"\tc();\n"


def test_replace_all_says_how_many(bench):
    bench.write("a.txt", "x\nx\n")
    assert "[2 replacements]" in bench.ok("patch", path="a.txt", old_string="x", new_string="y", replace_all="true")
    assert bench.bytes("a.txt") == b"y\ny\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"def f():\r\n\tif x:\r\n\t\treturn 1\r\n", b"def f():\r\n\tif x:\r\n\t\treturn 3\r\n"),
        (b"\xef\xbb\xbfreturn 1\n", b"\xef\xbb\xbfreturn 3\n"),
        (b"caf\xe9\nreturn 1\n", b"caf\xe9\nreturn 3\n"),
        (b"a\rb\nreturn 1", b"a\rb\nreturn 3"),
        ("\ufeffé\r\nreturn 1\r\n".encode("utf-16-le"), "\ufeffé\r\nreturn 3\r\n".encode("utf-16-le")),
        ("\ufeffé\nreturn 1\n".encode("utf-16-be"), "\ufeffé\nreturn 3\n".encode("utf-16-be")),
    ],
)
def test_every_other_byte_is_kept(bench, before, after):
    bench.write("f", before)
    bench.ok("patch", path="f", old_string="return 1", new_string="return 3")
    assert bench.bytes("f") == after


def test_a_character_the_encoding_lacks_is_refused(bench):
    bench.write("f", b"caf\xe9 x\n")
    result = bench.call("patch", path="f", old_string="x", new_string="\u4e2d")
    assert result.outcome is Outcome.FAILED
    assert "latin-1" in result.text
    assert bench.bytes("f") == b"caf\xe9 x\n"


@pytest.mark.parametrize(
    ("content", "old", "new", "says"),
    [
        ("a\n", "", "x", "old_string is empty"),
        ("a\n", "a", "a", "identical"),
        ("a\nb\na\n", "a", "x", "matches 2 times"),
        ("a\n", "zzz", "x", "not found"),
    ],
)
def test_a_patch_that_is_not_made_changes_nothing(bench, content, old, new, says):
    bench.write("f", content)
    result = bench.call("patch", path="f", old_string=old, new_string=new)
    assert result.outcome is Outcome.FAILED
    assert says in result.text
    assert not result.changed
    assert bench.bytes("f") == content.encode()


def test_an_edit_already_applied_is_a_success_that_changes_nothing(bench):
    bench.write("f", "return index + 1\n")
    result = bench.call("patch", path="f", old_string="return index - 1", new_string="return index + 1")
    assert result.outcome is Outcome.OK
    assert not result.changed
    assert "Already applied" in result.text


def test_only_a_new_syntax_error_is_reported(bench):
    bench.write("good.py", "def f():\n    return 1\n")
    bench.write("bad.py", "def f(:\n    return 1\n")
    bench.write("bom.py", b"\xef\xbb\xbfx = 1\n")
    assert "syntax error (Python)" in bench.ok("patch", path="good.py", old_string="f()", new_string="f(")
    assert "syntax" not in bench.ok("patch", path="bad.py", old_string="1", new_string="2")
    assert "syntax" not in bench.ok("patch", path="bom.py", old_string="1", new_string="2")


def test_a_json_file_broken_by_a_patch_is_reported(bench):
    bench.write("a.json", '{"a": 1}\n')
    assert "syntax error (JSON)" in bench.ok("patch", path="a.json", old_string="1}", new_string="1")


def test_a_binary_a_directory_and_a_missing_file_are_named(bench):
    bench.write("blob", b"\0\1\2")
    bench.write("src/ring.c", "x")
    assert "is a binary file" in bench.call("patch", path="blob", old_string="a", new_string="b").text
    assert "is a directory" in bench.call("patch", path="src", old_string="a", new_string="b").text
    missing = bench.call("patch", path="src/rings.c", old_string="a", new_string="b").text
    assert "no such file; did you mean: src/ring.c" in missing


@pytest.mark.parametrize("sentinel", ["[redacted]", "«redacted:ghp_…»"])
def test_a_redaction_sentinel_is_not_written(bench, sentinel):
    bench.write("f", 'K = "ghp_real"\nx=1\n')
    result = bench.call("patch", path="f", old_string="x=1", new_string=f'x="{sentinel}"')
    assert result.outcome is Outcome.FAILED
    assert "stands for a secret" in result.text
    assert bench.bytes("f") == b'K = "ghp_real"\nx=1\n'


def test_a_sentinel_that_the_file_has_may_stay(bench):
    bench.write("f", 'MARK = "[redacted]"\n')
    bench.ok("patch", path="f", old_string='MARK = "[redacted]"', new_string='MARKER = "[redacted]"')
    assert bench.bytes("f") == b'MARKER = "[redacted]"\n'


def test_the_digest_of_the_bytes_edited_goes_to_the_host(bench, monkeypatch):
    bench.write("f", "a\n")
    seen: list[str | None] = []
    write = bench.host.write

    def spying(target, content, expected, request):
        seen.append(expected)
        return write(target, content, expected, request)

    monkeypatch.setattr(bench.host, "write", spying)
    bench.ok("patch", path="f", old_string="a", new_string="b")
    assert seen == [hashlib.sha256(b"a\n").hexdigest()]


def test_a_file_that_changes_under_the_edit_is_refused_as_stale(bench, monkeypatch):
    bench.write("f", "a\n")
    write = bench.host.write

    def racing(target, content, expected, request):
        bench.write("f", "someone else\n")
        return write(target, content, expected, request)

    monkeypatch.setattr(bench.host, "write", racing)
    result = bench.call("patch", path="f", old_string="a", new_string="b")
    assert result.outcome is Outcome.REFUSED
    assert result.refusal is not None
    assert bench.bytes("f") == b"someone else\n"


def test_a_refused_target_is_refused(bench):
    assert bench.call("patch", path="../f", old_string="a", new_string="b").outcome is Outcome.REFUSED


def test_an_error_of_the_system_names_the_file_asked_for(bench, monkeypatch):
    bench.write("f", "a\n")

    def denied(*_):
        raise PermissionError(13, "Permission denied", "/x/.tmp123")

    monkeypatch.setattr(bench.host, "write", denied)
    text = bench.call("patch", path="f", old_string="a", new_string="b").text
    assert text.startswith("error: f: permission denied")
    assert ".tmp" not in text


def test_a_confirmation_refused_is_the_result(bench, monkeypatch):
    bench.write("f", "a\n")
    no = Refusal("declined", "patch", "f", "the operator said no", "ask")
    monkeypatch.setattr(bench.host, "write", lambda *_: no)
    assert bench.call("patch", path="f", old_string="a", new_string="b").text == no.line()


def test_the_missing_newline_at_the_end_is_shown_in_the_diff(bench):
    bench.write("f", "a\nb")
    text = bench.ok("patch", path="f", old_string="b", new_string="c")
    assert text.count("\\ No newline at end of file") == 2


PIECES = st.lists(st.sampled_from(["a", "bb", " ", "\t", "\n", "\r\n", "\r", "é", "”"]), max_size=25).map("".join)


@given(PIECES, PIECES, st.sampled_from(["X", "X\nY", ""]), st.sampled_from(["utf-8", "latin-1"]))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_surrounds_a_unique_quote_is_byte_identical(bench, before, after, new, codec):
    head, tail = (text.encode(codec, "replace") for text in (before, after))
    if (before + "QUOTE" + after).count("\r\n") and before.endswith("\r") and after.startswith("\n"):
        return
    bench.write("f", head + b"QUOTE" + tail)
    bench.ok("patch", path="f", old_string="QUOTE", new_string=new)
    result = bench.bytes("f")
    assert result.startswith(head)
    assert result.endswith(tail)
    assert result[len(head) : len(result) - len(tail)].replace(b"\r\n", b"\n") == new.encode()


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@"]), max_size=30)


@given(LINES, LINES, LINES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_diff_of_a_part_of_the_file_is_the_diff_of_the_whole(head, middle, tail, closed):
    """Only the changed middle is compared, for speed; the hunks must be numbered as if all of it were."""
    end = "\n" if closed else ""
    before, after = "\n".join([*head, "old", *tail]) + end, "\n".join([*head, *middle, *tail]) + end
    shown = diff("f", before, after)
    patched = _applied(shown, before)
    assert patched == after


@given(LINES, LINES, st.booleans(), st.booleans())
@settings(deadline=None)
def test_what_an_edit_added_and_removed_makes_the_difference(old, new, closed, closed_before):
    before = "\n".join(old) + ("\n" if closed_before and old else "")
    after = "\n".join(new) + ("\n" if closed and new else "")
    found = edited("f", before, after)
    count = [len(text.splitlines()) for text in (before, after)]
    assert count[1] - count[0] == found.added - found.removed
    assert (found.added, found.removed) == (0, 0) or before != after
    assert 0 <= found.removed <= count[0] and 0 <= found.added <= count[1]
    if before != after:
        assert found.added + found.removed


def _applied(shown: str, before: str) -> str:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "f").write_text(before)
        if shown:
            subprocess.run(
                ["git", "apply", "--unidiff-zero", "-p1", "-"], input=shown + "\n", text=True, cwd=directory, check=True
            )
        return (Path(directory) / "f").read_text()
