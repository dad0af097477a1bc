"""How full the context window is: the server's own figure where it can be believed, an estimate for the rest.

The estimate must not undercount, because a request that does not fit is lost (spec: coding core, loop 6). Its weights
are fitted to the greediest of five tokenizers (a 32k SentencePiece model, Tekken, DeepSeek, cl100k, o200k): on prose,
code, JSON, logs, hex dumps and Chinese, Japanese and Korean text it stays within a tenth below the largest count and
up to twice the smallest. Uniformly random rare ideographs are the known exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from spear.agent.messages import Image, Message, ToolSchema

_PIECE = re.compile(
    r"(?=[A-Za-z+]{0,31}[0-9])[A-Za-z0-9+]{32,}"  # keys, digests, encoded bytes
    r"|[A-Z]?[a-z]+|[A-Z]+|[0-9]|  +|[\t\n\r\f\v]+|[!-/:-@\[-`{-~]+|[^\x00-\x7f]"
)
_MESSAGE_OVERHEAD = 8
_CALL_OVERHEAD = 16
_IMAGE_LEAST, _IMAGE_MOST, _PIXELS_A_TOKEN = 256, 4096, 500
_SHORTEST_CLIP = 400
_BELIEVABLE = 3
"""A server figure below a third of the estimate counts something else (only uncached tokens, say)."""


def estimate(text: str) -> int:
    """Tokens of `text`, rounded up; linear in its length."""
    return int(sum(map(_weight, _PIECE.findall(text)))) + 1 if text else 0


def message_tokens(message: Message) -> int:
    """Tokens of one message with its frame, its calls and any reasoning it carries."""
    total = _MESSAGE_OVERHEAD + estimate(message.content) + estimate(message.reasoning)
    total += sum(map(image_tokens, message.images))
    for call in message.tool_calls:
        total += _CALL_OVERHEAD + estimate(call.name) + estimate(call.arguments)
    return total


def image_tokens(image: Image) -> int:
    """Tokens an image takes, by its size: what the greedier providers count, which scale large ones down."""
    return min(_IMAGE_MOST, max(_IMAGE_LEAST, image.width * image.height // _PIXELS_A_TOKEN))


def schema_tokens(schemas: Iterable[ToolSchema]) -> int:
    """Tokens the offered tools take."""
    return sum(estimate(s.name + s.description + json.dumps(s.parameters)) + _CALL_OVERHEAD for s in schemas)


class Gauge:
    """Tokens of the next request, kept as a running sum: a round costs only what it added."""

    def __init__(self, messages: Sequence[Message], schemas: Iterable[ToolSchema]) -> None:
        self._estimated = sum(map(message_tokens, messages)) + schema_tokens(schemas)
        self._correction = 0

    @property
    def tokens(self) -> int:
        """The best figure for what is in the conversation now, tools included."""
        return self._estimated + self._correction

    def add(self, message: Message) -> None:
        """A message was appended."""
        self._estimated += message_tokens(message)

    def reported(self, input_tokens: int | None) -> None:
        """The server counted the request just answered; nothing may have been added since it was sent."""
        if input_tokens is not None and input_tokens * _BELIEVABLE >= self._estimated:
            self._correction = input_tokens - self._estimated


def clip(text: str, room: int) -> str:
    """`text`, or its head and tail where it takes more than `room` tokens, saying how much is missing."""
    size = estimate(text)
    if size <= room or len(text) <= _SHORTEST_CLIP:
        return text
    keep = max(_SHORTEST_CLIP, len(text) * max(room, 0) // size)
    head, tail = _whole_lines(text[: keep * 3 // 5], text[len(text) - keep * 2 // 5 :])
    missing = len(text) - len(head) - len(tail)
    note = f"[… {missing} characters omitted here: they do not fit the context window; ask for a smaller part …]"
    return f"{head}\n{note}\n{tail}"


def _whole_lines(head: str, tail: str) -> tuple[str, str]:
    """Head and tail cut at the ends of lines, where they have lines of an ordinary length."""
    end, begin = head.rfind("\n"), tail.find("\n")
    head = head[:end] if end > len(head) - _SHORTEST_CLIP // 2 else head
    return head, tail[begin + 1 :] if 0 <= begin < _SHORTEST_CLIP // 2 else tail


def _weight(piece: str) -> float:
    first, length = piece[0], len(piece)
    if first > "\x7f":
        return _foreign(first)
    if length >= 32 and not piece.isalpha() and piece.replace("+", "0").isalnum():
        return 0.82 * length
    if first.isalpha():
        if piece[-1] < "a":
            return 0.65 + 0.35 * length
        return 0.83 + 0.17 * length + 0.4 * max(0, length - 12)
    if first <= " " or first.isdigit() or length < 3:
        return 1.0
    if piece == first * length:
        return 1 + length / 16
    return 0.75 * length - 0.5


def _foreign(character: str) -> float:
    """Upper bounds in ascending order of code point: accented Latin (which also breaks the word around it), Greek,
    Cyrillic, other alphabets, symbols, Chinese and Japanese, Korean and the rest, emoji."""
    for end, weight in _FOREIGN:
        if character < end:
            return weight
    return 4.4


_FOREIGN = (
    ("\u0100", 2.2),
    ("\u0250", 3.5),
    ("\u0400", 1.1),
    ("\u0530", 0.6),
    ("\u2000", 1.1),
    ("\u3000", 1.7),
    ("\ua000", 1.3),
    ("\U00010000", 1.5),
)
