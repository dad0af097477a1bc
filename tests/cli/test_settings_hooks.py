"""Hooks in configuration files: the operator's own file only, programs that are there and outside the tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spear.cli.arguments import parse
from spear.cli.settings import load
from spear.errors import ConfigurationError
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore


class World:
    """A home with a user file and a program, a workspace with a project file."""

    def __init__(self, tmp: Path) -> None:
        self.home, self.workspace = tmp / "home", tmp / "ws"
        self.user_file = self.home / ".config/spear/config.toml"
        self.project_file = self.workspace / ".spear/config.toml"
        self.user_file.parent.mkdir(parents=True)
        self.project_file.parent.mkdir(parents=True)
        self.check = self.program(self.home / "bin/check")
        self.environ = {"HOME": str(self.home), "LOGNAME": "ann", "PATH": f"{self.home}/bin:{self.workspace}/bin"}

    def program(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def load(self, *words):
        return load(parse(list(words)), self.environ, self.workspace)

    def fails(self, text, *words):
        self.user_file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError) as caught:
            self.load(*words)
        assert caught.value.exit_status == 2
        return str(caught.value)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def entry(command, **fields):
    fields = {"event": "before_tool", "command": command, **fields}
    return "[[hooks]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())


@pytest.mark.parametrize("spelt", ["check", "~/bin/check", "../../bin/check", "{home}/bin/check"])
def test_a_program_is_found_by_name_home_path_and_from_where_it_is_written(world, spelt):
    world.user_file.write_text(
        "\n" + entry([spelt.format(home=world.home), "--strict"], tools=["terminal"]), encoding="utf-8"
    )
    loaded = world.load()
    (hook,) = loaded.settings.hooks
    assert (Path(hook.command[0]).resolve(), hook.command[1:]) == (world.check, ("--strict",))
    assert Path(hook.command[0]).is_absolute() and hook.timeout_s == 5 and hook.tools == ("terminal",)
    assert str(loaded.origins["hooks"]) == f"user file {world.user_file} line 2" and loaded.notices == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry(["check"], event="before_lunch"), "hooks.0.event = 'before_lunch'"),
        (entry(["check"]) + entry(["check"], tools=["bash"]), "hooks.1.tools"),
        (entry(["check"], tools=["bash"]), "'bash' is none"),
        (entry([]), "hooks.0.command = []"),
        (entry("check"), "a list of words"),
        (entry(["check"], timeout_s=61), "hooks.0.timeout_s = 61"),
        (entry(["check"], timeout=3), "hooks.0.timeout"),
        (entry(["check"], event="turn_ended", tools=["terminal"]), "no tools"),
        ("[[hooks]]\nevent = 'turn_ended'\n", "hooks.0.command is missing"),
        (entry(["check"]) + entry(["chekc"]), "hooks.1.command = 'chekc'"),
        (entry(["bin/missing"]), "there is no such program"),
        (entry(["/etc/passwd"]), "not executable"),
        (entry(["~/bin"]), "there is no such program"),
    ],
)
def test_what_is_wrong_names_the_entry_and_the_file(world, text, said):
    error = world.fails(text)
    assert said in error and str(world.user_file) in error, error


def test_a_program_of_the_tree_is_an_error(world):
    inside = world.program(world.workspace / "bin/mine")
    (world.home / "bin/link").symlink_to(inside)
    for command in (
        ["mine"],
        [str(inside)],
        [str(world.home / "bin/link")],
        ["check", str(inside)],
        ["check", "bin/mine"],
    ):
        error = world.fails(entry(command))
        assert "lies in the workspace" in error and f"move it out of {world.workspace}" in error, error


def test_a_file_of_the_tree_cannot_declare_hooks_even_where_it_is_named_as_the_users(world):
    (world.workspace / "mine.toml").write_text(entry(["check"]), encoding="utf-8")
    for words in (("--config", "mine.toml"), ("--config", str(world.workspace / "mine.toml"))):
        assert "a model can write it" in world.fails("", *words)
    (world.home / "linked.toml").symlink_to(world.workspace / "mine.toml")
    assert "a model can write it" in world.fails("", "--config", str(world.home / "linked.toml"))
    (world.workspace / "mine.toml").write_text("max_commands = 3\n", encoding="utf-8")
    assert world.load("--config", "mine.toml").settings.max_commands == 3


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("text", [entry(["check"]), entry(["/ws/evil"], event="nonsense"), "hooks = 3\n"])
def test_hooks_of_a_project_file_are_left_out_trusted_or_not_and_it_is_said(world, trusted, text):
    world.project_file.write_text("max_commands = 7\n" + text, encoding="utf-8")
    world.user_file.write_text(entry(["check"], event="turn_ended"), encoding="utf-8")
    if trusted:
        TrustStore(StateDirectory(world.home / ".local/state/spear").trusted).trust(world.project_file)
    loaded = world.load()
    assert [hook.event for hook in loaded.settings.hooks] == ["turn_ended"]
    (notice,) = loaded.notices
    assert notice.startswith(f"hooks in {world.project_file} line 2 is left out") and str(world.user_file) in notice
    assert loaded.settings.max_commands == 7


def test_without_hooks_there_are_none(world):
    loaded = world.load()
    assert loaded.settings.hooks == () and loaded.is_default("hooks")
