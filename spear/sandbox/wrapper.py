"""The shell around a script: what it reports about its end, and how that report is read (spec 2.5).

The script runs as a file, not as `-c` text, so that `pkill -f` of something it names does not hit the shell itself.
Before it, the shell sources BEGIN, which sets an EXIT trap: inside one, `$?` and PIPESTATUS are still those of the
script's last pipeline, which no appended line and no `eval` could tell after `exit` or `set -e`.

bash sources BEGIN as its start-up file and waits there until the host releases it, one line on RELEASE_FD: by then the
file of the script is written (docs/decisions/0007). A POSIX shell has no such file: it waits by itself, and BEGIN is
the first word of its script.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from spear.sandbox.supervisor import RELEASE_FD

SCRIPT = "/run/spear/script"
REPORT = "/run/spear/report"
BEGIN_DIRECTORY = "spear"
REPORT_LIMIT = 4 * 1024 * 1024

# Never carried from one command to the next: they belong to one shell, or they make a later shell run something.
NOT_CARRIED = frozenset({
    "_", "SHLVL", "PWD", "BASH_ENV", "ENV", "BASHOPTS", "SHELLOPTS", "BASH_XTRACEFD", "PROMPT_COMMAND", "PS4", "IFS",
    # With these bash reads no start-up file: it would neither wait nor report.
    "POSIXLY_CORRECT", "POSIX_PEDANTIC",
})  # fmt: skip

# By these the start of a shell reads files of a command's choosing, or runs them.
_LOADER = re.compile(r"LD_|(MUSL_)?LOCPATH$|GCONV_PATH$")

BEGIN_BASH = r"""unset BASH_ENV
__spear_report() {
    local - IFS=$' \t\n' status=$1 left try entry line name
    set +xeufC
    builtin trap - DEBUG ERR RETURN
    shift
    {
        builtin printf 'began\000status %s\000pipe %s\000cwd ' "$status" "$*"
        builtin pwd -P
        builtin printf '\000env '
        builtin export -p
        builtin printf '\000'
    } >/run/spear/report
    # What is about to end by itself (a process substitution, a pager) was not left running.
    for try in 1 2 3; do
        left=()
        for entry in /proc/[0-9]*; do
            [[ $entry == /proc/1 || $entry == "/proc/$$" ]] && continue
            { IFS= builtin read -r line <"$entry/stat"; } 2>/dev/null || continue
            [[ ${line##*) } == [ZX]* ]] && continue
            name=${line#*(}
            left+=("${name%)*}")
        done
        ((${#left[@]})) || return "$status"
        ((try < 3)) && /usr/bin/sleep 0.03
    done
    builtin printf 'left %s\000' "${left[@]}" >>/run/spear/report
    return "$status"
}
TMOUT=0 builtin read -r -u RELEASE_FD __spear_line || exit 1
exec RELEASE_FD<&-
SECONDS=0
builtin printf 'began\000' >/run/spear/report
if [[ $__spear_line == traps ]]; then
    # The script sets traps: one of its own for EXIT must not take the place of the report.
    trap() {
        builtin trap "$@" || return
        [[ $BASHPID == "$$" && ${1-} != -[pl]* && " $* " =~ ' '(EXIT|exit|0)' ' ]] || return 0
        local theirs
        eval "theirs=($(builtin trap -p EXIT))"
        __spear_trap=${theirs[2]-}
        # Either branch starts with `$?` as it was, and neither is an error to `set -e`.
        builtin trap -- 'if { __spear_report "$?" "${PIPESTATUS[@]}"; } 2>/dev/null
            then eval "$__spear_trap"; else eval "$__spear_trap"; fi' EXIT
    }
fi
builtin trap '{ __spear_report "$?" "${PIPESTATUS[@]}"; } 2>/dev/null' EXIT
unset __spear_line
""".replace("RELEASE_FD", str(RELEASE_FD))

BEGIN_SH = r"""printf 'began\000' >/run/spear/report
__spear_report() {
    set +xeuf
    {
        printf 'began\000status %s\000pipe \000cwd ' "$1"
        pwd -P
        printf '\000env '
        export -p
        printf '\000'
        for __spear_entry in /proc/[0-9]*; do
            case $__spear_entry in /proc/1 | "/proc/$$") continue ;; esac
            IFS= read -r __spear_line <"$__spear_entry/stat" || continue
            case ${__spear_line##*) } in [ZX]*) continue ;; esac
            __spear_line=${__spear_line#*(}
            printf 'left %s\000' "${__spear_line%)*}"
        done
    } >|/run/spear/report
}
trap '{ __spear_report "$?"; } 2>/dev/null' EXIT
"""

_ENTRY = re.compile(rb"(?:declare -(?P<flags>[A-Za-z]+)|export) (?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_PLAIN = re.compile(rb"[^\n\"'\\$]+")
_ANSI = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_NAMED = {
    b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r",
    b"t": b"\t", b"v": b"\v",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """How the shell ended. `began` is False when it never ran; `status` is None when it ended without reporting
    (killed, or replaced by `exec`).
    """

    began: bool = False
    status: int | None = None
    pipe_status: tuple[int, ...] = ()
    cwd: str | None = None
    environment: Mapping[str, str] | None = field(default=None)
    left_running: tuple[str, ...] = ()


def variables(shell: str) -> Mapping[str, str]:
    """What the shell is started with besides the session's variables."""
    return {"BASH_ENV": f"/etc/{BEGIN_DIRECTORY}/begin.bash"} if shell == "bash" else {}


def waits_alone(environment: Iterable[str]) -> bool:
    """Whether a shell started with variables of these names reads and runs nothing of a command's before it waits."""
    return not any(_LOADER.match(name) for name in environment)


def wrap(script: str, shell: str) -> bytes:
    """The bytes of the file the shell runs: the script as given, behind one word on its first line."""
    body = script.encode("utf-8", errors="surrogateescape")
    first = "BASH_ARGV0=bash" if shell == "bash" else f". /etc/{BEGIN_DIRECTORY}/begin.sh"
    return b"%s;%s" % (first.encode(), body)


def release(script: str) -> bytes:
    """The line that lets a waiting bash go on: whether the script sets traps."""
    return b"traps\n" if "trap" in script else b"\n"


def parse_report(raw: bytes) -> Report:
    """Read what the trap wrote. The command could have written anything there: what does not parse is not reported."""
    began, status, cwd = False, None, None
    pipe: tuple[int, ...] = ()
    environment: dict[str, str] | None = None
    left: list[str] = []
    for record in raw.split(b"\0"):
        key, _, value = record.partition(b" ")
        match key:
            case b"began":
                began = True
            case b"status" if value.isdigit():
                status = int(value)
            case b"pipe" if value.replace(b" ", b"").isdigit():
                pipe = tuple(int(number) for number in value.split())
            case b"cwd" if value.startswith(b"/"):
                cwd = os.fsdecode(value.removesuffix(b"\n"))
            case b"env":
                environment = dict(exported(value))
            case b"left":
                left.append(value.decode("utf-8", errors="backslashreplace"))
            case _:
                pass
    return Report(began, status, pipe, cwd, environment, tuple(sorted(set(left))))


def exported(text: bytes) -> Iterator[tuple[str, str]]:
    """The variables of an `export -p` of bash or a POSIX shell that are carried to the next command."""
    position = 0
    while match := _ENTRY.match(text, position):
        position = match.end()
        value: bytes | None = None
        if text[position : position + 1] == b"=":
            value, position = _word(text, position + 1)
        if text[position : position + 1] != b"\n":
            return
        position += 1
        name = match["name"].decode("ascii")
        scalar = not set(match["flags"] or b"") & set(b"aA")
        if value is not None and scalar and name not in NOT_CARRIED and not name.startswith("BASH_FUNC"):
            yield name, os.fsdecode(value)


def _word(text: bytes, position: int) -> tuple[bytes, int]:
    """One shell word from `position` to the end of its line, unquoted."""
    parts: list[bytes] = []
    while position < len(text) and text[position] != 0x0A:
        if text.startswith(b'"', position):
            part, position = _quoted(text, position + 1, b'"', rb'\\([$`"\\\n])')
        elif text.startswith(b"$'", position):
            end = _closing(text, position + 2, b"'")
            part, position = _ANSI.sub(_ansi, text[position + 2 : end]), end + 1
        elif text.startswith(b"'", position):
            end = text.find(b"'", position + 1)
            end = len(text) if end < 0 else end
            part, position = text[position + 1 : end], end + 1
        elif plain := _PLAIN.match(text, position):
            part, position = plain[0], plain.end()
        else:
            skip = 1 if text.startswith(b"\\", position) else 0
            part, position = text[position + skip : position + skip + 1], position + skip + 1
        parts.append(part)
    return b"".join(parts), position


def _quoted(text: bytes, start: int, quote: bytes, escape: bytes) -> tuple[bytes, int]:
    end = _closing(text, start, quote)
    return re.sub(escape, lambda match: b"" if match[1] == b"\n" else match[1], text[start:end]), end + 1


def _closing(text: bytes, start: int, quote: bytes) -> int:
    match = re.compile(rb"(?:[^\\" + quote + rb"]|\\.)*", re.DOTALL).match(text, start)
    return match.end() if match else len(text)


def _ansi(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes([int(match[1], 8) & 0xFF])
    if match[2]:
        return bytes([int(match[2], 16)])
    return _NAMED.get(match[3], match[3])
