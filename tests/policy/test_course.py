"""A command is judged in the tree as it has it by then; what only running it shows is left to its effect."""

from __future__ import annotations

import pytest

from spear.agent.host import Refusal
from spear.events.names import Mode
from spear.policy.command_policy import Decision
from spear.policy.destination_policy import PolicyView
from spear.policy.modes import grants
from spear.policy.places import Root, TreeFacts
from spear.policy.write_scope import WriteScope

FILES = ("a.txt", "gen.c", "src/ring.c", "src/ring.h", "src/uart.c", "src/ring.o", "docs/x.md")
DIRECTORIES = ("", "src", "docs", "tests")
RING = WriteScope(("src/ring.c",))
WIDE = WriteScope(workspace_wide=True)


def protected(path: str) -> Refusal | None:
    """As the host says it of a generated file, and of a path below a file."""
    if path == "gen.c":
        return Refusal("generated", "terminal", path, "its header says so", "change its source")
    if any(path.startswith(f"{file}/") for file in FILES):
        return Refusal("not_a_directory", "terminal", path, "a parent of it is not a directory", "check the path")
    return None


def matching(pattern: str) -> tuple[str, ...] | None:
    if "**" in pattern:
        return None
    directory, _, suffix = pattern.rpartition("*")
    return tuple(path for path in FILES if path.startswith(directory) and path.endswith(suffix))


def asked(scope: WriteScope, *, read_only: bool = False) -> PolicyView:
    facts = TreeFacts(is_directory=DIRECTORIES.__contains__, expand=matching, exists=(FILES + DIRECTORIES).__contains__)
    granted = grants(Mode.AUTO, read_only=read_only)
    return PolicyView((Root("/ws"),), granted, scope, protected=protected, facts=facts)


@pytest.mark.parametrize(
    "command",
    [
        "rm a.txt; mkdir a.txt; echo y > a.txt/q",
        "rm -f a.txt && mkdir a.txt && cp src/ring.c a.txt",
        "mv a.txt b.txt; mkdir a.txt; touch a.txt/q",
        "rm a.txt; mkdir -p a.txt/b/c; cd a.txt/b/c && echo y > q",
    ],
)
def test_a_file_may_become_a_directory_within_one_command(policy, command):
    assert policy.assess(command, asked(WIDE)).decision is not Decision.REFUSE


@pytest.mark.parametrize(
    "command",
    [
        "echo y > a.txt/q",  # nothing took the file away
        "mkdir b; echo y > a.txt/q",
        "rm a.txt/q; echo y > a.txt/q",
        "echo y > a.txt/q; rm a.txt",  # too late
        "rm -f gen.c; echo > gen.c",  # what may not be removed is not gone
    ],
)
def test_what_the_command_has_not_taken_away_still_stands(policy, command):
    assert policy.assess(command, asked(WIDE)).decision is Decision.REFUSE


def test_a_file_copied_into_a_directory_just_made_is_judged_below_it(policy):
    made = policy.assess("rm a.txt; mkdir a.txt; cp src/ring.c a.txt", asked(WIDE))
    assert made.verdicts[-1].shown == "a.txt/ring.c"


@pytest.mark.parametrize(
    "command",
    [
        "awk 1 src/ring.c > src/ring.new && mv src/ring.new src/ring.c",
        "cp src/ring.c src/ring.c.save; sed -i s/a/b/ src/ring.c; diff src/ring.c src/ring.c.save; rm src/ring.c.save",
        "echo 'int main(){}' > t.c && cc t.c -o t && ./t; rm -f t.c t",
        "mkdir work && cc -o work/t src/ring.c && rm -r work",
    ],
)
def test_what_the_command_removes_again_is_no_write_of_the_turn(policy, command):
    assert policy.assess(command, asked(RING)).decision is Decision.RUN_OPAQUE


@pytest.mark.parametrize(
    "command",
    [
        "echo x > src/uart.c; rm src/uart.c",  # there before: the command would destroy it
        "echo x > src/new.c; rm src/other.c",
        "rm src/new.c; echo x > src/uart.c",
        "mv src/uart.c src/kept.c; mv src/kept.c src/uart.c",
    ],
)
def test_what_was_there_before_is_not_passing(policy, command):
    assert policy.assess(command, asked(RING)).decision is Decision.REFUSE


@pytest.mark.parametrize(
    ("command", "scope"),
    [
        ("ruff format . && pytest", RING),
        ("cd src && clang-format -i .", RING),
        ("sed -i s/a/b/ src/*.c", RING),
        ("perl -pi -e s/a/b/ src/*.c", RING),
        ("dos2unix src/*", RING),
        ("sed -i s/a/b/ *.c", WIDE),
    ],
)
def test_an_editor_of_many_files_runs_and_its_effect_decides(policy, command, scope):
    assert policy.assess(command, asked(scope)).decision is Decision.RUN_OPAQUE


@pytest.mark.parametrize(
    ("command", "scope"),
    [
        ("clang-format -i docs", RING),
        ("sed -i s/a/b/ docs/*.md", RING),
        ("sed -i s/a/b/ src/ring.c src/uart.c", RING),
        ("clang-format -i src/ring.c src/uart.c", RING),
        ("sed -i s/a/b/ gen*.c", WIDE),
        ("black src", WriteScope(exclusions=("src",), workspace_wide=True)),
    ],
)
def test_where_nothing_in_scope_is_among_them_it_is_known_and_refused(policy, command, scope):
    assert policy.assess(command, asked(scope)).decision is Decision.REFUSE


def test_a_read_only_turn_still_refuses_to_edit(policy):
    for command in (
        "sed -i s/a/b/ src/*", "echo x > t; rm t", "find . -name '*.c' -exec sed -i s/a/b/ {} +",
    ):  # fmt: skip
        assert policy.assess(command, asked(RING, read_only=True)).refusal.code == "read_only"


def test_the_refusal_of_a_new_file_names_the_scratch_space(policy):
    assert "/tmp" in policy.assess("pytest -q > out.txt", asked(RING)).refusal.line()
    assert "/tmp" not in policy.assess("echo > src/uart.c", asked(RING)).refusal.line()
