"""Compilers, assemblers and linkers: where their output goes."""

from __future__ import annotations

from spear.shell.options import Options, read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import Call, Reading, Table, Write, WriteKind, literal

_VALUED = (
    "-o -I -L -l -D -U -x -include -isystem -MF -MT -MQ -Xlinker -Xassembler -Xpreprocessor -target -arch -T -e -u -z"
)
_LONG_WITH_ONE_DASH = frozenset(
    {"-include", "-isystem", "-iquote", "-idirafter", "-imacros", "-target", "-arch", "-MF"}
)


def _compiled(call: Call) -> Reading:
    """gcc, clang and what is driven like them."""
    words = _joined_pairs(call.words)
    options = read_options(words, _VALUED, "-f -m -W -O -g -s -M -std")
    given = [word.value for word in call.words]
    writes = [Write(word, WriteKind.BUILD) for word in options.values("-o") if word.value != "-"]
    quiet = any(flag in given for flag in ("-fsyntax-only", "-E", "-M", "-MM", "--version", "-v", "--help", "-###"))
    if not writes and not quiet and options.operands:
        writes.extend(_default_outputs(options, given))
    return Reading(tuple(writes))


def _joined_pairs(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Drop options spelled with one dash and many letters, so that they are not read as clusters."""
    kept: list[Word] = []
    skip = False
    for word in words:
        text = word.value or ""
        if skip:
            skip = False
        elif text in _LONG_WITH_ONE_DASH:
            skip = True
        elif word.value is not None and text.startswith("-") and len(text) > 2 and not text.startswith("-o"):
            continue
        else:
            kept.append(word)
    return tuple(kept)


def _default_outputs(options: Options, given: list[str | None]) -> list[Write]:
    suffix = {"-c": ".o", "-S": ".s"}.get(next((flag for flag in ("-c", "-S") if flag in given), ""), "")
    if not suffix:
        return [Write(literal("a.out"), WriteKind.BUILD)]
    sources = [word.value for word in options.operands if word.value is not None]
    stems = [source.rsplit("/", 1)[-1].rsplit(".", 1)[0] for source in sources]
    return [Write(literal(stem + suffix), WriteKind.BUILD) for stem in stems]


def _linked(call: Call) -> Reading:
    options = read_options(call.words, "-o -I -L -l -T -e -m -z -a")
    targets = options.values("-o") or (literal("a.out"),)
    return Reading(tuple(Write(word, WriteKind.BUILD) for word in targets))


_C_FAMILY = (
    "gcc g++ cc c++ clang clang++ tcc icc cpp c99 gfortran nvcc musl-gcc arm-none-eabi-gcc arm-none-eabi-g++ "
    "aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc riscv64-linux-gnu-gcc x86_64-w64-mingw32-gcc"
)

TABLE: Table = {
    **dict.fromkeys(_C_FAMILY.split(), _compiled),
    "as": _linked,
    "ld": _linked,
    "nasm": _linked,
    "yasm": _linked,
}
