"""Keys as people write them, as the terminal library names them, and what `[keys]` refuses."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.key_binding.key_bindings import _parse_key

from spear.cli.keystrokes import _NAMED, DEFAULTS, RESERVED, canonical, clashes, sequence, shown
from spear.cli.settings import load
from spear.cli.settings_model import Keys
from spear.errors import ConfigurationError

SINGLE = [*_NAMED, *(f"alt-{key}" for key in ("a", "9", "enter", "ctrl-up", "f5"))]
KEYS = st.lists(st.sampled_from(SINGLE), min_size=1, max_size=3).map(" ".join)


@given(KEYS)
def test_every_accepted_key_is_one_the_terminal_library_knows(text):
    assert canonical(text) == text
    for name in sequence(text):
        _parse_key(name)
    assert canonical(shown(text)) == text


@pytest.mark.parametrize(
    ("written", "is_"),
    [
        ("Ctrl+S", "ctrl-s"), ("C-s", "ctrl-s"), ("control-s", "ctrl-s"), ("M-x", "alt-x"), ("Alt+Enter", "alt-enter"),
        ("Esc", "escape"), ("esc ESC", "escape escape"), ("Shift+Tab", "shift-tab"), ("F5", "f5"), ("PgUp", "pageup"),
        ("  c-x   c-e ", "ctrl-x ctrl-e"), ("Ctrl+_", "ctrl-_"), ("s-up", "shift-up"),
    ],
)  # fmt: skip
def test_spellings_of_one_key(written, is_):
    assert canonical(written) == is_


@pytest.mark.parametrize("wrong", ["", "x", "ctlr-s", "ctrl-", "ctrl-ä", "hyper-s", "ctrl-x ctrl-?", "f99", "alt-tab"])
def test_what_is_no_key_is_refused_with_what_would_be(wrong):
    with pytest.raises(ValueError, match=r"ctrl-s"):
        canonical(wrong)


@pytest.mark.parametrize("key", RESERVED)
def test_keys_that_stay_what_they_are(key):
    with pytest.raises(ValueError, match="another key"):
        canonical(key)


def test_the_defaults_are_spelled_as_they_are_kept_and_clash_nowhere():
    assert {action: tuple(map(canonical, keys)) for action, keys in DEFAULTS.items()} == DEFAULTS
    assert Keys().bound() == DEFAULTS
    assert set(Keys.model_fields) == set(DEFAULTS)
    assert clashes(DEFAULTS) is None


def test_two_spellings_of_one_sequence_clash():
    assert clashes({"a": ("alt-enter",), "b": ("escape",), "c": ("alt-enter",)}) == ("alt-enter", "a", "c")
    assert clashes({"a": ("alt-x", "alt-x")}) is None


@pytest.fixture
def read(tmp_path):
    """Settings of a user file with this text, and of a project file nobody trusts."""

    def loading(user: str, project: str = ""):
        home, work = tmp_path / "home", tmp_path / "work"
        for file, text in ((home / ".config/spear/config.toml", user), (work / ".spear/config.toml", project)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return load(argparse.Namespace(), {"HOME": str(home), "USER": "t"}, work)

    return loading


def test_keys_are_read_from_the_file(read):
    keys = read("[keys]\nsteer = 'Ctrl+G'\nnewline = ['c-j', 'alt-n']\neditor = []\n").settings.keys.bound()
    assert (keys["steer"], keys["newline"], keys["editor"]) == (("ctrl-g",), ("ctrl-j", "alt-n"), ())
    assert keys["mode"] == DEFAULTS["mode"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[keys]\nster = 'ctrl-g'\n", ["unknown key keys.ster", "config.toml line 2", "did you mean keys.steer?"]),
        ("[keys]\nfly = 'ctrl-g'\n", ["unknown key keys.fly", "line 2", "keys.editor"]),
        ("[keys]\n\nsteer = 'ctlr-g'\n", ["keys.steer = 'ctlr-g'", "line 3", "ctrl-s", "not ctlr-g"]),
        ("[keys]\nsteer = 'g'\n", ["keys.steer = 'g'", "g writes itself"]),
        ("[keys]\nsteer = 'ctrl-z'\n", ["keys.steer = 'ctrl-z'", "Ctrl+Z is job control's"]),
        ("[keys]\nsteer = 3\n", ["keys.steer = 3", "a key such as ctrl-s, or a list"]),
        ("[keys]\nsteer = 'ctrl-o'\n", ["ctrl-o is given to keys.steer (user file", "line 2", "keys.expand (default)"]),
        ("[keys]\nsteer = 'f5'\nmode = 'F5'\n", ["f5", "keys.mode", "keys.steer", "line 2", "line 3"]),
        ("keys = 'ctrl-g'\n", ["keys = 'ctrl-g'", "it should be a table", "write [keys]"]),
    ],
)
def test_wrong_keys_are_an_error_that_names_key_place_and_way_out(read, text, said):
    with pytest.raises(ConfigurationError) as raised:
        read(text)
    for part in said:
        assert part in str(raised.value)


def test_a_key_may_change_hands(read):
    keys = read("[keys]\nsteer = 'ctrl-o'\nexpand = 'ctrl-s'\n").settings.keys.bound()
    assert (keys["steer"], keys["expand"]) == (("ctrl-o",), ("ctrl-s",))


def test_a_tree_nobody_trusts_binds_no_keys(read):
    loaded = read("", "[keys]\nsteer = 'ctrl-g'\n")
    assert loaded.settings.keys.steer == DEFAULTS["steer"]
    assert any("keys.steer" in notice and "trust" in notice for notice in loaded.notices)
