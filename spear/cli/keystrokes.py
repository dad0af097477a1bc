"""Keys as a person writes them in `[keys]`, and the names the terminal library has for them (spec 8.2).

Imports nothing: the prompt is drawn with the default keys before any setting is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "newline": ("ctrl-j", "alt-enter"),
    "stop": ("escape",),
    "rewind": ("escape escape",),
    "exit": ("ctrl-d",),
    "steer": ("ctrl-s",),
    "mode": ("shift-tab",),
    "expand": ("ctrl-o",),
    "editor": ("ctrl-x ctrl-e",),
}
"""What can be given other keys, and the keys it has where nobody says otherwise."""

RESERVED: Mapping[str, str] = {
    "enter": "Enter submits",
    "tab": "Tab completes",
    "ctrl-c": "Ctrl+C interrupts",
    "ctrl-r": "Ctrl+R searches the history",
    "ctrl-z": "Ctrl+Z is job control's",
    "up": "the arrows move",
    "down": "the arrows move",
    "left": "the arrows move",
    "right": "the arrows move",
}
"""Keys that stay what they are, and why."""

_NAMED = {
    "home": "home", "end": "end", "insert": "insert", "delete": "delete", "backspace": "backspace",
    "pageup": "pageup", "pagedown": "pagedown", "escape": "escape", "shift-tab": "s-tab",
    **{f"f{number}": f"f{number}" for number in range(1, 21)},
    **{f"ctrl-{letter}": f"c-{letter}" for letter in "abdefghjklnopqstuvwxy"},
    **{f"ctrl-{sign}": f"c-{sign}" for sign in "\\]_"},
    **{
        f"{modifier}-{name}": f"{short}-{name}"
        for modifier, short in (("ctrl", "c"), ("shift", "s"))
        for name in ("up", "down", "left", "right", "home", "end", "insert", "delete", "pageup", "pagedown")
    },
}  # fmt: skip
_ALIASES = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete", "ins": "insert"}
_PREFIXES = {"control": "ctrl", "c": "ctrl", "meta": "alt", "m": "alt", "s": "shift"}
_WITH_ALT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789") | {"enter"}
_SHOWN = {"escape": "Esc", "pageup": "PageUp", "pagedown": "PageDown"}


def canonical(text: str) -> str:
    """One spelling of a key or of a sequence of keys: `Ctrl+S` and `C-s` are `ctrl-s`.

    Raises ValueError with what is accepted for a key nobody knows, and for one that stays what it is.
    """
    strokes = [_stroke(part) for part in text.split()]
    if not strokes:
        raise ValueError("Input should be a key such as ctrl-s; write [] for none")
    for stroke in strokes:
        if stroke in RESERVED:
            raise ValueError(f"Input should be another key: {RESERVED[stroke]}")
    return " ".join(strokes)


def sequence(text: str) -> tuple[str, ...]:
    """The terminal library's names for a canonical key or sequence."""
    found: list[str] = []
    for stroke in text.split():
        rest = stroke.removeprefix("alt-")
        if rest != stroke:
            found.append("escape")
        found.append(rest if len(rest) == 1 or rest == "enter" else _NAMED[rest])
    return tuple(found)


def shown(text: str) -> str:
    """A canonical key or sequence as help pages write it: `Ctrl+X Ctrl+E`."""
    return " ".join("+".join(_SHOWN.get(part, part.capitalize()) for part in _split(stroke)) for stroke in text.split())


def clashes(keys: Mapping[str, Iterable[str]]) -> tuple[str, str, str] | None:
    """The first key that two actions have: the key and the actions."""
    taken: dict[tuple[str, ...], tuple[str, str]] = {}
    for action, texts in keys.items():
        for text in texts:
            other, _ = taken.setdefault(sequence(text), (action, text))
            if other != action:
                return text, other, action
    return None


def _stroke(part: str) -> str:
    *modifiers, last = part.lower().replace("+", "-").split("-")
    name = "-".join([*(_PREFIXES.get(word, word) for word in modifiers), _ALIASES.get(last, last)])
    bare = name.removeprefix("alt-")
    if name in _NAMED or name in RESERVED or (bare != name and (bare in _NAMED or bare in _WITH_ALT)):
        return name
    if len(part) == 1:
        raise ValueError(f"Input should be a key that writes nothing, such as ctrl-s or f5; {part} writes itself")
    raise ValueError(f"Input should be a key such as ctrl-s, alt-enter or f5, or several as ctrl-x ctrl-e; not {part}")


def _split(stroke: str) -> list[str]:
    head, _, last = stroke.rpartition("-")
    return [*head.split("-"), last] if head else [last]
