"""What an operator is asked, and what they may answer (spec 2.1). Who asks, and how, is the front end's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

NOBODY_TO_ASK = "nobody_to_ask"
"""The code of a refusal for want of an operator."""


class Subject(StrEnum):
    """What a question is about."""

    EDIT = "edit"
    DELETE = "delete"
    COMMAND = "command"
    SCOPE = "scope"
    CAPABILITY = "capability"
    WEB = "web"


class Choice(StrEnum):
    """Answers. ALWAYS_* hold for this session; EDITED carries the command to run instead."""

    YES = "yes"
    NO = "no"
    ALWAYS_COMMAND = "always_command"
    ALWAYS_PREFIX = "always_prefix"
    ALWAYS_FILE = "always_file"
    EDITED = "edited"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Question:
    """One confirmation. `text` is exactly what will happen: a unified diff, or the command byte for byte."""

    subject: Subject
    tool: str
    target: str
    text: str
    network: bool = False
    writes: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = (Choice.YES, Choice.NO)


@dataclass(frozen=True, slots=True)
class Reply:
    """The operator's answer; `reason` is told to the model after a no, `command` replaces the command after EDITED."""

    choice: Choice
    reason: str = ""
    command: str = ""


Confirm = Callable[[Question], Reply]


def nobody(_: Question) -> Reply:
    """The answer where nobody can be asked: one-shot without a terminal."""
    return Reply(Choice.NOBODY, "nobody can be asked here")
