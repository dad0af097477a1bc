"""Reads the document on stdin as the task, its one argument, says; prints {text, title, pages, first, last}."""

from __future__ import annotations

import ctypes
import json
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

from spear.web.reader import OUT_OF_MEMORY

MEMORY_BYTES = 1 << 30
CPU_S = 20
ANSWER_BYTES = 64 << 20

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


def main() -> int:
    """Read one document."""
    task = json.loads(sys.argv[1])
    read = _reader(task)
    data = sys.stdin.buffer.read()
    _shut_in()
    try:
        said = read(data)
    except MemoryError:
        return OUT_OF_MEMORY
    sys.stdout.write(json.dumps(said))
    sys.stdout.flush()
    return 0


def _reader(task: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    """What reads this kind of document, loaded: later nothing can be."""
    if task["kind"] == "pdf":
        from spear.web.reader.pdf import pdf_text

        return lambda data: pdf_text(data, task["pages"])
    from spear.web.reader.html import html_text

    return lambda data: html_text(data, task["base"])


def _shut_in() -> None:
    """Bounds on memory, time and output; nothing is opened any more, no process started, no right gained."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for what, bound in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_FSIZE, ANSWER_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(what, (bound, bound))


if __name__ == "__main__":
    sys.exit(main())
