"""Options and operands of a command line, by a table of which options take a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spear.shell.syntax import Word


@dataclass(frozen=True, slots=True)
class Options:
    """A command line read. `given` maps each option as spelled in the table to its values (a bare Word for none).

    `unknown` says that a word could not be known, so an option may hide in it.
    """

    given: tuple[tuple[str, Word], ...]
    operands: tuple[Word, ...]
    unknown: bool = False

    def has(self, *names: str) -> bool:
        """Whether any of the options is present."""
        return any(name in names for name, _ in self.given)

    def values(self, *names: str) -> tuple[Word, ...]:
        """The values of these options, in order."""
        return tuple(value for name, value in self.given if name in names)

    def last(self, *names: str) -> Word | None:
        """The last value of these options."""
        return next(reversed(self.values(*names)), None)


NOTHING = Word("", "")


def read_options(
    words: Sequence[Word], valued: str = "", optional: str = "", flags: str = "", *, stop_early: bool = False
) -> Options:
    """Read the words after the command's name as getopt_long would.

    `valued` lists options that need a value (`-o --output`), `optional` those whose value must be joined (`-i`,
    `--in-place`), `flags` long options without a value, for abbreviations. Short options cluster. `stop_early` ends
    options at the first operand.
    """
    table = _Table(frozenset(valued.split()), frozenset(optional.split()), frozenset(flags.split()))
    given: list[tuple[str, Word]] = []
    operands: list[Word] = []
    index, unknown = 0, False
    while index < len(words):
        word = words[index]
        text = word.value
        index += 1
        if text is None:
            unknown = True
            operands.append(word)
        elif text == "--":
            operands.extend(words[index:])
            break
        elif text.startswith("--"):
            index += table.long(text, words, index, given)
        elif text.startswith("-") and len(text) > 1:
            index += table.short(text, words, index, given)
        else:
            operands.append(word)
            if stop_early:
                operands.extend(words[index:])
                break
    return Options(tuple(given), tuple(operands), unknown)


@dataclass(frozen=True, slots=True)
class _Table:
    valued: frozenset[str]
    optional: frozenset[str]
    flags: frozenset[str]

    def long(self, text: str, words: Sequence[Word], index: int, given: list[tuple[str, Word]]) -> int:
        """Read one long option; how many further words it took."""
        spelled, joined, value = text.partition("=")
        name = self._full(spelled)
        if joined:
            given.append((name, Word(value, text)))
            return 0
        if name in self.valued:
            given.append((name, words[index] if index < len(words) else NOTHING))
            return 1
        given.append((name, NOTHING))
        return 0

    def short(self, text: str, words: Sequence[Word], index: int, given: list[tuple[str, Word]]) -> int:
        """Read one cluster of short options; how many further words it took."""
        for place in range(1, len(text)):
            name, rest = "-" + text[place], text[place + 1 :]
            if name in self.optional:
                given.append((name, Word(rest, text)))
                return 0
            if name in self.valued:
                if rest:
                    given.append((name, Word(rest, text)))
                    return 0
                given.append((name, words[index] if index < len(words) else NOTHING))
                return 1
            given.append((name, NOTHING))
        return 0

    def _full(self, spelled: str) -> str:
        known = self.valued | self.optional | self.flags
        if spelled in known:
            return spelled
        matching = [name for name in known if name.startswith(spelled)]
        return matching[0] if len(matching) == 1 else spelled
