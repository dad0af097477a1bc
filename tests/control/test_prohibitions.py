"""What a request forbids is what it says: everything, something, all but something, or nothing at all (spec 1.2)."""

from __future__ import annotations

import pytest

from spear.control.classification import classify


@pytest.mark.parametrize(
    "request_text",
    [
        "No changes.",
        "Why does make fail? No edits please",
        "Explain src/a.c, no changes to the code",
        "No changes to any files yet; fix src/a.c later",
        "Without any changes to the files, explain src/a.c",
        "Make no changes; only tell me where the leak in src/a.c is",
        "Fix src/a.c. No changes until I say so.",
        "Run the tests read-only",
        "Read-only: go through src/a.c",
        "Keep it read-only and fix src/a.c",
        "Corrige src/a.c, aucune modification pour l'instant",
        "No changes should be made to the code, go through src/a.c",
        "Change nothing, look for the bug in src/a.c",
    ],
)
def test_every_change_is_forbidden(request_text):
    assert classify(request_text).read_only


@pytest.mark.parametrize(
    ("request_text", "excluded"),
    [
        ("Fix the bug. No changes to the public API please.", ()),
        ("Fix src/a.c, no edits to src/b.c", ("src/b.c",)),
        ("Fix the bug without changes to tests/", ("tests/",)),
        ("Speed up parse() without any changes to its signature", ()),
        ("Corrige src/a.c, aucune modification de l'API", ()),
        ("Fix src/a.c; no changes should be made to src/b.c", ("src/b.c",)),
    ],
)
def test_what_is_forbidden_by_name_leaves_the_rest_to_be_done(request_text, excluded):
    got = classify(request_text)
    assert not got.read_only, got.reasons
    assert got.exclusions == excluded


@pytest.mark.parametrize(
    ("request_text", "target"),
    [
        ("Refactor src/ring.c with no change in behaviour", "src/ring.c"),
        ("Refactorise src/ring.c, pas de changement de comportement", "src/ring.c"),
        ("Fix the read-only file system bug in src/mount.c", "src/mount.c"),
        ("Make the buffer read-only in src/buf.c", "src/buf.c"),
        ("Document the read-only flag in README.md", "README.md"),
        ("Add a --dry-run only mode to src/cli.py", "src/cli.py"),
        ("Fix the code so that no changes are lost in src/save.c", "src/save.c"),
        ("Make sure no writes happen after close() in src/io.c", "src/io.c"),
        ("Fix the race in src/io.c: no write may happen after close()", "src/io.c"),
        ("don't forget to update README.md", "README.md"),
        ("don't forget to run the tests after fixing src/a.c", "src/a.c"),
        ("Please do not hesitate to change src/a.c", "src/a.c"),
        ("n'oublie pas de lancer les tests après avoir corrigé src/a.c", "src/a.c"),
        ("n'hésite pas à modifier src/a.c", "src/a.c"),
    ],
)
def test_words_of_a_prohibition_that_forbid_no_change(request_text, target):
    got = classify(request_text)
    assert not got.read_only, got.reasons
    assert got.targets == (target,)
    assert got.exclusions == ()


@pytest.mark.parametrize(
    ("request_text", "targets"),
    [
        ("Don't change anything except src/a.c; fix the overflow", ("src/a.c",)),
        ("Change nothing but src/a.c and src/b.c; fix the overflow there", ("src/a.c", "src/b.c")),
        ("Make no change except in src/a.c: fix the overflow there", ("src/a.c",)),
        ("Fix the bug; do not touch anything outside src/", ("src/",)),
        ("ne touche à rien d'autre que src/a.c et corrige le bug", ("src/a.c",)),
        ("ne modifie que src/a.c", ("src/a.c",)),
    ],
)
def test_what_a_prohibition_excepts_is_what_may_change(request_text, targets):
    got = classify(request_text)
    assert not got.read_only, got.reasons
    assert got.exclusions == ()
    assert got.targets == targets


@pytest.mark.parametrize(
    ("request_text", "kinds"),
    [
        ("Fix ring_next; the tests must not change", ("tests",)),
        ("tests are off limits. Fix ring_next", ("tests",)),
        ("Fix ring_next and keep the tests unchanged", ("tests",)),
        ("Fix ring_next, leave the headers alone", ("header",)),
        ("Corrige ring_next ; les tests ne doivent pas être modifiés", ("tests",)),
        ("Corrige ring_next, garde les tests inchangés", ("tests",)),
        ("Do not touch the documentation; fix ring_next", ("docs",)),
        ("Fix ring_next, do not run the tests", ()),
        ("Fix the tests", ()),
        ("Fix the bug that headers are not written", ()),
        ("Why must the tests not be changed?", ()),
    ],
)
def test_kinds_of_files_that_are_to_be_left_alone(request_text, kinds):
    assert classify(request_text).excluded_kinds == kinds
