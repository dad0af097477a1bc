"""Each pass is shown what the table says, within the window, and every piece has its reason."""

import json
from itertools import pairwise

import pytest

from spear.agent.window import estimate
from spear.context.context_selection import Offer, Sources, select
from spear.context.knowledge.drafts import Draft
from spear.context.passes import Material, Pass, ToolFamily
from spear.context.skills import SkillShelf
from spear.events.names import EventName, RequestClass
from spear.workspace.projects import Declaration

PLENTY = 8_000
CLASSES = {
    Pass.CODING_CORE: RequestClass.IMPLEMENTATION,
    Pass.NORMATIVE: RequestClass.NORMATIVE,
    Pass.NORMATIVE_WORKFLOW: RequestClass.IMPLEMENTATION,
    Pass.MIXED_PREPASS: RequestClass.MIXED,
    Pass.MIXED_IMPLEMENTATION: RequestClass.MIXED,
    Pass.MIXED_POSTCHECK: RequestClass.MIXED,
}
OFFERS = (
    Offer(Material.CAPABILITY, "tracker", "CAPABILITY-TEXT"),
    Offer(Material.PACKET, "constraints", "PACKET-TEXT"),
)


@pytest.fixture
def full(tree):
    """A tree with one piece of every kind of material."""
    tree.write("config/rules.d/all.md", "---\nscope: global\ntasks: implementation, mixed, normative\n---\nRULE-TEXT\n")
    tree.write("config/skills/s.md", "---\nname: skill-one\ndescription: d\nscope: [any]\n---\nSKILL-TEXT\n")
    tree.write("src/ring.c", "int x;\n")
    tree.knowledge().add(Draft("KNOWLEDGE-TEXT is a fact."))
    return tree


def sources(tree, offers=(), name=None):
    shelf = SkillShelf(tree.workspace(name), tree.config, "/usr/bin:/bin")
    return Sources(tree.book(name), shelf, tree.knowledge(name), offers=offers)


def chosen(tree, turn, budget=PLENTY, declared=None, offers=(), name=None):
    return select(turn, tree.workspace(name), declared, sources(tree, offers, name), budget, 7)


def of(selection, name):
    return next(item for item in (*selection.kept, *selection.rejected) if name in item.name)


@pytest.mark.parametrize(
    ("stage", "present", "family"),
    [
        (Pass.CODING_CORE, "RULE SKILL KNOWLEDGE CAPABILITY Test:", ToolFamily.SIX),
        (Pass.NORMATIVE, "RULE", ToolFamily.STANDARD),
        (Pass.NORMATIVE_WORKFLOW, "RULE SKILL Test:", ToolFamily.WORKFLOW),
        (Pass.MIXED_PREPASS, "RULE", ToolFamily.STANDARD),
        (Pass.MIXED_IMPLEMENTATION, "RULE SKILL KNOWLEDGE CAPABILITY PACKET Test:", ToolFamily.SIX),
        (Pass.MIXED_POSTCHECK, "PACKET", ToolFamily.NONE),
    ],
)
def test_each_pass_is_shown_what_the_table_says(full, shape, stage, present, family):
    turn = shape(stage=stage, request_class=CLASSES[stage])
    selection = chosen(full, turn, declared=Declaration(test_commands=("make test",)), offers=OFFERS)
    text = "\n".join(selection.sections)
    expected = {word if word.endswith(":") else f"{word}-TEXT" for word in present.split()}
    found = {
        f"{kind}-TEXT" for kind in ("RULE", "SKILL", "KNOWLEDGE", "CAPABILITY", "PACKET") if f"{kind}-TEXT" in text
    }
    assert found | ({"Test:"} if "Test: make test" in text else set()) == expected
    assert selection.tools is family
    audited = json.dumps([item.record() for item in (*selection.kept, *selection.rejected)])
    for kind in ("rule", "skill", "knowledge", "capability", "packet", "project"):
        assert f'"{kind}"' in audited
    assert all(item.reason for item in (*selection.kept, *selection.rejected))


def test_a_question_about_both_sides_reads_the_tree_too(full, shape):
    turn = shape(stage=Pass.NORMATIVE, request_class=RequestClass.NORMATIVE, both_sides=True)
    assert chosen(full, turn).tools is ToolFamily.STANDARD_AND_READING


def test_everything_is_audited_with_the_turn(full, shape):
    full.write("config/rules.d/none.md", "UNSCOPED")
    selection = chosen(full, shape())
    events = {event.name: event for event in selection.events}
    assert set(events) == {
        EventName.CONTEXT_SELECTED,
        EventName.CONTEXT_REJECTED,
        EventName.TOOLSET_SELECTED,
        EventName.KNOWLEDGE_SELECTED,
    }
    assert {event.turn for event in selection.events} == {7}
    assert json.loads(json.dumps(events[EventName.CONTEXT_SELECTED].data))["items"]
    assert "RULE-TEXT" not in json.dumps([dict(event.data) for event in selection.events])
    assert any("none.md" in line and "no scope" in line for line in selection.table())


def test_nothing_configured_is_nearly_nothing(tree, shape):
    selection = chosen(tree, shape())
    assert len("".join(selection.sections).encode()) < 200
    assert "ws" in selection.sections[0]
    assert not (tree.state / "knowledge.sqlite3").exists()


def test_the_workspace_is_described_by_what_is_declared(full, shape):
    full.write("Makefile", "")
    full.write(".hidden", "")
    full.write("node_modules/x", "")
    declared = Declaration(build_commands=("make",), lint_commands=("make\n lint",), protected=("vendor/**",))
    text = chosen(full, shape(), declared=declared, name="demo").sections[0]
    assert "project demo" in text
    assert "Build: make\nLint: make lint\n" in text
    assert "vendor/**" in text
    assert text.endswith("Top level: Makefile, src/")


def test_the_same_tree_gives_the_same_bytes(full, shape):
    first = chosen(full, shape(), offers=OFFERS)
    assert first.sections == chosen(full, shape(), offers=OFFERS).sections
    assert first == chosen(full, shape(), offers=OFFERS)


def test_resemblance_selects_nothing(full, shape):
    one = chosen(full, shape(request="Tell me about SKILL-TEXT and KNOWLEDGE-TEXT"))
    other = chosen(full, shape(request="Something else entirely"))
    assert one.sections == other.sections


@pytest.mark.parametrize("stage", [Pass.CODING_CORE, Pass.MIXED_IMPLEMENTATION])
def test_a_tight_window_drops_skills_first_and_rules_last(full, shape, stage):
    full.write("config/skills/s.md", f"---\nname: skill-one\nscope: [any]\n---\n{'word ' * 300}\n")
    turn = shape(stage=stage, request_class=CLASSES[stage])
    whole = chosen(full, turn, offers=OFFERS)
    seen = []
    for budget in range(whole.tokens + 50, -1, -1):
        kept = {item.material for item in chosen(full, turn, budget, offers=OFFERS).kept}
        if not seen or seen[-1] != kept:
            seen.append(kept)
    dropped = [min(before - after) for before, after in pairwise(seen) if before - after]
    assert [kind for kind in dropped if kind is not Material.CAPABILITY] == [
        Material.SKILL,
        Material.KNOWLEDGE,
        Material.RULE,
    ]
    assert Material.PROJECT in seen[-1]
    assert (Material.PACKET in seen[-1]) is (stage is Pass.MIXED_IMPLEMENTATION)


def test_a_tight_window_keeps_the_rules_of_higher_priority(tree, shape):
    for name, priority in (("a", 1), ("b", 9), ("c", 5)):
        tree.write(f"config/rules.d/{name}.md", f"---\nscope: global\npriority: {priority}\n---\nRULE {name}\n")
    tree.write(".spear/rules/t.md", "---\npriority: 1000\n---\nRULE t\n")
    fixed = chosen(tree, shape(), budget=0).tokens
    selection = chosen(tree, shape(), budget=fixed + 2 * estimate("RULE a"))
    assert [item.name for item in selection.kept if item.material is Material.RULE] == ["rules.d/b.md", "rules.d/c.md"]


def test_what_a_tight_window_drops_is_told(full, shape):
    selection = chosen(full, shape(), budget=20)
    assert "window is tight" in of(selection, "all.md").reason
    assert any("all.md" in notice for notice in selection.notices)
    assert "RULE-TEXT" not in "".join(selection.sections)


def test_rules_beyond_their_bound_are_told(full, shape):
    full.write("config/rules.d/big.md", f"---\nscope: global\n---\n{'x' * 9000}")
    selection = chosen(full, shape())
    assert any("big.md" in notice and "trim" in notice for notice in selection.notices)


def test_stale_and_conflicting_knowledge_is_audited(full, shape):
    knowledge = full.knowledge()
    stale = knowledge.add(Draft("STALE-TEXT is here.", source="src/ring.c", quote="int x;")).record
    knowledge.add(Draft("It is 9600.", subject="baud"))
    knowledge.add(Draft("It is 115200.", subject="baud"))
    full.write("src/ring.c", "int y;\n")
    selection = chosen(full, shape())
    text = "".join(selection.sections)
    assert "STALE-TEXT" not in text
    assert "CONFLICT" in text
    events = {event.name: event.data for event in selection.events}
    assert events[EventName.KNOWLEDGE_STALE] == {"id": stale.id, "path": "src/ring.c"}
    assert events[EventName.KNOWLEDGE_CONFLICT]["subject"] == "baud"
    assert "stale" in of(selection, stale.id).reason
    assert EventName.KNOWLEDGE_STALE not in {event.name for event in chosen(full, shape()).events}


def test_knowledge_that_cannot_be_read_is_left_out_and_told(full, shape):
    (full.state / "knowledge.sqlite3").write_text("no database, only prose" * 100)
    selection = chosen(full, shape())
    assert "cannot be read" in of(selection, "workspace knowledge").reason
    assert any("damaged" in notice for notice in selection.notices)
    assert "RULE-TEXT" in "".join(selection.sections)


def test_token_estimates_are_those_of_the_texts(full, shape):
    selection = chosen(full, shape())
    assert of(selection, "all.md").tokens == estimate("RULE-TEXT")
    assert selection.tokens == sum(map(estimate, selection.sections))
    assert selection.record()["tokens"] == selection.tokens
