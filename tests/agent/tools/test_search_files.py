"""search_files: the same answers with ripgrep and without, real totals, pages that never repeat or skip."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spear.agent.host import Outcome
from spear.agent.tools.globs import selector
from spear.agent.tools.search_builtin import BuiltIn
from spear.agent.tools.search_engine import Deadline, Query, Spot
from spear.agent.tools.search_files import Searcher
from spear.agent.tools.search_ripgrep import Ripgrep

ENGINES = ["rg", "built-in"]


@pytest.fixture(params=[*ENGINES, "rg, explaining ahead"])
def either(request, bench):
    """The bench, searching with ripgrep or without; with it, also looking for why there is nothing from the start."""
    if request.param == "rg, explaining ahead":
        bench.tools._searcher = Searcher(bench.host, silence=0.0)
    if request.param == "built-in":
        bench.tools._searcher = Searcher(bench.host, None)
        bench.tools._searcher._said = True
    return bench


def tree(bench):
    bench.write("src/ring.c", '#include "ring.h"\n\nint ring_next(int i)\n{\n\treturn ring_next(i);\n}\n')
    bench.write("src/ring.h", "int ring_next(int);\n")
    bench.write("tests/a b.c", "ring_next(1); ring_next(2);\n")
    bench.write("build/out.c", "ring_next(0);\n")
    bench.write("debug.log", "ring_next(0);\n")
    bench.write(".hidden/x.c", "ring_next(0);\n")
    bench.write(".gitignore", "build/\n*.log\n")
    bench.write("blob.c", b"ring_next(\0\n")


def test_content_is_grouped_by_file_in_path_order_with_a_total(either):
    tree(either)
    assert either.ok("search_files", pattern=r"ring_next\(", file_glob="*.c").split("\n") == [
        "src/ring.c",
        "  3:int ring_next(int i)",
        "  5:\treturn ring_next(i);",
        "tests/a b.c",
        "  1:ring_next(1); ring_next(2);",
        "[3 matching lines in 2 files]",
    ]


def test_counts_are_matches_and_files_only_are_paths(either):
    tree(either)
    assert either.ok("search_files", pattern="ring_next", output_mode="count").split("\n") == [
        "src/ring.c: 2",
        "src/ring.h: 1",
        "tests/a b.c: 2",
        "[3 files, 5 matches]",
    ]
    assert either.ok("search_files", pattern="ring_next", output_mode="files_only").split("\n")[:3] == [
        "src/ring.c",
        "src/ring.h",
        "tests/a b.c",
    ]


def test_context_is_told_from_matches_and_does_not_count(either):
    tree(either)
    assert either.ok("search_files", pattern="include|return", context=1).split("\n") == [
        "src/ring.c",
        '  1:#include "ring.h"',
        "  2-",
        "  --",
        "  4-{",
        "  5:\treturn ring_next(i);",
        "  6-}",
        "[2 matching lines in 1 file]",
    ]


def test_pages_neither_repeat_nor_skip(either):
    for name in "cab":
        either.write(f"{name}/f.txt", "".join(f"hit {name}{n}\n" for n in range(7)))
    whole = [row for row in either.ok("search_files", pattern="hit").split("\n") if ":" in row]
    paged: list[str] = []
    for offset in range(0, 21, 4):
        text = either.ok("search_files", pattern="hit", limit=4, offset=offset)
        paged += [row for row in text.split("\n") if row.startswith("  ")]
        assert "of 21 matching lines" in text
    assert paged == whole
    assert "continue with offset=4" in either.ok("search_files", pattern="hit", limit=4)
    assert "past the end: 21" in either.ok("search_files", pattern="hit", offset=50)


@pytest.mark.parametrize("pattern", ["- x", "--foo", "-x flag", "-e"])
def test_a_pattern_may_start_with_a_dash(either, pattern):
    either.write("f.txt", "- x\n--foo\n-x flag\n-e\n")
    assert f":{pattern}" in either.ok("search_files", pattern=pattern)


def test_a_pattern_that_is_no_regular_expression_is_searched_as_text(either):
    either.write("f.txt", "todo - [ ] one\n")
    text = either.ok("search_files", pattern="- [")
    assert "  1:todo - [ ] one" in text
    assert "searched as literal text" in text


def test_alternation_and_classes_mean_the_same_in_both(either):
    either.write("f.txt", "foo\nbar\nbaz9\n")
    assert "3 matching lines" in either.ok("search_files", pattern="foo|bar|z[[:digit:]]")


def test_a_line_break_in_the_pattern_matches_across_lines(either):
    either.write("f.txt", "a {\n  b\n}\n")
    text = either.ok("search_files", pattern="\\{\\n\\s+b")
    assert "  1:a {" in text
    assert "  2:  b" in text
    assert "across lines" in text


def test_the_end_of_a_crlf_line_is_its_end(either):
    either.write("f.txt", "foo\r\nfoobar\r\n")
    assert "  1:foo\n[1 matching line" in either.ok("search_files", pattern="foo$")


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("RING_NEXT", "5 ignoring case: src/ring.c, src/ring.h, tests/a b.c"),
        ("secret_word", "1 in hidden or ignored files: .hidden/y.txt"),
        ("next(i", "literal text"),
        ("i[0", "literal text"),
    ],
)
def test_nothing_found_is_explained(either, pattern, hint):
    tree(either)
    either.write(".hidden/y.txt", "secret_word\n")
    either.write("idx.c", "i[0]\n")
    assert hint in either.ok("search_files", pattern=pattern)


def test_a_pattern_with_metacharacters_that_occurs_literally_is_hinted(either):
    either.write("f.txt", "a+b\n")
    text = either.ok("search_files", pattern="a+b")
    assert "no matches for a+b" in text
    assert "as literal text (escape the pattern): f.txt" in text


def test_a_missing_root_suggests(either):
    tree(either)
    result = either.call("search_files", pattern="x", path="srcs")
    assert result.outcome is Outcome.FAILED
    assert "src" in result.text.split("did you mean")[1]


def test_one_file_can_be_searched_even_an_ignored_one(either):
    tree(either)
    assert either.ok("search_files", pattern="ring", path="src/ring.h").startswith("src/ring.h\n  1:")
    assert either.ok("search_files", pattern="ring", path="debug.log").startswith("debug.log\n  1:")


def test_a_directory_is_searched_under_the_rules_above_it(either):
    tree(either)
    either.write("src/x.log", "ring")
    assert "x.log" not in either.ok("search_files", pattern="ring", path="src")
    assert either.ok("search_files", pattern="ring", path="src").startswith("src/ring.c\n")


def test_what_the_host_hides_is_neither_shown_nor_counted(either):
    tree(either)
    either.host.hidden = {"src/ring.c"}
    assert "src/ring.c" not in either.ok("search_files", pattern="ring_next")
    assert "[2 files, 3 matches]" in either.ok("search_files", pattern="ring_next", output_mode="count")
    assert "src/ring.c" not in either.ok("search_files", pattern="ring", target="files")
    assert "src/ring.c" not in either.ok("search_files", pattern="RING_NEXT")


def test_files_are_newest_first(either):
    for age, name in enumerate(["new.py", "mid.py", "old.py"]):
        os.utime(either.write(name, ""), (10_000 - age, 10_000 - age))
    assert either.ok("search_files", pattern="*.py", target="files").split("\n") == [
        "new.py",
        "mid.py",
        "old.py",
        "[3 files]",
    ]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("ring", {"src/ring.c", "src/ring.h"}),
        ("src/ri", {"src/ring.c", "src/ring.h"}),
        ("src/*.c", {"src/ring.c"}),
        ("*.c", {"src/ring.c", "tests/a b.c", "blob.c"}),
        ("/*.c", {"blob.c"}),
        ("**/*.h", {"src/ring.h"}),
        ("*.{h,log}", {"src/ring.h"}),
        ("src/**", {"src/ring.c", "src/ring.h"}),
        ("src/", {"src/ring.c", "src/ring.h"}),
        ("[rb]*.[ch]", {"src/ring.c", "src/ring.h", "blob.c"}),
        ("ring.?", {"src/ring.c", "src/ring.h"}),
    ],
)
def test_a_file_pattern_honours_directories_words_and_ignore_rules(either, pattern, names):
    tree(either)
    text = either.ok("search_files", pattern=pattern, target="files")
    assert {row for row in text.split("\n") if not row.startswith("[")} == names


def test_a_glob_honours_its_directory_and_does_not_lift_ignore_rules(either):
    tree(either)
    assert "tests" not in either.ok("search_files", pattern="ring_next", file_glob="src/*.c")
    assert "build" not in either.ok("search_files", pattern="ring_next", file_glob="*.c")
    assert "src/ring.c" not in either.ok("search_files", pattern="ring_next", file_glob="!*.c")


def test_no_file_matching_is_explained(either):
    tree(either)
    assert "hidden or ignored: debug.log" in either.ok("search_files", pattern="*.log", target="files")
    assert "ignoring case: src/ring.c" in either.ok("search_files", pattern="RING.C", target="files")


def test_latin1_and_utf16_files_are_searched(either):
    either.write("l.txt", b"caf\xe9 x\n")
    either.write("u.txt", "\ufeffcaf\u00e9 y\n".encode("utf-16-le"))
    assert "l.txt\n  1:café x" in either.ok("search_files", pattern="x")
    assert "u.txt\n  1:café y" in either.ok("search_files", pattern="y")


def test_a_long_line_is_cut_and_output_is_bounded(either):
    either.write("f.txt", ("x" * 100_000 + "\n") * 3)
    rows = either.ok("search_files", pattern="x+").split("\n")
    assert [len(row) for row in rows[1:4]] == [len("  1:") + 501] * 3
    for number in range(300):
        either.write(f"many/{number}.txt", "y" * 490)
    text = either.ok("search_files", pattern="y", limit=300)
    assert len(text) < 52_000
    assert "of 300 matching lines" in text


def test_symbolic_links_are_not_followed(either):
    either.write("real/f.txt", "needle\n")
    (either.root / "link").symlink_to("real")
    (either.root / "f.txt").symlink_to("/etc/passwd")
    assert either.ok("search_files", pattern="needle|root").split("\n")[0] == "real/f.txt"
    assert "link/" not in either.ok("search_files", pattern="*", target="files")


def test_an_empty_pattern_and_a_bad_glob_are_errors_that_say_what_to_do(either):
    either.write("f.txt", "x")
    assert "pattern is empty" in either.call("search_files", pattern="").text
    assert either.call("search_files", pattern="x", file_glob="[z-a]").outcome is Outcome.FAILED


def test_the_search_without_ripgrep_says_so_once(bench):
    bench.tools._searcher = Searcher(bench.host, None)
    bench.write("f.txt", "x")
    assert "not installed" in bench.ok("search_files", pattern="x")
    assert "not installed" not in bench.ok("search_files", pattern="x")


def test_running_out_of_time_gives_what_there_is(bench):
    bench.write("f.txt", "x\n" * 10)
    bench.tools._searcher = Searcher(bench.host, timeout=0.0)
    result = bench.call("search_files", pattern="x")
    assert result.outcome is Outcome.TIMEOUT
    assert "ran out of time" in result.text


def test_looking_for_an_explanation_ends_with_the_search(bench):
    for number in range(3_000):
        bench.write(f"d{number % 50}/f{number}.txt", "hay\n" * 50)
    bench.write("d0/a.txt", "needle\n")
    bench.tools._searcher = Searcher(bench.host, silence=0.0)
    for _ in range(10):
        assert "needle" in bench.ok("search_files", pattern="needle")
        children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text("ascii").split()
        assert not [pid for pid in children if Path(f"/proc/{pid}/comm").read_text("utf-8") == "rg\n"]


def test_an_explanation_that_was_begun_too_soon_is_made_anew(bench):
    bench.write("a.txt", "needle\n")
    bench.write("b.txt", "Needle\n")
    bench.host.hidden = {"a.txt"}
    bench.tools._searcher = Searcher(bench.host, silence=0.0)
    for _ in range(10):
        assert "1 ignoring case: b.txt" in bench.ok("search_files", pattern="needle")


def test_ripgrep_configuration_of_the_operator_is_ignored(bench, monkeypatch, tmp_path_factory):
    configuration = tmp_path_factory.mktemp("rc") / "rc"
    configuration.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(configuration))
    bench.write("f.txt", "x\ny\n")
    assert "  1:x\n[1 matching line" in bench.ok("search_files", pattern="x")


GLOBS = ["*.c", "/a", "b/", "!b.c", "a/*.c", "**/c", "a/**", "*", "!*/", "?.c", "[ab].c", "# no", "a b", "c.c  "]
PATHS = ["a/b.c", "a/c", "b/b.c", "b/a/c.c", "c.c", "b.c", "a b", "d/a/e.c", "d/c/x"]


@given(st.lists(st.sampled_from(GLOBS), max_size=4), st.lists(st.sampled_from(GLOBS), max_size=2))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_engines_agree_with_git_on_what_is_ignored(tmp_path_factory, top, inner):
    root = tmp_path_factory.mktemp("tree")
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("needle\n")
    (root / ".gitignore").write_text("\n".join(top) + "\n")
    (root / "a" / ".gitignore").write_text("\n".join(inner) + "\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    expected = sorted(path for path in PATHS if path in listed)
    for engine in (Ripgrep("rg"), BuiltIn()):
        found = engine.files(Spot(root), False, Deadline(20))
        assert sorted(path for path in found if not path.startswith(".") and "/." not in path) == expected


@pytest.mark.parametrize("engine", [Ripgrep("rg"), BuiltIn()], ids=ENGINES)
def test_rules_above_the_top_of_a_repository_do_not_count(tmp_path, engine):
    (tmp_path / ".gitignore").write_text("*.txt\n")
    (tmp_path / "repo/sub").mkdir(parents=True)
    (tmp_path / "repo/sub/a.txt").write_text("x")
    spot = Spot(tmp_path / "repo/sub")
    assert list(engine.files(spot, False, Deadline(20))) == []
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "repo", check=True)
    assert list(engine.files(spot, False, Deadline(20))) == ["a.txt"]


@pytest.mark.parametrize(
    ("glob", "among", "not_among"), [("[+--]", "+,-", "*."), ("[--0]", "-./0", ",1"), ("[!--0]", ",1", "-.0")]
)
def test_a_hyphen_may_end_or_begin_a_range(glob, among, not_among):
    assert all(selector(glob).match(one) for one in among if one != "/")
    assert not any(selector(glob).match(one) for one in not_among)


@example("[?--]", "")
@given(st.text(st.sampled_from("ab*?[]{},!/\\.-"), max_size=12), st.text(st.sampled_from("ab/."), max_size=8))
def test_any_glob_gives_a_pattern_or_a_regular_expression_error(glob, path):
    with contextlib.suppress(re.error):
        selector(glob).match(path)


def test_a_glob_does_not_lift_the_hiding_of_hidden_files(either):
    either.write(".x.c", "needle\n")
    either.write("sub/.y.c", "needle\n")
    either.write("z.c", "needle\n")
    assert either.ok("search_files", pattern="needle", file_glob="*.c", output_mode="files_only").split("\n") == [
        "z.c",
        "[1 file, 1 match]",
    ]


def test_a_page_of_files_is_bounded_and_goes_on(either):
    for number in range(400):
        either.write(f"{number:03}{'n' * 200}.txt", "")
    first = either.ok("search_files", pattern="*.txt", target="files", limit=400)
    shown = first.split("\n")
    assert len(first) < 52_000
    assert f"continue with offset={len(shown) - 1}" in shown[-1]
    rest = either.ok("search_files", pattern="*.txt", target="files", limit=400, offset=len(shown) - 1).split("\n")
    assert len({*shown[:-1], *rest[:-1]}) == 400


def test_the_built_in_engine_opens_no_link(tmp_path):
    (tmp_path / "real").write_text("needle\n")
    (tmp_path / "link").symlink_to("real")
    found = BuiltIn().rows(Spot(tmp_path, "link"), Query("needle"), Deadline(20))
    assert list(found) == []


def test_a_glob_that_names_a_directory_does_not_filter_file_names(either):
    tree(either)
    assert "src/ring.c" in either.ok("search_files", pattern="ring_next", file_glob="sr*/")
    assert "src/ring.c" in either.ok("search_files", pattern="sr*/", target="files")


@pytest.mark.parametrize("engine", [Ripgrep("rg"), BuiltIn()], ids=ENGINES)
def test_files_are_listed_by_the_pattern_of_their_name(tmp_path, engine):
    for path in ("a.c", "b.h", "c.d/a.h"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")
    assert sorted(engine.files(Spot(tmp_path), False, Deadline(20), "*.[ch]")) == ["a.c", "b.h", "c.d/a.h"]
    assert list(engine.files(Spot(tmp_path), False, Deadline(20), "*.c")) == ["a.c"]
