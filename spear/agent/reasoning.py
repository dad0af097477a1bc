"""Private reasoning written into the text by a model: takes it out of whole answers and out of streams.

Models that think aloud wrap it in tags (`<think>…</think>` and kin), and some write tool calls as text in the
same manner. Both are kept out of answers and out of evidence (spec: coding core, loop 5). What counts:

* an opening tag at the start of the text or of a line; unclosed, everything after it is reasoning;
* a closed pair within a line;
* a closing tag whose opening tag stood in the prompt: what stands before it is reasoning (whole texts only; a
  stream has already shown it and drops the tag alone).

A tag in a fenced block, or right after a backtick or quotation mark, is text about tags and stays.
"""

from __future__ import annotations

import re

_NAMES = (
    "think",
    "thinking",
    "reasoning",
    "thought",
    "reasoning_scratchpad",
    "tool_call",
    "tool_calls",
    "function_call",
    "function_calls",
)
_TAG = re.compile(rf"<(/?)({'|'.join(_NAMES)})\s{{0,8}}>", re.IGNORECASE)
_PARTIAL = re.compile(r"<(/?)([a-z_]{0,24})(\s{0,8})\Z", re.IGNORECASE)
_LONGEST_PARTIAL = 40
_QUOTES = "`\"'"
_FENCES = ("```", "~~~")


def strip(text: str) -> tuple[str, str]:
    """`(visible, reasoning)` of a whole text. A text without such tags is returned unchanged."""
    scrubber = Scrubber()
    visible = scrubber.feed(text) + scrubber.finish()
    hidden = scrubber.reasoning
    before, after = visible[: scrubber.orphan_end], visible[scrubber.orphan_end :]
    if before and after.strip():
        return after.lstrip(), "\n".join(part for part in (before.strip(), hidden) if part)
    return visible, hidden


class Scrubber:
    """The same rules for text that arrives in pieces; however it is cut, the same text is shown.

    Text that may be the beginning of a tag is held back until it is known. One scrubber serves one message.
    """

    def __init__(self) -> None:
        self.orphan_end = 0
        """Length of the visible text before the last closing tag that closed nothing."""
        self._hidden: list[str] = []
        self._pending = ""
        self._block: _Block | None = None
        self._final = False
        self._shown = 0
        self._swallow = False
        self._line = _Line()

    @property
    def reasoning(self) -> str:
        """What was taken out so far, blocks joined by newlines."""
        return "\n".join(part for part in self._hidden if part)

    def feed(self, delta: str) -> str:
        """The part of the text that may be shown now."""
        self._pending += delta
        return self._scan()

    def finish(self) -> str:
        """The end of the message: what was held back and turned out to be text."""
        self._final = True
        shown = ""
        if self._block and not self._block.anchored:
            raw = self._block.raw()
            opening, self._block = self._block.opening, None
            shown = self._show(opening)
            self._pending = raw[len(opening) :] + self._pending
        shown += self._scan()
        if self._block:
            self._hidden.append((self._block.inner() + self._pending).strip())
            self._block, self._pending = None, ""
        return shown

    def _scan(self) -> str:
        shown: list[str] = []
        while self._step(shown):
            pass
        return "".join(shown)

    def _step(self, shown: list[str]) -> bool:
        """Consume up to one tag of what is pending; false when more input is needed."""
        match = _TAG.search(self._pending)
        if match is None:
            cut = len(self._pending) if self._final else _safe_length(self._pending)
            self._take(self._pending[:cut], shown)
            self._pending = self._pending[cut:]
            return False
        self._take(self._pending[: match.start()], shown)
        self._pending = self._pending[match.end() :]
        self._tag(match, shown)
        return True

    def _take(self, text: str, shown: list[str]) -> None:
        if self._block:
            self._block.parts.append(text)
        else:
            shown.append(self._show(text))

    def _tag(self, match: re.Match[str], shown: list[str]) -> None:
        tag, closing, name = match[0], bool(match[1]), match[2].lower()
        if self._block:
            if closing and name == self._block.name:
                self._hidden.append(self._block.inner().strip())
                self._block, self._swallow = None, self._shown == 0
            else:
                self._block.parts.append(tag)
        elif self._line.literal or (self._final and not closing and not self._line.blank):
            shown.append(self._show(tag))
        elif closing:
            self.orphan_end = self._shown
        else:
            self._block = _Block(name, tag, anchored=self._line.blank)

    def _show(self, text: str) -> str:
        if self._swallow:
            text = text.lstrip()
            self._swallow = not text
        self._shown += len(text)
        self._line.extend(text)
        return text


class _Block:
    """An opening tag and what followed it so far."""

    def __init__(self, name: str, opening: str, *, anchored: bool) -> None:
        self.name = name
        self.opening = opening
        self.anchored = anchored
        self.parts: list[str] = []

    def inner(self) -> str:
        return "".join(self.parts)

    def raw(self) -> str:
        return self.opening + self.inner()


class _Line:
    """Where the visible text stands: at the start of a line, in a fenced block, after a quotation mark."""

    def __init__(self) -> None:
        self._head = ""
        self._last = ""
        self._fenced = False

    @property
    def blank(self) -> bool:
        return not self._head

    @property
    def literal(self) -> bool:
        return self._fenced or (bool(self._last) and self._last in _QUOTES)

    def extend(self, text: str) -> None:
        if not text:
            return
        self._last = text[-1]
        first, *lines = text.split("\n")
        self._grow(first)
        for line in lines:
            self._fenced ^= self._head.startswith(_FENCES)
            self._head = ""
            self._grow(line)

    def _grow(self, piece: str) -> None:
        if len(self._head) < len(_FENCES[0]):
            self._head = (self._head + (piece if self._head else piece.lstrip()))[:8]


def _safe_length(text: str) -> int:
    """How much of `text` cannot be the beginning of a tag."""
    start = max(0, len(text) - _LONGEST_PARTIAL)
    match = _PARTIAL.search(text, start)
    if match is None:
        return len(text)
    name = match[2].lower()
    known = any(candidate == name if match[3] else candidate.startswith(name) for candidate in _NAMES)
    return match.start() if known else len(text)
