"""Commands that carry further commands in their own arguments: `sh -c`, `eval`, `trap`, `find -exec`, `xargs`.

What is carried is text for a shell, or words that are a command line already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spear.shell.options import read_options
from spear.shell.printed import found_names
from spear.shell.syntax import Word
from spear.shell.tools import archives, awk, git, python, scripts, sed
from spear.shell.tools.call import Call

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "rbash"})
PLACEHOLDER = "{}"
_NOBODY_KNOWS = "${_}"
_DEBUGGER_SHELL = re.compile(r"\s*(?:shell|!|platform shell)\s*(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HandedOn:
    """One carried command: `text` for a shell or `words` ready to run; both None when it cannot be read.

    `here` says that it runs in the same shell (`eval`), so that its `cd` and variables last.
    `positional` are the arguments the carried script sees as `$1`…
    """

    text: str | None = None
    words: tuple[Word, ...] | None = None
    here: bool = False
    positional: tuple[Word, ...] | None = None


@dataclass(frozen=True, slots=True)
class StandardInput:
    """What is known of a command's input: its text, or the names a listing printed. Both None when unknown."""

    text: str | None = None
    names: tuple[Word, ...] | None = None
    connected: bool = False


def handed_on(argv: Sequence[Word], given: StandardInput) -> tuple[HandedOn, ...]:
    """Everything `argv` hands on to run, empty when it hands on nothing."""
    if not argv or argv[0].value is None:
        return ()
    name = argv[0].value.rsplit("/", 1)[-1]
    if name in SHELLS:
        return _shell(argv[1:], given)
    reader = _READERS.get(name)
    if reader is not None:
        return reader(argv[1:], given)
    return tuple(HandedOn(text) for text in _told_to_run(Call(name, tuple(argv[1:]), given.text)))


def _told_to_run(call: Call) -> Sequence[str | None]:
    """Shell commands that a tool's own language or options make it run."""
    if call.name in sed.TABLE:
        return [text for text in sed.sed_effects(call.words).commands if text is not None]
    if call.name in awk.TABLE:
        return [text for text in awk.awk_commands(call.words) if text is not None]
    if call.name == "git":
        return git.git_commands(call.words)
    if call.name in ("tar", "gtar", "bsdtar"):
        return archives.tar_actions(call.words)
    if python.NAMES.fullmatch(call.name):
        source = python.python_source(call)
        return python.read_program(source).commands if source else ()
    if call.name in ("gdb", "lldb"):
        return [m[1] for word in call.words if (m := _DEBUGGER_SHELL.match(word.value or ""))]
    return scripts.inline_commands(call)


def _shell(words: Sequence[Word], given: StandardInput) -> tuple[HandedOn, ...]:
    options = read_options(words, "-o -O +o +O --rcfile --init-file", stop_early=True)
    if options.has("-n", "--version", "--help"):
        return ()
    if options.has("-c"):
        if not options.operands:
            return ()
        return (HandedOn(options.operands[0].value, positional=options.operands[2:]),)
    if options.operands and not options.has("-s"):
        return ()
    return (HandedOn(given.text),) if given.connected else ()


def _evaluated(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    values = [word.value for word in words]
    known = [value for value in values if value is not None]
    return (HandedOn(" ".join(known) if len(known) == len(values) else None, here=True),)


def _trapped(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    options = read_options(words, stop_early=True)
    if options.has("-l", "-p") or len(options.operands) < 2 or options.operands[0].value in ("", "-"):
        return ()
    return (HandedOn(options.operands[0].value),)


def _split_string(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    options = read_options(words, "-u --unset -C --chdir -S --split-string", stop_early=True)
    text = options.last("-S", "--split-string")
    return () if text is None else (HandedOn(text.value),)


def _command_option(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    options = read_options(words, "-c --command -w -E --timeout -o")
    return tuple(HandedOn(word.value) for word in options.values("-c", "--command"))


def _called(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    """`npx -c TEXT`: a shell of the packages' own PATH."""
    options = read_options(words, "-c --call -p --package -w --workspace --prefix", stop_early=True)
    text = options.last("-c", "--call")
    return () if text is None else (HandedOn(text.value),)


def _called_by_manager(words: Sequence[Word], given: StandardInput) -> tuple[HandedOn, ...]:
    """`npm exec -c TEXT`, `pnpm exec -c TEXT`; options may stand before the subcommand."""
    operands = read_options(words, "-w --workspace --prefix -C --dir --filter", stop_early=True).operands
    runs = bool(operands) and operands[0].value in ("exec", "x")
    return _called(operands[1:], given) if runs else ()


def _watched(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    operands = read_options(words, "-n --interval -q", stop_early=True).operands
    return _evaluated(operands, StandardInput()) if operands else ()


def _executed(words: Sequence[Word], _: StandardInput) -> tuple[HandedOn, ...]:
    found, index = found_names(tuple(words)), 0
    carried: list[HandedOn] = []
    while index < len(words):
        if words[index].value not in ("-exec", "-execdir", "-ok", "-okdir"):
            index += 1
            continue
        inner: list[Word] = []
        index += 1
        while index < len(words) and words[index].value not in (";", "+"):
            inner.append(words[index])
            index += 1
        carried.append(HandedOn(words=_filled(inner, found)))
    return tuple(carried)


def _many(words: Sequence[Word], given: StandardInput) -> tuple[HandedOn, ...]:
    valued = "-a --arg-file -d --delimiter -E -I --replace -L --max-lines -n --max-args -P --max-procs -s --max-chars"
    options = read_options(words, valued, "-e -i -l --eof", stop_early=True)
    if not options.operands:
        return ()
    marker = next((word.value for word in options.values("-I", "--replace")), None)
    if options.has("-i"):
        marker = PLACEHOLDER
    items = given.names if not options.has("-a", "--arg-file") else None
    if items is None:
        items = (Word(None, PLACEHOLDER),)
    if marker is None:
        return (HandedOn(words=(*options.operands, *items)),)
    return tuple(HandedOn(words=_filled(options.operands, item, marker)) for item in items[:16])


def _filled(words: Sequence[Word], item: Word, marker: str = PLACEHOLDER) -> tuple[Word, ...]:
    """The command with the item in the place of its marker."""
    filled: list[Word] = []
    for word in words:
        if word.value is None or marker not in word.value:
            filled.append(word)
        elif item.value is None:
            script = " " in word.value
            filled.append(Word(word.value.replace(marker, _NOBODY_KNOWS) if script else None, word.raw))
        else:
            filled.append(Word(word.value.replace(marker, item.value), word.raw, word.glob or item.glob))
    return tuple(filled)


_READERS = {
    "eval": _evaluated,
    "trap": _trapped,
    "env": _split_string,
    "flock": _command_option,
    "script": _command_option,
    "su": _command_option,
    "watch": _watched,
    "npx": _called,
    "npm": _called_by_manager,
    "pnpm": _called_by_manager,
    "find": _executed,
    "xargs": _many,
}

CARRYING_VARIABLES = re.compile(
    r"(?:GIT_)?(?:PAGER|EDITOR|SEQUENCE_EDITOR|SSH_COMMAND|EXTERNAL_DIFF|PROXY_COMMAND|ASKPASS)|PROMPT_COMMAND"
    r"|VISUAL|MANPAGER|LESSOPEN|LESSCLOSE"
)
"""Variables whose value some program hands to a shell."""
