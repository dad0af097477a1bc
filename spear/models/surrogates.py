"""Lone surrogates: text that cannot be encoded never reaches the wire, and never enters the conversation."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def mend(text: str) -> str:
    """`text` with split surrogate pairs joined and lone surrogates replaced by U+FFFD.

    Servers that escape their JSON cut an emoji into two deltas, and each half decodes to a lone surrogate.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def split_pending(text: str) -> tuple[str, str]:
    """`(ready, pending)`: a high surrogate at the end waits for its other half."""
    if text and "\ud800" <= text[-1] <= "\udbff":
        return text[:-1], text[-1]
    return text, ""
