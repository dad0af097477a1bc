"""The documentation page of the commands and the table of keys, written from the registry.

python -m spear.cli.commands.reference > docs/commands.md
"""

from __future__ import annotations

import sys

from spear.cli.commands.registry import COMMANDS, OPERATOR_TOOLS, Command, Group
from spear.cli.repl.keys import KEYS


def commands_page() -> str:
    """`docs/commands.md`."""
    lines = [
        "# Commands",
        "",
        "Written from the registry of commands; `/help` in the chat shows the same. A unique beginning of a name is",
        "enough, and an unknown name is answered with the nearest one.",
    ]
    for group in Group:
        lines += ["", f"## {group.value}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| {_usage(command)} | {_summary(command)} |" for command in COMMANDS if command.group is group]
    lines += ["", "## Tools, by your own hand", "", "They go through the same host as the model's, in the mode of the"]
    lines += ["session, and stand in the record as the operator's.", "", "| tool | what it does |", "|---|---|"]
    lines += [f"| `!{_cell(f'{name} {arguments}')}` | {summary} |" for name, arguments, summary in OPERATOR_TOOLS]
    return "\n".join(lines) + "\n"


def keys_table() -> str:
    """The table of keys of `docs/repl.md`."""
    rows = ["| key | `[keys]` | empty prompt | with text | while a turn runs | in a question |"]
    rows += ["|---|---|---|---|---|---|"]
    for key in KEYS:
        action = f"`{key.action}`" if key.action else ""
        rows.append(f"| {key.label()} | {action} | {key.idle} | {key.with_text} | {key.running} | {key.question} |")
    return "\n".join(rows)


def _usage(command: Command) -> str:
    aliases = "".join(f", `/{alias}`" for alias in command.aliases)
    return f"`{_cell(command.usage)}`{aliases}"


def _summary(command: Command) -> str:
    return f"{command.summary}; answers while a turn runs" if command.during_turn else command.summary


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(commands_page())
