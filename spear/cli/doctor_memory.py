"""What doctor may say again without trying it again, because nothing it rests on has changed since (spec 8.1, 9.1).

A healthy report is kept with its grounds: the programs, files and kernel settings its findings follow from. It is said
again, with its age, for an hour at most and only while every ground is as it was, and the environment and the program
too. The endpoint and the state are looked at each time. What was amiss is never kept: the operator is mending it.

Nothing is imported that takes long: this answers before the parser is loaded.
"""

from __future__ import annotations

import os
import time
import zlib

from spear import __version__

TYPE_CHECKING = False  # as `typing` defines it, without its import
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FORM = "spear.doctor/1"
GOOD_FOR_S = 3_600
"""Seconds after which everything is tried again, whatever has changed."""

Ground = tuple[str, ...]
"""`file PATH`, `program NAME SEARCH-PATH`, `text PATH` of a small file, `lines PATH BEGINNING…` of one."""

_MARKS = {"ok": "ok     ", "warning": "note   ", "missing": "missing", "problem": "PROBLEM"}
_PASSING = frozenset({"_", "OLDPWD", "PWD", "SHLVL"})
_ONE_LINE = dict.fromkeys(map(ord, "\t\n\r"), " ")
_ANSWERS_WITHIN_S = 2.0
_MOST_FILES = 200_000


def report_lines(status: str, name: str, detail: str, fix: str = "") -> list[str]:
    """One finding as it is printed, its fix below it."""
    said = [f"{_MARKS[status]} {name}: {detail}"]
    return [*said, f"        → {fix}"] if fix else said


def unusable(shown: str, error: OSError) -> str:
    """What is said of an endpoint that nobody answers at."""
    return f"{shown} cannot be used: {error.strerror or error}"


def state_finding(root: str) -> tuple[str, str, str]:
    """Status, size and fix of a state directory, walked now."""
    total = files = 0
    for directory, _, names in os.walk(root):
        for name in names:
            try:
                total += os.lstat(f"{directory}/{name}").st_size
            except OSError:
                continue
        files += len(names)
        if files > _MOST_FILES:
            break
    fix = "spear-chat sessions prune" if total > 1_000_000_000 else ""
    return ("warning" if fix else "ok"), f"{root}: {total / 1e6:.1f} MB in {files} files", fix


def file_of(state: str) -> str:
    """Where the report of a state directory is kept."""
    return f"{state}/doctor.txt"


def default_state(environ: Mapping[str, str]) -> str:
    """The state directory of a run that no flag and no file tells another; "" when that takes more to know."""
    given = environ.get("SPEAR_STATE_DIR", "")
    if given:
        return given if given.startswith("/") else ""
    base, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if base.startswith("/"):
        return f"{base}/spear"
    return f"{home}/.local/state/spear" if home.startswith("/") else ""


def written(taken: float, found: str, grounds: Sequence[Ground], said: Iterable[Sequence[str]]) -> str:
    """The kept form of a report that was examined at `taken`, when its grounds had the digest `found`.

    `said` holds `line TEXT`, `endpoint HOST PORT SHOWN ANSWER FIX` (ANSWER is "" when it could not be used) and
    `state ROOT`, in order.
    """
    rows = [(FORM, str(int(taken)), found), *(("ground", *ground) for ground in grounds), *said]
    return "".join("\t".join(word.translate(_ONE_LINE) for word in row) + "\n" for row in rows)


def recall(environ: Mapping[str, str], cwd: str, now: float | None = None) -> str:
    """The report to print, "" when it has to be examined. `now` is seconds since the epoch, by default this moment."""
    try:
        with open(file_of(default_state(environ)), encoding="utf-8") as file:
            (form, taken, found), *rows = (line.rstrip("\n").split("\t") for line in file)
        age = (time.time() if now is None else now) - int(taken)
        grounds = [tuple(row[1:]) for row in rows if row[0] == "ground"]
        if form != FORM or not 0 <= age < GOOD_FOR_S or found != digest(grounds, environ, cwd):
            return ""
        return "\n".join(_said(rows[len(grounds) :], f"{age:.0f} s" if age < 60 else f"{age / 60:.0f} min"))
    except (OSError, ValueError):
        return ""


def _said(rows: Iterable[Sequence[str]], ago: str) -> list[str]:
    """The lines of a kept report. Raises ValueError where one has to be examined after all."""
    said: list[str] = []
    for row in rows:
        match row:
            case ["line", text]:
                said.append(text)
            case ["endpoint", host, port, shown, answer, fix]:
                said += _endpoint(host, int(port), shown, answer, fix, ago)
            case ["state", root]:
                status, detail, fix = state_finding(root)
                said += report_lines(status, "state", detail, fix)
            case _:
                raise ValueError(row)
    return [
        *said,
        f"bwrap, limits, versions and configuration were examined {ago} ago; nothing they rest on has changed since:"
        " spear-chat doctor --fresh examines them again",
    ]


def _endpoint(host: str, port: int, shown: str, answer: str, fix: str, ago: str) -> list[str]:
    """What the endpoint is now. Raises ValueError when only asking it can tell."""
    from _socket import SOCK_STREAM, getaddrinfo, socket  # `socket` itself takes as long as all the rest

    try:
        family, kind, protocol, _, address = getaddrinfo(host.encode("ascii"), port, 0, SOCK_STREAM)[0]
        connection = socket(family, kind, protocol)
        try:
            connection.settimeout(_ANSWERS_WITHIN_S)
            connection.connect(address)
        finally:
            connection.close()
    except OSError as error:
        return report_lines("warning", "endpoint", unusable(shown, error), fix)
    if not answer:
        raise ValueError("it listens now, and has not said what it serves")
    return report_lines("ok", "endpoint", f"{answer} (it listens; asked {ago} ago)")


def digest(grounds: Iterable[Ground], environ: Mapping[str, str], cwd: str) -> str:
    """What all grounds are now, with the environment, the directory and this program. Tells nothing of them."""
    parts = [__version__, _stamp(__file__), cwd, *(_fingerprint(*ground) for ground in grounds)]
    parts += [f"{name}={environ[name]}" for name in sorted(environ) if name not in _PASSING]
    whole = "\0".join(parts).encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(whole):08x}-{len(whole)}"


def _fingerprint(*ground: str) -> str:
    match ground:
        case ("file", path):
            return _stamp(path)
        case ("program", name, search):
            places = (f"{directory or '.'}/{name}" for directory in search.split(":"))
            found = next((place for place in places if os.access(place, os.X_OK) and not _is_directory(place)), "")
            return f"{found} {_stamp(found)}"
        case ("text", path):
            return _text(path)
        case ("lines", path, *beginnings):
            return "".join(line for line in _text(path).splitlines() if line.startswith(tuple(beginnings)))
        case _:
            raise ValueError(ground)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return "-"


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - without pathlib


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 - without pathlib
    except OSError:
        return "-"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
