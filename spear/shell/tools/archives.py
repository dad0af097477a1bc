"""tar, zip, cpio, gzip and their like: what they unpack, pack and replace."""

from __future__ import annotations

from spear.shell.options import read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import (
    HERE,
    NOTHING,
    OPAQUE,
    Call,
    Reading,
    Table,
    Tool,
    Write,
    WriteKind,
    Writes,
    literal,
)

_TAR_VALUED = (
    "-f --file -C --directory -T --files-from -X --exclude-from --exclude --transform --strip-components -b -g -I -K "
    "-N --use-compress-program --to-command --checkpoint-action --owner --group --mode --format --mtime -H -V "
    "--one-top-level"
)
_TAR_FLAGS = "--extract --get --create --append --update --list --diff --to-stdout"


def tar_words(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The old style `tar xf FILE -C DIR`, its letters taking their values in turn, as options."""
    first = words[0].value if words else None
    if first is None or first.startswith("-") or not first.isalnum():
        return words
    rest = list(words[1:])
    spelled: list[Word] = []
    for letter in first:
        spelled.append(literal("-" + letter))
        if letter in "fCTXbgIKNHV" and rest:
            spelled.append(rest.pop(0))
    return (*spelled, *rest)


def _tar(call: Call) -> Reading:
    options = read_options(tar_words(call.words), _TAR_VALUED, "-p", _TAR_FLAGS)
    opaque = options.has("--to-command", "--checkpoint-action", "-I", "--use-compress-program", "-F")
    if options.has("-x", "--extract", "--get"):
        if options.has("-O", "--to-stdout", "--to-command"):
            return Reading(opaque=opaque)
        target = options.last("-C", "--directory") or HERE
        return Reading((Write(target, tree=True, directory=True),), opaque)
    if options.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete"):
        archives = [word for word in options.values("-f", "--file") if word.value != "-"]
        return Writes().add(archives).reading(opaque=opaque)
    return Reading(opaque=opaque)


def tar_actions(words: tuple[Word, ...]) -> tuple[str | None, ...]:
    """The shell commands tar itself is told to run."""
    options = read_options(tar_words(words), _TAR_VALUED, "-p", _TAR_FLAGS)
    actions = [word.value for word in options.values("--checkpoint-action") if (word.value or "").startswith("exec=")]
    return (
        *(action[5:] for action in actions if action is not None),
        *(word.value for word in options.values("--to-command")),
    )


def _unzip(call: Call) -> Reading:
    options = read_options(call.words, "-d -x -P -O -I")
    if options.has("-l", "-t", "-p", "-v", "-z", "-c"):
        return NOTHING
    return Reading((Write(options.last("-d") or HERE, tree=True, directory=True),)) if options.operands else NOTHING


def _zip(call: Call) -> Reading:
    options = read_options(call.words, "-x -i -t -tt -P -n -b")
    removed = options.operands[1:] if options.has("-m") else ()
    return Writes().add(options.operands[:1]).add(removed, WriteKind.DELETE).reading(opaque=options.has("-T"))


def _compressor(suffix: str, *, expands: bool = False, keeps: bool = False) -> Tool:
    """gzip and its like: FILE becomes FILE.suffix (or the reverse), and FILE itself goes away."""

    def read(call: Call) -> Reading:
        options = read_options(call.words, "-S -b -T -M -o --suffix --threads --memory --output-dir-flat")
        if options.has("-c", "-t", "-l", "--stdout", "--to-stdout", "--test", "--list", "-h", "--help"):
            return NOTHING
        explicit = [word for word in options.values("-o") if word.value != "-"]
        found = Writes().add(explicit)
        expanding = expands or options.has("-d", "--decompress", "--uncompress")
        for word in options.operands:
            if word.value == "-":
                continue
            if not explicit:
                found.add([_counterpart(word, suffix, expanding=expanding)], WriteKind.CREATE)
            if not keeps and not options.has("-k", "--keep"):
                found.add([word], WriteKind.DELETE)
        return found.reading()

    return read


def _counterpart(word: Word, suffix: str, *, expanding: bool) -> Word:
    if word.value is None:
        return word
    if not expanding:
        return Word(word.value + suffix, word.raw, word.glob)
    for known in (suffix, ".tgz", ".Z"):
        if word.value.endswith(known):
            return Word(word.value.removesuffix(known) + (".tar" if known == ".tgz" else ""), word.raw, word.glob)
    return word


def _cpio(call: Call) -> Reading:
    options = read_options(
        call.words, "-D --directory -F --file -E -H --format -I -O -R -C", flags="--extract --create"
    )
    if options.has("-p", "--pass-through"):
        return Reading(tuple(Write(word, tree=True, directory=True) for word in options.operands))
    if options.has("-i", "--extract") and not options.has("-t", "--list", "--to-stdout"):
        return Reading((Write(options.last("-D", "--directory") or HERE, tree=True, directory=True),))
    if options.has("-o", "--create"):
        return Writes().add(options.values("-F", "--file", "-O")).reading()
    return NOTHING


def _ar(call: Call) -> Reading:
    if not call.words or call.words[0].value is None:
        return OPAQUE
    operation = call.words[0].value.lstrip("-")
    if any(letter in operation for letter in "rqdmsc"):
        return Writes().add(call.words[1:2], WriteKind.BUILD).reading()
    if operation.startswith("x"):
        names = [word for word in call.words[2:] if word.value is not None]
        return Writes().add(names or [literal("*.o")]).reading()
    return NOTHING


def _seven_zip(call: Call) -> Reading:
    if not call.words or call.words[0].value is None:
        return OPAQUE
    if call.words[0].value in ("x", "e"):
        where = [word.value[2:] for word in call.words if word.value and word.value.startswith("-o")]
        target = literal(where[-1]) if where else HERE
        return Reading((Write(target, tree=True, directory=True),))
    if call.words[0].value in ("a", "u", "d"):
        return Writes().add(read_options(call.words[1:]).operands[:1]).reading()
    return NOTHING


def _jar(call: Call) -> Reading:
    letters = (call.words[0].value or "") if call.words else ""
    if "x" in letters.lstrip("-"):
        return Reading((Write(HERE, tree=True, directory=True),))
    if "c" in letters or "u" in letters:
        return Writes().add(call.words[1:2] if "f" in letters else ()).reading()
    return NOTHING


TABLE: Table = {
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "zip": _zip,
    "gzip": _compressor(".gz"),
    "pigz": _compressor(".gz"),
    "gunzip": _compressor(".gz", expands=True),
    "bzip2": _compressor(".bz2"),
    "bunzip2": _compressor(".bz2", expands=True),
    "xz": _compressor(".xz"),
    "unxz": _compressor(".xz", expands=True),
    "lzma": _compressor(".lzma"),
    "zstd": _compressor(".zst", keeps=True),
    "unzstd": _compressor(".zst", expands=True, keeps=True),
    "lz4": _compressor(".lz4", keeps=True),
    "cpio": _cpio,
    "ar": _ar,
    "7z": _seven_zip,
    "7za": _seven_zip,
    "jar": _jar,
}
