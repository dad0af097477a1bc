"""Notes for results that mislead: what the sandbox, not the project, made of a command (spec 2.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.sandbox.request import Ending, Network

_PROMPT = re.compile(
    r"(?:\[y/n\]|\(y/n\)|\(yes/no[^)]*\)|password[^:\n]*:|passphrase[^:\n]*:|\bcontinue\?|\bproceed\?|: |\? |> )\s*\Z",
    re.IGNORECASE,
)
_END_OF_INPUT = re.compile(r"EOFError|EOF when reading|end of file on standard input|Inappropriate ioctl for device")
_NETWORK = re.compile(
    r"Could not resolve host|Temporary failure in name resolution|Name or service not known|Network is unreachable"
    r"|ENOTFOUND|EAI_AGAIN|getaddrinfo|No address associated with hostname|dial tcp: lookup"
)


def notes(text: str, ending: Ending, exit_code: int | None, network: Network, killed_for_memory: int) -> Iterator[str]:
    """One-line facts about a result; `text` is the cleaned output."""
    tail = text[-2000:]
    if ending is Ending.TIMED_OUT and _PROMPT.search(tail):
        yield "it seems to have waited for an answer; stdin is empty: pass the answer by an option or a pipe"
    elif ending is Ending.TIMED_OUT and not text.strip():
        yield "it printed nothing in its time: it may have waited for input (stdin is empty), a lock or a peer"
    elif exit_code and (_END_OF_INPUT.search(tail) or _PROMPT.search(tail.rstrip("\n"))):
        yield "it asked for input; stdin is empty: pass the answer by an option or a pipe"
    if killed_for_memory:
        yield "the kernel killed a process of it: the memory limit of commands was reached"
    if "Value too large for defined data type" in text:
        yield (
            "a file whose group is not the operator's own cannot be written in place in the sandbox (EOVERFLOW); "
            "write a new file and move it over"
        )
    if "LeakSanitizer has encountered a fatal error" in text:
        yield "ptrace is refused in the sandbox: run with ASAN_OPTIONS=detect_leaks=0"
    if exit_code and network is Network.NONE and _NETWORK.search(text):
        yield "commands have no network here; the failure is the sandbox's, not the project's"
