"""JSON Lines in, JSON Lines out: what the subcommands that answer for scripts have in common."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from spear.errors import UsageError

Answer = Callable[[Mapping[str, object], int], dict[str, object]]


def answer_rows(parsed: argparse.Namespace, answer: Answer) -> int:
    """Answer every row of the file or of stdin, in order. Raises UsageError that names the first bad line."""
    if not parsed.jsonl:
        raise UsageError("rows are read as JSON Lines", hint="add --jsonl and pipe the rows in")
    if parsed.file is None and sys.stdin.isatty():
        raise UsageError("no rows are piped in", hint="pipe JSON Lines in, or name a file")
    data = _file(Path(parsed.file)) if parsed.file else sys.stdin.buffer.read()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageError(f"row {number} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise UsageError(f"row {number} is no JSON object")
        print(json.dumps(answer(row, number), ensure_ascii=False))
    return 0


def _file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
