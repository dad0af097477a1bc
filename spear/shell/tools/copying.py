"""cp, mv, install, ln, rsync, scp: what lands where."""

from __future__ import annotations

import re

from spear.shell.options import Options, read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import HERE, NOTHING, Call, Reading, Table, Write, WriteKind, base_names, joined

_COMMON = "-t --target-directory -S --suffix"
_REMOTE = re.compile(r"(?:[^/]+:|\w+://)")


def _copied(options: Options, kind: WriteKind, *, tree: bool = False, directory_only: bool = False) -> list[Write]:
    """The destination of a `tool [OPTION] SOURCE... DEST` line."""
    target = options.last("-t", "--target-directory")
    sources = options.operands
    if target is None:
        if len(sources) < 2:
            return []
        target, sources = sources[-1], sources[:-1]
        directory = len(sources) > 1
    else:
        directory = True
    whole = any(source.value is not None and re.search(r"(?:^|/)\.{1,2}/?$", source.value) for source in sources)
    names = () if options.has("-T", "--no-target-directory") else base_names(sources)
    unknown_names = len(names) != len(sources)
    slash = (target.value or "").endswith("/")
    return [
        Write(
            target,
            kind,
            into=names,
            tree=tree or ((directory or slash) and (whole or unknown_names)),
            directory=directory or directory_only or slash,
        )
    ]


def _cp(call: Call) -> Reading:
    options = read_options(call.words, _COMMON, flags="--recursive --archive --no-target-directory --link")
    if options.has("--help", "--version"):
        return NOTHING
    tree = options.has("-r", "-R", "-a", "--recursive", "--archive")
    kind = WriteKind.LINK if options.has("-s", "-l", "--link", "--symbolic-link") else WriteKind.WRITE
    return Reading(tuple(_copied(options, kind, tree=tree)))


def _mv(call: Call) -> Reading:
    options = read_options(call.words, _COMMON, flags="--no-target-directory")
    writes = _copied(options, WriteKind.WRITE)
    sources = options.operands if options.has("-t", "--target-directory") else options.operands[:-1]
    if writes:
        writes.extend(Write(source, WriteKind.DELETE, tree=True) for source in sources)
    return Reading(tuple(writes))


def _install(call: Call) -> Reading:
    options = read_options(call.words, _COMMON + " -m --mode -o --owner -g --group", flags="--directory")
    if options.has("-d", "--directory"):
        return Reading(tuple(Write(word, WriteKind.MKDIR) for word in options.operands))
    return Reading(tuple(_copied(options, WriteKind.WRITE)))


def _ln(call: Call) -> Reading:
    options = read_options(call.words, _COMMON, flags="--symbolic --force --no-target-directory")
    symbolic = options.has("-s", "--symbolic")
    if len(options.operands) == 1 and not options.has("-t", "--target-directory"):
        names = base_names(options.operands)
        return Reading(tuple(Write(joined(HERE, name), WriteKind.LINK) for name in names))
    writes = _copied(options, WriteKind.LINK)
    if not symbolic and len(options.operands) > 1:
        writes.extend(Write(source, WriteKind.LINK) for source in options.operands[:-1])
    return Reading(tuple(writes))


def _rsync(call: Call) -> Reading:
    valued = (
        "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from -T --temp-dir -M "
        "--log-file --backup-dir --bwlimit --chmod --timeout --port --partial-dir --max-size --min-size --rsync-path"
    )
    options = read_options(call.words, valued, flags="--archive --recursive --dry-run --delete")
    if options.has("-n", "--dry-run", "--list-only") or len(options.operands) < 2:
        return NOTHING
    writes = [Write(word) for word in options.values("--log-file")]
    target = options.operands[-1]
    if not _is_remote(target):
        tree = options.has("-a", "-r", "--archive", "--recursive", "--delete")
        contents = any((word.value or "").endswith("/") for word in options.operands[:-1])
        names = () if contents else base_names(options.operands[:-1])
        writes.append(Write(target, into=names, tree=tree, directory=tree))
    if options.has("--remove-source-files"):
        writes.extend(Write(word, WriteKind.DELETE) for word in options.operands[:-1])
    return Reading(tuple(writes), opaque=options.has("-e", "--rsh", "--rsync-path"))


def _scp(call: Call) -> Reading:
    options = read_options(call.words, "-P -i -F -l -o -c -S -J")
    if len(options.operands) < 2 or _is_remote(options.operands[-1]):
        return NOTHING
    names = base_names([Word((word.value or "").split(":")[-1], word.raw) for word in options.operands[:-1]])
    return Reading((Write(options.operands[-1], into=names, tree=options.has("-r")),))


def _is_remote(word: Word) -> bool:
    return bool(_REMOTE.match(word.value or ""))


TABLE: Table = {
    "cp": _cp,
    "gcp": _cp,
    "mv": _mv,
    "install": _install,
    "ln": _ln,
    "link": _ln,
    "rsync": _rsync,
    "scp": _scp,
}
