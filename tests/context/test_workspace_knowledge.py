"""Knowledge: who may record what, when it counts, and when it stops counting."""

import os
import sqlite3

import pytest

from spear.context.identity import WorkspaceIdentity
from spear.context.knowledge.agreement import conflicts
from spear.context.knowledge.database import KnowledgeDatabase
from spear.context.knowledge.drafts import Draft
from spear.context.knowledge.given import RecordModel
from spear.context.knowledge.records import Kind, KnowledgeProblem, Provenance, State, Verification
from spear.context.workspace_knowledge import MOST_PROPOSED, WorkspaceKnowledge, knowledge_of
from spear.state.redaction import Redactor


@pytest.fixture
def knowledge(tree):
    tree.write("src/ring.h", "#ifndef RING_H\n#define RING_H\n")
    return tree.knowledge()


GUARD = Draft("The header has an include guard.", subject="guard", source="src/ring.h:1", quote="#ifndef RING_H")


def active(knowledge):
    return [record.statement for record in knowledge.current()[0]]


def test_what_the_operator_says_is_active_and_confirmed(knowledge):
    record = knowledge.add(Draft("The board has\n two UARTs.", Kind.ARCHITECTURE, tags=("uart", " uart", ""))).record
    assert record.statement == "The board has two UARTs."
    assert (record.state, record.verification, record.provenance) == (
        State.ACTIVE,
        Verification.USER_CONFIRMED,
        Provenance.OPERATOR,
    )
    assert (record.tags, record.actor, record.version) == (("uart",), "alice", 1)
    assert knowledge.records() == (record,)


def test_what_a_model_offers_is_shown_to_nobody_until_it_is_accepted(knowledge):
    record = knowledge.propose(Draft("The index wraps at size.", subject="wrap")).record
    assert (record.state, record.verification) == (State.PROPOSED, Verification.NONE)
    assert active(knowledge) == []
    done = knowledge.accept(record.id[:4]).record
    assert (done.state, done.verification) == (State.ACTIVE, Verification.USER_CONFIRMED)
    assert active(knowledge) == ["The index wraps at size."]
    assert [entry.action for entry in knowledge.history(record.id)] == ["proposed", "accepted"]


def test_a_source_is_verified_and_the_record_goes_stale_with_the_file(tree, knowledge):
    record = knowledge.add(GUARD).record
    assert record.verification is Verification.SOURCE_VERIFIED
    assert active(knowledge) == [GUARD.statement]
    tree.write("src/ring.h", "#pragma once\n")
    now, stale = knowledge.current()
    assert now == ()
    assert [one.id for one in stale] == [record.id]
    assert knowledge.current() == ((), ())
    assert knowledge.find(record.id).state is State.STALE
    assert isinstance(knowledge.accept(record.id), KnowledgeProblem)
    tree.write("src/ring.h", "// new\n#ifndef RING_H\n")
    done = knowledge.accept(record.id).record
    assert (done.state, done.source.line) == (State.ACTIVE, 2)


def test_checking_restores_what_is_again_as_it_was_verified(tree, knowledge):
    knowledge.add(GUARD)
    knowledge.add(Draft("A fact."))
    before = (tree.root / "src/ring.h").read_text()
    tree.write("src/ring.h", "#pragma once\n")
    first = knowledge.check()
    assert (len(first.stale), len(first.restored), first.unbound) == (1, 0, 1)
    tree.write("src/ring.h", before)
    assert len(knowledge.check().restored) == 1
    assert GUARD.statement in active(knowledge)


def test_a_deleted_source_is_stale(tree, knowledge):
    knowledge.add(GUARD)
    (tree.root / "src/ring.h").unlink()
    assert active(knowledge) == []


def test_a_store_that_can_only_be_read_never_shows_a_stale_record(tree, knowledge):
    knowledge.add(GUARD)
    tree.write("src/ring.h", "#pragma once\n")
    writer = tree.state / "knowledge.sqlite3.writer"
    writer.unlink()
    writer.mkdir()
    now, stale = knowledge.current()
    assert now == ()
    assert stale[0].state is State.STALE


@pytest.mark.parametrize(
    ("draft", "code"),
    [
        (Draft("Always run make test before committing."), "instruction"),
        (Draft("  \x1b "), "empty"),
        (Draft("x" * 1001), "long"),
        (Draft("A fact.", subject="s" * 121), "long"),
        (Draft("A fact.", tags=tuple(map(str, range(13)))), "long"),
        (Draft("The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF."), "secret"),
        (Draft("The value is hunter2-hunter2."), "secret"),
        (Draft("A fact.", quote="x"), "no_source"),
        (Draft("It uses pragma once.", source="src/ring.h", quote="#pragma once"), "not_held"),
    ],
)
@pytest.mark.parametrize("way", ["add", "propose"])
def test_what_is_not_knowledge_is_refused_to_everybody(tree, draft, code, way):
    tree.write("src/ring.h", "#ifndef RING_H\n")
    knowledge = tree.knowledge(environ={"API_TOKEN": "hunter2-hunter2"})
    problem = getattr(knowledge, way)(draft)
    assert problem.code == code
    assert knowledge.records() == ()


def test_the_same_again_is_known_and_a_revoked_offer_stays_revoked(knowledge):
    first = knowledge.propose(Draft("The index wraps.")).record
    assert knowledge.propose(Draft("the index  wraps")).known
    knowledge.revoke(first.id)
    assert knowledge.revoke(first.id).known
    assert knowledge.propose(Draft("The index wraps.")).code == "rejected"
    again = knowledge.add(Draft("The index wraps.")).record
    assert again.state is State.ACTIVE
    assert knowledge.add(Draft("The index wraps.")).known
    assert knowledge.accept(first.id).code == "revoked"


def test_the_operator_saying_it_settles_a_proposal(knowledge):
    offered = knowledge.propose(Draft("The index wraps.")).record
    said = knowledge.add(Draft("The index wraps.")).record
    assert said.supersedes == offered.id
    assert knowledge.find(offered.id).state is State.REVOKED


def test_amending_keeps_the_history(knowledge):
    old = knowledge.add(Draft("The baud rate is 9600.", subject="baud rate")).record
    done = knowledge.amend(old.id, Draft("The baud rate is 115200.", subject="baud rate"))
    assert (done.record.version, done.record.supersedes, done.against) == (2, old.id, ())
    assert active(knowledge) == ["The baud rate is 115200."]
    assert [entry.action for entry in knowledge.history(old.id)] == ["recorded", "superseded"]
    assert knowledge.amend(old.id, Draft("Again.")).code == "revoked"
    assert knowledge.amend(done.record.id, Draft("Always run it.")).code == "instruction"
    assert knowledge.amend("nope", Draft("x")).code == "unknown"


def test_two_statements_on_one_subject_conflict_and_neither_wins(knowledge):
    first = knowledge.add(Draft("The baud rate is 9600.", subject="baud rate")).record
    done = knowledge.add(Draft("The baud rate is 115200.", subject="Baud rate"))
    assert [other.id for other in done.against] == [first.id]
    assert [len(group) for group in conflicts(knowledge.current()[0])] == [2]
    knowledge.revoke(first.id)
    assert conflicts(knowledge.current()[0]) == ()


def test_a_model_cannot_flood_the_operator(knowledge):
    for number in range(MOST_PROPOSED):
        assert knowledge.propose(Draft(f"Fact {number}.")).record
    assert knowledge.propose(Draft("One more fact.")).code == "many_proposals"
    assert knowledge.add(Draft("The operator may.")).record


def test_a_workspace_sees_its_own_records_only(tree, tmp_path):
    tree.knowledge().add(Draft("Of the tree."))
    (tmp_path / "other/ws").mkdir(parents=True)
    other = WorkspaceIdentity.of(tmp_path / "other/ws", None)
    elsewhere = knowledge_of(tree.state / "knowledge.sqlite3", other, "bob", Redactor())
    elsewhere.add(Draft("Of the other."))
    assert active(elsewhere) == ["Of the other."]
    assert elsewhere.search("tree") == ()
    assert elsewhere.find(tree.knowledge().records()[0].id).code == "unknown"
    assert elsewhere.purge() == 1
    assert active(tree.knowledge()) == ["Of the tree."]


def test_a_tree_that_is_registered_later_keeps_its_knowledge(tree):
    tree.knowledge().add(Draft("Before."))
    tree.knowledge("demo").add(Draft("After."))
    assert active(tree.knowledge("demo")) == ["Before.", "After."]
    assert active(tree.knowledge()) == ["Before."]


def test_purging_leaves_no_trace_of_the_words(tree, knowledge):
    knowledge.add(Draft("The codename is FLAMINGO-77."))
    beside = sqlite3.connect(tree.state / "knowledge.sqlite3")
    beside.execute("SELECT count(*) FROM records").fetchone()
    assert knowledge.purge() == 1
    assert knowledge.records() == ()
    assert all(b"FLAMINGO-77" not in file.read_bytes() for file in tree.state.iterdir())
    beside.close()
    assert knowledge.purge() == 0


def test_searching_wants_every_word(knowledge):
    knowledge.add(Draft("The index wraps at size.", tags=("ring",)))
    record = knowledge.propose(Draft("The index starts at zero.")).record
    assert len(knowledge.search("INDEX")) == 2
    assert [one.statement for one in knowledge.search("ring index")] == ["The index wraps at size."]
    assert knowledge.search("nothing here") == ()
    assert knowledge.search(" ") == ()
    knowledge.revoke(record.id)
    assert len(knowledge.search("index")) == 1


def test_an_import_is_verified_here(tree, knowledge):
    rows = [
        {"statement": "A fact.", "state": "ACTIVE", "kind": "build", "tags": ["a"]},
        {"statement": "Guarded.", "state": "ACTIVE", "source": {"path": "src/ring.h", "quote": "#ifndef RING_H"}},
        {"statement": "Once.", "state": "ACTIVE", "source": {"path": "src/ring.h", "quote": "#pragma once"}},
        {"statement": "Never push to main.", "state": "ACTIVE"},
        {"statement": "Offered.", "state": "PROPOSED"},
        {"statement": "Gone.", "state": "REVOKED"},
    ]
    models = [RecordModel.model_validate(row) for row in rows]
    done = knowledge.take_in(models, proposed=False)
    assert [(r.statement, r.state, r.provenance) for r in done.records] == [
        ("A fact.", State.ACTIVE, Provenance.IMPORT),
        ("Guarded.", State.ACTIVE, Provenance.IMPORT),
        ("Offered.", State.PROPOSED, Provenance.IMPORT),
    ]
    assert [statement for statement, _ in done.left_out] == ["Once.", "Never push to main."]
    assert knowledge.take_in(models, proposed=False).known == 3


def test_ids_that_are_taken_are_not_given_again(tree):
    ids = iter(["k1", "k1", "k1", "k2"])
    database = KnowledgeDatabase(tree.state / "knowledge.sqlite3")
    knowledge = WorkspaceKnowledge(database, tree.workspace(), "a", Redactor(), fresh_id=lambda: next(ids))
    knowledge.add(Draft("One."))
    assert knowledge.add(Draft("Two.")).record.id == "k2"


def test_a_source_in_a_directory_of_a_project_is_found_from_there(tree):
    tree.write("lib/a.c", "int a;\n")
    inner = knowledge_of(tree.state / "k.sqlite3", tree.workspace("demo", "lib"), "a", Redactor())
    assert inner.add(Draft("There is an a.", source="a.c", quote="int a;")).record.source.path == "lib/a.c"
    os.rename(tree.root / "lib/a.c", tree.root / "lib/b.c")
    assert active(inner) == []
