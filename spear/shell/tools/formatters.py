"""Programs that rewrite the source files they are given, and line editors driven by a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spear.shell.options import read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import OPAQUE, Call, Reading, Table, Tool, WriteKind, Writes


def _formats(
    valued: str = "", *, when: str = "", unless: str = "--check --diff --version --help -h", subcommand: str = ""
) -> Tool:
    """A formatter. `when` are the options with which it writes (always, when empty); `unless` those without."""

    def read(call: Call) -> Reading:
        words = call.words
        if subcommand:
            if not words or words[0].value != subcommand:
                return OPAQUE
            words = words[1:]
        options = read_options(words, valued, "-i --in-place --inplace" if when else "")
        if options.has(*unless.split()) or (when and not options.has(*when.split())):
            return OPAQUE
        return _rewritten(options.operands)

    return read


def _rewritten(operands: Sequence[Word]) -> Reading:
    """Files, directories, and patterns the formatter expands itself where the shell was kept from it by quotes."""
    words = [replace(word, glob=word.glob or any(c in (word.value or "") for c in "*?[")) for word in operands]
    return Writes().add(words, WriteKind.FORMAT, tree=True).reading(opaque=True)


def _ruff(call: Call) -> Reading:
    values = [word.value for word in call.words]
    options = read_options(
        call.words[1:], "--select --ignore --config --target-version --line-length -o --output-format"
    )
    fixing = values[:1] == ["check"] and options.has("--fix", "--fix-only")
    formatting = values[:1] == ["format"] and not options.has("--check", "--diff")
    if not fixing and not formatting:
        return OPAQUE
    return _rewritten(options.operands)


def _line_editor(call: Call) -> Reading:
    """ed, ex, vi: the file operands, unless they are opened read-only."""
    options = read_options(call.words, "-c -S -u -U -T -p --cmd -w -W -i")
    if options.has("-R", "-M", "--version", "--help"):
        return OPAQUE
    return (
        Writes().add(word for word in options.operands if not (word.value or "").startswith("+")).reading(opaque=True)
    )


_EDITORS = ("ed", "red", "ex", "vi", "vim", "nvim", "vim.tiny", "emacs", "nano", "joe", "micro")

TABLE: Table = {
    "clang-format": _formats("-style --style --assume-filename", when="-i"),
    "clang-tidy": _formats("-p -checks --checks", when="-fix --fix --fix-errors"),
    "black": _formats("-l -t --line-length --target-version --config --include --exclude -c --code"),
    "isort": _formats("--profile -l --line-length -p -o", unless="--check --check-only --diff -c --version"),
    "autopep8": _formats("--select --ignore --max-line-length", when="-i --in-place"),
    "yapf": _formats("--style -e", when="-i --in-place"),
    "autoflake": _formats("--imports", when="-i --in-place"),
    "ruff": _ruff,
    "gofmt": _formats("-r -d", when="-w"),
    "goimports": _formats("-local", when="-w"),
    "rustfmt": _formats("--edition --config --emit --config-path"),
    "prettier": _formats("--config --parser --plugin", when="--write -w"),
    "eslint": _formats("-c --config --ext -f --format --rule -o", when="--fix"),
    "stylua": _formats("--config-path"),
    "shfmt": _formats("-i -ln -ci -bn", when="-w --write"),
    "indent": _formats("-o"),
    "astyle": _formats("--style"),
    "uncrustify": _formats("-c -l", when="--replace --no-backup"),
    "swiftformat": _formats("--config --rules", unless="--lint --dryrun --version"),
    "google-java-format": _formats("", when="-i --replace"),
    "ktlint": _formats("", when="-F --format"),
    "cmake-format": _formats("-c", when="-i --in-place"),
    **dict.fromkeys(_EDITORS, _line_editor),
}
