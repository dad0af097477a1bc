"""The operator's hooks: they take away and never give, a gate fails closed, a notice open, nothing is left running."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spear.agent.host import Outcome, ToolRequest
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live
from spear.host.confirmation import Choice, Question, Reply, Subject
from spear.host.hook_run import HookPlace, environment_of, of_the_tree, passes_through, run_hook
from spear.host.hooks import SessionHooks
from spear.policy.hook import Hook
from spear.state.redaction import Redactor
from tests.processes import is_gone

DENY = """echo '{"decision": "deny", "reason": "not today"}'"""
ALLOW = """echo '{"decision": "allow"}'"""
SECRET = "correct-horse-battery-staple"


class Hooked:
    """A turn with hooks, each a shell script outside the tree that keeps what it was told."""

    def __init__(self, bench) -> None:
        self.bench = bench
        self.place = bench.base / "hooks"
        self.place.mkdir()
        self.hooks = []

    def add(self, event, script, *, name="check", **fields):
        program = self.place / name
        program.write_text(f"#!/bin/sh\ncat >> {self.place}/{name}.told\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        self.hooks.append(Hook.model_validate({"event": event, "command": (str(program),), **fields}))

    def told(self, name="check"):
        file = self.place / f"{name}.told"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def session_hooks(self, environ=os.environ):
        place = HookPlace.of(self.bench.root.resolve(), (), environ)
        return SessionHooks(self.hooks, place, "s-1", Redactor((SECRET,)))

    def turn(self, *targets, environ=os.environ, **asked):
        session = self.bench.session
        session.hooks = self.session_hooks(environ)
        return self.bench.turn(*targets, session=session, **asked)


@pytest.fixture
def hooked(ring) -> Hooked:
    return Hooked(ring)


def asked(turn, tool, **arguments):
    """What the host says of a call before it runs."""
    return turn.host.authorize(ToolRequest(f"c{len(turn.events)}", tool, arguments))


def notices(turn):
    return [item.text for item in turn.events if isinstance(item, Live)]


def ran(turn):
    return [item.data for item in turn.events if isinstance(item, Event) and item.name is EventName.HOOK_RAN]


# --- the gate -------------------------------------------------------------------------------------------------------


def test_a_deny_refuses_the_call_names_the_program_and_its_reason_and_nothing_happens(hooked):
    hooked.add("before_tool", DENY)
    turn = hooked.turn()
    result = turn.write("new.txt", "x")
    assert result.outcome is Outcome.REFUSED and result.refusal.code == "hook_denied"
    assert (
        str(hooked.place / "check") in result.text and "not today" in result.text and "do something else" in result.text
    )
    assert not (hooked.bench.root / "new.txt").exists()
    assert turn.record.outcome is Outcome.REFUSED and turn.record.reason == "hook_denied"
    (data,) = ran(turn)
    assert (data["event"], data["decision"], data["tool"]) == ("before_tool", "deny", "write_file")
    assert data["program"] == str(hooked.place / "check") and data["milliseconds"] >= 0
    assert notices(turn) == []


@pytest.mark.parametrize("script", [ALLOW, ":"])
def test_an_allow_and_silence_let_it_happen(hooked, script):
    hooked.add("before_tool", script)
    turn = hooked.turn()
    assert turn.write("new.txt", "x").outcome is Outcome.OK
    assert (hooked.bench.root / "new.txt").exists()


FAILURES = {
    "exit 1": "status 1",
    "echo because >&2; exit 2": "status 2: because",
    f"{ALLOW}; exit 1": "status 1",
    "echo fine": "not one JSON object",
    f"echo hello; {ALLOW}": "not one JSON object",
    """echo '{"decision": "allow", "extra": 1}'""": "extra",
    "kill -SEGV $$": "signal (11)",
    f"{ALLOW}; head -c 70000 /dev/zero | tr '\\0' ' '": "more than 64 KiB",
    "exec sleep 1000": "within 0.3 s",
}


@pytest.mark.parametrize("script", FAILURES)
def test_every_failure_of_a_gate_refuses_says_what_went_wrong_and_tells_the_operator_once(hooked, script):
    hooked.add("before_tool", script, timeout_s=0.3 if "sleep" in script else 5)
    turn = hooked.turn()
    for path in ("one.txt", "two.txt"):
        result = turn.write(path, "x")
        assert result.refusal.code == "hook_failed" and FAILURES[script] in result.text, result.text
        assert "operator mends it" in result.text and str(hooked.place / "check") in result.text
        assert not (hooked.bench.root / path).exists()
    assert len(notices(turn)) == 1 and "the call is refused" in notices(turn)[0]
    assert {data["decision"] for data in ran(turn)} == {"failed"}


def test_a_program_that_is_gone_or_cannot_be_started_refuses(hooked):
    hooked.add("before_tool", ALLOW)
    program = hooked.place / "check"
    program.write_text("no first line\n", encoding="utf-8")
    turn = hooked.turn()
    assert "names no interpreter" in asked(turn, "read_file", path="Makefile").reason
    program.unlink()
    refusal = asked(turn, "read_file", path="Makefile")
    assert refusal.code == "hook_failed" and "cannot be started" in refusal.reason


def test_a_hook_runs_once_a_call_for_every_tool_or_for_those_it_names(hooked):
    hooked.add("before_tool", "", name="all")
    hooked.add("before_tool", "", name="some", tools=("terminal", "fetch_url"))
    turn = hooked.turn()
    for tool, arguments in (
        ("read_file", {"path": "Makefile"}), ("search_files", {"pattern": "x"}), ("patch", {"path": "Makefile"}),
        ("write_file", {"path": "n"}), ("delete_file", {"path": "n"}), ("terminal", {"command": "ls"}),
        ("search_internet", {"query": "x"}), ("fetch_url", {"url": "https://example.org"}),
    ):  # fmt: skip
        assert asked(turn, tool, **arguments) is None
    assert len(hooked.told("all")) == 8
    assert [each["tool"] for each in hooked.told("some")] == ["terminal", "fetch_url"]


def test_the_first_that_denies_is_the_last_that_runs(hooked):
    hooked.add("before_tool", ALLOW, name="one")
    hooked.add("before_tool", DENY, name="two")
    hooked.add("before_tool", ALLOW, name="three")
    turn = hooked.turn()
    assert "two" in asked(turn, "read_file", path="Makefile").reason
    assert [Path(data["program"]).name for data in ran(turn)] == ["one", "two"]
    assert hooked.told("three") == []


def test_what_the_policy_refuses_no_hook_allows(hooked):
    hooked.add("before_tool", ALLOW)
    safe = hooked.turn(mode=Mode.SAFE, read_only=True)
    refusal = asked(safe, "write_file", path="x", content="x")
    assert refusal is not None and not refusal.code.startswith("hook") and ran(safe) == []
    scoped = hooked.turn("src/ring.c", mode=Mode.AUTO)
    assert scoped.write("Makefile", "x").refusal.code == "out_of_scope"
    assert scoped.run("echo x > Makefile").refusal.code == "out_of_scope"
    assert "all:" in hooked.bench.text("Makefile")


def test_equal_denials_stop_the_turn_like_any_refusal(hooked):
    hooked.add("before_tool", DENY)
    turn = hooked.turn()
    for _ in range(5):
        turn.run("make")
    assert turn.after.stop is not None and turn.after.stop[0] == "stalled_refusals"


def test_a_web_call_made_by_a_command_meets_the_hooks_of_its_tool_once(hooked):
    class Nowhere:
        def get(self, _):
            raise AssertionError("it was fetched")

    from spear.host.web import WebAccess

    hooked.add("before_tool", "", name="every")
    hooked.add("before_tool", "", name="both", tools=("terminal", "fetch_url"))
    hooked.add("before_tool", DENY, name="fetching", tools=("fetch_url",))
    hooked.add("after_tool", "", name="after", tools=("fetch_url",))
    turn = hooked.turn(web=WebAccess(Nowhere()))
    request = ToolRequest("c1", "terminal", {"command": "spear-web fetch_url https://example.org/x"})
    assert turn.host.authorize(request) is None
    result = turn.tools.perform(request)
    assert result.refusal is not None and result.refusal.code == "hook_denied", result.text
    assert hooked.told("fetching")[0]["arguments"]["url"] == "https://example.org/x"
    assert [each["tool"] for each in hooked.told("every") + hooked.told("both")] == ["terminal", "terminal"]
    assert [each["outcome"] for each in hooked.told("after")] == ["refused"]


# --- what it is told, and what is heard of it -------------------------------------------------------------------------


def test_what_a_hook_is_told(hooked):
    hooked.add("before_tool", "pwd > told.cwd")
    turn = hooked.turn(mode=Mode.AUTO)
    asked(turn, "write_file", path="a.txt", content="x" * 300_000)
    (told,) = hooked.told()
    assert told["arguments"] == {"path": "a.txt", "content": "x" * 300_000}  # far more than a pipe holds
    assert {key: told[key] for key in ("schema", "event", "session", "turn", "mode", "tool", "workspace")} == {
        "schema": "spear.hook/1", "event": "before_tool", "session": "s-1", "turn": 1, "mode": "auto",
        "tool": "write_file", "workspace": str(hooked.bench.root.resolve()),
    }  # fmt: skip
    assert hooked.bench.text("told.cwd").strip() == str(hooked.bench.root.resolve())


def test_a_hook_that_reads_nothing_holds_nobody_up(hooked):
    hooked.add("before_tool", "")
    (hooked.place / "check").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    assert asked(hooked.turn(), "write_file", path="a.txt", content="x" * 3_000_000) is None


def test_secrets_reach_neither_a_hook_nor_what_is_kept_of_its_answer(hooked):
    hooked.add(
        "before_tool", f"""echo '{{"decision": "deny", "reason": "{SECRET} in it"}}'; env > {hooked.place}/env"""
    )
    environ = {**os.environ, "OPENAI_API_KEY": "sk-abcdefghijklmnop", "MY_TOKEN": "tok-1234567890", "PLAIN": "kept"}
    turn = hooked.turn(environ=environ)
    result = turn.run(f"curl -H 'Authorization: Bearer {SECRET}' https://example.org")
    told = (hooked.place / "check.told").read_text(encoding="utf-8")
    assert SECRET not in told and "[redacted]" in told
    assert "[redacted] in it" in result.text and SECRET not in json.dumps(ran(turn)) + result.refusal.reason
    environment = (hooked.place / "env").read_text(encoding="utf-8")
    assert "PLAIN=kept" in environment and "sk-abc" not in environment and "tok-123" not in environment


def test_a_reason_is_one_line_cleaned_and_bounded(hooked):
    reason = "a\\n\\u001b[31mred\\u202e" + "x" * 5000
    hooked.add("before_tool", f"""cat <<'END'\n{{"decision": "deny", "reason": "{reason}"}}\nEND""")
    turn = hooked.turn()
    text = turn.read("Makefile").text
    assert "a red" in text and "\x1b" not in text and "\u202e" not in text and len(text) < 1000
    assert len(ran(turn)[0]["reason"]) <= 300


# --- notices ----------------------------------------------------------------------------------------------------------


def test_after_a_call_its_outcome_is_told_refused_ones_included(hooked):
    hooked.add("after_tool", "")
    turn = hooked.turn("src/ring.c")
    turn.read("Makefile")
    turn.write("Makefile", "x")
    read, refused = hooked.told()
    assert (read["tool"], read["outcome"]) == ("read_file", "ok")
    assert (refused["outcome"], refused["reason"]) == ("refused", "out_of_scope")


@pytest.mark.parametrize("script", [*FAILURES, DENY])
def test_a_failure_of_a_notice_is_said_once_and_everything_goes_on(hooked, script):
    hooked.add("after_tool", script, timeout_s=0.3 if "sleep" in script else 5)
    turn = hooked.turn()
    for path in ("one.txt", "two.txt"):
        assert turn.write(path, "x").outcome is Outcome.OK and turn.after.stop is None
    assert len(notices(turn)) == 1 and "goes on without it" in notices(turn)[0]
    assert FAILURES.get(script, "asks for no decision") in notices(turn)[0]


def test_a_notice_that_fails_keeps_the_next_from_nothing(hooked):
    hooked.add("after_tool", "exit 1", name="one")
    hooked.add("after_tool", "", name="two")
    turn = hooked.turn()
    turn.read("Makefile")
    assert len(hooked.told("two")) == 1 and [data["decision"] for data in ran(turn)] == ["failed", "go_on"]


def test_the_operator_is_told_of_a_question_before_it_is_put(hooked):
    hooked.add("approval_needed", "")
    events = []
    turn = hooked.session_hooks().of_turn(3, lambda: Mode.ASK, events.append, lambda: False)
    turn.approval_needed(Question(Subject.COMMAND, "terminal", "make", "make"))
    (told,) = hooked.told()
    assert (told["event"], told["subject"], told["target"], told["turn"]) == ("approval_needed", "command", "make", 3)


def test_without_hooks_nothing_of_them_is_there(ring):
    turn = ring.turn(mode=Mode.ASK, confirm=lambda _: Reply(Choice.YES))
    assert turn.write("new.txt", "x").outcome is Outcome.OK
    assert ring.session.hooks is None and ran(turn) == [] and turn.host._hooks is None


# --- nothing is left --------------------------------------------------------------------------------------------------

CHILDREN = (
    "sleep 1000 & echo $! > $(dirname $0)/pids; sleep 1000 & echo $! >> $(dirname $0)/pids; echo > $(dirname $0)/up"
)


def test_what_takes_too_long_is_killed_with_its_children(hooked):
    hooked.add("before_tool", f"{CHILDREN}; wait", timeout_s=1)
    assert "within 1 s" in asked(hooked.turn(), "terminal", command="make").reason
    pids = (hooked.place / "pids").read_text(encoding="utf-8").split()
    assert len(pids) == 2 and all(is_gone(int(pid)) for pid in pids)


def test_what_is_left_behind_by_a_hook_that_answered_is_killed(hooked):
    hooked.add("before_tool", f"{CHILDREN}; {ALLOW}")
    assert asked(hooked.turn(), "terminal", command="make") is None
    assert all(is_gone(int(pid)) for pid in (hooked.place / "pids").read_text(encoding="utf-8").split())


def test_stopping_the_turn_ends_a_hook_and_refuses_and_starts_no_more(hooked):
    hooked.add("before_tool", f"{CHILDREN}; wait", timeout_s=60)
    hooked.add("after_tool", "", name="after")
    turn = hooked.turn(cancelled=(hooked.place / "up").exists)
    result = turn.run("make")
    assert result.refusal.code == "hook_failed" and "stopped with the turn" in result.text
    assert all(is_gone(int(pid)) for pid in (hooked.place / "pids").read_text(encoding="utf-8").split())
    assert hooked.told("after") == [] and notices(turn) == []


# --- never of the tree ------------------------------------------------------------------------------------------------


def test_a_program_of_the_tree_is_not_run_however_it_is_reached(hooked):
    root = hooked.bench.root.resolve()
    evil = hooked.bench.put("evil.sh", f"#!/bin/sh\necho > {hooked.place}/ran\n", mode=0o755)
    (hooked.place / "link").symlink_to(evil)
    (root / "out").symlink_to(hooked.place)
    (hooked.place / "good").write_text(f"#!/bin/sh\necho > {hooked.place}/ran\n", encoding="utf-8")
    (hooked.place / "good").chmod(0o755)
    for command in (
        (str(evil),), (str(hooked.place / "link"),), (str(root / "out/good"),), ("/bin/sh", str(evil)),
        ("/bin/sh", "evil.sh"), ("/bin/sh", str(hooked.place / "link")), ("/bin/sh", "--rcfile=evil.sh"),
        (f"{hooked.place}/../ws/evil.sh",),
    ):  # fmt: skip
        hook = Hook(event="turn_ended", command=command)
        ended = run_hook(hook, b"{}", HookPlace.of(root, (), os.environ), lambda: False)
        assert ended.status is None and "is in the workspace" in ended.stopped, command
        assert not (hooked.place / "ran").exists()
    assert of_the_tree(("/bin/ls", "src", "-l", "", "x" * 5000, str(hooked.place / "good")), root, (root,)) == ""


def test_a_link_that_never_ends_counts_as_the_trees(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert passes_through(tmp_path / "a", ())


def test_the_path_of_a_hook_leads_not_into_the_tree(tmp_path):
    tree = tmp_path.resolve() / "ws"
    (tree / ".venv/bin").mkdir(parents=True)
    found = environment_of({"PATH": f"{tree}/.venv/bin:/usr/bin:.::bin"}, frozenset(), (tree,))
    assert found == {"PATH": "/usr/bin"}
