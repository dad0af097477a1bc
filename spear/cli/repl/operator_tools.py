"""`!read`, `!ls`, `!grep`, `!find`, `!run`, `!web`: the operator's words as a call of one of the tools."""

from __future__ import annotations

import re
import shlex
from typing import Any

from spear.cli.commands.registry import OPERATOR_TOOLS
from spear.web.tools import COMMAND, FETCH, SEARCH
from spear.web.tools import call_of as web_call_of

_WEB_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")

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
        case "web", [_, *_]:
            return _web_call(given)
        case (("read" | "ls" | "grep" | "find" | "web"), _):
            return next(f"!{tool} {arguments}: {does}" for tool, arguments, does in OPERATOR_TOOLS if tool == name)
    known = ", ".join(f"!{tool}" for tool, _, _ in OPERATOR_TOOLS)
    return f"there is no !{name}; the tools are {known}" if name else f"a tool has a name: {known}"


def _web_call(given: list[str]) -> ToolCall | str:
    """An address is fetched, with the options of the tool; anything else is searched for."""
    tool = FETCH if any(_WEB_ADDRESS.match(word) for word in given) else SEARCH
    made = web_call_of([tool, *given])
    return made.replace(f"{COMMAND} {tool}", "!web") if isinstance(made, str) else made
