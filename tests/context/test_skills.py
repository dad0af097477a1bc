"""Skills are offered by scope, at most eight, in one order; every other one is withheld with its reason."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.context.skills import SkillShelf, section


@pytest.fixture
def programs(tmp_path):
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin/flash-tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    return str(tmp_path / "bin")


@pytest.fixture
def shelf(tree, programs):
    return SkillShelf(tree.workspace("demo"), tree.config, programs)


def skill(tree, place, header, body="BODY"):
    tree.write(place, f"---\n{header}\n---\n{body}\n")


def names(choice):
    return [one.name for one in choice.offered]


def reasons(choice):
    return dict(choice.withheld)


def test_scope_names_the_project_or_says_any(tree, shelf):
    skill(tree, "config/skills/a.md", "name: mine\nscope: [demo, other]")
    skill(tree, "config/skills/b.md", "name: every\nscope: any")
    skill(tree, "config/skills/c.md", "name: far\nscope: [other]")
    skill(tree, "config/skills/d.md", "name: none")
    skill(tree, "config/skills/e/SKILL.md", "name: folder\nscope: [any]")
    choice = shelf.choose()
    assert names(choice) == ["mine", "every", "folder"]
    assert "is for other" in reasons(choice)["far (skills/c.md)"]
    assert "no scope" in reasons(choice)["none (skills/d.md)"]


def test_an_unregistered_tree_is_no_project_of_that_name(tree, programs):
    skill(tree, "config/skills/a.md", "name: mine\nscope: [ws]")
    assert names(SkillShelf(tree.workspace(), tree.config, programs).choose()) == []


def test_the_trees_own_skills_are_for_this_tree(tree, shelf):
    skill(tree, ".agents/skills/build/SKILL.md", "name: build\ndescription: >-\n  how it is\n  built")
    (found,) = shelf.choose().offered
    assert (found.description, found.place) == ("how it is built", ".agents/skills/build/SKILL.md")


def test_a_missing_command_withholds_and_is_named(tree, shelf):
    skill(tree, "config/skills/a.md", "name: have\nscope: [any]\nrequires: [flash-tool]")
    skill(tree, "config/skills/b.md", "name: lack\nscope: [any]\nrequires: [flash-tool, no-such-command]")
    choice = shelf.choose()
    assert names(choice) == ["have"]
    assert "needs no-such-command" in reasons(choice)["lack (skills/b.md)"]
    assert any("no-such-command" in line for line in shelf.report())


def test_unreadable_front_matter_is_part_of_the_body(tree, shelf):
    tree.write(".agents/skills/odd.md", "---\nname: [broken\n---\nBODY\n")
    tree.write(".agents/skills/plain.md", "only a body\n")
    odd, plain = shelf.choose().offered
    assert (odd.name, odd.body) == ("odd", "---\nname: [broken\n---\nBODY")
    assert plain.body == "only a body"
    tree.write("config/skills/odd2.md", "---\nname: [broken\nscope: [any]\n---\nBODY\n")
    assert "header cannot be read" in reasons(shelf.choose())["odd2 (skills/odd2.md)"]


def test_a_header_that_stands_for_gigabytes_is_not_spelled_out(tree, shelf):
    levels = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol]"]
    levels += [
        f"{n}: &{n} [{', '.join([f'*{before}'] * 8)}]" for before, n in zip("abcdefghijk", "bcdefghijkl", strict=True)
    ]
    huge = "0x" + "f" * 8000
    skill(
        tree, ".agents/skills/b.md", "\n".join([*levels, "name: b", "description: *l", "version: *l", "requires: *l"])
    )
    skill(tree, ".agents/skills/n.md", f"name: n\ndescription: {huge}\nversion: {huge}")
    assert [(one.name, one.description, one.version, one.requires) for one in shelf.choose().offered] == [
        ("b", "", "", ()),
        ("n", "", "", ()),
    ]


def test_an_empty_file_is_no_skill(tree, shelf):
    skill(tree, "config/skills/a.md", "name: hollow\nscope: [any]", "")
    assert reasons(shelf.choose())["hollow (skills/a.md)"] == "is empty"


def test_at_most_eight_in_one_order(tree, shelf):
    for number in range(12):
        skill(tree, f"config/skills/s{number:02}.md", f"name: skill-{number:02}\nscope: [any]")
    skill(tree, "config/skills/z.md", "name: zz\nscope: [demo]")
    choice = shelf.choose()
    assert names(choice) == ["zz", *(f"skill-{number:02}" for number in range(7))]
    assert len(choice.withheld) == 5
    assert "only 8" in reasons(choice)["skill-07 (skills/s07.md)"]


def test_a_tree_cannot_replace_the_operators_skill(tree, shelf):
    skill(tree, "config/skills/a.md", "name: deploy\nscope: [any]", "OPERATOR")
    skill(tree, ".agents/skills/a.md", "name: deploy", "TREE")
    choice = shelf.choose()
    assert [one.body for one in choice.offered] == ["OPERATOR"]
    assert "another skill" in reasons(choice)["deploy (.agents/skills/a.md)"]


def test_a_link_out_of_the_tree_is_not_read(tree, shelf, tmp_path):
    (tmp_path / "secret.md").write_text("SECRET")
    (tree.root / ".agents/skills").mkdir(parents=True)
    os.symlink(tmp_path / "secret.md", tree.root / ".agents/skills/a.md")
    choice = shelf.choose()
    assert choice.offered == ()
    assert "out of the tree" in choice.withheld[0][1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=120), st.booleans())
def test_any_file_is_offered_or_withheld(tree, shelf, text, header):
    tree.write(".agents/skills/any.md", f"---\n{text}\n---\nBODY" if header else text)
    choice = shelf.choose()
    assert len(choice.offered) + len(choice.withheld) == 1
    assert shelf.report()


def test_long_bodies_are_named_with_where_to_read_them(tree, shelf):
    skill(tree, "config/skills/a.md", "name: aa\nscope: [any]", "x" * 5000)
    skill(tree, "config/skills/b.md", "name: bb\nscope: [any]\ndescription: short", "SHORT-BODY")
    skill(tree, ".agents/skills/c.md", "name: cc", "y" * 5000)
    text = section(shelf.choose().offered)
    assert "xxx" not in text
    assert "yyy" not in text
    assert "spear-knowledge skill aa" in text
    assert "read .agents/skills/c.md" in text
    assert "SHORT-BODY" in text
    assert shelf.body("aa") == "x" * 5000
    assert shelf.body("nope") is None
