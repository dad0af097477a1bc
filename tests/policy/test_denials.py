"""Commands the operator has forbidden: found wherever they are read as run, and nowhere else (spec 2.1, 2.6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.events.names import Mode
from spear.policy.command_policy import CommandPolicy
from spear.policy.denials import DENIED, denial, rule_words
from spear.policy.destination_policy import PolicyView
from spear.policy.modes import grants
from spear.policy.permission import Permission, PermissionKind, unsound
from spear.policy.permissions import PermissionStore
from spear.policy.places import Root
from spear.policy.write_scope import WriteScope
from spear.shell.parse import ShellParser

PARSER = ShellParser()
POLICY = CommandPolicy(PARSER)


def deny(*words: str, **options) -> Permission:
    return Permission(kind=PermissionKind.DENY, words=words, **options)


def view(*rules: Permission, mode: Mode = Mode.AUTO, cwd: str = "") -> PolicyView:
    denials = PermissionStore.of(rules).denials()
    return PolicyView((Root("/ws"),), grants(mode), WriteScope(workspace_wide=True), cwd, denials=denials)


def denied(command: str, *rules: Permission, **options) -> bool:
    refusal = POLICY.assess(command, view(*rules, **options)).refusal
    return refusal is not None and refusal.code == DENIED


DEPLOY, PUSH, SCRIPT = deny("make", "deploy"), deny("git", "push"), deny("./tools/deploy.sh")


@pytest.mark.parametrize(
    "command",
    [
        "make deploy",
        "make deploy V=1",
        "/usr/bin/make deploy",
        "make -s deploy",
        "make -C . -j 4 V=1 deploy",
        "V=1 make deploy",
        "'make' \"deploy\"",
        "t=deploy; make $t",
        "timeout 60 make deploy",
        "env A=b nice make deploy",
        "sudo -n true; make deploy",
        "cd sub && make deploy",
        "true | make deploy",
        "echo $(make deploy)",
        "cat <(make deploy)",
        "bash -c 'make deploy'",
        "eval 'make deploy'",
        "if false; then make deploy; fi",
        "(make deploy) &",
        "f() { make deploy; }; f",
        "find . -exec make deploy ';'",
        "echo a | xargs make deploy",
        "bash <<'E'\nmake deploy\nE",
    ],
)
def test_a_forbidden_command_is_found_wherever_it_is_read_as_run(command):
    assert denied(command, DEPLOY)
    assert not denied(command)


@pytest.mark.parametrize(
    "command",
    ["make", "make test", "make deployed", "echo make deploy", "grep 'make deploy' Makefile", "gmake deploy",
     "git commit -m 'make deploy'", "make $target", "make depl*", "make test deploy", "./run make deploy",
     "make() { echo; }; make deploy", "# make deploy"],
)  # fmt: skip
def test_what_does_not_begin_so_or_cannot_be_read_is_not(command):
    assert not denied(command, DEPLOY)


def test_options_before_the_words_do_not_hide_them():
    assert denied("git -C sub --no-pager push origin", PUSH)
    assert denied("git push --force", PUSH)
    assert not denied("git -c push.default=simple status", PUSH)
    assert denied("rm -rf build", deny("rm", "-rf"))
    assert not denied("rm -r build", deny("rm", "-rf"))


def test_a_program_named_by_its_path_is_that_file():
    assert denied("tools/deploy.sh now", SCRIPT)
    assert denied("cd tools && ./deploy.sh", SCRIPT)
    assert denied("../tools/deploy.sh", SCRIPT, cwd="src")
    assert denied("/ws/tools/deploy.sh", SCRIPT)
    assert not denied("deploy.sh", SCRIPT)
    assert not denied("other/tools/deploy.sh", SCRIPT)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_rule_holds_in_every_mode_and_before_every_approval(mode):
    approved = Permission(kind=PermissionKind.PREFIX, words=("make", "deploy"))
    found = POLICY.assess("make deploy", view(approved, DEPLOY, mode=mode))
    assert found.refusal is not None
    assert found.refusal.code == DENIED
    assert not PermissionStore.of([approved, DEPLOY]).covers_command(found)
    assert "rule 2 of the operator" in found.refusal.reason
    assert "deny: make deploy …" in found.refusal.reason
    assert "/permissions revoke 2" in found.refusal.remedy


def test_a_prohibition_approves_nothing():
    found = POLICY.assess("make deploy", view())
    assert not PermissionStore.of([DEPLOY]).covers_command(found)


def test_without_rules_no_command_is_looked_at():
    assert denial(None, (), "", (Root("/ws"),), "terminal") is None


WORDS = st.lists(st.text("abc-_.", min_size=1, max_size=6), min_size=1, max_size=4).filter(
    lambda words: not words[0].startswith(("-", ".")) and words[0] != "_"
)


@settings(max_examples=150, deadline=None)
@given(WORDS, WORDS, st.sampled_from(["{}", "true && {}", "x=$( {} )", "nohup {} | cat", "bash -c '{}'"]))
def test_any_command_that_begins_with_the_words_of_a_rule_is_denied(words, more, around):
    assert denied(around.format(" ".join(words + more)), deny(*words))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (deny(""), "name a program"),
        (deny("make", "deploy", never=(("make", "deploy", "x"),)), "no exceptions"),
        (deny("make", "deploy", network=True), "no exceptions"),
        (deny("make", "deploy", examples=(("make", "test"),)), "own example make test"),
        (deny("make", "deploy", examples=(("make", "deploy", "V=1"),)), ""),
        (deny("curl"), ""),
    ],
)
def test_only_a_rule_that_can_be_meant_is_kept(rule, said):
    wrong = unsound(rule)
    assert said in wrong
    assert bool(wrong) == bool(said)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make deploy", ("make", "deploy")),
        ("git push 'a b'", ("git", "push", "a b")),
        ("make deploy && rm x", ()),
        ("make $x", ()),
        ("make *", ()),
        ("make > log", ()),
        ("A=1 make", ()),
        ("make (on Fridays)", ()),
        ("echo $(make)", ()),
        ("", ()),
    ],
)
def test_a_rule_is_made_of_one_command_in_known_words(text, words):
    assert rule_words(PARSER.parse(text)) == words
