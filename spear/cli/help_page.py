"""The page of `spear-chat --help`, from the tables of options and subcommands, without argparse: it must be fast."""

from __future__ import annotations

import os

from spear.cli.option import CONSTANT, Command, Option
from spear.cli.options import OPTIONS, VARIABLES_ONLY

_COLUMN = 30
_WIDEST = 100

_USAGE = """\
usage: spear-chat [options]               the chat
       spear-chat [options] -p REQUEST    one turn
       spear-chat [options] COMMAND …     see spear-chat COMMAND --help

A terminal agent whose turns end with a verdict computed from evidence.
"""

_PRECEDENCE = (
    "A setting is taken from its flag, else its variable, else .spear/config.toml of the directory, else the user's "
    "configuration file, else its default."
)

_STATUS = (
    "Exit status of -p: 0 answered, verified or unchanged; 1 defect; 2 usage or configuration; 3 not shown to work; "
    "4 stopped early or needed a confirmation; 6 no confinement; 75 endpoint unusable; 130/143 interrupted/terminated."
)


def help_page(commands: tuple[Command, ...], width: int | None = None) -> str:
    """The whole page for a terminal of `width` columns (asked of the terminal when None)."""
    width = min(_WIDEST, width or _terminal_width())
    parts = [_USAGE]
    for title, options in OPTIONS:
        parts.append(f"{title}:\n" + "".join(_entry(_spelling(option), _meaning(option), width) for option in options))
    variables = "".join(_entry(option.variable, _meaning(option, variable=False), width) for option in VARIABLES_ONLY)
    parts.append(f"Variables without a flag:\n{variables}")
    parts.append("Commands:\n" + "".join(_entry(command.name, command.help, width) for command in commands))
    parts.append(
        "General:\n" + _entry("-h, --help", "show this page", width) + _entry("--version", "show the version", width)
    )
    parts += ["".join(f"{line}\n" for line in _wrap(text, width)) for text in (_PRECEDENCE, _STATUS)]
    return "\n".join(parts)


def describe(option: Option) -> str:
    """The sentence of an option with its default and variable."""
    return _meaning(option)


def _spelling(option: Option) -> str:
    value = f" [{option.metavar}]" if option.optional else f" {option.metavar}"
    if option.choices:
        value = f" {'|'.join(option.choices)}"
    return ", ".join(option.names) + (value if option.takes_value else "")


def _meaning(option: Option, *, variable: bool = True) -> str:
    notes = []
    if option.default and option.kind == CONSTANT:
        notes.append("the default")
    elif option.default:
        notes.append(f"default: {option.default}")
    if variable and option.variable:
        value = f"={option.constant}" if option.kind == CONSTANT else ""
        notes.append(option.variable + value)
    return f"{option.help} [{'; '.join(notes)}]" if notes else option.help


def _entry(left: str, right: str, width: int) -> str:
    lines = _wrap(right, max(20, width - _COLUMN))
    head = f"  {left}"
    if len(head) > _COLUMN - 2:
        return f"{head}\n" + "".join(f"{'':{_COLUMN}}{line}\n" for line in lines)
    return f"{head:{_COLUMN}}{lines[0]}\n" + "".join(f"{'':{_COLUMN}}{line}\n" for line in lines[1:])


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _terminal_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80
