"""Every subcommand of `spear-chat`, declared once (spec 1.3)."""

from __future__ import annotations

from spear.cli.option import BOOLEAN, DIRECTORY, FILE, INTEGER, LIST, Command, Option, Positional
from spear.cli.options import global_options

_SESSION = Option("session", "--session", "the session, by id or its beginning", metavar="ID", default="the latest")
_YES = Option("yes", "--yes", "do not ask", kind=BOOLEAN)
_JSON = Option("json", "--json", "print JSON", kind=BOOLEAN)
_FRESH = Option("fresh", "--fresh", "examine everything again, whatever was examined before", kind=BOOLEAN)
_TURN = Option("turn", "--turn", "the turn", kind=INTEGER, default="the last")
_ID = Positional("session", "session id or its beginning", count="?")
_ROWS = (Option("jsonl", "--jsonl", "rows of JSON in, decisions out", kind=BOOLEAN),)
_ROWS_FROM = (Positional("file", "file of rows; stdin when absent", count="?", kind=FILE),)
_STEP_OPTIONS = (
    _SESSION,
    _YES,
    Option("file", "--file", "this file only", kind=FILE, metavar="PATH"),
    Option("list", "--list", "list what can be undone", kind=BOOLEAN),
    _JSON,
)
_STEPS = (Positional("count", "how many turns", count="?", kind=INTEGER),)
_ENDPOINT = (
    "provider",
    "api_base",
    "api_key_env",
    "model",
    "gguf",
    "backend",
    "ctx",
    "state_dir",
    "operator",
    "config",
    "plain",
)

_SETTINGS = (*dict.fromkeys(option.key for option in global_options() if not option.run_only), "config")

COMMANDS: tuple[Command, ...] = (
    Command("doctor", "what is missing, and the command that fixes it", options=(_JSON, _FRESH), shared=_ENDPOINT),
    Command(
        "config",
        "what is set, by what, and what it means",
        actions=(
            Command(
                "explain",
                "one setting, a table of them, or all",
                positionals=(Positional("setting", "its key, such as max_commands", count="?"),),
                options=(_JSON,),
                shared=_SETTINGS,
            ),
        ),
        shared=_SETTINGS,
    ),
    Command(
        "audit",
        "verify, show and export the record of sessions",
        actions=(
            Command("verify", "check the hash chains", positionals=(_ID,), options=(_JSON,)),
            Command("show", "print the events of a session", positionals=(_ID,), options=(_TURN, _JSON)),
            Command(
                "tail",
                "print the last events",
                positionals=(_ID,),
                options=(
                    Option("follow", "-f --follow", "go on with new events", kind=BOOLEAN),
                    Option("lines", "-n --lines", "how many events", kind=INTEGER, default="20"),
                    _JSON,
                ),
            ),
            Command(
                "export",
                "write a session out",
                positionals=(_ID,),
                options=(
                    Option(
                        "format", "--format", "the form", choices=("intoto", "jsonl", "md", "html"), default="intoto"
                    ),
                    _TURN,
                ),
            ),
        ),
    ),
    Command("undo", "restore what the last turns changed", options=_STEP_OPTIONS, positionals=_STEPS),
    Command("redo", "bring back what undo took", options=_STEP_OPTIONS, positionals=_STEPS),
    Command(
        "policy",
        "what would be decided about a command, without running it",
        shared=("state_dir", "operator", "mode", "no_network"),
        actions=(
            Command(
                "explain",
                "one command: explain -- CMD",
                positionals=(Positional("words", "the command, behind --", count="+"),),
                options=(
                    Option("read_only", "--read-only", "as in a read-only turn", kind=BOOLEAN),
                    Option("scope", "--scope", "a path the turn may write; may be repeated", kind=LIST, metavar="PATH"),
                    _JSON,
                ),
                shared=("state_dir", "operator", "mode", "no_network"),
            ),
            Command("check", "many commands", options=_ROWS, positionals=_ROWS_FROM),
        ),
    ),
    Command("classify", "the classification of requests", options=_ROWS, positionals=_ROWS_FROM),
    Command("standard", "bind, search and show standards", free=True),
    Command("knowledge", "what is known about this workspace", free=True),
    Command(
        "sessions",
        "list sessions, free their space",
        default="list",
        actions=(
            Command(
                "list",
                "sessions, newest first",
                options=(Option("all", "--all", "of every directory", kind=BOOLEAN), _JSON),
            ),
            Command("prune", "what closed sessions would free; removed with --yes", options=(_YES, _JSON)),
        ),
    ),
    Command(
        "completion",
        "print the completion script of a shell",
        positionals=(Positional("shell", "the shell", choices=("bash", "zsh", "fish")),),
        shared=(),
    ),
    Command(
        "trust",
        "let this directory's .spear files declare commands and settings",
        positionals=(Positional("directory", "the directory", count="?", kind=DIRECTORY),),
        options=(_YES, Option("list", "--list", "list what is trusted", kind=BOOLEAN)),
    ),
)
"""Every subcommand. Which of them exist is for the program to say: it registers those it has wired."""


def command_named(name: str) -> Command:
    """The subcommand of that name. Raises KeyError."""
    for command in COMMANDS:
        if command.name == name:
            return command
    raise KeyError(name)
