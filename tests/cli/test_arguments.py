"""The command line: every flag and alias of the table, errors that name the way out, and a fast start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spear.cli.arguments import parse, parse_words
from spear.cli.help_page import help_page
from spear.cli.keystrokes import DEFAULTS
from spear.cli.option import BOOLEAN, CONSTANT, INTEGER, LIST, NUMBER
from spear.cli.options import global_options, settings_options
from spear.cli.settings_layers import known_keys
from spear.cli.subcommand_table import COMMANDS, command_named
from spear.errors import UsageError

ALIASES = [
    (["--safe"], "mode", "safe"),
    *[([flag], "mode", "ask") for flag in ("--ask", "--confirm", "--no-bypass")],
    *[([flag], "mode", "auto") for flag in ("--auto", "-y", "--yolo", "--bypass-permissions")],
    *[([flag, "x"], "corpus", "x") for flag in ("--corpus", "--project", "--checkout")],
    *[([flag, "x y"], "print", "x y") for flag in ("-p", "--print")],
    (["-p", "-"], "print", "-"),
    (["--local"], "backend", "local"),
    (["--remote"], "backend", "remote"),
    (["-c"], "continue", True),
    (["--resume"], "resume", ""),
    (["--resume", "2026"], "resume", "2026"),
    (["--with", "a", "--with", "b"], "with_corpora", ["a", "b"]),
]


def values_for(option):
    if option.kind in (BOOLEAN, CONSTANT):
        return []
    if option.choices:
        return [option.choices[-1]]
    return {INTEGER: ["7"], NUMBER: ["0.5"]}.get(option.kind, ["word"])


@pytest.mark.parametrize(("words", "attribute", "value"), ALIASES)
def test_aliases_mean_the_same(words, attribute, value):
    assert getattr(parse(words), attribute) == value


def test_every_declared_flag_is_read():
    for option in global_options():
        for name in option.names:
            needs = ["-p", "x"] if option.key in ("stdin", "explain", "output", "schema") else []
            parsed = getattr(parse([*needs, name, *values_for(option)]), option.attribute)
            if option.kind == BOOLEAN:
                assert parsed is True, name
            elif option.kind == CONSTANT:
                assert parsed == option.constant, name
            elif option.kind == LIST:
                assert parsed == ["word"], name
            else:
                assert str(parsed) == values_for(option)[0], name


def test_what_is_not_given_is_none():
    parsed = parse([])
    assert parsed.command == ""
    for option in settings_options():
        assert getattr(parsed, option.attribute, None) is None, option.key


@pytest.mark.parametrize(
    ("words", "command", "action"),
    [
        (["doctor", "--json"], "doctor", ""),
        (["audit", "verify", "20260101"], "audit", "verify"),
        (["audit", "tail", "-f"], "audit", "tail"),
        (["audit", "export", "--format", "intoto"], "audit", "export"),
        (["undo", "2", "--session", "s", "--yes", "--file", "a.c"], "undo", ""),
        (["redo"], "redo", ""),
        (["policy", "explain", "--", "rm", "-rf", "x"], "policy", "explain"),
        (["policy", "check", "--jsonl"], "policy", "check"),
        (["classify", "--jsonl"], "classify", ""),
        (["sessions"], "sessions", "list"),
        (["sessions", "prune", "--yes"], "sessions", "prune"),
        (["completion", "fish"], "completion", ""),
        (["trust"], "trust", ""),
    ],
)
def test_subcommands_are_read(words, command, action):
    parsed = parse(words)
    assert (parsed.command, parsed.action) == (command, action)


def test_free_subcommands_pass_every_word_on():
    words = ["add", "--kind", "fact", "--help", "-x", "The index wraps."]
    assert parse(["knowledge", *words]).words == words
    assert parse(["--state-dir", "/s", "standard", "list"]).state_dir == "/s"


def test_a_command_behind_two_dashes_keeps_its_flags():
    assert parse(["policy", "explain", "--auto", "--", "git", "-C", ".", "reset", "--hard"]).words == [
        *("git", "-C", ".", "reset", "--hard")
    ]


def test_shared_flags_stand_before_and_behind_a_subcommand():
    assert parse(["--state-dir", "/a", "undo"]).state_dir == "/a"
    assert parse(["undo", "--state-dir", "/b"]).state_dir == "/b"
    assert parse(["doctor", "--api-base", "http://h/v1"]).api_base == "http://h/v1"


def test_only_the_commands_that_exist_are_registered():
    with pytest.raises(UsageError, match="unknown command undo"):
        parse(["undo"], [command_named("doctor")])
    assert "undo" not in help_page((command_named("doctor"),), 80)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ato"], "did you mean --auto"),
        (["docter"], "did you mean doctor"),
        (["fix the parser"], "-p"),
        (["--auto", "--safe"], "not allowed with"),
        (["--ctx", "many"], "'many' is not a whole number"),
        (["--validation", "some"], "auto"),
        (["-p"], "-p needs a request"),
        (["-p", "--json"], "--print=-"),
        (["--stdin"], "needs -p"),
        (["-p", "-", "--stdin"], "both read stdin"),
        (["-p", "x", "doctor"], "exclude each other"),
        (["-c", "--fresh"], "exclude each other"),
        (["--here", "--corpus", "x"], "exclude each other"),
        (["--backend", "x", "--api-base", "http://h"], "both name the endpoint"),
        (["--record", "a", "--replay", "b"], "exclude each other"),
        (["audit"], "ACTION"),
        (["undo", "--bogus"], "unknown argument --bogus"),
        (["classify", "--explain"], "classify takes no --explain"),
        (["--mod", "x"], "did you mean --model"),
    ],
)
def test_what_cannot_be_understood_says_the_way_out(words, message):
    with pytest.raises(UsageError) as caught:
        parse(words)
    assert message in str(caught.value)
    assert caught.value.hint


def test_the_help_page_lists_every_flag_variable_default_and_command(capsys):
    with pytest.raises(SystemExit) as ended:
        parse(["--help"])
    assert ended.value.code == 0
    page = " ".join(capsys.readouterr().out.split())
    for option in (*global_options(), *settings_options()):
        for word in (*option.names, option.variable, *option.default.split()):
            assert word in page or option.kind == CONSTANT, (option.key, word)
    for command in COMMANDS:
        assert f" {command.name} " in page


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_help_page_fits_its_terminal(width):
    assert max(len(line) for line in help_page(COMMANDS, width).splitlines()) <= width


@pytest.mark.parametrize("command", [c.name for c in COMMANDS if not c.free])
def test_every_subcommand_has_help(command, capsys):
    with pytest.raises(SystemExit):
        parse([command, "--help"])
    assert command_named(command).help in " ".join(capsys.readouterr().out.split())


def test_every_setting_is_a_key_with_a_variable():
    keys = known_keys()
    for option in settings_options():
        assert option.key in keys, option.key
    with_variable = {option.key for option in settings_options() if option.variable}
    tables = {f"keys.{action}" for action in DEFAULTS} | {"backends", "hooks", "permissions"}
    assert set(keys) - with_variable == tables | {"api_key_cmd", "ssh"}


def loaded_modules(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split("\n")[-2].split())


def test_the_help_page_loads_nothing_that_takes_time():
    loaded = loaded_modules(
        "from spear.cli.subcommand_table import COMMANDS\n"
        "from spear.cli.help_page import help_page\n"
        "print(help_page(COMMANDS, 80))"
    )
    assert not loaded & {"re", "argparse", "typing", "dataclasses", "enum", "collections", "pathlib", "pydantic"}


def test_the_parser_loads_only_the_standard_library():
    loaded = loaded_modules("from spear.cli.arguments import parse\nparse(['-p', 'x'])")
    assert not loaded & {"pydantic", "rich", "openai", "anthropic", "mcp", "prompt_toolkit", "dataclasses", "difflib"}


def test_words_of_the_chat_are_read_by_the_same_table(capsys):
    command = command_named("standard")
    parsed = parse_words(command, ["search", "X", "1", "what is it?", "--limit", "3"], "/standard")
    assert (parsed.action, parsed.words, parsed.limit) == ("search", ["X", "1", "what is it?"], 3)
    for words in (["search"], ["nothing"], ["use", "X", "1", "--nothing"], ["use", "X", "1", "--state-dir", "/s"]):
        with pytest.raises(UsageError, match="usage: /standard"):
            parse_words(command, words, "/standard")
    with pytest.raises(UsageError, match=r"^usage: /standard search \[-h\] \[--limit N\] \[--json\] words"):
        parse_words(command, ["search", "--help"], "/standard")
    assert capsys.readouterr() == ("", "")
