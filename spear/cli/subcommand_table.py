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
_STANDARD_ID = Positional("id", "id of the standard")
_STANDARD_REVISION = Positional("revision", "its revision")
_NAMED = (_STANDARD_ID, _STANDARD_REVISION)
_NAMED_OR_BOUND = (
    Positional("id", "id of the standard; the bound one when absent", count="?"),
    Positional("revision", "its revision", count="?"),
)
_CANDIDATE = Positional("candidate", "id of the candidate, as `candidates` prints it")
_REVIEWER = Option("reviewer", "--reviewer", "who has looked at it", metavar="NAME")
_PLACE = Positional("words", "a section, a label or a citation; ID REV before it for one that is not bound", count="+")
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
    Command(
        "standard",
        "ingest, bind, search and show standards",
        actions=(
            Command("list", "what is ingested, and which of it is bound", options=(_JSON,)),
            Command("status", "the bound standard: what came out of it, how it is searched", options=(_JSON,)),
            Command("use", "bind one, for every session of this machine", positionals=_NAMED),
            Command("unbind", "bind none"),
            Command(
                "ingest",
                "take a document in: PDF, RFC text, Markdown, reStructuredText, AsciiDoc, HTML",
                positionals=(Positional("source", "the document", kind=FILE),),
                options=(
                    Option("id", "--id", "what it will be called, one word", metavar="ID"),
                    Option("revision", "--revision", "which revision it is, one word", metavar="REV"),
                    Option(
                        "origin",
                        "--origin",
                        "whose text it is",
                        choices=("LICENSED_STANDARD", "PUBLIC"),
                        default="LICENSED_STANDARD",
                    ),
                    Option("retain_source", "--retain-source", "keep the document itself too", kind=BOOLEAN),
                    Option("profile", "--profile", "what its labels and numbers mean, where they are unusual", FILE),
                ),
            ),
            Command(
                "verify",
                "whether its files are as they were checked; reads them where they do not look so",
                positionals=_NAMED_OR_BOUND,
                options=(Option("full", "--full", "read every byte, however they look", kind=BOOLEAN),),
            ),
            Command("rebuild", "make its index anew from its units", positionals=_NAMED_OR_BOUND),
            Command(
                "retrieval",
                "how the bound standard is searched, and how much comes with a hit",
                positionals=(Positional("retrieval_mode", "the mode", count="?", choices=("lexical",)),),
                options=(
                    Option(
                        "completion",
                        "--completion",
                        "units that come with a hit by the document's structure",
                        kind=INTEGER,
                    ),
                ),
            ),
            Command("candidates", "tables and layouts found in it", positionals=_NAMED_OR_BOUND, options=(_JSON,)),
            Command(
                "promote-candidate",
                "say what a candidate is and what it is called",
                positionals=(*_NAMED, _CANDIDATE),
                options=(
                    Option("shape", "--as", "what its cells are", choices=("fields", "values", "table")),
                    Option("title", "--title", "what it is called", metavar="TEXT"),
                ),
            ),
            Command(
                "approve",
                "record that a person compared the units with the document",
                positionals=_NAMED,
                options=(_REVIEWER,),
            ),
            Command(
                "approve-structure",
                "approve a candidate as it is",
                positionals=(*_NAMED, _CANDIDATE),
                options=(_REVIEWER,),
            ),
            Command("build-structure", "build what is approved; only that is served", positionals=_NAMED),
            Command("show", "open it at a section or a label", positionals=(_PLACE,), options=(_JSON,)),
            Command("cite", "how a section or a label is cited", positionals=(_PLACE,)),
            Command(
                "export",
                "print its units",
                positionals=_NAMED_OR_BOUND,
                options=(Option("format", "--format", "the form", choices=("jsonl",), default="jsonl"),),
            ),
            Command(
                "search",
                "the clauses that answer a question",
                positionals=(
                    Positional("words", "the question; ID REV before it for one that is not bound", count="+"),
                ),
                options=(Option("limit", "--limit", "how many clauses", kind=INTEGER, default="10"), _JSON),
            ),
            Command("remove", "remove one and all that was made of it", positionals=_NAMED, options=(_YES,)),
        ),
    ),
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
