"""Where paths lead: every spelling, every link, and never outside."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.workspace.roots import Location, PathCode, PathProblem, Roots, folded


def roots(root: Path, **others: Path) -> Roots:
    return Roots.of(root, others)[0]


@pytest.mark.parametrize(
    ("text", "relative"),
    [
        ("src/ring.c", "src/ring.c"),
        ("./src//ring.c", "src/ring.c"),
        ("src/../README.md", "README.md"),
        ("/workspace/src/ring.c", "src/ring.c"),
        ("/workspace", "."),
        (".", "."),
        ("../tree/README.md", "README.md"),
        ("new/deep/../file.txt", "new/file.txt"),
        ("README.md. ", "README.md"),
        ("src. /ring.c ", "src/ring.c"),
    ],
)
def test_every_spelling_of_a_path_is_one_path(root, text, relative):
    found = roots(root).resolve(text)
    assert isinstance(found, Location)
    assert (found.relative, found.shown, found.real) == (relative, relative, root / relative)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", PathCode.EMPTY),
        ("  ", PathCode.EMPTY),
        ("a\0b", PathCode.CONTROL),
        ("a\nb", PathCode.CONTROL),
        ("a\u202eb", PathCode.CONTROL),
        ("\ud83d", PathCode.CONTROL),
        ("~/x", PathCode.HOME),
        ("~root/x", PathCode.HOME),
        ("..", PathCode.OUTSIDE),
        ("../tree-evil/x", PathCode.OUTSIDE),
        ("/etc/passwd", PathCode.OUTSIDE),
        ("/workspace/../etc", PathCode.OUTSIDE),
        ("/workspaces/nobody/x", PathCode.UNKNOWN_ROOT),
        ("README.md/x", PathCode.NOT_A_DIRECTORY),
        ("README.md/", PathCode.NOT_A_DIRECTORY),
        ("n" * 300, PathCode.UNREADABLE),
    ],
)
def test_these_lead_nowhere_and_say_what_to_do(root, text, code):
    found = roots(root).resolve(text)
    assert isinstance(found, PathProblem)
    assert found.code is code
    assert found.remedy


def test_an_absolute_spelling_is_refused_with_the_relative_one(root):
    found = roots(root).resolve(str(root / "src/ring.c"))
    assert isinstance(found, PathProblem)
    assert found.code is PathCode.ABSOLUTE
    assert "`src/ring.c`" in found.remedy


def test_an_absolute_spelling_is_accepted_when_allowed_and_inside(root, outside):
    permissive = Roots.of(root, allow_absolute=True)[0]
    assert permissive.resolve(str(root / "src/ring.c")).relative == "src/ring.c"
    assert permissive.resolve(str(outside / "secret.txt")).code is PathCode.OUTSIDE


def test_another_root_has_its_own_spelling(root, outside):
    found = roots(root, lib=outside).resolve("/workspaces/lib/secret.txt")
    assert (found.root_name, found.shown, found.relative) == ("lib", "/workspaces/lib/secret.txt", "secret.txt")
    assert "/workspaces/lib" in roots(root, lib=outside).resolve("/workspaces/x/y").remedy


def test_a_workspace_that_lies_under_slash_workspaces_keeps_its_absolute_refusal(root, outside):
    assert roots(root, lib=outside).resolve(str(outside / "secret.txt")).remedy == "use `/workspaces/lib/secret.txt`"


@pytest.mark.parametrize("make", ["file", "directory", "dangling", "chain", "relative"])
def test_a_link_that_leads_outside_is_outside(root, outside, make):
    link = root / "link"
    match make:
        case "file":
            link.symlink_to(outside / "secret.txt")
            text = "link"
        case "directory":
            link.symlink_to(outside)
            text = "link/new/file.txt"
        case "dangling":
            link.symlink_to(outside / "new.txt")
            text = "link"
        case "chain":
            (root / "second").symlink_to("link")
            link.symlink_to(outside)
            text = "second/secret.txt"
        case _:
            link.symlink_to("../outside/secret.txt")
            text = "src/../link"
    assert roots(root).resolve(text).code is PathCode.OUTSIDE


def test_a_link_inside_is_followed_to_what_it_names(root):
    (root / "alias").symlink_to("src")
    (root / "later.c").symlink_to("alias/new.c")
    found = roots(root).resolve("alias/ring.c")
    assert (found.relative, found.via_link, found.exists) == ("src/ring.c", True, True)
    dangling = roots(root).resolve("later.c")
    assert (dangling.relative, dangling.exists) == ("src/new.c", False)


def test_deletion_leaves_the_last_link_alone(root, outside):
    (root / "out").symlink_to(outside / "secret.txt")
    (root / "dir").symlink_to(outside)
    found = roots(root).resolve("out", follow_last=False)
    assert (found.relative, found.is_link, found.exists, found.is_dir) == ("out", True, True, False)
    assert roots(root).resolve("dir/secret.txt", follow_last=False).code is PathCode.OUTSIDE


def test_a_loop_of_links_is_named(root):
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert roots(root).resolve("a").code is PathCode.LOOP


def test_two_normalizations_of_a_name_are_one_file(root):
    (root / "cafe\u0301.txt").write_text("x")
    found = roots(root).resolve("caf\u00e9.txt")
    assert found.exists
    assert found.relative == "cafe\u0301.txt"


def test_an_exact_name_wins_over_another_spelling(root):
    (root / "notes").write_text("1")
    (root / "notes.").write_text("2")
    assert roots(root).resolve("notes.").relative == "notes."


def test_names_that_differ_in_case_stay_two_files_but_fold_alike(root):
    assert not roots(root).resolve("readme.md").exists
    assert folded(".GIT/Hooks. ") == folded(".git/hooks")


def test_a_tilde_file_that_exists_can_be_named(root):
    (root / "~$draft").write_text("x")
    assert roots(root).resolve("~$draft").exists


def test_a_name_that_is_not_utf8_can_be_named_as_it_is_listed(root):
    (root / os.fsdecode(b"latin\xe9")).write_text("x")
    assert roots(root).resolve(os.fsdecode(b"latin\xe9")).exists


def test_relative_to_where_the_last_command_ended(root):
    assert roots(root).resolve("ring.c", "src").relative == "src/ring.c"
    assert roots(root).resolve("../../outside", "src").code is PathCode.OUTSIDE


def test_roots_never_nest_and_the_gone_are_told(root, outside, tmp_path):
    (outside / "sub").mkdir()
    found, notices = Roots.of(
        root, {"a": outside, "b": outside / "sub", "c": tmp_path / "gone", "d": root / "src", "e": tmp_path}
    )
    assert dict(found.others) == {"a": outside}
    assert len(notices) == 2
    assert "project b" in notices[0]
    assert "gone" in notices[1]


NAMES = st.sampled_from(
    ["..", ".", "src", "link", "out", "abs", "ring.c", "new", "", "loop", "dang", "tree", "outside"]
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(NAMES, min_size=1, max_size=8), absolute=st.booleans(), follow=st.booleans())
def test_whatever_is_accepted_is_beneath_a_root_as_the_kernel_sees_it(root, outside, parts, absolute, follow):
    for name, target in (
        ("link", "src"),
        ("out", "../outside"),
        ("abs", str(outside)),
        ("loop", "loop"),
        ("dang", "../outside/n"),
    ):
        if not os.path.lexists(root / name):
            (root / name).symlink_to(target)
            (root / "src" / name).symlink_to(target)
    text = ("/workspace/" if absolute else "") + "/".join(parts)
    found = roots(root).resolve(text, follow_last=follow)
    if isinstance(found, Location):
        if found.is_link:
            assert os.path.realpath(found.real.parent) == str(found.real.parent)
        else:
            assert os.path.realpath(found.real) == str(found.real)
        assert found.real == root or root in found.real.parents
        assert found.exists == os.path.lexists(found.real)
