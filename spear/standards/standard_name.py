"""What a stored standard is called: an id and a revision, each one word that can be a directory (spec 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from spear.errors import UsageError
from spear.state.directory import safe_name


@dataclass(frozen=True, slots=True, order=True)
class StandardName:
    """One revision of one standard. Made by `of` from words of an operator or a file."""

    id: str
    revision: str

    @classmethod
    def of(cls, id_: str, revision: str) -> StandardName:
        """The name of these words. Raises UsageError for what cannot be a directory's name."""
        return cls(_word("id", id_), _word("revision", revision))

    def __str__(self) -> str:
        return f"{self.id} {self.revision}"


def _word(what: str, word: str) -> str:
    try:
        return safe_name(word)
    except ValueError as error:
        raise UsageError(
            f"{word!r} cannot be the {what} of a standard",
            hint="letters, digits and _ . + @ - , 128 at most, the first a letter, a digit or _: RFC9293, 3.0, 2022-08",
        ) from error
