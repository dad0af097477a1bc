"""The one line a conversation gets when the operator puts files back: the model is told, nothing was asked of it."""

from __future__ import annotations

from collections.abc import Sequence

_BEGINNING = {
    "undo": "The operator put these files back to an earlier state:",
    "redo": "The operator brought back what had been undone in these files:",
}
_SHOWN = 20


def undo_fact(role: str, files: Sequence[str]) -> str:
    """The line for an applied undo or redo of these files."""
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return f"{_BEGINNING[role]} {', '.join(files[:_SHOWN]) or 'none'}{more}."


def are_files_put_back(said: Sequence[str]) -> bool:
    """Whether files were undone since the last turn, by what the operator said, oldest first."""
    return bool(said) and said[-1].startswith(_BEGINNING["undo"])


def is_undo_fact(text: str) -> bool:
    """Whether a message of the conversation is such a line and no request."""
    return text.startswith(tuple(_BEGINNING.values()))
