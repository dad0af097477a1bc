"""FT1: a supervised sample from an episode, with exactly one assistant message to train on (spec 7).

The target is the last thing the model said. Every earlier assistant message is context and says `train: false`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spear.errors import SpearError
from spear.training.episode import Episode

Parts = tuple[bytes, ...]
"""One line of a dataset, cut where its parts come from."""

_TRAIN, _CONTEXT_ONLY = b'"train":true', b'"train":false}'


class CurationError(SpearError):
    """A record would train something that was not selected. A defect: nothing is written."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An episode with its selected target, and the messages both forms have in common. Lines are given in parts, so
    that long contexts are copied once."""

    episode: Episode
    target: bytes
    messages: Parts

    def sft(self) -> Parts:
        """One line of `datasets/sft`."""
        return (b'{"id":"%s","messages":' % self._id, *self.messages, *self._tools())

    def labelled(self, desirable: bool) -> Parts:
        """One line of `datasets/unpaired`: the same form with the outcome as its label."""
        label = _boolean(desirable)
        return (b'{"id":"%s","label":%s,"messages":' % (self._id, label), *self.messages, *self._tools())

    def prompt_completion(self, desirable: bool) -> Parts:
        """One line as TRL reads it: prompt, completion and the outcome as its label."""
        label = _boolean(desirable)
        return (
            b'{"completion":[',
            self.target,
            b'],"label":%s,"prompt":' % label,
            self.episode.context,
            *self._tools(),
        )

    @property
    def _id(self) -> bytes:
        return self.episode.id.encode()

    def _tools(self) -> Parts:
        return (b',"tools":', self.episode.tools, b"}\n")


def select(episode: Episode) -> Sample:
    """The sample of an episode. Raises CurationError when an earlier assistant message would be trained, or when the
    episode ends with none to select.

    In canonical JSON every quotation mark within a string is escaped, so these bytes are a member and never text.
    """
    if _TRAIN in episode.context:
        raise CurationError(f"episode {episode.id} would train an earlier assistant message")
    if not episode.target.endswith(_CONTEXT_ONLY):
        raise CurationError(f"episode {episode.id} ends with no assistant message to select")
    target = episode.target[: -len(_CONTEXT_ONLY)] + _TRAIN + b"}"
    before, comma = (b"[", b"") if episode.context == b"[]" else (episode.context[:-1], b",")
    return Sample(episode, target, (before, comma, target, b"]"))


def _boolean(value: bool) -> bytes:
    return b"true" if value else b"false"


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
