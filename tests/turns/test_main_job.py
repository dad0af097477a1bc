"""The main job end to end: a request changes a real tree and ends with a computed verdict."""

from __future__ import annotations

import json

from tests.turns.conftest import ASK, FIX, WRONG, sh


def test_a_fix_whose_test_passes_on_the_final_source_is_verified(counter):
    turn = counter.turn(ASK, ("read_file", {"path": "src/counter.c"}), FIX, sh("make test"), "Fixed; the tests pass.")
    assert (turn.verdict, turn.done.returncode) == ("VERIFIED", 0)
    assert "value >= limit" in counter.read("src/counter.c")
    assert turn.result["changed_files"] == [{"path": "src/counter.c", "change": "modified"}]
    assert (turn.result["class"], turn.result["path"], turn.result["read_only"]) == (
        "IMPLEMENTATION",
        "coding_core",
        False,
    )


def test_a_wrong_fix_ends_unverified_and_says_which_check_failed(counter):
    turn = counter.turn(ASK, WRONG, sh("make test"), "Fixed; the tests pass.", flags=("--validation", "off"))
    assert (turn.verdict, turn.done.returncode) == ("UNVERIFIED", 3)
    assert "check_failed" in turn.codes
    assert turn.result["answer"].startswith("**UNVERIFIED**") and "*(not verified)*" in turn.result["answer"]


def test_a_change_after_the_last_check_is_unverified(counter):
    comment = ("patch", {"path": "src/counter.c", "old_string": "{\n", "new_string": "{\n    /* wraps */\n"})
    turn = counter.turn(ASK, FIX, sh("make test"), comment, "The tests pass.", flags=("--validation", "off"))
    assert turn.verdict == "UNVERIFIED" and "changed_after_check" in turn.codes


def test_the_projects_own_tests_are_run_when_the_model_runs_none(counter):
    turn = counter.turn(ASK, FIX, "Fixed.")
    assert turn.verdict == "VERIFIED"
    assert {(v["kind"], v["origin"], v["status"]) for v in turn.result["validation"]} >= {("test", "probed", "PASSED")}


def test_a_failed_validation_is_offered_once_for_repair(counter):
    again = ("patch", {"path": "src/counter.c", "old_string": "value > limit + 1", "new_string": "value >= limit"})
    turn = counter.turn(ASK, WRONG, "Fixed.", again, "Now it wraps.")
    assert turn.verdict == "VERIFIED" and turn.result["repair"]["changed"] is True
    offer = json.dumps(turn.requests[2]["messages"][-1])
    assert "make test" in offer and "FAIL: counter_step(4, 4)" in offer
    names = [event["event"] for event in counter.events()]
    assert names.count("validation_repair_started") == 1


def test_there_is_no_second_repair(counter):
    still = ("patch", {"path": "src/counter.c", "old_string": "limit + 1", "new_string": "limit + 2"})
    turn = counter.turn(ASK, WRONG, "Fixed.", still, "Fixed again.", FIX, "never asked")
    assert turn.verdict == "UNVERIFIED" and len(turn.requests) == 4


def test_a_question_changes_nothing_and_is_answered(counter):
    before = counter.files()
    turn = counter.turn(
        "Why does the test fail?", sh("make test"), sh("echo x > src/counter.c"), "It wraps one too late."
    )
    assert (turn.verdict, turn.done.returncode, turn.result["read_only"]) == ("NO_CHANGE", 0, True)
    assert counter.files() == before and not (counter.root / "build").exists()


def test_the_request_prefix_is_byte_stable_and_small(counter):
    turn = counter.turn(ASK, ("read_file", {"path": "Makefile"}), sh("make -n"), "Looked.")
    for earlier, later in zip(turn.requests, turn.requests[1:], strict=False):
        assert later["tools"] == earlier["tools"]
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
    assert len(json.dumps(turn.requests[0])) <= 9_000
    assert not {"temperature", "top_p", "seed"} & set(turn.requests[0])


def test_the_json_result_is_what_its_schema_says(counter):
    import jsonschema

    from spear.events.turn import TurnResult

    turn = counter.turn(ASK, FIX, sh("make test"), "The tests pass.")
    jsonschema.validate(turn.result, TurnResult.model_json_schema(by_alias=True, mode="serialization"))


def test_stream_json_prints_events_and_the_result_last(counter):
    from tests.scripted_model import ModelServer, calls, text

    with ModelServer([calls(FIX), text("Fixed.")]) as server:
        done = counter.run("-p", ASK, "--auto", "--output", "stream-json", "--api-base", server.base_url)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[-1]["schema"] == "spear.turn/1" and rows[0]["event"] == "request_classified"
    assert {"tool_called", "tool_finished", "verdict_computed"} <= {row.get("event") for row in rows}


def test_a_recorded_turn_plays_back_with_real_tools(counter, tmp_path):
    tape = str(tmp_path / "tape.jsonl")
    assert counter.turn(ASK, FIX, sh("make test"), "The tests pass.", flags=("--record", tape)).verdict == "VERIFIED"
    counter.git("checkout", "-q", "--", ".")
    done = counter.run("-p", ASK, "--auto", "--output", "json", "--replay", tape)
    assert json.loads(done.stdout)["verdict"] == "VERIFIED" and "value >= limit" in counter.read("src/counter.c")


def test_a_commit_carries_the_operators_identity(counter):
    counter.git("config", "user.name", "Ada Lovelace")
    counter.git("config", "user.email", "ada@example.org")
    turn = counter.turn(
        "Commit the tree with the shell",
        sh("git commit -q --allow-empty -m x && git log -1 --format='%an <%ae>'"),
        "Done.",
    )
    assert "Ada Lovelace <ada@example.org>" in turn.results()[0]


def test_what_the_model_exported_reaches_neither_its_own_checks_nor_the_projects_validation(counter):
    fake = sh("mkdir -p /tmp/f && ln -sf /bin/true /tmp/f/make; export PATH=/tmp/f:$PATH MAKEFLAGS=-n")
    turn = counter.turn(ASK, WRONG, fake, sh("make test"), "The tests pass.")
    assert turn.verdict == "UNVERIFIED" and "validation_failed" in turn.codes
    assert [check["status"] for check in turn.result["checks"] if check["command"] == "make test"] == ["inconclusive"]


def test_source_put_back_after_its_check_within_one_command_is_unverified(counter):
    trick = (
        "cp src/counter.c /tmp/k; sed -i 's/limit + 1/limit - 1/' src/counter.c; make test && cp /tmp/k src/counter.c"
    )
    turn = counter.turn(ASK, WRONG, sh(trick), "The tests pass.", flags=("--validation", "off"))
    assert turn.verdict == "UNVERIFIED" and "check_inconclusive" in turn.codes


def test_a_new_file_that_hides_failing_tests_is_named(tree):
    tree.write("app.py", "def add(a, b):\n    return a - b\n")
    tree.write(
        "test_app.py",
        "from app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n",
    )
    ini = ("write_file", {"path": "pytest.ini", "content": "[pytest]\naddopts = -k zero\n"})
    fix = ("patch", {"path": "app.py", "old_string": "a - b", "new_string": "a - b  # fixed"})
    turn = tree.turn("Fix add() in app.py and write pytest.ini.", fix, ini, sh("python3 -m pytest -q"), "Fixed.")
    assert turn.verdict == "UNVERIFIED" and "check_weakened" in turn.codes


def test_a_build_directory_outside_the_workspace_is_the_projects_own_when_it_was_set_up_from_it(counter):
    counter.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(c C)\nenable_testing()\n"
                  "add_executable(t src/counter.c tests/test_counter.c)\nadd_test(NAME t COMMAND t)\n")  # fmt: skip
    steps = [sh("mkdir -p /tmp/out && cd /tmp/out && cmake /workspace"), sh("make && ctest")]
    turn = counter.turn(ASK, FIX, *steps, "The tests pass.", flags=("--validation", "off"))
    assert turn.verdict == "VERIFIED"
