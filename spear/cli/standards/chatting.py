"""`/standard …`: the commands of `spear-chat standard …`, asked from the chat (spec 5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spear.cli.arguments import parse_words
from spear.cli.exit_status import NOT_SHOWN
from spear.cli.standards.answer import Desk, Front
from spear.cli.standards.commands import ACTIONS
from spear.cli.subcommand_table import command_named
from spear.context.knowledge.words import split
from spear.errors import Interrupted, SpearError, UsageError
from spear.standards.binding import Bindings
from spear.standards.store import StandardStore

if TYPE_CHECKING:
    from spear.cli.application import Application
    from spear.cli.repl.ports import CommandIO

_STEPS = 10


def answered(app: Application, words: str, io: CommandIO) -> str:
    """Answer one command; what is bound by it is recorded. Raises SpearError."""
    asked = split(words) or ("help",)
    if asked[0] in ("help", "--help", "-h"):
        return _help()
    parsed = parse_words(command_named("standard"), asked, "/standard")
    store = StandardStore(app.state.standards)
    front = Front(app.roots.primary, _Steps(io).show, lambda question: _confirmed(io, question), chat=True)
    try:
        answer = ACTIONS[parsed.action](Desk(store, Bindings(store), parsed, front))
    except SpearError as error:  # the floors below name the way out as it is written in a shell
        error.hint = error.hint.replace("spear-chat standard", front.command)
        raise
    if answer.bound:
        app.announce_standard()
    if answer.status == NOT_SHOWN:
        raise UsageError(answer.text)
    return answer.text


def _confirmed(io: CommandIO, question: str) -> bool:
    from spear.cli.repl.ports import Option

    options = [Option("n", "no, keep it", ""), Option("y", "yes, remove it", "yes")]
    return io.choose(question, options).value == "yes"


def _help() -> str:
    rows = [f"  {action.name:<18} {action.help}" for action in command_named("standard").actions]
    return "\n".join(["/standard ACTION; how one is written: /standard ACTION --help", *rows])


class _Steps:
    """Progress in a few lines; Ctrl+C ends what goes on."""

    def __init__(self, io: CommandIO) -> None:
        self._io, self._shown = io, ("", 0)

    def show(self, doing: str, done: int, of: int) -> None:
        """Print a line for each tenth. Raises Interrupted when the operator asked to stop."""
        if self._io.cancelled():
            raise Interrupted("stopped; nothing was half stored")
        tenth = done * _STEPS // of if of else 0
        if tenth and (doing, tenth) != self._shown:
            self._shown = (doing, tenth)
            self._io.show(f"{doing}: {min(100, 100 * done // of)} %")
