"""How much of the context window the results of tools may take: one result, one page of a file, all those of a message.

A turn stops at half of its window (spec: coding core, loop 6). What one message brings must leave room for the next, so
that no single output ends a turn in a small window; a result that is cut says how to get the rest. Tokens are estimates
that never undercount (`window.estimate`).
"""

from __future__ import annotations

from dataclasses import dataclass

_PAGE_CHARACTERS, _RESULT_CHARACTERS = 100_000, 50_000
_MESSAGE_TOKENS = 50_000


@dataclass(frozen=True, slots=True)
class Room:
    """`page` and `found` are characters: a page of a file, a page of search results. `output` is tokens, what a command
    printed; `message` is tokens, all results of one message."""

    page: int = _PAGE_CHARACTERS
    found: int = _RESULT_CHARACTERS
    output: int = _MESSAGE_TOKENS
    message: int = _MESSAGE_TOKENS


def room_in(window: int, used: int = 0) -> Room:
    """What a window of `window` tokens leaves to results while `used` are taken.

    A message may take seven eighths of what is left until half of the window; a page of a file as much, any other
    result half of that. A sixteenth of the window is left to each, so that a turn near its end comes to it instead of
    reading in crumbs. Code with its line numbers takes two to two and three quarters characters a token.
    """
    message = max((window // 2 - used) * 7 // 8, window // 16)
    return Room(
        page=min(message * 9 // 4, window * 6 // 7, _PAGE_CHARACTERS),
        found=min(message * 9 // 8, _RESULT_CHARACTERS),
        output=min(message // 2, _MESSAGE_TOKENS),
        message=min(message, _MESSAGE_TOKENS),
    )
