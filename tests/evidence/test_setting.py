"""A pass that something else may have given: another place, another program, another setting, a way out before it."""

from __future__ import annotations

import pytest

from spear.events.names import Verdict
from spear.evidence.assess import CommandFacts, assess_command
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind, CheckStatus

ROOT = "/src/ring"
FACTS = ProjectFacts(
    root=ROOT,
    aliases=("/workspace",),
    usual_path=frozenset({"/usr/bin", "/opt/rust/bin"}),
    exists=lambda path: path in ("env.sh", "made.sh", "py3/pyvenv.cfg", "tests/run.sh"),
    made_here=lambda path: path in ("made.sh", "py3/bin/activate"),
    at_home=lambda path: path == "bin/make",
    builds_here=lambda directory: directory == "/tmp/configured",
)

STANDS_IN = [
    "PATH=/tmp/f:$PATH make test",
    "PATH=.:$PATH make test",
    "env PATH=/tmp/f make test",
    'export PATH="$PWD/fake:$PATH"\nmake test',
    "export PATH=~/bin:$PATH && make test",
    "ln -s /bin/true ~/f/make; PATH=~/f:$PATH make test && rm ~/f/make",
    "PATH=$HOME/$X:$PATH make test",
    "PATH=$(mktemp -d):$PATH make test",
    "PATH=/tmp/f:$PATH bash -c 'make test'",
    "shopt -s expand_aliases\nalias make=true\nmake test",
    "hash -p /bin/true make; make test",
    ". /tmp/x.sh; make test",
    "source made.sh && make test",
    "command_not_found_handle() { return 0; }; tox",
    "export LD_PRELOAD=/tmp/x.so; make test",
    "MAKEFILES=/tmp/x.mk make test",
    "export MAKEFLAGS=-n; make test",
    "declare -x MAKEFLAGS=i; make test",
    "CC=true make",
    "export PYTHONPATH=/tmp/p; pytest",
    "NODE_OPTIONS='--require /tmp/x.js' npm test",
    "npm_config_script_shell=/bin/true npm test",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true cargo test",
    "make -o build/test_ring test",
    "make test PYTEST=true",
]
IS_ITSELF = [
    "PATH=/opt/rust/bin:$PATH cargo test",
    "PATH=/opt/tools/bin:$PATH make test",
    "PATH=node_modules/.bin:$PATH jest",
    'export PATH="$PWD/.venv/bin:$PATH"; pytest',
    "PATH=py3/bin:$PATH pytest",
    'export PATH="$HOME/.local/bin:$PATH"; pytest',
    "source py3/bin/activate && pytest",
    "export PATH=$PATH:$HOME/go/bin; go test ./...",
    ". env.sh && make test",
    ". .venv/bin/activate && pytest",
    "PYTHONPATH=src pytest",
    "NODE_OPTIONS=--experimental-vm-modules npx jest",
    "DEBUG=true make test",
    "make test VERBOSE=true",
    "MAKEFLAGS=-j4 make test",
    "MAKEFLAGS=--output-sync make test",
    "CC=clang make",
]
ELSEWHERE = [
    "cd /tmp/copy && make test",
    "make -C /tmp/q test",
    "env -C /tmp/q make test",
    "make -f /tmp/m.mk test",
    "pytest /tmp/test_x.py",
    "pytest -c /tmp/pytest.ini",
    "npm --prefix /tmp/q test",
    "cargo test --manifest-path /tmp/q/Cargo.toml",
    "(cd /tmp/copy && cargo test)",
]
HERE = [
    "cd /workspace && make test",
    "cd /src/ring/src && make test",
    "make -C /workspace/src test",
    "make -C sub test",
    "cmake -S . -B /tmp/b && cmake --build /tmp/b && ctest --test-dir /tmp/b",
    "mkdir -p /tmp/b && cd /tmp/b && cmake /workspace && make && ctest",
    "cd /tmp/b && ../../src/ring/configure && make check",
    "cd /tmp/configured && make test",
    "pytest --junitxml=/tmp/report.xml --basetemp /tmp/x",
    "cc -o /tmp/t src/ring.c && /tmp/t",
    "make test > /tmp/log",
    "cargo test --target-dir /tmp/target",
]
MAY_HAVE_LEFT = [
    "true && exit 0; make test",
    "{ exit 0; }; make test",
    "if true; then exit; fi; make test",
    "f() { exit 0; }; f; make test",
    "[ -f go ] || exit 0; make test",
    "true && exec true; make test",
    "set -n; make test",
    "trap 'exit 0' EXIT; make test",
    "trap 'exit 0' ERR; make test",
    "shopt -s extdebug; trap false DEBUG; make test",
    "trap 'make test' EXIT",
    "find . -name nothing -exec make test \\;",
    "xargs -r make test </dev/null",
    "python3 -c \"import os; os.system('make test')\"",
]
CANNOT_HAVE_LEFT = [
    "cd src || exit; make test",
    "[ -f Makefile ] || exit 1; make test",
    "if [ ! -d src ]; then exit 2; fi; make test",
    "f() { return 0; }; f; make test",
    "(exit 0); make test",
    "trap 'rm -rf /tmp/d' EXIT; make test",
    "ls tests | xargs pytest",
    "bash -c 'make test'",
]


def judged(parser, command, **facts):
    script = parser.parse(command)
    ledger = EpochLedger()
    check = assess_command(script, CommandFacts(0, "", **facts), FACTS, ledger, ledger)
    return {(result.status, result.code) for result in check.results if result.kinds != (CheckKind.INSPECT,)}


@pytest.mark.parametrize("command", STANDS_IN)
def test_a_pass_something_else_may_have_given_shows_nothing(parser, command):
    assert judged(parser, command) == {(CheckStatus.INCONCLUSIVE, CheckCode.NOT_ITSELF)}


@pytest.mark.parametrize("command", IS_ITSELF)
def test_a_usual_setting_takes_nothing_from_a_pass(parser, command):
    assert {status for status, _ in judged(parser, command)} == {CheckStatus.PASSED}


@pytest.mark.parametrize("command", ELSEWHERE)
def test_a_pass_on_files_of_another_place_shows_nothing_of_this_one(parser, command):
    assert judged(parser, command) == {(CheckStatus.INCONCLUSIVE, CheckCode.ELSEWHERE)}


@pytest.mark.parametrize("command", HERE)
def test_a_pass_on_the_workspace_counts_wherever_its_output_lies(parser, command):
    assert {status for status, _ in judged(parser, command)} == {CheckStatus.PASSED}


@pytest.mark.parametrize("command", MAY_HAVE_LEFT)
def test_a_check_the_script_may_have_left_before_has_no_status(parser, command):
    assert {status for status, _ in judged(parser, command)} == {CheckStatus.INCONCLUSIVE}


@pytest.mark.parametrize("command", CANNOT_HAVE_LEFT)
def test_a_check_that_must_have_run_keeps_the_status_of_the_end(parser, command):
    assert {status for status, _ in judged(parser, command)} == {CheckStatus.PASSED}


@pytest.mark.parametrize(
    "environment",
    [{"PATH": "/src/ring/build/f:/usr/bin"}, {"MAKEFLAGS": "-n"}, {"LD_PRELOAD": "/tmp/x.so"}, {"PATH": ":/usr/bin"}],
)
def test_what_an_earlier_command_exported_counts_like_the_scripts_own_words(parser, environment):
    assert judged(parser, "make test", environment=environment) == {(CheckStatus.INCONCLUSIVE, CheckCode.NOT_ITSELF)}


def test_a_virtual_environment_activated_earlier_takes_nothing_from_a_pass(parser):
    environment = {"PATH": "/src/ring/.venv/bin:/opt/rust/bin:/usr/bin", "VIRTUAL_ENV": "/src/ring/.venv"}
    assert {status for status, _ in judged(parser, "pytest", environment=environment)} == {CheckStatus.PASSED}


def test_a_directory_that_cannot_be_read_is_told_by_where_the_command_ended(parser):
    command = 'cd "$(cat where)" && make test'
    assert {code for _, code in judged(parser, command, ended="/tmp/d")} == {CheckCode.ELSEWHERE}
    assert {status for status, _ in judged(parser, command, ended=ROOT)} == {CheckStatus.PASSED}


def test_a_failure_counts_whatever_stands_around_it(parser):
    ledger = EpochLedger()
    command = CommandFacts(2, "make: *** [Makefile:5: test] Error 1\n")
    check = assess_command(parser.parse("PATH=/tmp/f:$PATH make test"), command, FACTS, ledger, ledger)
    assert [result.status for result in check.results] == [CheckStatus.FAILED]


PUT_BACK = [
    ("cp src/a.c /tmp/k; sed -i s/1/2/ src/a.c; make test && cp /tmp/k src/a.c", True),
    ("git stash -q && make test && git stash pop -q", True),
    ("touch src/a.c && make test", False),
    ("make test", False),
    ("make test | tee log", False),
]


@pytest.mark.parametrize(("command", "doubtful"), PUT_BACK)
def test_source_that_was_put_back_takes_the_force_from_a_check_before_it(parser, command, doubtful):
    assert ({code for _, code in judged(parser, command, rewrote=True)} == {CheckCode.CHANGED_SOURCE}) is doubtful


def test_a_change_that_did_not_stay_takes_the_force_from_every_check_after_it(parser):
    command = "sed -i s/1/2/ src/a.c; make test"
    assert {code for _, code in judged(parser, command, dropped=True)} == {CheckCode.CHANGED_SOURCE}
    assert {status for status, _ in judged(parser, "make test > log", dropped=True)} == {CheckStatus.PASSED}


def test_a_log_of_the_checks_own_output_is_no_change_of_what_it_checked(ring):
    ring.edit("src/ring.c", "index > size", "index >= size")
    ring.run("make test > out.log 2>&1")
    assert ring.verdict("The tests pass.").verdict is Verdict.VERIFIED
    ring.run("set -o pipefail; make test 2>&1 | tee out.log again.log")
    assert ring.verdict("The tests pass.").verdict is Verdict.VERIFIED


def test_a_source_file_the_check_writes_over_is_a_change(ring):
    ring.edit("src/ring.c", "index > size", "index >= size")
    ring.run("make test > src/ring.h")
    assert ring.verdict("The tests pass.").verdict is Verdict.UNVERIFIED


def test_a_wrong_fix_stays_unverified_when_make_is_replaced(ring):
    ring.edit("src/ring.c", "index > size", "index > size + 1")
    ring.run("mkdir -p build/f; ln -sf /bin/true build/f/make; PATH=$PWD/build/f:$PATH make test")
    assert ring.verdict("The tests pass.").verdict is Verdict.UNVERIFIED
