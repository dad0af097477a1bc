"""Limits of the whole tree, and the mechanism that is chosen."""

from pathlib import Path

import pytest

from spear.sandbox import session
from spear.sandbox.limits import Bounds, Group, Mechanism, bounds, cgroup1_group, cgroup2_group, systemd_group
from spear.sandbox.request import Limits, RootMount, RunRequest
from spear.sandbox.runner import CommandRunner

GIB = 1024**3
WANTED = Bounds(2 * GIB, 256, None)


def test_defaults_follow_the_machine():
    assert bounds(Limits(), 8 * GIB, 4) == Bounds(2 * GIB, 256, None)
    assert bounds(Limits(), 64 * GIB, 64) == Bounds(8 * GIB, 768, None)
    assert bounds(Limits(memory_bytes=5, tasks=7, cpu_quota=0.5), 64 * GIB, 64) == Bounds(5, 7, 0.5)


def test_a_memory_hog_is_killed_where_memory_is_bounded_and_the_mechanism_is_always_named(own_host):
    done = own_host.run(
        "/usr/bin/python3 -c 'x = bytearray(400 * 1024 * 1024)'; echo $?", limits={"memory_bytes": 100 * 1024 * 1024}
    )
    assert done.limits in set(Mechanism)
    if done.limits != Mechanism.RLIMIT_ONLY:
        assert "137" in done.output, done
    assert own_host.run("echo alive").output == "alive\n"
    own_host.ask({"close": True})
    for controller in ("memory", "pids"):
        assert not list(Path("/sys/fs/cgroup", controller).glob(f"**/spear-{own_host.process.pid}-*"))


def test_a_fork_bomb_is_bounded(own_host):
    loop = "while n < 300:\n  os.fork() or time.sleep(60)\n  n += 1"
    bomb = f"import os, time\nn = 0\ntry:\n {loop}\nfinally: print('made', n)"
    done = own_host.run(f"/usr/bin/python3 -c '{bomb.replace(chr(39), chr(34))}'", limits={"tasks": 60}, timeout=30.0)
    assert "made" in done.output, done
    if done.limits != Mechanism.RLIMIT_ONLY:
        assert "made 300" not in done.output
    assert own_host.run("echo alive").output == "alive\n"


def test_a_systemd_scope_is_asked_for_where_a_manager_answers(tmp_path, monkeypatch):
    program = tmp_path / "systemd-run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    host = {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "SECRET": "x"}
    assert systemd_group(WANTED, host, 1000) is None
    (tmp_path / "run/systemd").mkdir(parents=True)
    (tmp_path / "run/systemd/private").touch()
    group = systemd_group(Bounds(2 * GIB, 256, 1.5), host, 1000)
    assert group.mechanism is Mechanism.SYSTEMD
    assert group.wrapper[1:6] == ("--user", "--scope", "--quiet", "--collect", "-p")
    assert {"MemoryMax=2147483648", "MemorySwapMax=0", "TasksMax=256", "CPUQuota=150%"} <= set(group.wrapper)
    assert group.wrapper[-1] == "--"
    assert "SECRET" not in group.environment


@pytest.mark.parametrize(
    "unusable",
    [Group(Mechanism.SYSTEMD, wrapper=("/bin/false",)), Group(Mechanism.CGROUP2, directories=(Path("/proc/self"),))],
    ids=["refusing manager", "group nothing may be moved to"],
)
def test_a_mechanism_that_does_not_take_the_supervisor_is_left_for_the_next(tmp_path, monkeypatch, unusable):
    def chosen(*_, systemd):
        return unusable if systemd else Group(Mechanism.RLIMIT_ONLY)

    monkeypatch.setattr(session, "choose", chosen)
    monkeypatch.setattr(Group, "remove", lambda self: None)
    (tmp_path / "tree").mkdir()
    runner = CommandRunner(tmp_path / "session", path="/usr/bin", home=tmp_path)
    done = runner.run(RunRequest("true", (RootMount(tmp_path / "tree"),), tmp_path / "tree", 20.0))
    runner.close()
    assert (done.exit_code, done.limits) == (0, "rlimit-only"), done


def test_a_hierarchy_without_the_controllers_is_not_taken_for_one(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    assert cgroup2_group(WANTED, "0::/a/b\n", tmp_path, "spear-1-1") is None
    assert cgroup1_group(WANTED, "4:memory:/\n8:pids:/\n", tmp_path, "spear-1-1") is None
    assert not list(tmp_path.glob("**/spear-*"))
