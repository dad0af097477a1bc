"""The chat commands that ask an engine: context, knowledge, capabilities, corpora (spec 8.2).

Each is one implementation with its subcommand outside the chat; here words become answers, and events are audited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from spear.cli.display.filtering import clean, one_line
from spear.errors import UsageError

if TYPE_CHECKING:
    from spear.cli.application import Application
    from spear.cli.repl.ports import CommandHandler, CommandIO
    from spear.events.stream import Event


class _Answer(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def status(self) -> int: ...


def engine_commands(app: Application) -> Mapping[str, CommandHandler]:
    """Handlers by command name. Nothing is opened before a command is used."""
    return {
        "context": lambda words, _: _context(app),
        "rules": lambda words, _: "\n".join(app.context.rules.report()),
        "skills": lambda words, _: "\n".join(app.context.skills.report()),
        "tools": lambda words, io: _tools(app, io.width),
        "remember": lambda words, io: _remember(app, words, io),
        "policy": lambda words, _: _policy(app, words),
        "recall": lambda words, _: _recall(app, words),
        "knowledge": lambda words, _: _knowledge(app, words),
        "corpus": lambda words, _: _corpus(app, words),
        "search": lambda words, _: _search(app, words),
        "forget": lambda words, _: _forget(app, words),
        "good": lambda _, __: app.capturing.mark(app.session, app.last, good=True),
        "bad": lambda _, __: app.capturing.mark(app.session, app.last, good=False),
        "standard": lambda words, io: _standard(app, words, io),
        "finetune": lambda words, io: _finetune(app, words, io),
        "doctor": lambda words, _: _doctor(app),
        "reindex": lambda words, io: app.searching.reindex(words, io.show, io.cancelled),
    }


def _context(app: Application) -> str:
    """What the next turn would be told, were it asked what the last one was."""
    last = app.last.result.request if app.last is not None else ""
    return "\n".join(app.selection(app.classify(last), last).table())


def _tools(app: Application, width: int) -> str:
    from spear.agent.tools import SCHEMAS
    from spear.capabilities.listing import listing
    from spear.capabilities.registry import Place, Task
    from spear.cli.web_access import web_lines

    lines = [one_line(f"{schema.name}: {schema.description.split('. ')[0]}", width - 1) for schema in SCHEMAS]
    providers = app.context.providers()
    if providers is not None:
        identity = app.context.identity
        corpus = identity.name if identity.registered else None
        lines += listing(providers, Place(identity.root, corpus, Task.IMPLEMENTATION))
    lines += [one_line(line, width - 1) for line in web_lines(app.settings, app.mode, app.environ)]
    return "\n".join(lines)


def _policy(app: Application, words: str) -> str:
    from spear.cli.policy import explained

    action, _, command = words.strip().partition(" ")
    if action != "why" or not command.strip():
        raise UsageError("/policy tells why a command would run or be refused", hint="/policy why make deploy")
    return explained(app, command.strip())


def _remember(app: Application, words: str, io: CommandIO) -> str:
    from spear.context.knowledge.instructions import forbidden_command

    if not words.strip():
        raise UsageError("/remember needs a note", hint="/remember The board has two UARTs.")
    if command := forbidden_command(words):
        from spear.cli.forbidding import offer

        return offer(app, command, io)
    answer = app.context.operator_commands().remember(words)
    return _said(app, answer, answer.events)


def _knowledge(app: Application, words: str) -> str:
    from spear.context.knowledge.words import split

    answer = app.context.operator_commands().answer(split(words))
    return _said(app, answer, answer.events)


def _recall(app: Application, words: str) -> str:
    from spear.context.knowledge_commands import recall

    return _said(app, recall(app.state.rules_learned, words))


def _corpus(app: Application, words: str) -> str:
    from spear.context.knowledge.words import split
    from spear.workspace.corpora import CorpusCommands

    settings = app.settings
    commands = CorpusCommands(settings.projects_file, app.roots.primary, settings.corpus_root)
    return _said(app, commands.answer(split(words)))


def _search(app: Application, words: str) -> str:
    flag, _, rest = words.strip().partition(" ")
    if flag != "--history":
        return app.searching.search(words)
    found = app.history.search(rest, str(app.roots.primary))
    rows = [f"{entry.at[:16]}  {entry.session} turn {entry.turn}  {one_line(entry.request, 90)}" for entry in found]
    return "\n".join(rows) or "nothing asked here holds these words"


def _forget(app: Application, words: str) -> str:
    if not words.strip():
        raise UsageError("/forget needs a regular expression", hint="/forget secret-project")
    count = app.history.forget(words.strip())
    what = "1 request" if count == 1 else f"{count} requests"
    return f"{what} taken out of the history index; the record of the sessions is as it was"


def _finetune(app: Application, words: str, io: CommandIO) -> str:
    answer = app.capturing.finetune(words.split())
    if answer.status:
        raise UsageError(answer.text)
    if not answer.page:
        return answer.text
    if answer.text:
        io.show(clean(answer.text))
    io.page(answer.page)
    return ""


def _standard(app: Application, words: str, io: CommandIO) -> str:
    from spear.cli.standards.chatting import answered

    return answered(app, words, io)


def _doctor(app: Application) -> str:
    from spear.cli.doctor import examine, lines

    return "\n".join(lines(examine(app.loaded, app.environ)))


def _said(app: Application, answer: _Answer, events: tuple[Event, ...] = ()) -> str:
    """An answer's text, its events audited; an error of it is one of the command."""
    for event in events:
        app.audit_event(replace(event, turn=app.turn_number))
    if answer.status:
        raise UsageError(answer.text)
    return answer.text
