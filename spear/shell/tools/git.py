"""git: which subcommands touch the working tree, which only read, and which run other programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spear.shell.options import read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import (
    HERE,
    NOTHING,
    OPAQUE,
    UNKNOWN,
    Call,
    Reading,
    Table,
    Write,
    WriteKind,
    Writes,
    joined,
    literal,
    names,
)
from spear.shell.tools.patches import patched_files, strip_level

_GLOBAL_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_RUNS = re.compile(
    r"(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|alternaterefscommand)|pager\.\w+|alias\..+"
    r"|sequence\.editor|diff\.external|(?:diff|merge|filter)\..+\.(?:command|textconv|driver|clean|smudge|process)"
    r"|credential\.(?:.+\.)?helper|gpg\.(?:.+\.)?program|uploadpack\..+|(?:diff|merge)tool\..+\.cmd|remote\..+\.(?:uploadpack|receivepack))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GitCall:
    """A git command line after its global options. `settings` are the `-c key=value` texts."""

    subcommand: str | None
    words: tuple[Word, ...]
    directory: Word | None
    settings: tuple[str | None, ...]
    redirected: bool


def git_call(words: tuple[Word, ...]) -> GitCall:
    """Read git's global options."""
    directory: Word | None = None
    settings: list[str | None] = []
    redirected = False
    index = 0
    while index < len(words):
        text = words[index].value
        if text is None or not text.startswith("-"):
            break
        option, equals, _ = text.partition("=")
        takes_next = option in _GLOBAL_VALUED and not equals and option != "--exec-path"
        value = words[index + 1] if takes_next and index + 1 < len(words) else None
        if option == "-C" and value is not None:
            directory = value if directory is None or value.value is None else joined(directory, value.value)
        elif option == "-c" and value is not None:
            settings.append(value.value)
        elif option in ("--git-dir", "--work-tree", "--exec-path", "--config-env"):
            redirected = True
        index += 2 if takes_next else 1
    subcommand = words[index].value if index < len(words) else ""
    return GitCall(subcommand, words[index + 1 :], directory, tuple(settings), redirected)


def git_commands(words: tuple[Word, ...]) -> tuple[str | None, ...]:
    """Shell commands git is told to run: by settings, aliases, `bisect run`, `submodule foreach`, `rebase --exec`."""
    call = git_call(words)
    found: list[str | None] = []
    for setting in call.settings:
        key, _, value = (setting or "").partition("=")
        if setting is None:
            found.append(None)
        elif _RUNS.fullmatch(key):
            found.append(
                value.removeprefix("!") if not key.lower().startswith("alias.") or value[:1] == "!" else "git " + value
            )
    values = [word.value for word in call.words]
    if call.subcommand == "bisect" and values[:1] == ["run"]:
        found.append(None if None in values else " ".join(_quoted(value or "") for value in values[1:]))
    if call.subcommand == "submodule" and "foreach" in values[:2]:
        rest = [value for value in values[values.index("foreach") + 1 :] if value != "--recursive"]
        found.append(None if None in rest else " ".join(value or "" for value in rest))
    options = read_options(call.words, "-x --exec --upload-pack -u --receive-pack")
    if call.subcommand in ("rebase", "difftool"):
        found.extend(word.value for word in options.values("-x", "--exec"))
    if call.subcommand in ("ls-remote", "fetch", "clone", "fetch-pack", "pull"):
        found.extend(word.value for word in options.values("--upload-pack"))
    return tuple(found)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _git(call: Call) -> Reading:
    git = git_call(call.words)
    if git.subcommand is None or git.redirected:
        return OPAQUE
    if (not git.subcommand or git.subcommand in _READING) and not _reading_writes(git):
        reading = _output_option(git)
    else:
        reader = _WRITING.get(git.subcommand)
        reading = OPAQUE if reader is None else reader(git, call)
    opaque = reading.opaque or bool(git_commands(call.words))
    if git.directory is None:
        return Reading(reading.writes, opaque)
    writes = tuple(
        Write(_inside(git.directory, write.target), write.kind, write.into, write.tree, write.directory)
        for write in reading.writes
    )
    return Reading(writes, opaque)


def _inside(directory: Word, target: Word) -> Word:
    if target.value is None or target.value.startswith("/"):
        return target
    found = joined(directory, target.value)
    return Word(found.value, found.raw, found.glob or target.glob)


_READING = names(
    """
    status log diff show blame annotate ls-files ls-tree rev-parse rev-list describe shortlog cat-file grep merge-base
    name-rev whatchanged show-ref for-each-ref var version help diff-tree diff-index diff-files count-objects
    check-ignore check-attr cherry range-diff show-branch ls-remote verify-commit verify-tag fsck column stripspace
    hash-object merge-tree get-tar-commit-id
    """
)


def _reading_writes(git: GitCall) -> bool:
    return git.subcommand == "hash-object" and any(word.value == "-w" for word in git.words)


def _output_option(git: GitCall) -> Reading:
    options = read_options(git.words, "--output")
    return Writes().add(options.values("--output")).reading(opaque=options.has("--ext-diff", "--textconv"))


def _everything(_: GitCall, __: Call) -> Reading:
    return Reading((Write(HERE, tree=True),))


def _unknown_files(_: GitCall, __: Call) -> Reading:
    return Reading((Write(UNKNOWN),))


def _own_files(_: GitCall, __: Call) -> Reading:
    """Only git's own files: index, objects, references."""
    return OPAQUE


def _checkout(git: GitCall, _: Call) -> Reading:
    values = [word.value for word in git.words]
    if "--" in values:
        paths = git.words[values.index("--") + 1 :]
        return Writes().add(paths or [HERE], tree=True).reading()
    options = read_options(git.words, "-b -B --orphan --conflict --pathspec-from-file")
    if options.has("-b", "-B", "--orphan") and len(options.operands) < 1:
        return OPAQUE
    paths = tuple(word for word in options.operands if _looks_like_path(word))
    if paths:
        return Writes().add(paths, tree=True).reading()
    return Reading((Write(HERE, tree=True),)) if options.operands else OPAQUE


def _looks_like_path(word: Word) -> bool:
    text = word.value or ""
    return text == "." or text.startswith(("./", "../", ":")) or bool(re.search(r"\.[A-Za-z]\w{0,4}$", text))


def _switch(git: GitCall, _: Call) -> Reading:
    options = read_options(git.words, "-c -C --create --orphan")
    if options.has("-c", "-C", "--create") and not options.operands:
        return OPAQUE
    return Reading((Write(HERE, tree=True),))


def _restore(git: GitCall, _: Call) -> Reading:
    options = read_options(git.words, "-s --source --conflict --pathspec-from-file", flags="--staged --worktree")
    if options.has("-S", "--staged") and not options.has("-W", "--worktree"):
        return OPAQUE
    return Writes().add(options.operands or [UNKNOWN], tree=True).reading()


def _reset(git: GitCall, _: Call) -> Reading:
    hard = any(word.value in ("--hard", "--merge", "--keep") for word in git.words)
    return Reading((Write(HERE, tree=True),)) if hard else OPAQUE


def _clean(git: GitCall, _: Call) -> Reading:
    options = read_options(git.words, "-e --exclude", flags="--dry-run --force")
    if options.has("-n", "--dry-run"):
        return NOTHING
    return Writes().add(options.operands or [HERE], WriteKind.DELETE, tree=True).reading()


def _stash(git: GitCall, _: Call) -> Reading:
    action = git.words[0].value if git.words else "push"
    if action in ("list", "show"):
        return NOTHING
    if action in ("drop", "clear", "create", "store"):
        return OPAQUE
    paths: Sequence[Word] = ()
    if action == "push":
        options = read_options(git.words[1:], "-m --message --pathspec-from-file")
        paths = () if options.has("--pathspec-from-file") else options.operands
    return Writes().add(paths or [HERE], tree=True).reading()


def _removed(git: GitCall, _: Call) -> Reading:
    options = read_options(git.words, "--pathspec-from-file", flags="--cached --dry-run --force --quiet")
    if options.has("--cached", "-n", "--dry-run"):
        return OPAQUE
    return Writes().add(options.operands, WriteKind.DELETE, tree=True).reading()


def _moved(git: GitCall, _: Call) -> Reading:
    operands = read_options(git.words).operands
    return Writes().add(operands[:-1], WriteKind.DELETE, tree=True).add(operands[-1:]).reading()


def _apply(git: GitCall, call: Call) -> Reading:
    options = read_options(
        git.words, "-p --directory --include --exclude --whitespace -C", flags="--check --stat --cached"
    )
    if options.has("--check", "--stat", "--numstat", "--summary", "--cached"):
        return NOTHING
    if call.heredoc is None or any(word.value != "-" for word in options.operands):
        return Reading((Write(UNKNOWN),))
    return Writes().add(patched_files(call.heredoc, strip_level(options.last("-p"))) or [UNKNOWN]).reading()


def _worktree(git: GitCall, _: Call) -> Reading:
    values = [word.value for word in git.words]
    if values[:1] == ["list"]:
        return NOTHING
    operands = read_options(git.words[1:], "-b -B --reason").operands
    kind = WriteKind.DELETE if values[:1] == ["remove"] else WriteKind.WRITE
    return (
        Writes().add(operands[:1], kind, tree=True).reading()
        if values[:1] in (["add"], ["remove"], ["move"])
        else OPAQUE
    )


def _clone(git: GitCall, _: Call) -> Reading:
    valued = "-b --branch -o --origin --depth -u --upload-pack -c --config --reference --template -j --jobs --filter"
    operands = read_options(git.words, valued).operands
    if len(operands) > 1:
        return Writes().add(operands[1:2], WriteKind.CREATE, tree=True).reading()
    name = (operands[0].value or "").rstrip("/").rsplit("/", 1)[-1].removesuffix(".git") if operands else ""
    return Writes().add([literal(name) if name else UNKNOWN], WriteKind.CREATE, tree=True).reading()


def _output_file(option: str, default: Word | None = None) -> Callable[[GitCall, Call], Reading]:
    def read(git: GitCall, _: Call) -> Reading:
        options = read_options(git.words, f"{option} --prefix --format -n -v --start-number")
        found = options.values(*option.split())
        if options.has("--stdout") or (not found and default is None):
            return NOTHING
        return Writes().add(found or [default or HERE], tree=default is not None).reading()

    return read


def _config(git: GitCall, _: Call) -> Reading:
    options = read_options(git.words, "-f --file --blob --type --default --get --get-all --get-regexp --get-urlmatch")
    reading = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--show-origin", "--name-only")
    words = [word.value for word in options.operands]
    if words[:1] in (["get"], ["list"]):
        return NOTHING
    if words[:1] in (["set"], ["unset"], ["edit"]):
        words = [*words[1:], ""]
    elif options.has(*reading) or (
        len(words) < 2 and not options.has("--unset", "--unset-all", "-e", "--edit", "--add")
    ):
        return NOTHING
    file = options.last("-f", "--file")
    if options.has("--global"):
        runs = _RUNS.fullmatch(words[0] or "") if words else None
        file = literal("/home/sandbox/.gitconfig") if runs else None
        return Writes().add([file] if file else []).reading()
    if options.has("--system"):
        file = literal("/etc/gitconfig")
    return Writes().add([file or literal(".git/config")]).reading()


def _branch(git: GitCall, _: Call) -> Reading:
    options = read_options(
        git.words, "--contains --merged --no-merged --format --sort --points-at -u --set-upstream-to"
    )
    changes = options.has("-d", "-D", "-m", "-M", "-c", "-C", "--delete", "--move", "--edit-description", "-u", "-f")
    return OPAQUE if changes or (options.operands and not options.has("--list", "-l")) else NOTHING


def _listing(*actions: str) -> Callable[[GitCall, Call], Reading]:
    """A subcommand that only reads without operands, or with one of `actions` first."""

    def read(git: GitCall, _: Call) -> Reading:
        operands = [word.value for word in git.words if not (word.value or "").startswith("-")]
        return NOTHING if not operands or operands[0] in actions else OPAQUE

    return read


_WRITING: Mapping[str, Callable[[GitCall, Call], Reading]] = {
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "reset": _reset,
    "clean": _clean,
    "stash": _stash,
    "rm": _removed,
    "mv": _moved,
    "apply": _apply,
    "am": _unknown_files,
    "merge": _unknown_files,
    "rebase": _unknown_files,
    "pull": _unknown_files,
    "cherry-pick": _unknown_files,
    "revert": _unknown_files,
    "read-tree": _unknown_files,
    "checkout-index": _everything,
    "worktree": _worktree,
    "clone": _clone,
    "archive": _output_file("-o --output"),
    "format-patch": _output_file("-o --output-directory", HERE),
    "bundle": _own_files,
    "bisect": _everything,
    "config": _config,
    "branch": _branch,
    "tag": _listing(),
    "remote": _listing("show", "get-url"),
    "reflog": _listing("show"),
    "notes": _listing("list", "show"),
    "submodule": _listing("status", "summary"),
    "lfs": _listing("ls-files", "status", "env"),
}

TABLE: Table = {"git": _git}
