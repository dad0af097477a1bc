"""Rules hold where they say, within a bound that is announced, and nested files at the first touch."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.context.passes import Pass
from spear.context.rule_files import Origin, Rule, parse
from spear.context.rules import LIMIT, section
from spear.events.names import RequestClass


def rule(tree, name, header, body):
    tree.write(f"config/rules.d/{name}.md", f"---\n{header}\n---\n{body}\n" if header else f"{body}\n")


def texts(choice):
    return [one.text for one in choice.kept]


def reason(choice, name):
    return next(why for named, why in choice.rejected if named.endswith(name))


# --- scope -------------------------------------------------------------------------------------------------------


def test_a_rule_holds_where_its_scope_says(tree, shape):
    rule(tree, "a", "scope: global", "GLOBAL")
    rule(tree, "b", "scope: corpus demo, third", "DEMO")
    rule(tree, "c", "scope: corpus other", "OTHER")
    rule(tree, "d", f"scope: path {tree.root.parent}", "ABOVE")
    rule(tree, "e", "scope: path /nowhere", "ELSEWHERE")
    choice = tree.book("demo").choose(shape())
    assert texts(choice) == ["GLOBAL", "DEMO", "ABOVE"]
    assert "corpus other" in reason(choice, "c.md")
    assert texts(tree.book().choose(shape())) == ["GLOBAL", "ABOVE"]


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("", "no scope"),
        ("tasks: mixed", "no scope"),
        ("scope: everywhere", "is not known"),
        ("scope: corpus", "is not known"),
        ("scope:", "says nothing"),
        ("scope: path src", "is relative"),
        ("scope: global\npath: src/**", "did you mean `paths`?"),
        ("scope: global\npaths:", "says nothing"),
        ("scope: global\ntasks: coding", "`tasks: coding` is not known"),
        ("scope: global\npriority: high", "not a whole number"),
        ("scope: global\npriority: 99999999999999", "is beyond"),
        ("scope: global\nnonsense", "cannot be read"),
    ],
)
def test_a_rule_that_cannot_be_read_applies_nowhere_and_is_reported(tree, shape, header, says):
    rule(tree, "odd", header, "ODD")
    rule(tree, "good", "scope: global", "GOOD")
    book = tree.book("demo")
    choice = book.choose(shape())
    assert texts(choice) == ["GOOD"]
    assert says in reason(choice, "odd.md")
    assert any("odd.md" in line and says in line for line in book.report())


def test_a_header_that_is_not_closed_is_reported(tree, shape):
    tree.write("config/rules.d/a.md", "---\nscope: global\nTEXT\n")
    assert "not closed" in reason(tree.book().choose(shape()), "a.md")


def test_rules_lie_in_the_state_directory_too(tree, shape):
    tree.write("state/rules.d/a.md", "---\nscope: global\n---\nOF-STATE")
    assert texts(tree.book().choose(shape())) == ["OF-STATE"]


# --- tasks and paths ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "request_class", "stage", "holds"),
    [
        ("", RequestClass.IMPLEMENTATION, Pass.CODING_CORE, True),
        ("", RequestClass.GENERAL, Pass.CODING_CORE, True),
        ("", RequestClass.MIXED, Pass.MIXED_PREPASS, True),
        ("", RequestClass.MIXED, Pass.MIXED_IMPLEMENTATION, True),
        ("", RequestClass.MIXED, Pass.MIXED_POSTCHECK, False),
        ("", RequestClass.NORMATIVE, Pass.NORMATIVE, False),
        ("tasks: normative", RequestClass.NORMATIVE, Pass.NORMATIVE, True),
        ("tasks: normative", RequestClass.IMPLEMENTATION, Pass.CODING_CORE, False),
        ("tasks: general", RequestClass.GENERAL, Pass.CODING_CORE, True),
        ("tasks: general", RequestClass.IMPLEMENTATION, Pass.CODING_CORE, False),
        ("tasks: [Mixed, normative]", RequestClass.IMPLEMENTATION, Pass.CODING_CORE, False),
    ],
)
def test_a_rule_holds_for_its_tasks(tree, shape, tasks, request_class, stage, holds):
    rule(tree, "a", f"scope: global\n{tasks}", "TEXT")
    choice = tree.book().choose(shape(request_class=request_class, stage=stage))
    assert bool(choice.kept) is holds


@pytest.mark.parametrize(
    ("paths", "target", "concerned"),
    [
        ("doc/**", "src/ring.c", False),
        ("doc/**", "doc/a/b.md", True),
        ("doc/**", "doc", True),
        ("doc/**", "other/doc/a.md", False),
        ("*.py", "a/b/c.py", True),
        ("*.{c,h}", "src/ring.h", True),
        ("*.{c,h}", "src/ring.py", False),
        ("src/", "src/a.c", True),
        ("./src/*.c", "src/a.c", True),
        ("src/*.c", "src/deep/a.c", False),
        ("vendor", "vendor/x/y.c", True),
        ("src/*.c, doc/**", "doc/x", True),
    ],
)
def test_globs_are_anchored_at_the_workspace_unless_they_are_bare_names(paths, target, concerned):
    parsed, _ = parse(f"---\npaths: {paths}\n---\nTEXT", "a", Origin.TREE)
    assert parsed.concerns(target) is concerned


def test_a_rule_for_paths_comes_at_the_first_touch_of_one(tree, shape):
    rule(tree, "a", "scope: global\npaths: doc/**", "ABOUT-DOC")
    book = tree.book()
    assert "does not name" in reason(book.choose(shape()), "a.md")
    assert book.on_touch("src/ring.c") == ""
    assert "ABOUT-DOC" in book.on_touch("doc/a.md")
    assert book.on_touch("doc/b.md") == ""
    assert texts(book.choose(shape(targets=("doc/a.md",)))) == ["ABOUT-DOC"]


def test_a_rule_of_another_task_is_not_shown_at_a_touch(tree, shape):
    rule(tree, "a", "scope: global\npaths: doc/**\ntasks: normative", "ABOUT-DOC")
    book = tree.book()
    book.choose(shape())
    assert book.on_touch("doc/a.md") == ""


# --- the tree's own rules ----------------------------------------------------------------------------------------


def test_the_tree_speaks_through_its_files(tree, shape):
    tree.write("AGENTS.md", "AGENTS")
    tree.write("CLAUDE.md", "CLAUDE")
    tree.write(".spear/rules/a.md", "PLAIN")
    tree.write(".spear/rules/b.md", "---\ntasks: normative\n---\nNORMATIVE")
    tree.write(".spear/rules/c.md", "---\nscope: path src\n---\nSRC")
    tree.write("docs/prompt.md", "PROMPT")
    choice = tree.book(prompt_file="docs/prompt.md").choose(shape())
    assert texts(choice) == ["PROMPT", "AGENTS", "CLAUDE", "PLAIN", "SRC"]


@pytest.mark.parametrize("second", ["AGENTS", "@AGENTS.md\n"])
def test_two_names_for_one_text_are_one_rule(tree, shape, second):
    tree.write("AGENTS.md", "AGENTS\n")
    tree.write("CLAUDE.md", second)
    assert texts(tree.book().choose(shape())) == ["AGENTS"]


def test_a_link_to_the_other_name_is_followed(tree, shape):
    tree.write("AGENTS.md", "AGENTS")
    os.symlink("AGENTS.md", tree.root / "CLAUDE.md")
    assert texts(tree.book().choose(shape())) == ["AGENTS"]


def test_a_link_never_shows_what_is_no_rule(tree, shape, tmp_path):
    (tmp_path / "id_ed25519.md").write_text("PRIVATE-KEY")
    os.symlink(tmp_path / "id_ed25519.md", tree.root / "AGENTS.md")
    tree.write(".env", "TOKEN=x")
    os.symlink(".env", tree.root / "CLAUDE.md")
    choice = tree.book().choose(shape())
    assert choice.kept == ()
    assert "out of the tree" in reason(choice, "AGENTS.md")
    assert "another kind of file" in reason(choice, "CLAUDE.md")


def test_what_is_not_a_file_blocks_nobody(tree, shape):
    os.mkfifo(tree.root / "AGENTS.md")
    (tree.root / "CLAUDE.md").mkdir()
    assert "not a regular file" in reason(tree.book().choose(shape()), "AGENTS.md")


def test_what_cannot_be_seen_is_not_shown(tree, shape):
    tree.write("AGENTS.md", "visible\u202e\U000e0041\x1b[2J\u200b text")
    assert texts(tree.book().choose(shape())) == ["visible[2J text"]


def test_a_session_in_a_directory_of_a_project_is_under_the_rules_above(tree, shape):
    tree.write("AGENTS.md", "TOP")
    tree.write("packages/web/AGENTS.md", "WEB")
    assert texts(tree.book("demo", "packages/web").choose(shape())) == ["TOP", "WEB"]
    assert texts(tree.book(None, "packages/web").choose(shape())) == ["WEB"]


# --- first touch -------------------------------------------------------------------------------------------------


def test_nested_files_are_shown_once_outer_first(tree, shape):
    tree.write("AGENTS.md", "TOP")
    tree.write("packages/AGENTS.md", "PACKAGES")
    tree.write("packages/web/AGENTS.md", "WEB")
    tree.write("packages/web/a.ts", "")
    book = tree.book()
    book.choose(shape())
    shown = book.on_touch("/workspace/packages/web/a.ts")
    assert "TOP" not in shown
    assert shown.index("PACKAGES") < shown.index("WEB")
    assert "packages/web/AGENTS.md" in shown
    assert book.on_touch("packages/web/b.ts") == ""
    assert any("packages/web/AGENTS.md" in line for line in book.report())
    tree.write("packages/web/AGENTS.md", "WEB-CHANGED")
    assert "WEB-CHANGED" in book.on_touch("packages/web/a.ts")
    book.choose(shape())
    assert book.on_touch("packages/web/a.ts") == ""


def test_what_only_the_prompt_of_an_earlier_turn_held_is_shown_at_a_touch(tree, shape):
    tree.write("config/rules.d/a.md", "---\nscope: global\npaths: doc/**\n---\nDOC-RULE\n")
    book = tree.book()
    assert [rule.text for rule in book.choose(shape(targets=("doc/a.md",))).kept] == ["DOC-RULE"]
    assert book.on_touch("doc/b.md") == ""
    assert book.choose(shape()).kept == ()
    assert "DOC-RULE" in book.on_touch("doc/b.md")
    book.choose(shape())
    assert book.on_touch("doc/b.md") == ""


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "/workspaces/other/a", "~/x", "", ".", "a\0b", "/workspace"])
def test_a_path_elsewhere_shows_nothing(tree, shape, path):
    tree.write("AGENTS.md", "TOP")
    book = tree.book()
    book.choose(shape())
    assert book.on_touch(path) == ""


def test_a_nested_file_that_does_not_fit_is_announced(tree, shape):
    tree.write("big/AGENTS.md", "x" * (LIMIT + 1))
    tree.write("small/AGENTS.md", "SMALL")
    book = tree.book()
    book.choose(shape())
    shown = book.on_touch("big/a.c")
    assert "xxx" not in shown
    assert f"{LIMIT + 1} characters" in shown
    assert "read_file" in shown
    assert "SMALL" in book.on_touch("small/a.c")


# --- the bound ---------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_left_out_whole_and_the_operator_is_told(tree, shape):
    rule(tree, "a", "scope: global", "A" * 5000)
    rule(tree, "b", "scope: global\npriority: 5", "B" * 3500)
    rule(tree, "c", "scope: global\npriority: -1", "C" * 1000)
    tree.write("AGENTS.md", "D" * 3000)
    book = tree.book()
    choice = book.choose(shape())
    assert [text[0] for text in texts(choice)] == ["B", "C", "D"]
    (notice,) = choice.notices()
    assert "rules.d/a.md (5000 characters)" in notice
    assert "characters" in reason(choice, "a.md")
    assert any(line.startswith("! rules.d/a.md") for line in book.report())


def test_a_tree_cannot_push_the_operators_rules_out(tree, shape):
    rule(tree, "a", "scope: global\npriority: -100", "OPERATOR" * 100)
    tree.write(".spear/rules/a.md", f"---\npriority: 1000\n---\n{'T' * (LIMIT - 1)}")
    choice = tree.book().choose(shape())
    assert [one.origin for one in choice.kept] == [Origin.OPERATOR]
    assert ".spear/rules/a.md" in section(choice.kept, choice.over)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 6000), st.integers(-3, 3)), max_size=8))
def test_the_injected_set_never_exceeds_the_bound_and_nothing_is_cut(tree, shape, sizes):
    for old in (tree.config / "rules.d").glob("*"):
        old.unlink()
    for number, (size, priority) in enumerate(sizes):
        rule(tree, f"r{number}", f"scope: global\npriority: {priority}", "x" * size)
    choice = tree.book().choose(shape())
    assert sum(len(one.text) for one in choice.kept) <= LIMIT
    whole = sorted(size for size, _ in sizes)
    assert sorted(len(one.text) for one in (*choice.kept, *choice.over)) == whole
    assert all(one.name in choice.notices()[0] for one in choice.over)


@given(st.text(max_size=300))
def test_any_rule_file_is_a_rule_or_a_problem(text):
    parsed = parse(text, "a.md", Origin.OPERATOR)
    if isinstance(parsed, tuple):
        assert isinstance(parsed[0], Rule)
    else:
        assert parsed.text


def test_the_same_files_give_the_same_section(tree, shape):
    for name in ("b", "a", "c"):
        rule(tree, name, "scope: global", name.upper())
    first = section(tree.book().choose(shape()).kept)
    assert first == section(tree.book().choose(shape()).kept)
    assert first.index("A") < first.index("rules.d/b.md") < first.index("rules.d/c.md")
