"""FT1: a supervised sample from an episode, with exactly one assistant message to train on (spec 7).

The target is the last thing the model said. Every earlier assistant message is context and says `train: false`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spear.errors import SpearError
from spear.training.episode import Episode

_TRAIN, _CONTEXT_ONLY = b'"train":true', b'"train":false}'


class CurationError(SpearError):
    """A record would train something that was not selected. A defect: nothing is written."""


def target(episode: Episode) -> bytes:
    """The selected assistant message, to be trained on. Raises CurationError when it is no assistant message."""
    if not episode.target.endswith(_CONTEXT_ONLY):
        raise CurationError(f"episode {episode.id} ends with no assistant message to select")
    return episode.target[: -len(_CONTEXT_ONLY)] + _TRAIN + b"}"


def messages(episode: Episode) -> bytes:
    """The JSON array of context and target. Raises CurationError when an earlier message would be trained.

    In canonical JSON every quotation mark within a string is escaped, so these bytes are a member and never text.
    """
    if _TRAIN in episode.context:
        raise CurationError(f"episode {episode.id} would train an earlier assistant message")
    selected = target(episode)
    if episode.context == b"[]":
        return b"[" + selected + b"]"
    return episode.context[:-1] + b"," + selected + b"]"


def sample(episode: Episode) -> bytes:
    """One line of `datasets/sft`."""
    return b'{"id":"%s","messages":%s,"tools":%s}\n' % (episode.id.encode(), messages(episode), episode.tools)


def labelled(episode: Episode, desirable: bool) -> bytes:
    """One line of `datasets/unpaired`: the same form with the outcome as its label."""
    label = b"true" if desirable else b"false"
    return b'{"id":"%s","label":%s,"messages":%s,"tools":%s}\n' % (
        episode.id.encode(), label, messages(episode), episode.tools,
    )  # fmt: skip


def prompt_completion(episode: Episode, desirable: bool | None = None) -> bytes:
    """One line as TRL reads it: prompt and completion, and with an outcome its label."""
    label = b"" if desirable is None else b'"label":%s,' % (b"true" if desirable else b"false")
    return b'{"completion":[%s],%s"prompt":%s,"tools":%s}\n' % (
        target(episode), label, episode.context, episode.tools,
    )  # fmt: skip


def check_record(record: Mapping[str, Any]) -> None:
    """Raise CurationError unless the record trains its last message, an assistant's, and no other."""
    said = record.get("messages")
    if not isinstance(said, list) or not said or not all(isinstance(message, dict) for message in said):
        raise CurationError("a sample has no messages")
    trained = [n for n, m in enumerate(said) if m.get("train", m.get("role") == "assistant")]
    if trained != [len(said) - 1] or said[-1].get("role") != "assistant":
        raise CurationError(f"a sample trains messages {trained} and not its last assistant message alone")


def check_line(line: bytes) -> None:
    """`check_record` of a line. Raises CurationError for what is no JSON object, too."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise CurationError("a sample is not JSON") from error
    if not isinstance(record, dict):
        raise CurationError("a sample is not a JSON object")
    check_record(record)
