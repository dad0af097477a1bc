"""What is printed: filtered, painted, bounded."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.cli.display.diff import bounded, painted_diff
from spear.cli.display.end_block import end_block
from spear.cli.display.filtering import clean, escaped, one_line
from spear.cli.display.markdown import MarkdownRenderer
from spear.cli.display.palette import PLAIN, Style, palette_of, unpainted
from spear.cli.display.tool_lines import CallLines, called, finished
from spear.cli.display.wrapping import wrapped
from spear.events.turn import TurnResult

COLOUR = palette_of("dark", {"TERM": "xterm"}, plain=False)
NASTY = st.text(st.sampled_from("ab \n\t\r\x1b\x07\x00\x7f\x9b\x9d]0;[2Jm\u202e\u200b"), max_size=60)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b]")


@given(NASTY)
def test_no_control_character_survives_the_filters(text):
    assert not CONTROL.search(clean(text))
    assert not CONTROL.search(escaped(text))
    assert clean(clean(text)) == clean(text)


@given(NASTY)
def test_rendered_markdown_holds_no_sequence_but_styles(text):
    rendered = MarkdownRenderer(COLOUR).render(text, 80)
    assert not CONTROL.search(unpainted(rendered))


def test_nothing_is_hidden_where_a_person_judges():
    assert escaped("a\x1b[8mb\x00\r") == "a\\x1b[8mb\\x00\\x0d"


def test_a_long_text_is_one_line_of_a_bounded_width():
    assert one_line("a\nb" * 100, 10) == "a ba ba b…"


@pytest.mark.parametrize(
    ("environ", "plain", "coloured"),
    [
        ({"TERM": "xterm"}, False, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, False, True),
        ({"TERM": "dumb"}, False, False),
        ({}, False, False),
        ({"TERM": "xterm"}, True, False),
    ],
)
def test_colour_is_used_only_where_it_is_wanted(environ, plain, coloured):
    assert ("\x1b[3" in palette_of("auto", environ, plain=plain).paint(Style.BAD, "x")) is coloured


def test_a_style_never_runs_over_a_lines_end():
    assert COLOUR.paint(Style.OK, "a\n\nb") == "\x1b[32ma\x1b[0m\n\n\x1b[32mb\x1b[0m"


def test_a_diff_is_coloured_by_line_and_its_controls_written_out():
    painted = painted_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\x1b]0;t\x07\n same\n", COLOUR)
    assert "\x1b[31m-old\x1b[0m" in painted
    assert "\x1b[32m+new\\x1b]0;t\\x07\x1b[0m" in painted
    assert unpainted(painted).split("\n")[-1] == " same"


def test_what_is_cut_says_how_much_and_where_it_is():
    assert bounded("1\n2\n3\n4", 2, "there") == "1\n2\n… 2 more lines: there"
    assert bounded("1\n2", 2, "there") == "1\n2"


def test_markdown_keeps_brackets_code_lines_and_the_left_margin():
    shown = unpainted(
        MarkdownRenderer(COLOUR).render("# Head [x]\n\narr [link] [red]\n\n```c\nint a;\n\n  int b;\n```", 60)
    )
    assert shown == "Head [x]\n\narr [link] [red]\n\n  int a;\n\n    int b;"


def test_markdown_makes_no_hyperlinks_of_a_models_text():
    assert "\x1b]8" not in MarkdownRenderer(COLOUR).render("[here](https://example.org)", 60)


def test_plain_markdown_is_the_text_itself():
    assert MarkdownRenderer(PLAIN).render("**a** \x1b[1m`b`\n", 60) == "**a** `b`"


def test_a_long_code_line_is_not_folded():
    line = "x = " + "1 + " * 60 + "1"
    assert line in unpainted(MarkdownRenderer(COLOUR).render(f"```py\n{line}\n```", 40))


@pytest.mark.parametrize(
    ("begin", "end", "line"),
    [
        ({"tool": "read_file", "arguments": {"path": "src/ring.c"}}, {"outcome": "ok"}, "Read src/ring.c ✓"),
        (
            {"tool": "patch", "arguments": {"path": "src/ring.c"}},
            {"outcome": "ok", "added": 3, "removed": 1},
            "Update src/ring.c +3 −1 ✓",
        ),
        (
            {"tool": "terminal", "arguments": {"command": "make\ntest"}},
            {"outcome": "failed", "duration_s": 0.84},
            "Terminal make test 0.8 s ✗",
        ),
        (
            {"tool": "delete_file", "arguments": {"path": "a\x1b]0;t\x07"}},
            {"outcome": "refused", "reason": "read-only\nturn"},
            "Delete a refused: read-only turn",
        ),
    ],
)
def test_each_call_is_one_line(begin, end, line):
    assert f"{called(begin)} {finished(end)}" == line
    assert unpainted(f"{called(begin, palette=COLOUR)} {finished(end, COLOUR)}") == line


@given(
    st.lists(st.sampled_from(["word", "w" * 90, "`code`", "a b"]), min_size=1, max_size=6),
    st.sampled_from(
        ["{}", "- {}", "> {}", "1. {}", "```\n{}\n```", "- x\n  ```\n  {}\n  ```", "| h |\n|---|\n| {} |", "# {}"]
    ),
)
def test_rendering_loses_no_word_whatever_its_length(words, form):
    shown = unpainted(MarkdownRenderer(COLOUR).render(form.format(" ".join(words)), 40))
    letters = re.sub(r"[^a-z]", "", shown)
    assert re.sub(r"[^a-z]", "", " ".join(words)) in letters


def result(**changes):
    plain = {
        "schema": "spear.turn/1", "session": "s", "turn": 1, "request": "r", "class": "GENERAL", "path": "coding_core",
        "mode": "auto", "read_only": False, "answer": "a", "verdict": "NO_CHANGE", "reasons": [],
        "stop": {"reason": "answered"}, "epoch": 0, "changed_files": [], "commands": [], "checks": [], "validation": [],
        "repair": None, "refusals": [], "usage": {"input_tokens": 12000, "output_tokens": 345, "requests": 3},
        "rounds": 3, "tool_calls": 2, "duration_s": 4.25, "audit": {"session_dir": "d"},
    }  # fmt: skip
    return TurnResult.model_validate({**plain, **changes})


def test_a_plain_answer_has_no_block():
    assert end_block(result()) == ""


def test_the_block_of_a_changing_turn_holds_verdict_reasons_files_checks_and_what_was_spent():
    block = end_block(
        result(
            verdict="UNVERIFIED",
            reasons=[{"code": "c", "text": "`make test` failed."}],
            changed_files=[{"path": "src/ring.c", "change": "modified"}],
            checks=[{"command": "make test", "kinds": ["test"], "status": "failed", "epoch": 2}],
            validation=[
                {
                    "kind": "build",
                    "origin": "probed",
                    "command": "make",
                    "status": "NOT_RUN",
                    "exit_code": None,
                    "epoch": 2,
                }
            ],
        ),
        {"src/ring.c": (3, 1)},
    )
    assert block.split("\n") == [
        "UNVERIFIED",
        "  `make test` failed.",
        "  modified  src/ring.c  +3 −1",
        "  failed    make test (epoch 2)",
        "  not run   make (probed build, epoch 2)",
        "  4.2 s · 3 rounds · 12 345 tokens",
    ]


def test_a_stopped_turn_says_why_in_its_first_line():
    block = end_block(result(stop={"reason": "round_budget", "detail": "60 rounds"}))
    assert block.startswith("NO_CHANGE · stopped: round budget\n  60 rounds")


def test_a_turn_that_changed_many_files_names_a_dozen():
    files = [{"path": f"f{n}", "change": "created"} for n in range(40)]
    assert "… and 28 more files" in end_block(result(verdict="UNVERIFIED", changed_files=files))


@given(st.text(st.sampled_from("ab漢 \n"), max_size=200), st.integers(20, 60))
def test_folding_loses_nothing_and_breaks_no_word(text, width):
    folded = wrapped(text, width)
    assert folded.split() == text.split()
    for line in folded.split("\n"):
        assert len(line) + line.count("漢") <= width or len(line.split()) == 1 or line in text.split("\n")


def test_a_style_that_is_folded_begins_anew_on_every_line():
    painted = COLOUR.paint(Style.MUTED, "one two three four five six seven")
    for line in wrapped(painted, 20).split("\n"):
        assert line.count("\x1b[90m") == 1
        assert line.endswith("\x1b[0m")
    assert wrapped("  short", 20) == "  short"


def test_prose_beside_a_column_is_folded_into_its_column_where_that_leaves_room():
    row = f"{'  /name':<20}" + "word " * 12
    first, *rest = wrapped(row, 60, 20).split("\n")
    assert first.startswith("  /name") and rest and all(len(line) - len(line.lstrip()) == 20 for line in rest)
    assert all(line.startswith("    word") for line in wrapped(row, 30, 20).split("\n")[1:])


def test_a_table_brings_no_blank_lines_of_its_own():
    rendered = unpainted(MarkdownRenderer(COLOUR).render("Above\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nBelow", 80))
    assert "\n\n\n" not in rendered and next(line for line in rendered.split("\n") if line.strip()) == "Above"


def test_calls_that_run_side_by_side_have_a_line_each():
    written = []
    lines = CallLines(written.append)
    for number in (1, 2):
        lines.begin({"call_id": number, "tool": "read_file", "arguments": {"path": f"{number}.c"}})
    for number in (1, 2):
        lines.end({"call_id": number, "tool": "read_file", "outcome": "ok"})
    lines.begin({"call_id": 3, "tool": "terminal", "arguments": {"command": "make"}})
    assert "".join(written) == "Read 1.c ✓\nRead 2.c ✓\nTerminal make "
    lines.end({"call_id": 3, "tool": "terminal", "outcome": "failed"})
    assert "".join(written).endswith("Terminal make ✗\n")
