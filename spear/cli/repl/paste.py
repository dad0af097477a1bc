"""Long pastes and dropped images as placeholders: one character in the editor, whole text when submitted (spec 8.2).

A placeholder is one private-use character, so every editing command treats it as one unit; the screen shows it as
`[Pasted text #1, 42 lines]`, or `[image: shot.png, 640×480]` for a path a terminal writes when a file is dropped on it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

LONG_CHARACTERS = 1000
LONG_LINES = 15

_FIRST, _LAST = 0xF0000, 0xFFFFD
_MARK = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_PATHS = ("/", "'/", '"/', "file:///")
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_SURROGATE = re.compile("[\ud800-\udfff]")


class PasteStore:
    """The long pastes of a session, by placeholder. Texts are kept as they were pasted, line ends made `\\n`."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._images: dict[str, str] = {}

    def take(self, text: str) -> str:
        """What to insert for a paste: the text itself, or a placeholder for a long one or for an image's path."""
        text = normal(text)
        if (found := _dropped(text)) is not None and len(self._texts) <= _LAST - _FIRST:
            mark = chr(_FIRST + len(self._texts))
            self._texts[mark], self._images[mark] = found
            return mark
        if len(text) <= LONG_CHARACTERS and text.count("\n") < LONG_LINES:
            return text
        if len(self._texts) > _LAST - _FIRST:
            return text
        mark = chr(_FIRST + len(self._texts))
        self._texts[mark] = text
        return mark

    def expand(self, text: str) -> str:
        """`text` with every known placeholder replaced by what was pasted; done once, never into pasted text."""
        return _MARK.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def label(self, character: str) -> str:
        """How a placeholder is shown; "" for any other character."""
        text = self._texts.get(character)
        if text is None or character in self._images:
            return self._images.get(character, "")
        number = ord(character) - _FIRST + 1
        lines = text.count("\n") + 1
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        return f"[Pasted text #{number}, {size}]"


def _dropped(text: str) -> tuple[str, str] | None:
    """The reference to an image whose path was pasted, and how it is shown; None for any other text."""
    text = text.strip()
    if "\n" in text or not text.startswith(_PATHS) or not text.rstrip("'\"").lower().endswith(_SUFFIXES):
        return None
    from spear.cli.pictures import is_picture, size_of

    path = Path(_unescaped(text))
    if not is_picture(path) or '"' in str(path):
        return None
    width, height = size_of(path)
    return f'@"{path}" ', f"[image: {path.name}, {width}×{height}]"


def _unescaped(text: str) -> str:
    """A path as terminals write one: quoted, with escaped spaces, or as a `file:` address."""
    if text.startswith("file://"):
        return unquote(text.removeprefix("file://"))
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


def normal(text: str) -> str:
    """Pasted text as it enters the editor: one kind of line end, no half characters."""
    return _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
