"""terminal: what the host did with a script, told in a bounded and honest way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.host import CommandResult, FileChange, Outcome, Refusal, ToolRequest
from spear.agent.tools.exit_meaning import benign, masked, meaning
from spear.agent.tools.terminal import terminal


def done(output="", code: int | None = 0, **facts) -> CommandResult:
    return CommandResult(output, code, facts.pop("cwd", "."), 0.1, **facts)


def test_output_comes_first_and_then_one_footer(bench):
    bench.host.command = done(
        "hello\n",
        2,
        cwd="src",
        pipe_status=(1, 2),
        changes=(FileChange("a.c", "modified"), FileChange("b", "created")),
        truncated=True,
        output_ref="tool-results/7",
        notes=("the network is off",),
    )
    result = bench.call("terminal", command="make | tee log")
    assert result.text.split("\n") == [
        "hello",
        "[exit 2; pipe status 1 2; cwd src; changed: modified a.c, created b; "
        "output truncated, all of it: tool-results/7]",
        "[note: the network is off]",
    ]
    assert result.changed
    assert result.outcome is Outcome.FAILED


def test_a_real_command_runs_through_the_host(bench):
    assert bench.ok("terminal", command="printf 'a\\nb'").startswith("a\nb\n[exit 0")
    assert bench.host.asked == [("printf 'a\\nb'", 180, None)]


def test_the_directory_is_told_when_it_changes(bench):
    bench.host.command = done(cwd="")
    assert bench.ok("terminal", command="true") == "[exit 0]"
    bench.host.command = done(cwd="src")
    assert bench.ok("terminal", command="cd src") == "[exit 0; cwd src]"
    assert bench.ok("terminal", command="true") == "[exit 0]"
    bench.host.command = done(cwd="")
    assert bench.ok("terminal", command="cd ..") == "[exit 0; cwd .]"


def test_a_timeout_keeps_the_output_and_says_so(bench):
    bench.host.command = done("partial", None, timed_out=True)
    result = bench.call("terminal", command="sleep 9", timeout=1)
    assert result.outcome is Outcome.TIMEOUT
    assert result.text.startswith("partial\n[timed out after 1 s")


def test_a_cancelled_and_a_signalled_command(bench):
    bench.host.command = done("", None, cancelled=True)
    assert bench.call("terminal", command="x").outcome is Outcome.CANCELLED
    bench.host.command = done("", 139, signal=11)
    assert "killed by signal 11" in bench.call("terminal", command="x").text


def test_a_longer_timeout_is_clamped_with_a_note_and_a_senseless_one_refused(bench):
    text = bench.ok("terminal", command="true", timeout=9999)
    assert bench.host.asked[0][1] == 600
    assert "timeout 9999 s is over the limit; 600 s was used" in text
    assert bench.call("terminal", command="true", timeout=0).outcome is Outcome.FAILED
    assert len(bench.host.asked) == 1


def test_a_refusal_is_one_line(bench):
    bench.host.command = Refusal("network", "terminal", "curl x", "no network", "work offline")
    result = bench.call("terminal", command="curl x")
    assert result.outcome is Outcome.REFUSED
    assert result.text == "refused: curl x — no network; work offline"


def test_refused_effects_of_a_command_that_ran_come_first(bench):
    refusal = Refusal("scope", "terminal", "lib/x", "not in scope", "leave it")
    bench.host.command = done("out", 0, refusals=(refusal,))
    result = bench.call("terminal", command="touch lib/x")
    assert result.outcome is Outcome.REFUSED
    assert result.text.split("\n")[:2] == [refusal.line(), "out"]
    assert result.refusal is refusal


@given(st.integers(0, 200_000), st.integers(0, 60), st.integers(0, 60), st.integers(0, 3000))
def test_the_result_is_bounded_whatever_the_host_returns(size, notes, changes, width):
    refusal = Refusal("scope", "terminal", "x" * width, "y" * width, "z" * width)
    given_result = done(
        "o" * size,
        0,
        notes=("n" * width,) * notes,
        changes=(FileChange("p" * 40, "modified"),) * changes,
        refusals=(refusal,) * notes,
    )

    class Host:
        def run_command(self, *_):
            return given_result

    result, _ = terminal(Host(), "", ToolRequest("1", "terminal", {"command": "x"}))
    assert len(result.text) <= 51_200
    if size > 100:
        assert "\noo" in f"\n{result.text}"


@pytest.mark.parametrize(
    ("command", "code", "silent", "expected"),
    [
        ("grep x f", 1, True, "grep: no match"),
        ("cat f | grep -c 'a && b'", 1, False, "grep: no match"),
        ("python x; echo a | grep b", 1, False, "grep: no match"),
        ("cd src && grep x f", 1, True, "grep: no match"),
        ("cd src && grep x f", 1, False, ""),
        ("false && grep x f", 1, True, ""),
        ("make && diff a b", 1, False, ""),
        ("false || grep x f", 1, True, "grep: no match"),
        ("LC_ALL=C /usr/bin/grep x f", 1, True, "grep: no match"),
        ("set -o pipefail; a | grep x", 1, True, ""),
        ("diff a b", 1, False, "diff: they differ"),
        ("diff a b", 2, False, ""),
        ("grep x f 2>&1", 1, True, "grep: no match"),
        ("grep x f # && more", 1, True, "grep: no match"),
        ("if grep x f; then false; fi", 1, True, ""),
        ("python x", 1, False, ""),
        ("nope", 127, False, "command not found"),
        ("./f", 126, False, "found but not executable"),
        ("x", 137, True, "killed (SIGKILL; often out of memory)"),
        ("x", 139, True, "segmentation fault"),
        ("timeout 1 x", 124, True, "timed out (timeout)"),
        ("test -f x", 1, True, "test: false"),
        ("", 1, True, ""),
    ],
)
def test_a_code_is_explained_only_where_the_last_command_surely_ran(command, code, silent, expected):
    assert meaning(command, code, silent) == expected


def test_no_match_is_an_answer_and_a_failed_test_run_is_not(bench):
    bench.host.command = done("", 1)
    assert bench.call("terminal", command="grep x f").outcome is Outcome.OK
    assert bench.call("terminal", command="pytest").outcome is Outcome.FAILED
    assert benign("grep x f", 1, True)
    assert not benign("nope", 127, True)


@pytest.mark.parametrize(
    ("command", "pipe_status", "warned"),
    [
        ("make 2>&1 | tail -5", (2, 0), True),
        ("yes | head -1", (141, 0), False),
        ("make | tail", (0, 0), False),
        ("pytest || echo failed", (0,), True),
        ("pytest", (0,), False),
        ("echo 'a || echo b'", (0,), False),
    ],
)
def test_a_masked_failure_is_pointed_out(command, pipe_status, warned):
    assert bool(masked(command, 0, pipe_status)) is warned


@given(st.text(st.sampled_from("ab '\"\\|&;\n()$#<>"), max_size=30), st.integers(0, 255))
def test_any_script_can_be_looked_at(command, code):
    meaning(command, code, True)
    masked(command, code, (1, 0))
