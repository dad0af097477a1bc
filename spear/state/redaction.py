"""Keeping secrets out of every file the product writes (spec 3.8).

Two kinds are replaced by `[redacted]`: the values of the host's own secret variables, wherever they appear, and text
in the shape of a secret (spec 3.8's list). Placeholders and code (`api_key=api_key,`, `$TOKEN`) stay as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from spear.state.secret_shapes import FLAG, MARKER, RULES, is_placeholder, names_a_secret

_SHORTEST = 6
_SHORTEST_OF_ENVIRONMENT = 8
_ROUNDS = 8
_SHORT = 48
_REMEMBERED = 1024


class Redactor:
    """Replaces secrets in texts and JSON values. Immutable; redacting twice is redacting once.

    `known_values` are secrets to be found wherever they stand, plain or percent-encoded; those shorter than six
    characters are not looked for, they would blank ordinary text.
    """

    def __init__(self, known_values: Iterable[str] = ()) -> None:
        values = {value for value in known_values if len(value) >= _SHORTEST and value not in MARKER}
        values |= {quote(value, safe="") for value in values}
        ordered = sorted(values, key=lambda value: (-len(value), value))
        self._values = tuple(ordered)
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None
        # Keys, names and words come again with every record.
        self._remembered = lru_cache(_REMEMBERED)(self._redacted)

    @classmethod
    def of_environment(cls, environ: Mapping[str, str], also: Iterable[str] = ()) -> Redactor:
        """A redactor for the host's variables that name a secret, and the variables named in `also`."""
        return cls(secret_values(environ, also))

    def own(self, text: str) -> str:
        """`text` without the known values only: what may be done to text for the model (spec 3.8)."""
        if self._known is None or not any(value in text for value in self._values):
            return text
        return self._known.sub(MARKER, text)

    def text(self, text: str) -> str:
        """`text` with every secret replaced."""
        return self._remembered(text) if len(text) <= _SHORT else self._redacted(text)

    def _redacted(self, text: str) -> str:
        for _ in range(_ROUNDS):
            redacted = self._once(text)
            if redacted == text:
                return text
            text = redacted
        return text

    def data(self, value: Any) -> Any:
        """A JSON value with every secret replaced: in strings, in keys, under a key that names a secret, and behind a
        flag in a list of arguments. What is not JSON becomes its text, so that the result can always be written.
        """
        match value:
            case None | bool():
                return value
            case str():
                return self.text(str(value))
            case int():
                return int(value)
            case float():
                return value if math.isfinite(value) else str(value)
            case Mapping():
                return {self.text(str(key)): self._member(str(key), member) for key, member in value.items()}
            case list() | tuple():
                return self._items(value)
            case set() | frozenset():
                return self._items(sorted(map(str, value)))
            case _:
                return self.text(str(value))

    def _member(self, key: str, member: Any) -> Any:
        if isinstance(member, str) and names_a_secret(key) and not is_placeholder(key, member):
            return MARKER
        return self.data(member)

    def _items(self, items: Sequence[Any]) -> list[Any]:
        redacted = [self.data(item) for item in items]
        for position, item in enumerate(items[:-1]):
            value = items[position + 1]
            if (
                isinstance(item, str)
                and isinstance(value, str)
                and FLAG.fullmatch(item)
                and not value.startswith("-")
                and not is_placeholder(item, value)
            ):
                redacted[position + 1] = MARKER
        return redacted

    def _once(self, text: str) -> str:
        text = self.own(text)
        lowered = text.lower()
        for rule in RULES:
            searched = text if rule.exact else lowered
            for trigger in rule.triggers:  # a loop, not any(): this runs for every string of every record
                if trigger in searched:
                    text = rule.apply(text)
                    break
        return text


def secret_values(environ: Mapping[str, str], also: Iterable[str] = ()) -> frozenset[str]:
    """The values of the variables that hold secrets: by name, by the password in a URL, or because `also` names them.

    Paths, switches and short words are no secrets, whatever the variable is called.
    """
    named = frozenset(also)
    found = set()
    for name, value in environ.items():
        secret = name in named or (names_a_secret(name) and len(value) >= _SHORTEST_OF_ENVIRONMENT)
        if secret and not is_placeholder(name, value):
            found.add(value)
        password = re.match(r"[A-Za-z][\w+.-]*://[^\s/:@]*:([^\s/]+)@", value)
        if password and not is_placeholder(name, password[1]):
            found.add(password[1])
    return frozenset(found)
