"""The filter between anything a model, a tool or a file said and a terminal (spec 8.2).

Control sequences never reach the terminal: escape sequences go whole, other C0 and C1 controls one by one, and the
characters that reorder or hide text are shown by name. Newline and tab stay.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]P_^X][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, APC, PM, SOS
    r"|\x9b[0-?]*[ -/]*[@-~]"  # 8-bit CSI
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # 8-bit strings
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HIDDEN = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff\u061c\U000e0000-\U000e007f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` as it may be shown. Idempotent; carriage returns before a newline are dropped."""
    text = text.replace("\r\n", "\n")
    text = _SEQUENCE.sub("", text)
    text = _CONTROL.sub("", text)
    return _named(text)


def escaped(text: str) -> str:
    """`text` with every control written out (`\\x1b`): for a person who judges what will happen."""
    return _named(_CONTROL.sub(lambda m: f"\\x{ord(m.group()):02x}", text))


def one_line(text: str, width: int = 100) -> str:
    """`text` on one line of at most `width` characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"


def _named(text: str) -> str:
    text = _SURROGATE.sub("\ufffd", text)
    return _HIDDEN.sub(lambda m: f"<U+{ord(m.group()):04X}>", text)
