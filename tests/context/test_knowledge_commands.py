"""The commands of knowledge, the same words from a shell, the chat and a model."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.context.knowledge.words import read, split
from spear.context.knowledge_commands import KnowledgeCommands, Role, recall
from spear.errors import StateError
from spear.events.names import EventName


@pytest.fixture
def operator(tree):
    tree.write("src/ring.h", "#ifndef RING_H\n")
    return KnowledgeCommands(tree.knowledge(), Role.OPERATOR, legacy=(tree.state, tree.config))


@pytest.fixture
def model(tree):
    return KnowledgeCommands(tree.knowledge(), Role.MODEL, skill={"deploy": "HOW"}.get)


def rows(commands, *flags):
    return json.loads(commands.answer(["list", "--json", *flags]).text)


def names(answer):
    return [event.name for event in answer.events]


def test_adding_says_what_was_recorded(operator):
    done = operator.answer(["add", "--kind", "build", "--subject", "runner", "--tags", "a,b", "The runner", "is x."])
    assert done.status == 0
    assert names(done) == [EventName.KNOWLEDGE_ACTIVATED]
    (row,) = rows(operator)
    assert (row["kind"], row["subject"], row["statement"], row["tags"]) == (
        "build",
        "runner",
        "The runner is x.",
        ["a", "b"],
    )
    assert row["id"] in done.text
    assert operator.answer(["add", "--json", "--subject=runner", "--kind=build", "The runner is x."]).status == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add"], "no statement"),
        (["add", "--kind", "guess", "A fact."], "kinds: fact"),
        (["add", "--sorce", "x", "A fact."], "did you mean --source?"),
        (["add", "A fact.", "--subject"], "needs a value"),
        (["add", "--source", "src/ring.h", "--quote", "nope", "A fact."], "does not hold"),
        (["add", "Always run make test."], "rule"),
        (["show"], "needs an ID"),
        (["show", "k999"], "no record k999"),
        (["search"], "needs a TEXT"),
        (["accept"], "nothing is named"),
        (["accept", "k999"], "no record k999"),
        (["amend"], "no id given"),
        (["import"], "needs one FILE"),
        (["import", "none.json"], "cannot be read"),
        (["nonsense"], "there are: list"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_way_out(operator, words, says):
    answer = operator.answer(words)
    assert answer.status == 2
    assert says in answer.text
    assert answer.events == ()
    assert rows(operator, "--all") == []


def test_words_behind_two_dashes_are_the_statement(operator):
    assert operator.answer(["add", "--", "--fast is the default."]).status == 0
    assert rows(operator)[0]["statement"] == "--fast is the default."


def test_a_models_offer_waits_for_the_operator(operator, model):
    done = model.answer(["propose", "--kind", "fact", "--subject", "wrap", "The index wraps at size."])
    assert "proposed" in done.text
    assert names(done) == [EventName.KNOWLEDGE_PROPOSED]
    assert "nothing is recorded" in model.answer(["list"]).text
    assert model.answer(["search", "wraps"]).text.startswith("nothing")
    (row,) = rows(operator, "--proposed")
    assert model.answer(["show", row["id"]]).status == 2
    assert "1 PROPOSED" in operator.answer(["list"]).text
    assert names(operator.answer(["accept", row["id"]])) == [EventName.KNOWLEDGE_ACTIVATED]
    assert "wraps at size" in model.answer(["show", row["id"]]).text
    assert "wraps at size" in model.answer(["search", "WRAPS"]).text


@pytest.mark.parametrize(
    "command", ["add", "accept", "amend", "revoke", "check", "export", "import", "purge", "migrate-remember"]
)
def test_a_model_decides_nothing(operator, model, command):
    operator.answer(["add", "A fact."])
    answer = model.answer([command, rows(operator)[0]["id"]])
    assert answer.status != 0
    assert "operator" in answer.text
    assert rows(operator)[0]["state"] == "ACTIVE"
    assert model.answer(["list", "--all"]).status != 0


def test_a_database_that_cannot_be_used_ends_no_turn(tree, operator, model):
    (tree.state / "knowledge.sqlite3").write_text("prose " * 1000)
    for words in (["list"], ["propose", "A fact."]):
        answer = model.answer(words)
        assert answer.status == 2
        assert "unavailable" in answer.text
        assert str(tree.state) not in answer.text
    with pytest.raises(StateError):
        operator.answer(["list"])


def test_a_model_is_not_flooded_either(operator, model):
    for number in range(103):
        operator.answer(["add", f"Fact {number}."])
    text = model.answer(["list"]).text
    assert "Fact 102." in text
    assert "Fact 2." not in text
    assert "and 3 older ones" in text
    assert len(operator.answer(["list"]).text.splitlines()) == 103


def test_a_model_reads_an_offered_skill(model):
    assert model.answer(["skill", "deploy"]).text == "HOW"
    assert model.answer(["skill", "other"]).status == 2


def test_accepting_all_and_revoking_several(operator, model):
    for number in range(3):
        model.answer(["propose", f"Fact {number}."])
    assert len(names(operator.answer(["accept", "--all"]))) == 3
    ids = [row["id"] for row in rows(operator)]
    done = operator.answer(["revoke", *ids[:2], "k999"])
    assert done.status == 2
    assert names(done) == [EventName.KNOWLEDGE_REVOKED] * 2
    assert [row["id"] for row in rows(operator)] == ids[2:]
    assert [row["id"] for row in rows(operator, "--revoked")] == ids[:2]


def test_amending_keeps_what_is_not_said(operator):
    operator.answer(["add", "--kind", "build", "--subject", "runner", "It is x."])
    done = operator.answer(["amend", rows(operator)[0]["id"], "It is y."])
    assert done.status == 0
    (row,) = rows(operator)
    assert (row["kind"], row["subject"], row["statement"], row["version"]) == ("build", "runner", "It is y.", 2)


def test_a_conflict_is_told_when_it_arises(operator):
    operator.answer(["add", "--subject", "baud", "It is 9600."])
    assert "conflict" in operator.answer(["add", "--subject", "baud", "It is 115200."]).text


def test_showing_tells_source_and_history(operator):
    operator.answer(["add", "--source", "src/ring.h:1", "--quote", "#ifndef RING_H", "There is a guard."])
    text = operator.answer(["show", rows(operator)[0]["id"]]).text
    assert "src/ring.h:1 holds '#ifndef RING_H'" in text
    assert "alice: recorded" in text


def test_checking_reports_what_changed(tree, operator):
    operator.answer(["add", "--source", "src/ring.h", "--quote", "#ifndef RING_H", "There is a guard."])
    operator.answer(["add", "A fact."])
    assert "holds" in operator.answer(["check"]).text
    tree.write("src/ring.h", "")
    done = operator.answer(["check"])
    assert "stale now" in done.text
    assert "1 active without a source" in done.text
    assert names(done) == [EventName.KNOWLEDGE_STALE]
    assert json.loads(operator.answer(["check", "--json"]).text)["without_source"] == 1


def test_purging_wants_the_name_of_the_workspace(operator):
    operator.answer(["add", "A fact."])
    for words in (["purge"], ["purge", "other"], ["purge", "ws", "--yes"]):
        assert operator.answer(words).status == 2
        assert len(rows(operator)) == 1
    assert operator.answer(["purge", "ws"]).status == 0
    assert rows(operator, "--all") == []


def test_an_export_comes_back(tree, operator):
    operator.answer(["add", "--kind", "build", "--tags", "a", "Ein Faktum, ça va."])
    operator.answer(["add", "--source", "src/ring.h", "--quote", "#ifndef RING_H", "There is a guard."])
    before = rows(operator)
    assert operator.answer(["export", "k.json"]).status == 0
    assert operator.answer(["export", "k.json"]).status == 2
    assert json.loads((tree.root / "k.json").read_text()) == json.loads(operator.answer(["export"]).text)
    operator.answer(["purge", "ws"])
    done = operator.answer(["import", "k.json"])
    assert "2 taken in" in done.text
    kept = ("kind", "subject", "statement", "tags", "source", "state")
    assert [[row[key] for key in kept] for row in rows(operator)] == [[row[key] for key in kept] for row in before]
    assert {row["provenance"] for row in rows(operator)} == {"import"}
    assert "2 known already" in operator.answer(["import", "k.json"]).text


def test_an_import_may_wait_for_acceptance(tree, operator):
    operator.answer(["add", "A fact."])
    operator.answer(["export", "k.json"])
    operator.answer(["purge", "ws"])
    operator.answer(["import", "k.json", "--proposed"])
    assert rows(operator) == []
    assert len(rows(operator, "--proposed")) == 1


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": "spear.knowledge/1", "records": [{"statement": 3}]}', "[" * 100_000,
     '{"schema": "spear.knowledge/1", "records": [{"statement": "ok"}, {"statement": "x", "kind": "guess"}]}'],
)  # fmt: skip
def test_what_is_no_export_takes_nothing_in(tree, operator, text):
    tree.write("k.json", text)
    assert operator.answer(["import", "k.json"]).status == 2
    assert rows(operator, "--all") == []


def test_notes_of_earlier_versions_are_proposed(tree, operator):
    tree.write(
        "state/memories-ws.md",
        "# Notes\n\n- [2025-01-01] The board has two UARTs.\n- Always run make test.\n* The port is 8080.\n",
    )
    tree.write("config/memories-other.md", "- Of another tree.\n")
    done = operator.answer(["migrate-remember"])
    assert [row["statement"] for row in rows(operator, "--proposed")] == [
        "The board has two UARTs.",
        "The port is 8080.",
    ]
    assert "left out: Always run make test." in done.text
    assert rows(operator) == []
    assert "2 known already" in operator.answer(["migrate-remember"]).text
    assert operator.answer(["migrate-remember", str(tree.config / "memories-other.md")]).status == 0
    assert len(rows(operator, "--proposed")) == 3


def test_no_notes_are_no_error_but_others_are_named(tree, operator):
    assert operator.answer(["migrate-remember"]).status == 0
    tree.write("state/memories-other.md", "A paragraph.\n\nAnother\nparagraph.\n")
    assert "memories-other.md" in operator.answer(["migrate-remember"]).text
    operator.answer(["migrate-remember", str(tree.state / "memories-other.md")])
    assert [row["statement"] for row in rows(operator, "--proposed")] == ["A paragraph.", "Another paragraph."]


def test_remembering_takes_the_note_as_it_was_typed(operator):
    done = operator.remember("The board's got \"two\" UARTs -- don't know more.")
    assert done.status == 0
    assert done.text.startswith("recorded")
    assert rows(operator)[0]["statement"] == "The board's got \"two\" UARTs -- don't know more."
    sourced = operator.remember('There is a guard. --source src/ring.h:1 --quote "#ifndef RING_H"')
    assert sourced.status == 0
    assert rows(operator)[1]["verification"] == "SOURCE_VERIFIED"


def test_a_prohibition_is_pointed_to_rules_with_its_command(operator):
    answer = operator.remember("never run make deploy")
    assert answer.status == 2
    assert "/recall" in answer.text
    assert "`make deploy`" in answer.text


def test_recalling_adds_and_lists_rules(tree):
    file = tree.state / "rules-learned.md"
    assert "no rules" in recall(file, "").text
    assert recall(file, "Never run make deploy.").status == 0
    assert recall(file, "").text == "- Never run make deploy."
    assert recall(file, "x" * 9999).status == 2


@given(
    st.lists(st.text(max_size=12) | st.sampled_from(["--kind", "--source", "--", "--json", "list", "add"]), max_size=6)
)
def test_any_words_are_read_or_refused(words):
    read(words, ("kind", "source"), ("json",))
    split(" ".join(words))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.just("A fact."),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["statement", "kind", "source", "tags", "path", "quote", "state"]), inner)
        ),
        max_leaves=8,
    )
)
def test_any_record_of_an_import_is_taken_or_refused(tree, operator, row):
    tree.write("k.json", json.dumps({"schema": "spear.knowledge/1", "records": [row, {"statement": "\ud800 x"}]}))
    assert operator.answer(["import", "k.json"]).status in (0, 2)


def test_a_typed_line_is_split_like_a_shell_does():
    assert split("add --subject 'a b' c") == ("add", "--subject", "a b", "c")
    assert split("add the board's port") == ("add", "the", "board's", "port")
