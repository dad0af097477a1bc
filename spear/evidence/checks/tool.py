"""How one row of a family's table is read: subcommands, options that void, options that select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind, Scope

VOIDING: Mapping[str, CheckCode] = {
    "--help": CheckCode.LISTING,
    "-h": CheckCode.LISTING,
    "--version": CheckCode.LISTING,
    "--list": CheckCode.LISTING,
    "--dry-run": CheckCode.DRY_RUN,
    "--dryrun": CheckCode.DRY_RUN,
    "--no-run": CheckCode.TESTS_SKIPPED_BY_FLAG,
}
"""Options that void any tool's run."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool whose command line says what it does.

    `subcommands` maps the first word that is no option to kinds ("" for none that count); with `many`, every word is
    one (mvn, gradle). `default` are the kinds without a subcommand. `voids` are further voiding options. `valued`
    are options whose value is the next word. `selecting` are options (valued or not) that narrow the run; words after
    the subcommand narrow it too when `words_select`. `drops` are options (or `-x word` pairs) that take kinds away.
    `writes` are options or subcommands that change the source; `dry_writes` are options that keep them from it.
    """

    subcommands: Mapping[str, str] = field(default_factory=dict)
    default: str = ""
    many: bool = False
    voids: Mapping[str, CheckCode] = field(default_factory=dict)
    valued: frozenset[str] = frozenset()
    selecting: frozenset[str] = frozenset()
    words_select: bool = False
    drops: Mapping[str, str] = field(default_factory=dict)
    writes: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()
    directory: frozenset[str] = frozenset()
    scope: Scope = Scope.PROJECT

    def read(self, invocation: Invocation, facts: ProjectFacts) -> Finding | None:
        """What this invocation is; None when it is no check at all."""
        line = _Line.of(invocation.args, self)
        found = self._kinds(line.words)
        void = self._void(line.options)
        writes = bool(self.writes & {*line.options, *line.words[:1]}) and not self.keeps & set(line.options)
        if not found and not writes and void is None:
            return None
        dropped = kinds("".join(letters for flag, letters in self.drops.items() if flag in line.flags))
        if dropped and found and found <= dropped | {CheckKind.BUILD} and CheckKind.TEST in found and not self.many:
            void = void or CheckCode.TESTS_SKIPPED_BY_FLAG
        found -= dropped
        if not found and not writes:
            void = void or CheckCode.TESTS_SKIPPED_BY_FLAG
        rest = line.words if not self.subcommands else line.words[1:]
        selectors = tuple(line.selectors) + (tuple(rest) if self.words_select else ())
        cwd = invocation.cwd if line.directory is None else facts.place(line.directory, invocation.cwd)
        paths = tuple(path for word in rest if (path := facts.place(word, cwd)) is not None)
        scope = Scope.SELECTION if selectors and self.scope is Scope.PROJECT else self.scope
        if writes:
            found = frozenset()
        return Finding(invocation.name, found, scope, selectors, paths, cwd, void, writes)

    def _kinds(self, words: tuple[str, ...]) -> frozenset[CheckKind]:
        if not self.subcommands or not words:
            return kinds(self.default)
        named = words if self.many else words[:1]
        letters = "".join(
            self.subcommands.get(word.rsplit(":", 1)[-1], self.subcommands.get("*", "")) for word in named
        )
        return kinds(letters)

    def _void(self, options: tuple[str, ...]) -> CheckCode | None:
        for option in options:
            code = self.voids.get(option) or (None if option in self.valued else VOIDING.get(option))
            if code is not None:
                return code
        return None


@dataclass(frozen=True, slots=True)
class _Line:
    """A command line taken apart: option names (without `=value`), whole flags, plain words, selections."""

    options: tuple[str, ...]
    flags: frozenset[str]
    words: tuple[str, ...]
    selectors: tuple[str, ...]
    directory: str | None

    @classmethod
    def of(cls, args: tuple[str | None, ...], tool: Tool) -> _Line:
        options: list[str] = []
        flags: set[str] = set()
        words: list[str] = []
        selectors: list[str] = []
        directory: str | None = None
        for option, value in _pairs(args, tool):
            if not option:
                words.append(value or "?")
                continue
            options.append(option)
            flags |= {option} if value is None else {option, f"{option}={value}", f"{option} {value}"}
            if option in tool.selecting:
                selectors.append(f"{option}={value or ''}")
            if option in tool.directory:
                directory = value
        return cls(tuple(options), frozenset(flags), tuple(words), tuple(selectors), directory)


def _pairs(args: tuple[str | None, ...], tool: Tool) -> Iterator[tuple[str, str | None]]:
    """(option, value) pairs; ("", word) for a plain word. After `--` every word is plain, but for those that start
    with a dash, which are another program's options."""
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg is None:
            yield "", None
        elif arg == "--":
            yield from (("", word) for word in rest if word is None or not word.startswith("-"))
            return
        elif not arg.startswith("-") or arg == "-":
            yield "", arg
        elif arg in tool.valued:
            yield arg, (rest.pop(0) or "?") if rest else ""
        elif "=" in arg:
            name, _, value = arg.partition("=")
            yield name, value
        else:
            yield arg, None
