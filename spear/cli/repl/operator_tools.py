"""`!read`, `!ls`, `!grep`, `!find`, `!run`: the operator's words as a call of one of the tools."""

from __future__ import annotations

import shlex
from typing import Any

from spear.cli.commands.registry import OPERATOR_TOOLS

ToolCall = tuple[str, dict[str, Any]]

_PATTERNED = {"grep": "content", "find": "files"}


def call_of(name: str, words: str) -> ToolCall | str:
    """The tool and its arguments, or the sentence that says what is wrong. `run` takes its text as it stands."""
    if name == "run":
        return ("terminal", {"command": words}) if words else "!run needs a command"
    try:
        given = shlex.split(words)
    except ValueError as error:
        return f"!{name}: {str(error).lower()}"
    given = [word[1:] if word.startswith("@") and len(word) > 1 else word for word in given]
    match name, given:
        case "read", [path]:
            return "read_file", {"path": path}
        case "read", [path, offset] if offset.isdigit():
            return "read_file", {"path": path, "offset": int(offset)}
        case "ls", []:
            return "terminal", {"command": "ls -la"}
        case "ls", [path]:
            return "terminal", {"command": f"ls -la -- {shlex.quote(path)}"}
        case (("grep" | "find"), [pattern]):
            return "search_files", {"pattern": pattern, "target": _PATTERNED[name], "path": "."}
        case (("grep" | "find"), [pattern, path]):
            return "search_files", {"pattern": pattern, "target": _PATTERNED[name], "path": path}
        case (("read" | "ls" | "grep" | "find"), _):
            return next(f"!{tool} {arguments}: {does}" for tool, arguments, does in OPERATOR_TOOLS if tool == name)
    known = ", ".join(f"!{tool}" for tool, _, _ in OPERATOR_TOOLS)
    return f"there is no !{name}; the tools are {known}"
