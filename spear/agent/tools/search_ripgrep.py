"""Searching with ripgrep: its arguments, its output read as it comes, its diagnostics told from its results."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from spear.agent.tools.search_engine import BadPattern, Deadline, Query, Row, SearchFailed, Spot

_ROW = re.compile(rb"(\d+)([:-])(.*)", re.DOTALL)
_COLUMNS = 4_000
_LINE = 64 << 10
_COMMON = (
    "--no-config",
    "--color=never",
    "--no-messages",
    "--no-require-git",
    "--no-ignore-global",
    "--glob=!.git",
)
_ORDERED = "--sort=path"
"""Only where the order is looked at: ripgrep searches on one thread then."""
_BEHIND = 10
"""The nice value of a search beside another."""


class Ripgrep:
    """ripgrep at `program`. No configuration file, no preprocessor, no symbolic link followed."""

    def __init__(self, program: str) -> None:
        self._program = program

    def rows(self, spot: Spot, query: Query, deadline: Deadline) -> Iterator[Row]:
        """See Engine.rows."""
        arguments = [
            _ORDERED, *_search(query), "--line-number", "--no-heading", "--with-filename", "--null",
            f"--max-columns={_COLUMNS}", "--max-columns-preview", f"--context={query.context}",
        ]  # fmt: skip
        with self._running(arguments, spot, query.pattern, deadline) as output:
            for record in _records(output, b"\n"):
                path, separator, rest = record.partition(b"\0")
                match = _ROW.match(rest) if separator else None
                if match is not None:
                    yield Row(_path(path), int(match[1]), _text(match[3].rstrip(b"\r")), match[2] == b":")
                if deadline.passed():
                    return

    def counts(
        self,
        spot: Spot,
        query: Query,
        deadline: Deadline,
        *,
        of_lines: bool = False,
        ordered: bool = True,
        beside: bool = False,
    ) -> Iterator[tuple[str, int]]:
        """See Engine.counts."""
        unit = "--count" if of_lines else "--count-matches"
        how = [_ORDERED] if ordered else [f"--threads={_others()}"] if beside else []
        arguments = [*how, *_search(query), unit, "--with-filename", "--null"]
        with self._running(arguments, spot, query.pattern, deadline, beside=beside) as output:
            for record in _records(output, b"\n"):
                path, _, count = record.rstrip(b"\r").partition(b"\0")
                if count.isdigit():
                    yield _path(path), int(count)

    def files(self, spot: Spot, everything: bool, deadline: Deadline, name_glob: str = "") -> Iterator[str]:
        """See Engine.files."""
        arguments = ["--files", "--null", *(_EVERYTHING if everything else ()), *_named(name_glob)]
        with self._running(arguments, spot, None, deadline) as output:
            for block in _blocks(output, b"\0"):
                for path in os.fsdecode(block).split("\0"):
                    yield path.removeprefix("./")

    @contextmanager
    def _running(
        self, arguments: Sequence[str], spot: Spot, pattern: str | None, deadline: Deadline, *, beside: bool = False
    ) -> Iterator[IO[bytes]]:
        where = f"./{spot.file}" if spot.file else "./"
        words = [*_COMMON, *arguments, "--", *(() if pattern is None else (pattern,))]
        argv = [self._program.encode(), *(word.encode("utf-8", "replace") for word in words), os.fsencode(where)]
        with tempfile.TemporaryFile() as problems:
            process = subprocess.Popen(
                argv, cwd=spot.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=problems,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            )  # fmt: skip
            if beside:
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, process.pid, _BEHIND)
            deadline.stopping(process.kill)
            timer = threading.Timer(deadline.remaining(), process.kill)
            timer.start()
            output = process.stdout
            assert output is not None  # noqa: S101 (asked for with PIPE)
            finished = False
            try:
                yield output
                finished = True
            finally:
                timer.cancel()
                if not finished or deadline.passed():
                    process.kill()
                output.close()
                status = process.wait()
            problems.seek(0)
            _raise_for(status, problems.read(4000).decode("utf-8", "replace"))


def _others() -> int:
    """The processors that a search on one thread leaves."""
    return max(1, len(os.sched_getaffinity(0)) - 1)


_EVERYTHING = ("--no-ignore", "--hidden")


def _search(query: Query) -> list[str]:
    arguments = ["--crlf"]
    if query.multiline:
        arguments = ["--multiline"]
    if query.literal:
        arguments.append("--fixed-strings")
    if query.ignore_case:
        arguments.append("--ignore-case")
    if query.everything:
        arguments.extend(_EVERYTHING)
    return [*arguments, *_named(query.name_glob)]


def _named(glob: str) -> tuple[str, ...]:
    return (f"--type-add=wanted:{glob}", "--type=wanted") if glob else ()


def _raise_for(status: int, problems: str) -> None:
    if status != 2 or not problems.strip():
        return
    reason = " ".join((re.findall(r"error: (.*)", problems) or [problems])[-1].split())[:200]
    raise BadPattern(reason) if "regex" in problems or "not allowed" in problems else SearchFailed(reason)


def _records(output: IO[bytes], separator: bytes) -> Iterator[bytes]:
    """Records of the output, each bounded in length whatever is printed."""
    pending = b""
    while block := output.read1(_LINE) if hasattr(output, "read1") else output.read(_LINE):
        *complete, pending = (pending + block).split(separator)
        yield from complete
        pending = pending[:_LINE]
    if pending:
        yield pending


def _blocks(output: IO[bytes], separator: bytes) -> Iterator[bytes]:
    """The output in blocks of whole records, without the separator behind the last. No record is as long as a block."""
    pending = b""
    while block := output.read1(_LINE) if hasattr(output, "read1") else output.read(_LINE):
        whole, found, pending = (pending + block).rpartition(separator)
        if found:
            yield whole
    if pending:
        yield pending


def _path(raw: bytes) -> str:
    return os.fsdecode(raw.removeprefix(b"./"))


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1") if not _cut_character(raw) else raw.decode("utf-8", "ignore")


def _cut_character(raw: bytes) -> bool:
    """Whether only the last character is incomplete, as a bounded preview leaves it."""
    try:
        raw[:-4].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(raw) - 8
    return False
