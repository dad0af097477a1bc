"""Turns while a standard is bound: what engages it is withheld, what does not goes on (spec 5)."""

from __future__ import annotations

import json

import pytest

from spear.standards.binding import Bindings
from spear.standards.ingestion import Document, ingest
from spear.standards.store import StandardStore
from tests import loaded_program
from tests.standards.keeping.conftest import NAME, TEXT
from tests.turns.conftest import sh


@pytest.fixture
def lamp(tree):
    document = tree.write("lamp-bus.md", TEXT)
    ingest(StandardStore(tree.state / "standards"), Document(document, NAME), lambda *_: None)
    return tree


@pytest.fixture
def bound(lamp):
    Bindings(StandardStore(lamp.state / "standards")).use(NAME)
    return lamp


def is_bound(tree) -> bool:
    bindings = Bindings(StandardStore(tree.state / "standards"))
    present = bindings.present()
    return present is not None and bindings.opened(present).name == NAME


@pytest.mark.parametrize(
    ("request_", "class_", "path"),
    [
        ("What does Rule 2.1-2 require?", "NORMATIVE", "normative"),
        ("Make lamp.c comply with Rule 2.1-2", "MIXED", "mixed"),
        ("Rename the function blink in lamp.c to flash", "IMPLEMENTATION", "normative_workflow"),
    ],
)
def test_what_engages_the_standard_is_withheld(bound, request_, class_, path):
    bound.write("lamp.c", "int blink(void) { return 1; }\n")
    before = bound.files()
    turn = bound.turn(request_, "never asked")
    assert (turn.result["class"], turn.result["path"]) == (class_, path)
    assert turn.done.returncode == 3
    assert turn.requests == []
    assert turn.result["normative"]["withheld"] is True
    assert turn.result["normative"]["bound"] == {"id": "LAMP-BUS", "revision": "2"}
    assert "LAMP-BUS 2" in turn.result["answer"]
    assert "/standard search" in turn.result["answer"]
    assert "/standard unbind" in turn.result["answer"]
    assert turn.verdict == "NO_CHANGE"
    assert bound.files() == before


def test_what_does_not_engage_it_goes_on(bound):
    assert bound.turn("hello", "Hello.").result["answer"] == "Hello."
    assert ("standard_bound", "LAMP-BUS") in [(event["event"], event["data"].get("id")) for event in bound.events()]
    turn = bound.turn("Run ls in this directory.", sh("ls"), "Listed.")
    assert turn.result["path"] == "coding_core"
    assert "lamp-bus.md" in turn.results()[0]


def test_without_a_binding_nothing_is_withheld(lamp):
    turn = lamp.turn("Rename the function blink in lamp-bus.md to flash", "There is none.")
    assert turn.result["path"] == "coding_core"
    assert turn.done.returncode == 0


def test_what_was_withheld_is_not_served_by_a_later_turn(bound):
    bound.turn("Rename the function blink in lamp.c to flash")
    turn = bound.turn("Go ahead.", "With what?", flags=("--continue",))
    assert turn.result["path"] == "coding_core"
    assert "blink" not in json.dumps(turn.requests[0]["messages"])


def test_a_changed_standard_is_not_relied_on(bound):
    corpus = bound.state / "standards/LAMP-BUS/2/corpus/units.jsonl"
    corpus.write_bytes(corpus.read_bytes().replace(b"64 octets", b"65 octets"))
    turn = bound.turn("What does Rule 2.1-2 require?", "never asked")
    assert turn.done.returncode == 3
    assert "standard verify LAMP-BUS 2" in turn.result["answer"]
    assert turn.requests == []


def test_a_binding_that_cannot_be_read_is_no_binding_to_none(bound):
    (bound.state / "standards/.bound.json").write_text("{")
    turn = bound.turn("What does Rule 2.1-2 require?", "never asked")
    assert (turn.done.returncode, turn.requests) == (3, [])
    assert "what the bound standard says" in turn.result["answer"]
    assert "standard unbind" in turn.result["answer"]


def test_the_model_cannot_reach_the_commands(bound):
    script = (sh("spear-chat standard unbind; true"), sh("rm -rf $SPEAR_STATE_DIR/standards; true"), "Done.")
    bound.turn("Run spear-chat standard unbind for me.", *script)
    assert is_bound(bound)


def test_doctor_says_what_is_bound_and_that_it_changed(bound):
    (bound.state / "standards/LAMP-BUS/2/corpus/units.jsonl").touch()
    done = loaded_program.run(("doctor", "--json", "--fresh"), cwd=bound.root, env=bound.env)
    found = {each["name"]: each for each in json.loads(done.stdout)["findings"]}["standards"]
    assert found["status"] == "warning"
    assert found["detail"].startswith("LAMP-BUS 2 bound: ")
    assert found["fix"] == "spear-chat standard verify LAMP-BUS 2"
