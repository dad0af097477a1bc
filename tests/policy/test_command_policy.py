"""Commands judged: what is refused, and the near miss beside it that is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.agent.host import Refusal
from spear.events.names import Mode
from spear.policy.command_class import CommandClass
from spear.policy.command_policy import Assessment, CommandPolicy, Decision
from spear.policy.destination_policy import PolicyView
from spear.policy.modes import grants
from spear.policy.places import Root, TreeFacts
from spear.policy.write_scope import WriteScope
from spear.shell.parse import ShellParser

WIDE = WriteScope(workspace_wide=True)
RING = WriteScope(("src/ring.c",), created=frozenset())
DIRECTORIES = frozenset({"", "src", "tests", "docs"})
FACTS = TreeFacts(is_directory=lambda path: path in DIRECTORIES)
PARSER = ShellParser()


def view(scope: WriteScope = WIDE, *, read_only: bool = False, mode: Mode = Mode.AUTO, cwd: str = "") -> PolicyView:
    return PolicyView(
        roots=(Root("/home/dev/ws"), Root("/home/dev/lib", "/workspaces/lib")),
        grants=grants(mode, read_only=read_only),
        scope=scope,
        cwd=cwd,
        facts=FACTS,
    )


def code(assessment: Assessment) -> str:
    return "" if assessment.refusal is None else str(assessment.refusal.code)


@pytest.mark.parametrize(
    ("command", "decision", "command_class"),
    [
        ("ls src", Decision.RUN, CommandClass.READ_ONLY),
        ("ls | head", Decision.RUN, CommandClass.SHELL_COMPLEX),
        ("ls > /tmp/x", Decision.RUN, CommandClass.SHELL_COMPLEX),
        ("echo x > y", Decision.RUN, CommandClass.WORKSPACE_MUTATING),
        ("make", Decision.RUN_OPAQUE, CommandClass.WORKSPACE_MUTATING),
        ('rm "$x"', Decision.RUN_OPAQUE, CommandClass.WORKSPACE_MUTATING),
        ("$x", Decision.RUN_OPAQUE, CommandClass.WORKSPACE_MUTATING),
        ("", Decision.RUN, CommandClass.READ_ONLY),
    ],
)
def test_decision_and_class(policy, command, decision, command_class):
    found = policy.assess(command, view())
    assert (found.decision, found.command_class) == (decision, command_class)


@pytest.mark.parametrize("command", ["echo $((1", "if x; then", "echo 'a", "a\x00b", "echo \u202e"])
def test_what_the_shell_would_refuse_is_refused_with_its_place(policy, command):
    found = policy.assess(command, view())
    assert code(found) == "syntax_error"
    assert "nothing was run" in found.refusal.line()
    assert "\x00" not in found.refusal.line()


def test_a_refusal_is_one_line_naming_path_operator_rule_and_way_out(policy):
    line = policy.assess("cd src; tee uart.c < x", view(RING)).refusal.line()
    assert line.startswith("refused: src/uart.c — `tee` would write it")
    assert "patch" in line
    assert "\n" not in line


def test_the_start_directory_counts(policy):
    assert code(policy.assess("echo > uart.c", view(RING, cwd="src"))) == "out_of_scope"
    assert policy.assess("echo > ring.c", view(RING, cwd="src")).decision is Decision.RUN
    assert code(policy.assess("echo > ../../x", view(cwd="src"))) == "outside_workspace"


def test_a_second_root_goes_by_both_its_names(policy):
    for name in ("/workspaces/lib/x", "/home/dev/lib/x"):
        assert policy.assess(f"echo > {name}", view()).verdicts[0].shown == "/workspaces/lib/x"
        assert code(policy.assess(f"echo > {name}", view(RING))) == "out_of_scope"


def test_the_hosts_judgement_of_a_target_is_asked(policy):
    def protected(path: str) -> Refusal | None:
        return Refusal("generated", "write_file", path, "its header says so", "") if path == "src/table.c" else None

    asked = view()
    asked = PolicyView(asked.roots, asked.grants, asked.scope, protected=protected, facts=FACTS)
    for command in (
        "echo > src/table.c",
        "cp x src/table.c",
        "truncate -s0 src/table.c",
        "ln -sf x src/table.c",
        "echo | tee src/table.c",
        "cp table.c src",
        "python3 -c \"open('src/table.c','w')\"",
    ):
        assert code(policy.assess(command, asked)) == "generated"
    assert policy.assess("cat src/table.c", asked).decision is Decision.RUN


def test_a_pattern_is_judged_by_what_it_matches(policy):
    facts = TreeFacts(expand=lambda pattern: ("src/ring.c", "src/uart.c") if pattern == "src/*.c" else ())
    asked = PolicyView(view().roots, view().grants, RING, facts=facts)
    for sure in ("rm src/*.c", "chmod 600 src/*.c", "tee src/*.c < x"):
        assert code(policy.assess(sure, asked)) == "out_of_scope"
    assert policy.assess("rm -f src/*.tmp2", asked).decision is Decision.RUN


def test_build_outputs_are_never_out_of_scope(policy):
    ignored = TreeFacts(is_output=lambda path: path.startswith("artefacts/"))
    asked = PolicyView(view().roots, view().grants, RING, facts=ignored)
    assert policy.assess("cp x artefacts/y; rm -rf artefacts/z; echo > artefacts/log", asked).decision is Decision.RUN
    assert code(policy.assess("cp x artefact/y", asked)) == "out_of_scope"


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(max_size=40),
        st.text(st.sampled_from(list("abc xyz$(){}[]<>|&;'\"\\`#!*?~=\n\t/-0123,.%@+:^")), max_size=60),
        st.lists(
            st.sampled_from(
                [
                    "rm",
                    "-rf",
                    "cp",
                    "git",
                    "checkout",
                    "--",
                    "sed",
                    "-i",
                    "tar",
                    "xf",
                    "-C",
                    "find",
                    "-exec",
                    "{}",
                    "\\;",
                    "|",
                    ";",
                    "xargs",
                    "sh",
                    "-c",
                    "'echo > a'",
                    "$(ls)",
                    ">",
                    "a/b",
                    "$x",
                    "dd",
                    "of=a",
                    "awk",
                    "'{print > \"x\"}'",
                    "chmod",
                    "-R",
                    "python3",
                    "\"open('a','w')\"",
                    "env",
                    "-S",
                    "timeout",
                    "patch",
                    "<<<",
                    "curl",
                    "-o",
                    "kill",
                    "-9",
                    "ln",
                    "-s",
                    "split",
                ]
            ),
            max_size=9,
        ).map(" ".join),
    )
)
def test_any_text_is_decided(text):
    found = CommandPolicy(PARSER).assess(text, view(RING))
    assert (found.decision is Decision.REFUSE) == (found.refusal is not None)
