"""Tools whose operands or output options are files they create, change or remove: rm, touch, tee, dd, split…"""

from __future__ import annotations

import re

from spear.shell.options import read_options
from spear.shell.printed import found_names
from spear.shell.syntax import Word
from spear.shell.tools.call import (
    NOTHING,
    Call,
    Reading,
    Table,
    Tool,
    Write,
    WriteKind,
    Writes,
    joined,
    literal,
    pattern,
)

_DEVICES = frozenset({"-"})


def _operands(kind: WriteKind, valued: str = "", *, skip: int = 0, unless: str = "", tree_with: str = "") -> Tool:
    """A tool every operand of which, after the first `skip`, is a destination."""

    def read(call: Call) -> Reading:
        options = read_options(call.words, valued)
        if unless and options.has(*unless.split()):
            return NOTHING
        tree = bool(tree_with) and options.has(*tree_with.split())
        return Writes().add(options.operands[skip:], kind, tree=tree).reading()

    return read


def _output(names: str, valued: str = "", kind: WriteKind = WriteKind.WRITE) -> Tool:
    """A tool that writes only where an option says."""
    outputs = names.split()

    def read(call: Call) -> Reading:
        options = read_options(call.words, f"{names} {valued}")
        values = [word for word in options.values(*outputs) if word.value not in _DEVICES]
        return Writes().add(values, kind).reading()

    return read


def _second(valued: str = "", *, output: str = "") -> Tool:
    """A tool whose second operand, when given, is what it writes."""

    def read(call: Call) -> Reading:
        options = read_options(call.words, f"{valued} {output}")
        found = Writes().add(options.operands[1:2])
        if output:
            found.add(options.values(*output.split()))
        return found.reading()

    return read


def _changed_mode(call: Call) -> Reading:
    """chmod, chown, chgrp: the first operand is the mode, which may begin with a dash."""
    words = [word for word in call.words if word.value is None or not word.value.startswith("--")]
    referenced = len(words) != len(call.words) and any(
        (word.value or "").startswith("--reference") for word in call.words
    )
    recursive = any(word.value in ("-R", "--recursive") for word in call.words)
    operands = [word for word in words if word.value not in ("-R", "-v", "-f", "-c", "-h", "-Rv", "-Rf", "-vR")]
    targets = operands if referenced else operands[1:]
    return Writes().add(targets, WriteKind.MODE, tree=recursive).reading()


def _dd(call: Call) -> Reading:
    found = Writes()
    for word in call.words:
        if word.value is None:
            found.add([word])
        elif word.value.startswith("of="):
            found.add([Word(word.value[3:], word.raw)])
    return found.reading()


def _tee(call: Call) -> Reading:
    options = read_options(call.words, optional="--output-error")
    return Writes().add(word for word in options.operands if word.value not in _DEVICES).reading()


def _split(call: Call) -> Reading:
    options = read_options(call.words, "-a -b -C -l -n -t --suffix-length --bytes --lines --number --filter")
    prefix = options.operands[1] if len(options.operands) > 1 else literal("x")
    return Writes().add([pattern(prefix)], WriteKind.CREATE).reading(opaque=options.has("--filter"))


def _csplit(call: Call) -> Reading:
    options = read_options(call.words, "-b -f -n --suffix-format --prefix --digits")
    return Writes().add([pattern(options.last("-f", "--prefix") or literal("xx"))], WriteKind.CREATE).reading()


def _mktemp(call: Call) -> Reading:
    options = read_options(call.words, "-p --suffix", optional="--tmpdir")
    if options.has("-u", "--dry-run"):
        return NOTHING
    directory = options.last("-p", "--tmpdir")
    template = options.operands[0] if options.operands else None
    if directory is not None and directory.value != "":
        return Reading((Write(joined(directory, "tmp.*"), WriteKind.CREATE),))
    if template is None or options.has("-t", "--tmpdir"):
        return NOTHING
    return Reading((Write(template, WriteKind.CREATE),))


def _find(call: Call) -> Reading:
    found = Writes()
    values = [word.value for word in call.words]
    for index, value in enumerate(values):
        if value == "-delete":
            found.add([found_names(call.words)], WriteKind.DELETE)
        elif value in ("-fprint", "-fprintf", "-fprint0", "-fls"):
            found.add(call.words[index + 1 : index + 2])
    return found.reading(opaque=None in values)


def _xxd(call: Call) -> Reading:
    options = read_options(call.words, "-c -cols -g -groupsize -l -len -n -name -o -s -seek -R")
    return Writes().add(options.operands[1:2]).reading()


def _script(call: Call) -> Reading:
    options = read_options(call.words, "-c --command -E -I -O -B -T -m -o --log-out --log-in --log-io --log-timing")
    operands = options.operands[:1] or ((literal("typescript"),) if not options.has("-O", "--log-out") else ())
    return Writes().add([*operands, *options.values("-O", "--log-out", "-T", "-B")]).reading(opaque=True)


def _openssl(call: Call) -> Reading:
    found = Writes()
    for index, word in enumerate(call.words):
        if word.value in ("-out", "-keyout", "-writerand"):
            found.add(call.words[index + 1 : index + 2])
    return found.reading()


_SQL_READING = re.compile(
    r"\s*(?:select|explain|with|values|pragma\s+\w+\s*(?:;|$)"
    r"|\.(?:tables|schema|dump|headers?|mode|indexes|indices|databases|width|quit|exit|fullschema|show|stats))(?![\w.])",
    re.IGNORECASE,
)


def _sqlite(call: Call) -> Reading:
    found = Writes()
    options = read_options(_double_dashed(call.words), "--cmd --init --separator --nullvalue --newline")
    texts = [word.value for word in options.operands[1:]] or [call.heredoc]
    for text in texts:
        first, *rest = (text or "").split()[:2] or [""]
        if first in (".output", ".once", ".save", ".backup", ".clone", ".log") and rest:
            found.add([literal(rest[-1].strip("'\""))])
    reads = all(text is not None and _only_selects(text) for text in texts)
    if not reads and not options.has("--readonly", "--version", "--help"):
        found.add(options.operands[:1])
    return found.reading(opaque=None in texts)


def _double_dashed(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """sqlite3 spells its long options with one dash."""
    return tuple(
        Word("-" + word.value, word.raw) if word.value and re.match(r"-[a-z]{2,}", word.value) else word
        for word in words
    )


def _only_selects(text: str) -> bool:
    return all(_SQL_READING.match(statement) for statement in text.split(";") if statement.strip())


def _objcopy(call: Call) -> Reading:
    options = read_options(call.words, "-I -O -B -F -j -R -K -N -G -L -W --input-target --output-target")
    return Writes().add(options.operands[-1:], WriteKind.BUILD).reading()


_CREATE, _DELETE, _MODE, _MKDIR = WriteKind.CREATE, WriteKind.DELETE, WriteKind.MODE, WriteKind.MKDIR

TABLE: Table = {
    "rm": _operands(_DELETE, tree_with="-r -R --recursive"),
    "rmdir": _operands(_DELETE),
    "unlink": _operands(_DELETE),
    "shred": _operands(WriteKind.WRITE, "-n -s --iterations --size --random-source"),
    "touch": _operands(_CREATE, "-d -r -t --date --reference --time"),
    "mkdir": _operands(_MKDIR, "-m --mode"),
    "mkfifo": _operands(_CREATE, "-m --mode"),
    "truncate": _operands(WriteKind.TRUNCATE, "-s -r --size --reference"),
    "fallocate": _operands(WriteKind.WRITE, "-l -o --length --offset"),
    "chmod": _changed_mode,
    "chown": _changed_mode,
    "chgrp": _changed_mode,
    "setfacl": _operands(_MODE, "-m -x -M -X --modify --remove"),
    "setfattr": _operands(_MODE, "-n -v -x"),
    "tee": _tee,
    "sponge": _operands(WriteKind.WRITE),
    "dd": _dd,
    "split": _split,
    "csplit": _csplit,
    "mktemp": _mktemp,
    "find": _find,
    "sort": _output(
        "-o --output",
        "-k -t -S -T --key --field-separator --buffer-size --temporary-directory --parallel --files0-from",
    ),
    "shuf": _output("-o --output", "-n -i --head-count --input-range --random-source"),
    "uniq": _second("-f -s -w --skip-fields --skip-chars --check-chars"),
    "tree": _output("-o", "-L -P -I --filelimit --charset -H -T --sort"),
    "xxd": _xxd,
    "iconv": _output("-o --output", "-f -t --from-code --to-code"),
    "openssl": _openssl,
    "sqlite3": _sqlite,
    "script": _script,
    "base64": _second("-w --wrap -i -o"),
    "objcopy": _objcopy,
    "strip": _operands(WriteKind.BUILD, "-o -R -K -N -F -I -O"),
    "ranlib": _operands(WriteKind.BUILD),
    "patchelf": _operands(WriteKind.BUILD, "--set-rpath --set-interpreter --add-needed --remove-needed --output"),
    "dos2unix": _operands(WriteKind.FORMAT),
    "unix2dos": _operands(WriteKind.FORMAT),
    "pandoc": _output("-o --output", "-f -t --from --to --template -V"),
    "dot": _output("-o", "-T -G -N -E -K"),
}
