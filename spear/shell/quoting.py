"""The text inside shell quotes: what `$'…'`, double quotes and backslashes stand for."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})"
    r"|U(?P<long>[0-9a-fA-F]{1,8})|c(?P<control>.)|(?P<plain>.))",
    re.DOTALL,
)
_PLAIN = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def ansi_c(text: str) -> str:
    """The value of `$'text'`. Bytes above 127 written by number are read as UTF-8, as the shell passes them on."""
    decoded = _ANSI.sub(_ansi_character, text)
    if any("\x80" <= character <= "\xff" for character in decoded):
        try:
            return decoded.encode("latin-1").decode("utf-8")
        except UnicodeError:
            return decoded
    return decoded.split("\0", 1)[0]


def _ansi_character(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8) & 0xFF)
    for group in ("hex", "short", "long"):
        if match[group]:
            code = int(match[group], 16)
            return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    if match["control"]:
        return chr(ord(match["control"]) & 0x1F) if match["control"].isascii() else "\ufffd"
    return _PLAIN.get(match["plain"], match[0])


def double_quoted(text: str) -> str:
    """A literal stretch inside double quotes: a backslash is taken off only before `$`, backquote, `"` and `\\`."""
    return re.sub(r"\\(?:([$`\"\\])|\n)", lambda match: match[1] or "", text)


def here_document(text: str) -> str:
    """A literal stretch of an unquoted here-document: like double quotes, but `\\"` stays."""
    return re.sub(r"\\(?:([$`\\])|\n)", lambda match: match[1] or "", text)
