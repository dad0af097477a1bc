"""The command line as values: argparse built from the tables of options and subcommands (spec 1.3).

Only the standard library is imported, so that whatever needs no model starts fast. A setting that was not given is
`None` in the result; defaults belong to the settings, which know where each value came from.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from spear import __version__
from spear.cli.help_page import describe, help_page
from spear.cli.option import BOOLEAN, CONSTANT, INTEGER, LIST, NUMBER, Command, Option
from spear.cli.options import OPTIONS, global_options
from spear.cli.subcommand_table import COMMANDS
from spear.errors import UsageError

PROGRAM = "spear-chat"
_ALIKE = 0.7
_NO_PREFIX = "\0"
"""A prefix no word has: every word of a free subcommand is positional, whatever it starts with."""


def parse(arguments: Sequence[str], commands: Sequence[Command] = COMMANDS) -> argparse.Namespace:
    """Read a command line (without the program's name); `commands` are the subcommands that exist.

    The result has one attribute an option (dots become underscores), `command` ("" for none), `action` for a
    subcommand of a subcommand, `words` for free subcommands. `--help` and `--version` print and raise SystemExit(0);
    anything that cannot be understood raises UsageError, which names the nearest option.
    """
    names = [name for option in global_options() for name in option.names]
    try:
        parsed, unknown = _build_parser(tuple(commands), frozenset(arguments)).parse_known_args(list(arguments))
    except _UnknownCommand as error:
        before = list(arguments[: arguments.index(error.word)]) if error.word in arguments else []
        unknown = [word for word in before if word.startswith("-") and word.split("=")[0] not in names]
        if not unknown:
            raise
    if unknown:
        word = unknown[0].split("=")[0]
        command = next((command.name for command in commands if command.name in arguments), "")
        if word in names and command:
            raise UsageError(f"{command} takes no {word}", hint=f"see {PROGRAM} {command} --help")
        raise UsageError(f"unknown argument {unknown[0]}", hint=_nearest(unknown[0], names))
    words = getattr(parsed, "words", None)
    if words and words[0] == "--":
        parsed.words = words[1:]
    _check(parsed)
    return parsed


def parse_words(command: Command, words: Sequence[str], name: str) -> argparse.Namespace:
    """Read the words behind a command of the chat that is declared as a subcommand; `name` is how it is called there.
    Raises UsageError, also where help is asked for: with the usage as its text."""
    parser = _ChatParser(prog=name, add_help=False, allow_abbrev=False)
    _fill(parser, _without_shared(command))
    return parser.parse_args(list(words))


def _without_shared(command: Command) -> Command:
    """A subcommand as the chat has it: what is set for the whole session is not set again."""
    return Command(
        command.name, command.help, options=command.options, positionals=command.positionals,
        actions=tuple(_without_shared(action) for action in command.actions), default=command.default, shared=(),
    )  # fmt: skip


def _build_parser(commands: tuple[Command, ...], words: frozenset[str]) -> argparse.ArgumentParser:
    """The parser for a command line of these words: a subcommand nobody names is registered but not filled in."""
    parser = _MainParser(commands)
    exclusive = {"mode": parser.add_mutually_exclusive_group(), "backend": parser.add_mutually_exclusive_group()}
    for title, options in OPTIONS:
        group = parser.add_argument_group(title)
        for option in options:
            _add_option(exclusive.get(option.key, group), option, None)
    if commands:
        place = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
        for command in commands:
            _add_command(place, command if command.name in words else Command(command.name, command.help, shared=()))
    parser.set_defaults(command="", action="")
    return parser


class _UnknownCommand(UsageError):
    """A word stands where a subcommand belongs: a mistyped one, or the value of a mistyped option before it."""

    def __init__(self, word: str, *, hint: str) -> None:
        super().__init__(f"unknown command {word}", hint=hint)
        self.word = word


class _Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see {self.prog} --help")


class _ChatParser(_Parser):
    """A parser that prints nothing: what it has to say is an error the chat shows."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=" ".join(self.format_usage().split()))

    def print_help(self, file: object = None) -> NoReturn:
        raise UsageError(" ".join(self.format_usage().split()))


if TYPE_CHECKING:
    _Place = argparse._SubParsersAction[_Parser]


class _MainParser(_Parser):
    """The parser at the top, whose help page is the hand-set one."""

    def __init__(self, commands: tuple[Command, ...]) -> None:
        super().__init__(prog=PROGRAM, allow_abbrev=False)
        self._commands = commands
        self.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")

    def format_help(self) -> str:
        return help_page(self._commands)

    def error(self, message: str) -> NoReturn:
        if message.startswith("argument COMMAND: invalid choice: "):
            word = message.split("'")[1]
            raise _UnknownCommand(word, hint=_nearest(word, [command.name for command in self._commands]))
        if message.startswith("argument -p/--print: expected"):
            raise UsageError("-p needs a request", hint="one that starts with a dash is written --print=-…")
        super().error(message)


def _add_command(place: _Place, command: Command) -> None:
    if command.free:
        parser = place.add_parser(
            command.name, help=command.help, prefix_chars=_NO_PREFIX, add_help=False, allow_abbrev=False
        )
        parser.add_argument("words", nargs="*")
    else:
        _fill(place.add_parser(command.name, help=command.help, description=command.help, allow_abbrev=False), command)


def _fill(parser: argparse.ArgumentParser, command: Command) -> None:
    for positional in command.positionals:
        parser.add_argument(
            positional.name,
            nargs=positional.count or None,
            help=positional.help,
            type=_CONVERTERS.get(positional.kind, str),
            choices=positional.choices or None,
        )
    for option in command.options:
        _add_option(parser, option, False if option.kind == BOOLEAN else None)
    given = {name for option in command.options for name in option.names}
    for option in global_options():
        if option.key in command.shared and not given & set(option.names):
            _add_option(parser, option, argparse.SUPPRESS)
    if command.actions:
        actions = parser.add_subparsers(
            dest="action", required=not command.default, metavar="ACTION", parser_class=type(parser)
        )
        if command.default:
            parser.set_defaults(action=command.default)
            _fill_defaults(parser, command)
        for action in command.actions:
            _fill(
                actions.add_parser(action.name, help=action.help, description=action.help, allow_abbrev=False), action
            )


def _fill_defaults(parser: argparse.ArgumentParser, command: Command) -> None:
    """Give the arguments of the action that is meant when none is named their absent values."""
    for action in command.actions:
        if action.name == command.default:
            for option in action.options:
                parser.set_defaults(**{option.attribute: False if option.kind == BOOLEAN else None})


def _add_option(place: argparse._ActionsContainer, option: Option, default: object) -> None:
    text = describe(option).replace("%", "%%")
    if option.kind == BOOLEAN:
        place.add_argument(*option.names, dest=option.attribute, action="store_true", default=default, help=text)
    elif option.kind == CONSTANT:
        place.add_argument(
            *option.names,
            dest=option.attribute,
            action="store_const",
            const=option.constant,
            default=default,
            help=text,
        )
    elif option.kind == LIST:
        place.add_argument(
            *option.names, dest=option.attribute, action="append", default=default, metavar=option.metavar, help=text
        )
    else:
        place.add_argument(
            *option.names,
            dest=option.attribute,
            nargs="?" if option.optional else None,
            const="" if option.optional else None,
            default=default,
            type=_CONVERTERS.get(option.kind, str),
            choices=option.choices or None,
            metavar=None if option.choices else option.metavar,
            help=text,
        )


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


_CONVERTERS = {INTEGER: _integer, NUMBER: _number}


def _check(parsed: argparse.Namespace) -> None:
    """Combinations that make no sense, found before anything is opened."""
    one_shot = parsed.print is not None or parsed.demo
    for name, value in (("stdin", ""), ("explain", ""), ("schema", " FILE")):
        if getattr(parsed, name) and parsed.print is None:
            raise UsageError(f"--{name} needs -p", hint=f"for one turn: {PROGRAM} -p REQUEST --{name}{value}")
    if parsed.stdin and parsed.print == "-":
        raise UsageError(
            "-p - and --stdin both read stdin", hint="give the request as -p REQUEST, or leave --stdin out"
        )
    if parsed.output not in (None, "text") and not one_shot and not parsed.command:
        raise UsageError("--output needs -p", hint=f"for one turn: {PROGRAM} -p REQUEST --output {parsed.output}")
    if parsed.command and one_shot:
        raise UsageError(f"-p and the command {parsed.command} exclude each other", hint="give one of them")
    if sum((bool(getattr(parsed, "continue")), parsed.resume is not None, bool(parsed.fresh))) > 1:
        raise UsageError("--continue, --resume and --fresh exclude each other", hint="give one of them")
    if parsed.here and parsed.corpus:
        raise UsageError("--here and --corpus exclude each other", hint="give one of them")
    if parsed.backend and parsed.api_base:
        raise UsageError("--backend and --api-base both name the endpoint", hint="give one of them")
    for flag, given in (("--api-base", parsed.api_base), ("--backend", parsed.backend)):
        if given and parsed.gguf:
            raise UsageError(f"--gguf and {flag} both name the endpoint", hint="give one of them")
    if parsed.record and parsed.replay:
        raise UsageError("--record and --replay exclude each other", hint="give one of them")


def _nearest(word: str, names: Sequence[str]) -> str:
    """The hint for a word nobody knows."""
    from difflib import get_close_matches

    near = get_close_matches(word.split("=")[0], names, 1, _ALIKE)
    if near:
        return f"did you mean {near[0]}?"
    if word.startswith("-"):
        return f"see {PROGRAM} --help"
    return f'a request is given with -p: {PROGRAM} -p "{word} …"'
