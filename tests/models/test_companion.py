"""A program that runs beside a backend: started when needed, ended on every path, its complaints told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spear.agent.messages import FailureKind, Message, ModelFailure, ModelRequest, Role
from spear.models.backend import BackendSettings
from spear.models.companion import Child, Ready
from spear.models.retry import RetryPolicy
from spear.models.selection import open_backend
from tests.scripted_model import ModelServer, text

HELLO = ModelRequest((Message(Role.USER, "hi"),))
SETTINGS = BackendSettings("http://far:1/v1", model="m", retry=RetryPolicy(scale=0.001))
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
PARENT = """
import subprocess, sys, time
leash = subprocess.Popen([sys.executable, "-I", "-S", sys.argv[1], "sh", "-c",
                          "echo $$; sleep 600 & echo $!; wait"], stdin=subprocess.PIPE)
time.sleep(600)
"""


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@dataclass
class Helper:
    """A companion that serves once it has said `up`, at an address of the test's own."""

    program: str
    api_base: str = "http://127.0.0.1:1/v1"
    seconds: float = 20.0
    name: str = "the helper"
    started: list[Child] = field(default_factory=list)

    def start(self) -> Child:
        self.started.append(Child([sys.executable, "-c", self.program], os.environ))
        return self.started[-1]

    def ready(self, child: Child) -> Ready | None:
        return Ready(self.api_base) if "up" in child.output else None

    def way_out(self, last_words: str) -> str:
        return f"way out of {last_words!r}"


def test_it_starts_with_the_first_request_and_ends_with_the_backend() -> None:
    with ModelServer([text("one"), text("two")]) as server:
        helper = Helper(STUBBORN, server.base_url)
        backend = open_backend(SETTINGS, companion=helper)
        assert (helper.started, backend.name) == ([], "far:1")
        assert [backend.complete(HELLO).text for _ in range(2)] == ["one", "two"]
        assert len(helper.started) == 1
        backend.close()
        assert helper.started[0].status is not None


def test_one_that_ends_at_once_is_told_with_its_last_words_and_tried_once_a_turn() -> None:
    helper = Helper("import sys; sys.exit('no such thing')")
    backend = open_backend(SETTINGS, companion=helper)
    for _ in range(2):
        with pytest.raises(ModelFailure) as caught:
            backend.complete(HELLO)
        assert caught.value.kind is FailureKind.UNREACHABLE
        assert caught.value.message == "the helper ended with status 1: no such thing"
        assert caught.value.hint == "way out of 'no such thing'"
    assert backend.context_window() is None
    assert len(helper.started) == 1
    backend.begin_turn()
    with pytest.raises(ModelFailure):
        backend.complete(HELLO)
    assert len(helper.started) == 2
    backend.close()


def test_one_that_never_serves_is_not_waited_for_longer_than_it_may_take() -> None:
    helper = Helper("import time; time.sleep(600)", seconds=0.2)
    backend = open_backend(SETTINGS, companion=helper)
    with pytest.raises(ModelFailure, match=r"was not there within 0\.2 s"):
        backend.complete(HELLO)
    assert helper.started[0].status is not None
    backend.close()


@pytest.mark.parametrize("way", ["request", "turn", "close"])
def test_waiting_ends_when_nobody_waits_any_more(way: str) -> None:
    helper, stop = Helper("import time; time.sleep(600)"), threading.Event()
    backend = open_backend(SETTINGS, companion=helper, given_up=stop.is_set if way == "turn" else lambda: False)
    found: list[FailureKind] = []

    def ask() -> None:
        try:
            backend.complete(ModelRequest(HELLO.messages, cancelled=stop.is_set if way == "request" else None))
        except ModelFailure as failure:
            found.append(failure.kind)

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: bool(helper.started))
    stop.set()
    if way == "close":
        backend.close()
    asking.join(20)
    assert found == [FailureKind.CANCELLED]
    backend.close()


def test_its_complaint_is_added_to_a_failure_to_reach_the_endpoint() -> None:
    helper = Helper(
        "import sys, time; print('channel refused', file=sys.stderr); print('up', flush=True); time.sleep(600)"
    )
    backend = open_backend(SETTINGS, companion=helper)
    with pytest.raises(ModelFailure, match=r"\(the helper: channel refused\)"):
        backend.complete(HELLO)
    backend.close()


def test_whoever_holds_it_may_be_killed_and_nothing_is_left() -> None:
    leash = Path(open_backend.__code__.co_filename).with_name("leash.py")
    command = [sys.executable, "-c", PARENT, str(leash)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pids = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(runs, pids))
        parent.send_signal(signal.SIGKILL)
    until(lambda: not any(map(runs, pids)))


def test_a_program_that_is_not_there_is_named() -> None:
    child = Child(["/no/such/program"], os.environ)
    assert child.ends_within(20)
    assert (child.status, child.last_words) == (127, "/no/such/program: No such file or directory")
    child.stop()


def test_a_leash_that_is_killed_takes_its_program_with_it() -> None:
    helper = Child(["sh", "-c", "echo $$; exec sleep 600"], os.environ)
    until(lambda: bool(helper.output))
    pid = int(helper.output[0])
    leash = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    os.kill(leash, signal.SIGKILL)
    until(lambda: not runs(pid))
    helper.stop()
