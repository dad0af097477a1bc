"""Which changed files a check can speak of at all."""

from __future__ import annotations

import pytest

from spear.evidence.coverage import covers, is_prose
from spear.evidence.kinds import CheckCode, CheckKind, CheckStatus, Scope
from spear.evidence.records import CheckResult
from spear.evidence.roots import root_of


def check(root: str) -> CheckResult:
    return CheckResult(
        command="make test", tool="make", kinds=(CheckKind.TEST,), scope=Scope.PROJECT, status=CheckStatus.PASSED,
        code=CheckCode.EXIT_STATUS, epoch=1, fingerprint="x", root=root,
    )  # fmt: skip


def test_a_check_speaks_of_files_of_the_root_it_ran_in():
    here, there = ["src/a.c"], ["/workspaces/lib/a.c"]
    assert covers(check(""), here) and covers(check("/workspaces/lib"), there) and covers(check(""), here + there)
    assert not covers(check(""), there) and not covers(check("/workspaces/lib"), here)
    assert not covers(check("/workspaces/other"), here + there)


def test_a_file_of_another_root_is_known_by_how_it_is_shown():
    assert [root_of(path) for path in ("a.c", "workspaces/a/b", "/workspaces/lib/a/b.c")] == ["", "", "/workspaces/lib"]


@pytest.mark.parametrize("path", ["data/squares.txt", "tests/cases.txt", "src/words.txt", "calc/testdata/x.txt"])
def test_a_text_where_programs_look_for_theirs_is_data(path):
    assert covers(check(""), [path]) and not is_prose(path)


@pytest.mark.parametrize("path", ["notes.txt", "docs/guide.txt", "lib/LICENSE.txt", "src/readme.txt", "README.md"])
def test_other_texts_are_read_by_whoever_names_them(path):
    assert not covers(check(""), [path])
