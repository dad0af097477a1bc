"""Every slash command, declared once: the chat, completion, `/help`, the documentation and tests read this table."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from spear.cli.subcommand_table import command_named


class Group(StrEnum):
    """Where `/help` and the documentation list a command."""

    SESSION = "Session"
    CHANGES = "Changes and evidence"
    SETTINGS = "Mode, model and permissions"
    KNOWLEDGE = "Knowledge, search and context"
    STANDARDS = "Standards and training"
    PROGRAM = "The program"


class Complete(StrEnum):
    """What completes a command's argument besides its fixed words."""

    NOTHING = ""
    PATH = "path"
    SESSION = "session"
    STANDARD = "standard"
    JOB = "job"
    BACKEND = "backend"


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `words` are the fixed words its first argument may be; `during_turn` commands only look, so they
    run at once while a turn is running, but for those of its words in `waits`; `engine` names what it needs where an
    installation may be without it."""

    name: str
    arguments: str
    summary: str
    group: Group
    aliases: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    complete: Complete = Complete.NOTHING
    during_turn: bool = False
    waits: tuple[str, ...] = ()
    engine: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Name and aliases."""
        return (self.name, *self.aliases)

    @property
    def usage(self) -> str:
        """`/undo [N | list | --file PATH]`."""
        return f"/{self.name} {self.arguments}".rstrip()


_S, _C, _M = Group.SESSION, Group.CHANGES, Group.SETTINGS
_K, _N, _P = Group.KNOWLEDGE, Group.STANDARDS, Group.PROGRAM

_LOOKING = ("list", "status", "search", "show", "cite", "candidates")
_NOT_LOOKING = tuple(action.name for action in command_named("standard").actions if action.name not in _LOOKING)
"""Actions of `/standard` that write, or take a while: they wait for the turn to end."""

COMMANDS: tuple[Command, ...] = (
    Command("clear", "", "start a new session here; the old one stays stored", _S, aliases=("new",)),
    Command("history", "[TEXT]", "what was asked in this session, or what of it holds TEXT", _S),
    Command("resume", "[ID]", "go on with a stored session", _S, complete=Complete.SESSION),
    Command("fork", "", "go on in a new session that begins with this conversation", _S),
    Command("sessions", "", "stored sessions of this workspace, newest first", _S, during_turn=True),
    Command("export", "[md | jsonl | html]", "write this session to a file", _S, words=("md", "jsonl", "html")),
    Command("editor", "[TEXT]", "write a request in your editor; it is asked when you leave it", _S),
    Command("quit", "", "end the chat", _S, aliases=("exit", "q")),
    Command("undo", "[N | list | --file PATH]", "put back what the last turns changed", _C, words=("list", "--file")),
    Command("redo", "[N]", "bring back what /undo took", _C),
    Command("diff", "[turn | session]", "what the last turn, or the session, changed", _C, words=("turn", "session")),
    Command("verdict", "", "the evidence behind the last verdict, check by check", _C, during_turn=True),
    Command("good", "", "mark the last exchange as one to learn from", _C, engine="training"),
    Command("bad", "", "mark the last exchange as one never to learn from", _C, engine="training"),
    Command("mode", "[safe | ask | auto]", "show or change what may happen unasked", _M,
            words=("safe", "ask", "auto"), during_turn=True),
    Command("model", "[NAME]", "show or change backend and model", _M, aliases=("switch",), complete=Complete.BACKEND),
    Command("permissions", "[save N | revoke N]",
            "what was approved or forbidden for good; keep it in the project, or revoke it", _M,
            words=("save", "revoke")),
    Command("policy", "why COMMAND", "what would be decided about a command, and by which rule; nothing runs", _M,
            words=("why",), during_turn=True),
    Command("status", "", "session, mode, model, context and what protects the machine", _M, during_turn=True),
    Command("context", "", "what the next turn will be told", _K, engine="context selection"),
    Command("rules", "", "the rules in force and where they come from", _K, engine="context selection"),
    Command("skills", "", "skills found, and what they lack", _K, engine="context selection"),
    Command("tools", "", "tools and external capabilities a turn is offered", _K, engine="capabilities"),
    Command("remember", "NOTE", "record something about this workspace; `never run COMMAND` offers to refuse it", _K,
            engine="workspace knowledge"),
    Command("recall", "[RULE]", "rules learned, or one more", _K, engine="workspace knowledge"),
    Command("knowledge", "list | show | add | accept | amend | …", "what is known about this workspace", _K,
            engine="workspace knowledge",
            words=("list", "show", "add", "accept", "amend", "revoke", "check", "export", "import", "purge",
                   "migrate-remember")),
    Command("forget", "REGEX", "take matching requests out of the history index", _K, engine="retrieval"),
    Command("search", "[--history] TEXT", "search the indexed corpora, or stored requests", _K,
            words=("--history",), engine="retrieval"),
    Command("reindex", "[NAME]", "bring the search index up to date", _K, engine="retrieval"),
    Command("corpus", "[list | add | rm | scan]", "registered corpora", _K, words=("list", "add", "rm", "scan"),
            engine="retrieval"),
    Command("standard", "list | use | search | show | ingest | …", "bind, search and read standards", _N,
            complete=Complete.STANDARD, engine="standards", during_turn=True, waits=_NOT_LOOKING,
            words=tuple(action.name for action in command_named("standard").actions)),
    Command("finetune", "status | list | doctor | prepare | inspect", "training as a by-product",
            _N, engine="training",
            words=("status", "list", "doctor", "prepare", "inspect")),
    Command("jobs", "[start COMMAND | show N [all] | stop N]",
            "commands that go on beside the chat; none outlives it", _P,
            words=("start", "show", "stop"), complete=Complete.JOB, during_turn=True, waits=("start",)),
    Command("doctor", "", "what is missing, and the command that fixes it", _P),
    Command("help", "[COMMAND]", "this list, or one command", _P, aliases=("?",), during_turn=True),
)  # fmt: skip
"""All commands, in the order they are listed."""

OPERATOR_TOOLS: tuple[tuple[str, str, str], ...] = (
    ("read", "PATH", "read a file"),
    ("ls", "[PATH]", "list a directory"),
    ("grep", "PATTERN [PATH]", "search contents"),
    ("find", "GLOB [PATH]", "search names"),
    ("edit", "PATH", "open a file in your editor; the change is made through the host"),
    ("run", "COMMAND", "run a command in the sandbox"),
    ("web", "URL [--pages A-B] [--offset N] [--save-as PATH] | WORDS", "fetch an address, or search the internet"),
)
"""`!tools`: name, arguments, what it does. The same tools as the model's, by the operator's own hand."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No command of that name: the sentence to show."""

    sentence: str


def resolve(name: str) -> Command | Unknown:
    """The command of a name, an alias, or a prefix that only one command has. Case does not matter."""
    name = name.lower()
    for command in COMMANDS:
        if name in command.names:
            return command
    begins = [command for command in COMMANDS if any(n.startswith(name) for n in command.names)] if name else []
    if len(begins) == 1:
        return begins[0]
    if begins:
        meant = (next(n for n in command.names if n.startswith(name)) for command in begins)
        return Unknown(f"/{name} could be {', '.join('/' + each for each in meant)}")
    names = [n for command in COMMANDS for n in command.names]
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    return Unknown(f"there is no /{name}" + (f"; did you mean /{near[0]}?" if near else "; /help lists the commands"))
