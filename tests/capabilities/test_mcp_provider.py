"""Providers over stdio and HTTP: what they are given, every failure a value, nothing that outlives them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spear.capabilities import provider_guard
from spear.capabilities.background import Background
from spear.capabilities.mcp_provider import Failure, FailureCode, McpProvider
from spear.capabilities.registry import ProviderEntry
from tests.capabilities.setting import RAW, provider_entry, until


def alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def said(result):
    assert not isinstance(result, Failure), result
    return result["content"][0]["text"]


@pytest.fixture
def start(tmp_path):
    made = []

    def make(*command, environ=None, **keys):
        keys = {"timeout": 20, "scope": "global", **keys}
        entry = ProviderEntry(id="one", command=command or None, **keys)
        made.append(McpProvider(entry, Background(), environ or dict(os.environ), tmp_path / "one.log"))
        return made[-1]

    yield make
    for each in made:
        each.close()


def raw(start, how, *more, **keys):
    return start(sys.executable, "-S", str(RAW), how, *more, **keys)


def test_a_provider_gets_path_home_and_the_named_variables_only_and_runs_at_home(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    environ = {
        "PATH": f".::{os.environ['PATH']}:bin",
        "HOME": str(home),
        "WANTED": "w",
        "OTHER": "o",
        "LANG": "C.UTF-8",
        "USER": "u",
    }
    provider = start(*provider_entry().command, env=("WANTED", "UNSET"), environ=environ)
    provider.tools()
    given = json.loads(said(provider.call("query_00", {"q": "environment"})))
    assert given == {"PATH": os.environ["PATH"], "HOME": str(home), "WANTED": "w"}
    assert said(provider.call("query_00", {"q": "place"})) == str(home)


def test_stray_output_and_a_flood_on_stderr_go_to_a_bounded_log(start):
    provider = start(*provider_entry().command)
    provider.tools()
    assert said(provider.call("query_00", {"q": "chatter"})) == "said something"
    assert said(provider.call("query_00", {"q": "noise"})) == "noisy"
    kept = [Path(f"{provider.log}{end}") for end in ("", ".1")]
    assert until(lambda: sum(path.stat().st_size for path in kept if path.exists()) > 500_000)
    assert sum(path.stat().st_size for path in kept) <= 1024 * 1024
    assert provider.log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (("/no/such/server",), FailureCode.CANNOT_START, "/no/such/server: No such file or directory"),
        (("/etc/passwd",), FailureCode.CANNOT_START, "Permission denied"),
        (
            (sys.executable, "-c", "import sys; sys.exit('no key')"),
            FailureCode.CANNOT_START,
            "it ended with status 1 during its start",
        ),
        ((sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"), FailureCode.CANNOT_START, "ended by SIGKILL"),
        (("sleep", "1000"), FailureCode.START_TIMEOUT, "within 1 s"),
        (("yes",), FailureCode.START_TIMEOUT, "within 1 s"),
        ((sys.executable, "-S", str(RAW), "version"), FailureCode.PROTOCOL, "1999-01-01"),
        ((sys.executable, "-S", str(RAW), "modern"), FailureCode.PROTOCOL, "unsupported version"),
        ((sys.executable, "-S", str(RAW), "silent-list"), FailureCode.START_TIMEOUT, "within 1 s"),
    ],
)
def test_a_start_that_fails_says_how(start, command, code, told):
    provider = start(*command, timeout=1 if code is FailureCode.START_TIMEOUT else 5)
    failure = provider.tools()
    assert isinstance(failure, Failure)
    assert (failure.code, failure.lasting) == (code, True)
    assert told in failure.reason
    assert provider.tools() is failure
    assert provider.call("act", {}) is failure


def test_the_last_words_of_a_failed_start_are_kept_for_the_operator(start):
    failure = start(sys.executable, "-c", "import sys; sys.exit('TOKEN is not set')").tools()
    assert isinstance(failure, Failure)
    assert failure.said == "TOKEN is not set"
    assert "TOKEN" not in failure.reason


def test_a_tool_whose_name_is_not_one_word_is_left_out(start):
    provider = raw(start, "plain")
    assert [tool.name for tool in provider.tools()] == ["act"]
    assert said(provider.call("act", {})) == "done"


def test_what_was_said_before_the_end_still_counts(start):
    provider = raw(start, "tail")
    provider.tools()
    assert said(provider.call("act", {})) == "last words"
    ended = provider.call("act", {})
    assert isinstance(ended, Failure)
    assert (ended.code, ended.reason) == (FailureCode.ENDED, "it ended with status 0")


def test_an_answer_out_of_shape_is_one_failed_call(start):
    provider = raw(start, "garbled")
    provider.tools()
    failure = provider.call("act", {})
    assert isinstance(failure, Failure)
    assert (failure.code, failure.lasting) == (FailureCode.SERVER_ERROR, False)


def test_a_provider_that_closes_its_output_has_ended(start):
    provider = raw(start, "close")
    provider.tools()
    failure = provider.call("act", {})
    assert isinstance(failure, Failure)
    assert failure.code is FailureCode.ENDED


def test_closing_leaves_no_process_behind(start, tmp_path):
    pid = tmp_path / "pid"
    provider = raw(start, "orphan", str(pid))
    provider.tools()
    orphan = int(until(lambda: pid.exists() and pid.read_text()))
    assert alive(orphan)
    provider.close()
    assert until(lambda: not alive(orphan))


def test_a_provider_that_ends_takes_what_it_left_behind_along(start):
    provider = start(*provider_entry().command)
    provider.tools()
    child = int(said(provider.call("query_00", {"q": "child"})))
    assert alive(child)
    provider.call("query_00", {"q": "crash"})
    assert until(lambda: not alive(child))


HOST = """
import os, sys, threading
from pathlib import Path
from spear.capabilities.providers import CapabilityProviders
from spear.capabilities.registry import ProviderEntry, Registry
entry = ProviderEntry(id="one", command=tuple(sys.argv[2:]), scope="global", timeout=300)
providers = CapabilityProviders(Registry((entry,)), os.environ, Path(sys.argv[1]))
providers.start([entry])
print("begun", flush=True)
if "orphan-hung" not in sys.argv:
    providers.tools([entry], lambda: False)
    print("ready", flush=True)
if sys.stdin.readline() == "exit\\n":
    sys.exit(0)
threading.Event().wait()
"""


@pytest.mark.parametrize("how", ["orphan", "orphan-hung"])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, "exit"])
def test_nothing_survives_the_host_however_it_ends(tmp_path, how, end):
    pid = tmp_path / "pid"
    server = [sys.executable, "-S", str(RAW), how, str(pid)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path / "logs"), *server], stdin=pipe, stdout=pipe, text=True
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        assert host.stdout.readline() == "begun\n"
        assert how == "orphan-hung" or host.stdout.readline() == "ready\n"
        orphan = int(until(lambda: pid.exists() and pid.read_text()))
        family = [
            int(line)
            for line in subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True).stdout.split()
        ]
        assert orphan in family
        if isinstance(end, signal.Signals):
            host.send_signal(end)
        else:
            host.stdin.write("exit\n")
            host.stdin.flush()
        host.wait(20)
        assert until(lambda: not any(map(alive, family)))


SIGNALLED_WHILE_STARTING = """
import os, runpy, signal, subprocess, sys, time
from pathlib import Path
program, pid = sys.argv[1], Path(sys.argv[-1])
class Popen(subprocess.Popen):
    def __init__(self, *words, **keys):
        super().__init__(*words, **keys)
        while not pid.exists() or not pid.read_text():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGTERM)
subprocess.Popen = Popen
sys.argv[:] = sys.argv[1:]
runpy.run_path(program, run_name="__main__")
"""


def test_a_guard_told_to_end_while_its_provider_starts_takes_all_of_it_along(tmp_path):
    pid = tmp_path / "pid"
    settings = {"log": str(tmp_path / "log"), "line_limit": 1024, "log_limit": 1024, "env": [], "home": str(tmp_path)}
    server = [sys.executable, "-S", str(RAW), "orphan-hung", str(pid)]
    guard = [sys.executable, "-c", SIGNALLED_WHILE_STARTING, provider_guard.__file__, json.dumps(settings), *server]
    subprocess.run(guard, stdin=subprocess.PIPE, timeout=60, check=False)
    assert until(lambda: not alive(int(pid.read_text())))


def test_a_provider_over_http_is_used_like_any_other(start, web):
    url, log, server = web
    provider = start(
        url=url,
        env=("TOKEN",),
        headers={"Authorization": "Bearer ${TOKEN}"},
        environ={"TOKEN": "t0ken", "HOME": "/"},
        timeout=4,
    )
    assert [tool.name for tool in provider.tools()] == ["get_issue", "add_comment", "query_00"]
    assert "ISSUE 7" in said(provider.call("get_issue", {"number": 7}))
    assert '["header", "Bearer t0ken"]' in log.read_text()
    huge = provider.call("query_00", {"q": "huge"})
    assert isinstance(huge, Failure)
    assert huge.code is FailureCode.TOO_LARGE
    assert "ISSUE 8" in said(provider.call("get_issue", {"number": 8}))
    server.kill()
    server.wait()
    gone = provider.call("get_issue", {"number": 9})
    assert isinstance(gone, Failure)
    assert gone.lasting


def test_a_refused_connection_is_a_provider_that_cannot_be_reached(start):
    failure = start(url="http://127.0.0.1:9/mcp", timeout=5).tools()
    assert isinstance(failure, Failure)
    assert failure.code is FailureCode.CANNOT_START
