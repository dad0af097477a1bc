"""A sandbox made before its command: used when it is what the command should get, and never otherwise (decision 0007)."""

import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.sandbox.request import RootMount, RunRequest
from spear.sandbox.runner import CommandRunner
from spear.sandbox.supervisor import RELEASE_FD
from tests.sandbox.processes import WAIT_S, shells, until

TICK = os.sysconf("SC_CLK_TCK")
CLOSED = [".git/hooks", ".git/config", ".envrc"]
# When the shell of a command started, in clock ticks since the machine did.
STARTED = "read -r line </proc/$$/stat; line=${line##*) }; set -- $line; echo ${20}"


def ticks() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICK)


def first(host, tree, **options):
    """A command after which another sandbox stands by, and that one awaited."""
    done = host.run("true", tree, upper=f"of-{tree.name}", closed=CLOSED, prepare=True, **options)
    assert done.exit_code == 0, done.problem
    until(lambda: shells(host.process.pid))
    return done


def then(host, tree, script, **options):
    return host.run(script, tree, **{"upper": f"of-{tree.name}", "closed": CLOSED, **options})


def was_standing_by(host, tree, change=lambda: None, **options) -> bool:
    """Whether the next command ran in the sandbox that stood by, after `change`."""
    first(host, tree)
    change()
    now = ticks()
    time_passed = lambda: ticks() > now + 1  # noqa: E731 - a tick is coarser than a command
    until(time_passed)
    asked = ticks()
    done = then(host, tree, STARTED, **options)
    assert done.exit_code == 0, (done.problem, done.output)
    return int(done.output) < asked


@pytest.fixture
def tree(host):
    return workspace(host)


def workspace(host) -> Path:
    """A tree with closed paths."""
    return host.tree(**{"a": "first\n", "sub/b": "second\n", ".git/config": "[core]\n", ".git/hooks/pre": "x\n"})


def test_the_next_command_runs_in_the_sandbox_that_stood_by(host, tree):
    assert was_standing_by(host, tree)


@pytest.mark.parametrize("options", [
    {"cwd": "sub"}, {"environment": {"A": "b"}}, {"closed": [".git/hooks"]}, {"hidden": ["a"]}, {"writes": False},
    {"upper": "another"}, {"network": "listed"}, {"limits": {"open_files": 1000}}, {"alias": "other"},
])  # fmt: skip
def test_a_command_that_should_get_another_sandbox_gets_another(host, tree, options):
    if "cwd" in options:
        options = {"cwd": str(tree / options["cwd"])}
    assert not was_standing_by(host, tree, **options)


def replace_file(path: Path, text: str) -> None:
    path.with_name("~new").write_text(text)
    path.with_name("~new").replace(path)


def test_a_closed_file_that_was_replaced_is_seen_as_it_is_and_stays_closed(host, tree):
    first(host, tree)
    replace_file(tree / ".git/config", "[user]\n")
    done = then(host, tree, "cat .git/config; echo x >>.git/config")
    assert done.output.startswith("[user]\n")
    assert done.exit_code != 0
    assert ".git/config" not in done.upper


def test_a_closed_path_that_came_to_be_is_closed(host, tree):
    first(host, tree)
    (tree / ".envrc").write_text("mine\n")
    host.give(tree)
    done = then(host, tree, "cat .envrc; echo x >.envrc")
    assert "mine" in done.output
    assert done.exit_code != 0
    assert ".envrc" not in done.upper


def test_a_closed_path_that_became_a_link_is_closed_where_it_leads(host, tree):
    first(host, tree)
    shutil.rmtree(tree / ".git/hooks")
    (tree / "elsewhere").mkdir()
    (tree / ".git/hooks").symlink_to("../elsewhere")
    host.give(tree)
    done = then(host, tree, "echo x >elsewhere/pre-commit")
    assert done.exit_code != 0
    assert "elsewhere/pre-commit" not in done.upper


def test_a_root_that_was_replaced_is_seen_as_it_is(host, tree):
    def swap() -> None:
        tree.rename(tree.with_name(f"{tree.name}-old"))
        shutil.copytree(tree.with_name(f"{tree.name}-old"), tree)
        (tree / "a").write_text("other\n")
        host.give(tree)

    first(host, tree)
    swap()
    assert then(host, tree, "cat a").output == "other\n"


def swap(tree: Path, place: Path) -> None:
    """Put a copy, with other files, in the place of a directory."""
    place.rename(place.with_name(f"{place.name}-old"))
    shutil.copytree(place.with_name(f"{place.name}-old"), place)
    for name in place.rglob("[ab]"):
        name.write_text("other\n")


@pytest.mark.parametrize(("cwd", "swapped"), [("sub", "sub"), ("sub/deep", "sub"), ("sub/deep", "sub/deep")])
def test_a_working_directory_that_was_replaced_is_seen_as_it_is(host, cwd, swapped):
    tree = host.tree(**{"sub/b": "second\n", "sub/deep/b": "third\n"})
    where = {"cwd": str(tree / cwd)}
    first(host, tree, **where)
    swap(tree, tree / swapped)
    host.give(tree)
    assert then(host, tree, "cat b; cat $PWD/b", **where).output == "other\nother\n"


def test_a_read_only_root_that_was_replaced_is_seen_as_it_is(host, tree):
    done = then(host, tree, "true", writes=False, closed=[], prepare=True)
    until(lambda: shells(host.process.pid))
    swap(tree, tree)
    host.give(tree)
    asked = {"writes": False, "closed": [], "environment": done.environment}
    assert then(host, tree, "cat a", **asked).output == "other\n"


def test_the_way_to_a_root_inside_a_root_is_seen_as_it_is(tmp_path):
    outer = tmp_path / "outer"
    (outer / "way/inner").mkdir(parents=True)
    (outer / "way/b").write_text("first\n")
    roots = tuple(RootMount(path, tmp_path / "uppers" / path.name) for path in (outer, outer / "way/inner"))
    request = RunRequest("cat way/b", roots, outer, WAIT_S)
    runner = CommandRunner(tmp_path / "session", path="/usr/bin:/bin", home=tmp_path / "nobody")
    try:
        done = runner.run(request)
        assert done.output == "first\n"
        runner.prepare(replace(request, environment=done.environment))
        until(lambda: shells(os.getpid()))
        (outer / "way").rename(outer / "old")
        (outer / "way").mkdir()
        (outer / "old/inner").rename(outer / "way/inner")
        (outer / "way/b").write_text("other\n")
        assert runner.run(replace(request, environment=done.environment)).output == "other\n"
    finally:
        runner.close()


def test_a_permission_that_was_changed_is_seen(host, tree):
    where = {"cwd": str(tree / "sub")}
    first(host, tree, **where)
    (tree / "sub").chmod(0o500)
    done = then(host, tree, "stat -c %a .; (echo x >new) 2>/dev/null || echo no", **where)
    (tree / "sub").chmod(0o755)
    assert done.output == "500\nno\n"


LOADED = ["LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LOCPATH", "GCONV_PATH"]


@pytest.mark.parametrize("name", [*LOADED, "OLD_LIBRARY_PATH", "TZ"])
def test_no_shell_stands_by_whose_start_would_read_what_a_command_wrote(host, tree, name):
    done = then(host, tree, f"export {name}=$PWD/sub", prepare=True)
    assert done.environment[name] == str(tree / "sub")
    assert done.standing_by == (name not in LOADED)
    swap(tree, tree / "sub")
    host.give(tree)
    assert then(host, tree, "cat sub/b", environment=done.environment).output.endswith("other\n")


@pytest.mark.parametrize("name", ["POSIXLY_CORRECT", "POSIX_PEDANTIC"])
def test_a_shell_waits_and_reports_whatever_was_exported(host, tree, name):
    done = then(host, tree, f"export {name}=1; echo x >>log", prepare=True)
    until(lambda: shells(host.process.pid))
    done = then(host, tree, "cat log; cd sub; false | true", environment=done.environment)
    assert (done.output, done.cwd, done.pipe_status) == ("x\n", str(tree / "sub"), [1, 0])


def test_a_shell_that_does_not_wait_finds_no_script(host, tree):
    hasty = '#!/bin/sh\n[ ! -e /tmp/now ] || { unset BASH_ENV; : >/tmp/seen; }\nexec /bin/bash "$@"\n'
    host.run(f"printf '%s' '{hasty}' >/tmp/hasty; chmod +x /tmp/hasty", tree)
    try:
        done = then(host, tree, "echo x >>log; : >/tmp/now", shell=["bash", "/tmp/hasty"], prepare=True)
        assert done.standing_by
        until((host.base / "session/tmp/seen").exists)
        until(lambda: not shells(host.process.pid))
    finally:
        done = then(host, tree, "cat log; rm -f /tmp/now /tmp/seen /tmp/hasty", shell=["bash", "/bin/bash"])
    assert done.output == "x\n"


def test_a_shell_waits_however_long_a_read_may_take(host, tree):
    done = first(host, tree, environment={"TMOUT": "1"})
    # Two seconds of the system's clock, which is the one the shell looks at.
    end = ticks() + 2 * TICK
    until(lambda: ticks() > end)
    assert shells(host.process.pid)
    assert then(host, tree, "echo $TMOUT", environment=done.environment).output == "1\n"


def test_what_a_command_exported_under_any_name_is_there(host, tree):
    done = then(host, tree, "export REPLY=a __spear_report=b", prepare=True)
    done = then(host, tree, "echo $REPLY $__spear_report", environment=done.environment)
    assert done.output == "a b\n"


def test_writes_go_to_the_layer_of_the_command(host, tree):
    upper = Path(first(host, tree).upper_path)
    shutil.rmtree(upper)
    done = then(host, tree, "echo x >written")
    assert done.upper["written"] == "file"


NAMES = st.sampled_from(["a", "c", "sub/b", "sub/d", "new/e", "new/deep/f", ".gitignore"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.text("xyz\n", max_size=5)),
        st.tuples(st.just("replace"), NAMES, st.text("xyz\n", max_size=5)),
        st.tuples(st.just("delete"), NAMES, st.just("")),
        st.tuples(st.just("rename"), NAMES, NAMES),
    ),
    max_size=6,
)


def apply(tree: Path, step: tuple[str, str, str]) -> None:
    kind, name, argument = step
    path = tree / name
    if kind == "delete":
        path.unlink(missing_ok=True)
        return
    if kind == "rename":
        if path.exists():
            (tree / argument).parent.mkdir(parents=True, exist_ok=True)
            path.rename(tree / argument)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "write":
        path.write_text(argument)
    else:
        replace_file(path, argument)


@given(steps=STEPS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happened_to_the_tree_meanwhile_is_seen(host, steps):
    tree = workspace(host)
    first(host, tree)
    for step in steps:
        apply(tree, step)
    host.give(tree)
    look = (
        "find . -type f -not -path './.git/*' -print0 | LC_ALL=C sort -z | xargs -0r sha256sum; find . -type d | sort"
    )
    expected = subprocess.run(["sh", "-c", look], cwd=tree, capture_output=True, text=True, check=True).stdout
    assert then(host, tree, look).output == expected


def test_a_script_finds_a_fresh_shell(host, tree):
    first(host, tree)
    script = (
        'echo "$0 $SECONDS $LINENO ${BASH_ENV-none} ${REPLY-none}"\n'
        "ls /proc/$$/fd | xargs\nnosuchcommand\n(echo x >/run/spear/script) || echo closed"
    )
    done = then(host, tree, script)
    lines = done.output.splitlines()
    assert lines[0] == "bash 0 1 none none"
    assert str(RELEASE_FD) not in lines[1].split()
    assert "bash: line 3: nosuchcommand: command not found" in done.output
    assert lines[-1] == "closed"


def test_the_time_limit_counts_from_the_command(host, tree):
    first(host, tree)
    done = then(host, tree, "sleep 30", timeout=0.3)
    assert done.ending == "timed_out"
    assert done.duration_s < WAIT_S


def test_nothing_stands_by_after_a_rest(host, tree):
    first(host, tree)
    host.ask({"rest": True})
    until(lambda: not shells(host.process.pid))
    assert then(host, tree, "cat a").output == "first\n"


def test_what_stands_by_ends_with_the_host(own_host):
    tree = own_host.tree(a="first\n")
    first(own_host, tree)
    waiting = shells(own_host.process.pid)
    own_host.process.kill()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in waiting))


def test_a_sandbox_that_could_not_be_made_is_made_again(host, tree):
    first(host, tree, cwd=str(tree / "sub"))
    done = then(host, tree, "rm -r ../sub; mkdir ../sub; cd ../sub; pwd", cwd=str(tree / "sub"), prepare=True)
    assert done.exit_code == 0
    # The layer with the new directory is thrown away: what stands by has lost its working directory.
    shutil.rmtree(done.upper_path)
    assert then(host, tree, "cat b", cwd=str(tree / "sub")).output == "second\n"


def test_a_posix_shell_waits_as_well(host, tree):
    options = {"shell": ["sh", "/bin/sh"]}
    try:
        done = host.run("echo $0; false | true; cd sub; export A=b", tree, upper="sh", prepare=True, **options)
        assert (done.exit_code, done.cwd, done.shell) == (0, str(tree / "sub"), "sh")
        assert done.environment["A"] == "b"
        held = host.run('for each in /proc/$$/fd/*; do echo "${each##*/}"; done', tree, upper="sh").output.split()
        assert str(RELEASE_FD) not in held
        assert host.run("echo $A; cat b", tree, upper="sh", cwd=done.cwd, environment=done.environment,
                        **options).output == "b\nsecond\n"  # fmt: skip
    finally:
        host.run("true", tree, shell=["bash", "/bin/bash"])
