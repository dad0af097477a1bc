"""Recordings: what is written down, and what is answered from it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from spear.agent.messages import FailureKind, Message, ModelFailure, ModelRequest, ModelTurn, Role, StopReason
from spear.errors import ConfigurationError
from spear.models.backend import BackendSettings
from spear.models.recording import ENDED, RecordingBackend, ReplayBackend
from spear.models.selection import open_backend
from tests.scripted_model import ModelServer, calls, text

KEY = "sk-recorded-0123456789"
REQUEST = ModelRequest((Message(Role.USER, "the operator's own words"),))
SCRIPT = [
    calls(("terminal", {"command": "make \ud83d"})),
    text("Fixed.", reasoning="why"),
    text("cut", finish="length"),
]


def record(path: Path) -> list[ModelTurn]:
    with ModelServer(SCRIPT) as server:
        backend = open_backend(BackendSettings(server.base_url, api_key=KEY), record=path)
        turns = [backend.complete(REQUEST) for _ in SCRIPT]
        backend.close()
    return turns


def test_a_replay_answers_as_the_model_did_and_then_says_that_the_recording_ended(tmp_path: Path) -> None:
    turns = record(tmp_path / "tape")
    replay = ReplayBackend(tmp_path / "tape")
    shown: list[str] = []
    assert [replay.complete(REQUEST) for _ in turns] == turns
    ended = replay.complete(ModelRequest(REQUEST.messages, on_text=shown.append))
    assert (ended.text, ended.stop_reason, ended.tool_calls) == (ENDED, StopReason.STOP, ())
    assert shown == [ENDED]
    assert "recording" in replay.name
    assert replay.model == "scripted (recording)"


def test_a_recording_is_private_and_holds_neither_the_key_nor_the_request(tmp_path: Path) -> None:
    record(tmp_path / "tape")
    data = (tmp_path / "tape").read_text()
    assert stat.S_IMODE((tmp_path / "tape").stat().st_mode) == 0o600
    assert KEY not in data
    assert "operator" not in data
    assert [json.loads(line)["schema"] for line in data.splitlines()] == ["spear.recording/1"] * 3


def test_an_earlier_recording_is_replaced_and_made_private(tmp_path: Path) -> None:
    record(tmp_path / "tape")
    (tmp_path / "tape").chmod(0o644)
    assert len(record(tmp_path / "tape")) == len((tmp_path / "tape").read_text().splitlines())
    assert stat.S_IMODE((tmp_path / "tape").stat().st_mode) == 0o600


def test_a_file_that_is_something_else_is_not_overwritten(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine\n")
    with pytest.raises(ConfigurationError):
        RecordingBackend(ReplayBackend(_empty(tmp_path)), other)
    assert other.read_text() == "mine\n"


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    turns = record(tmp_path / "tape")
    data = (tmp_path / "tape").read_bytes()
    last = data.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(data)):
        (tmp_path / "tape").write_bytes(data[:cut])
        replay = ReplayBackend(tmp_path / "tape")
        assert [replay.complete(REQUEST) for _ in turns[:-1]] == turns[:-1]
        assert replay.complete(REQUEST).text == ENDED


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b"null",
        b'{"schema": "spear.turn/1"}',
        b'{"schema": "spear.recording/2", "model": "m"}',
        b'{"schema": "spear.recording/1", "model": "m", "text": 3}',
        b"\xff\xfe",
    ],
)
def test_a_file_that_is_no_recording_is_a_configuration_error_that_names_it(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "tape").write_bytes(line + b"\n")
    with pytest.raises(ConfigurationError) as caught:
        ReplayBackend(tmp_path / "tape")
    assert "tape" in caught.value.message


def test_files_that_cannot_be_used_are_configuration_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        ReplayBackend(tmp_path / "missing")
    with pytest.raises(ConfigurationError):
        RecordingBackend(ReplayBackend(_empty(tmp_path)), tmp_path / "no" / "tape")


def test_a_cancelled_replay_stops(tmp_path: Path) -> None:
    with pytest.raises(ModelFailure) as caught:
        ReplayBackend(_empty(tmp_path)).complete(ModelRequest(REQUEST.messages, cancelled=lambda: True))
    assert caught.value.kind is FailureKind.CANCELLED


def _empty(tmp_path: Path) -> Path:
    (tmp_path / "empty").touch()
    return tmp_path / "empty"
