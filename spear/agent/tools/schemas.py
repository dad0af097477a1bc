"""The six tools as a model is offered them. Every character is paid for in each request: keep it terse."""

from __future__ import annotations

from typing import Any

from spear.agent.messages import ToolSchema

_STRING = {"type": "string"}


def _integer(default: int, description: str = "") -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "default": default}
    return {**schema, "description": description} if description else schema


def _choice(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "default": values[0]}


def _described(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _tool(name: str, description: str, required: list[str], **properties: dict[str, Any]) -> ToolSchema:
    return ToolSchema(
        name,
        description,
        {"type": "object", "properties": properties, "required": required, "additionalProperties": False},
    )


SCHEMAS: tuple[ToolSchema, ...] = (
    _tool(
        "read_file",
        "Read a text file as rows `N|text`. Use this instead of cat, head or tail.",
        ["path"],
        path=_STRING,
        offset=_integer(1, "first line, from 1"),
        limit=_integer(2000, "lines, at most 2000"),
    ),
    _tool(
        "search_files",
        "Search file contents by regular expression, or (target=files) find files by glob or part of the name, newest "
        "first. Ignored and hidden files are skipped. Use this instead of grep, find or ls.",
        ["pattern"],
        pattern=_STRING,
        target=_choice("content", "files"),
        path={**_described("directory or file"), "default": "."},
        file_glob=_described("only these files, e.g. *.c or src/**/*.py"),
        limit=_integer(50),
        offset=_integer(0, "results to skip"),
        output_mode=_choice("content", "files_only", "count"),
        context=_integer(0, "lines around each match"),
    ),
    _tool(
        "patch",
        "Replace text in a file. old_string must occur once (or set replace_all); quote whole lines without the `N|` "
        "prefix. Returns the diff.",
        ["path", "old_string", "new_string"],
        path=_STRING,
        old_string=_STRING,
        new_string=_described("empty deletes"),
        replace_all={"type": "boolean", "default": False},
    ),
    _tool(
        "write_file",
        "Create a file or replace its whole content; parents are created. To change a part use patch.",
        ["path", "content"],
        path=_STRING,
        content=_described("the complete content"),
    ),
    _tool(
        "delete_file",
        "Delete one file or link.",
        ["path", "reason"],
        path=_STRING,
        reason=_described("why, for the record"),
    ),
    _tool(
        "terminal",
        "Run a bash command in a sandbox: builds, tests, git. Directory and exported variables persist; input is "
        "empty; background processes end with the call. Do not read, search or edit files with it.",
        ["command"],
        command=_STRING,
        timeout=_integer(180, "seconds, at most 600"),
        workdir=_described("directory for this command"),
    ),
)

READ_ONLY = frozenset({"read_file", "search_files"})
"""Tools that change nothing and may run in parallel."""
