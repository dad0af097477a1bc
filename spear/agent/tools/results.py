"""What every tool returns: the few ways a call ends, with the text the model reads (shapes: docs/tools.md)."""

from __future__ import annotations

from collections.abc import Sequence

from spear.agent.host import Edited, Outcome, Refusal, ToolResult


def ok(text: str, *, changed: bool = False, edited: Edited | None = None, paths_read: Sequence[str] = ()) -> ToolResult:
    """The call did what it was asked."""
    changed = changed or edited is not None
    return ToolResult(text, Outcome.OK, changed=changed, paths_read=tuple(paths_read), edited=edited)


def failed(text: str, *, paths_read: Sequence[str] = ()) -> ToolResult:
    """The call could not be served; `text` says what to do next."""
    return ToolResult(f"error: {text}", Outcome.FAILED, reason=text.split("\n", 1)[0], paths_read=tuple(paths_read))


def refused(refusal: Refusal) -> ToolResult:
    """The host said no."""
    return ToolResult(refusal.line(), Outcome.REFUSED, refusal=refusal, reason=refusal.code)


def system_error(shown: str, error: OSError, remedy: str) -> ToolResult:
    """The operating system said no; the message names the path asked for, never an internal one."""
    what = (error.strerror or type(error).__name__).lower()
    return failed(f"{shown}: {what}; {remedy}")
