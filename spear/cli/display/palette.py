"""Named styles and what they look like: sixteen colours, bold only, or nothing at all (spec 8.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

_RESET = "\x1b[0m"
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Style(StrEnum):
    """What a piece of text means; never what colour it has."""

    TITLE = "title"
    ACCENT = "accent"
    MUTED = "muted"
    OK = "ok"
    BAD = "bad"
    WARN = "warn"
    ADDED = "added"
    REMOVED = "removed"
    HUNK = "hunk"
    REQUEST = "request"


_DARK = {
    Style.TITLE: "1", Style.ACCENT: "36", Style.MUTED: "90", Style.OK: "32", Style.BAD: "31", Style.WARN: "33",
    Style.ADDED: "32", Style.REMOVED: "31", Style.HUNK: "36", Style.REQUEST: "1;36",
}  # fmt: skip
_LIGHT = {**_DARK, Style.ACCENT: "34", Style.HUNK: "34", Style.WARN: "35", Style.REQUEST: "1;34"}
_MONO = {Style.TITLE: "1", Style.OK: "1", Style.BAD: "1", Style.WARN: "1", Style.REQUEST: "1"}


@dataclass(frozen=True, slots=True)
class Palette:
    """Paints text that has been filtered already. `plain` paints nothing; `colour` tells whether colours are used."""

    codes: Mapping[Style, str]
    colour: bool
    plain: bool = False

    def paint(self, style: Style, text: str) -> str:
        """`text` in a style, each line by itself so that a style never runs over a line's end."""
        code = self.codes.get(style, "")
        if not code:
            return text
        return "\n".join(f"\x1b[{code}m{line}{_RESET}" if line else line for line in text.split("\n"))


PLAIN = Palette(MappingProxyType({}), colour=False, plain=True)
"""No control sequence at all: `--plain`, `TERM=dumb`, output that is no terminal."""


def palette_of(theme: str, environ: Mapping[str, str], *, plain: bool) -> Palette:
    """The palette of a terminal. `NO_COLOR` counts when it is not empty; it leaves bold alone."""
    if plain or environ.get("TERM", "dumb") == "dumb":
        return PLAIN
    if environ.get("NO_COLOR") or theme == "mono":
        return Palette(MappingProxyType(_MONO), colour=False)
    return Palette(MappingProxyType(_LIGHT if theme == "light" else _DARK), colour=True)


def unpainted(text: str) -> str:
    """Painted text without its styles."""
    return _ESCAPES.sub("", text)
