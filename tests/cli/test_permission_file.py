"""Approvals kept in the project's file: written, read back as settings, taken out; never out of a file nobody trusts."""

from __future__ import annotations

import argparse
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.cli.permission_file import PermissionFile, _row, _with_rows, _without_rows
from spear.cli.settings import load
from spear.errors import ConfigurationError, UsageError
from spear.policy.permission import Permission, PermissionKind
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore

MAKE = Permission(kind=PermissionKind.PREFIX, words=("make", "test"), examples=(("make", "test", "V=1"),))
EXACT = Permission(kind=PermissionKind.COMMAND, words=("echo \"a\\tb\" > 'x y' # é",), granted="2026-11-30")
FILE = Permission(kind=PermissionKind.FILE, words=("src/ring.c",))
OWN = """# mine
mode = "ask"   # each change

[limits]
tasks = 400 # enough

[[permissions]]
kind = "file"
words = ["a.c"]

[network]
allow = ["example.org"]
"""


@pytest.fixture
def world(tmp_path):
    """A workspace, its permission file, and the settings a session there would have."""

    class World:
        root = tmp_path / "ws"
        state = StateDirectory(tmp_path / "state")

        def __init__(self):
            self.root.mkdir()
            self.state.prepare()
            self.trust = TrustStore(self.state.trusted)
            self.file = PermissionFile(self.root, self.trust)

        def loaded(self, **files):
            environ = {"HOME": str(tmp_path), "USER": "t", "SPEAR_STATE_DIR": str(self.state.root)}
            return load(argparse.Namespace(), environ, self.root)

        def permissions(self):
            return self.loaded().settings.permissions

        def write(self, text, *, trusted):
            self.file.path.parent.mkdir(exist_ok=True)
            self.file.path.write_text(text)
            if trusted:
                self.trust.trust(self.file.path)

    return World()


def test_what_is_kept_is_read_back_and_can_be_taken_out(world):
    for permission in (MAKE, EXACT, FILE, MAKE):
        world.file.add(permission)
    assert world.permissions() == (MAKE, EXACT, FILE)
    world.file.remove(EXACT)
    assert world.permissions() == (MAKE, FILE)
    world.file.remove(MAKE)
    world.file.remove(FILE)
    assert world.permissions() == ()
    assert world.file.path.read_text() == ""


def test_everything_else_in_the_file_stays_as_it_was_written(world):
    world.write(OWN, trusted=True)
    world.file.add(MAKE)
    text = world.file.path.read_text()
    for line in ("# mine", 'mode = "ask"   # each change', "tasks = 400 # enough", 'allow = ["example.org"]'):
        assert line in text
    assert [p.words for p in world.permissions()] == [("a.c",), ("make", "test")]
    assert world.loaded().settings.network.allow == ("example.org",)
    assert world.trust.trusts(world.file.path)


def test_a_file_nobody_trusts_is_neither_heard_nor_written(world):
    world.write(OWN, trusted=False)
    assert world.permissions() == ()
    assert any(notice.startswith("permissions in ") and "trust" in notice for notice in world.loaded().notices)
    with pytest.raises(UsageError, match=r"not trusted as it is now.*spear-chat trust"):
        world.file.add(MAKE)
    assert world.file.path.read_text() == OWN
    assert not world.trust.trusts(world.file.path)


def test_a_file_changed_behind_the_operators_back_is_not_trusted_by_the_next_approval(world):
    world.file.add(MAKE)
    with world.file.path.open("a") as stream:
        stream.write('\n[[permissions]]\nkind = "prefix"\nwords = ["git"]\n')
    assert world.permissions() == ()
    with pytest.raises(UsageError, match="not trusted"):
        world.file.add(FILE)


def test_a_link_in_the_place_of_the_directory_is_not_followed(world, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (world.root / ".spear").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="was not written"):
        world.file.add(MAKE)
    assert list(elsewhere.iterdir()) == []


def test_a_form_of_its_own_is_left_to_the_hand_that_wrote_it(world):
    world.write('permissions = [{kind = "file", words = ["a.c"]}]\nmode = "ask"\n', trusted=True)
    with pytest.raises(UsageError, match="by hand"):
        world.file.add(MAKE)
    assert world.permissions() == (Permission(kind=PermissionKind.FILE, words=("a.c",)),)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=3), max_size=3),
    st.sampled_from(["", OWN, "mode = 'ask'", "[keys]\nsteer = 'f5'\n\n"]),
)
def test_any_words_survive_the_file_and_nothing_else_changes(lists, text):
    rows = [_row(Permission(kind=PermissionKind.COMMAND, words=tuple(words))) for words in lists]
    rest = tomllib.loads(_without_rows(text))
    try:
        read = tomllib.loads(_with_rows(_without_rows(text), rows))
    except tomllib.TOMLDecodeError:
        assert any(ord(c) == 0x7F or "\ud800" <= c <= "\udfff" for words in lists for word in words for c in word)
        return
    assert read.pop("permissions", []) == rows
    assert read == rest


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('kind = "prefix"\nwords = ["python3"]', "would approve nearly anything that begins with python3"),
        ('kind = "prefix"\nwords = ["make", "test"]\nexamples = [["make", "clean"]]', "own example make clean"),
        ('kind = "prefix"\nwords = ["git"]\nnever = [["hg", "push"]]', "never begins as hg push"),
        ('kind = "deny"\nwords = ["make"]\nnever = [["make", "test"]]', "what is denied has no exceptions"),
        ('kind = "file"\nwords = ["../x"]', "one path inside the workspace"),
        ('kind = "file"\nwords = ["a", "b"]', "one path inside the workspace"),
        ('kind = "command"\nwords = []', "permissions.0.words"),
        ('kind = "glob"\nwords = ["make*"]', "permissions.0.kind"),
        ('kind = "command"\nwords = ["x"]\nuntil = "never"', "permissions.0.until"),
    ],
)
def test_a_permission_that_cannot_be_meant_is_an_error_with_its_place(world, row, said):
    world.write(f"[keys]\nsteer = 'f5'\n[[permissions]]\n{row}\n", trusted=True)
    with pytest.raises(ConfigurationError) as raised:
        world.loaded()
    assert said in str(raised.value)
    assert "config.toml line 3" in str(raised.value)


def test_approvals_do_not_hold_everywhere(world, tmp_path):
    user = tmp_path / ".config/spear/config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('[[permissions]]\nkind = "file"\nwords = ["a"]\n')
    with pytest.raises(ConfigurationError, match=r"approvals hold in one project — move them to its \.spear"):
        world.loaded()
