"""A model file the operator names, served by llama.cpp in a child process: the `spear-chat[local]` extra (spec 8.1)."""

from __future__ import annotations

import secrets
import struct
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from spear.agent.messages import FailureKind, ModelFailure
from spear.models.companion import Child, Ready
from spear.models.gguf_server import KEY_VARIABLE

_SERVER = Path(__file__).with_name("gguf_server.py")
_INSTALL = "pip install 'spear-chat[local]', or name an endpoint with --api-base"
_MAGIC = b"GGUF"
_MOST_KEYS = 4096
_LONGEST_TEXT = 1 << 20
_MOST_ELEMENTS = 1 << 32
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _ARRAY = 8, 9
_WHOLE = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}


class GgufServer:
    """The companion that serves one file. `window` is the most tokens of context it is asked for.

    Only who knows `key` is served: other users of the machine can reach a loopback port too.
    """

    seconds = 300.0
    """A large model is read from a slow disk."""

    def __init__(self, file: Path, window: int, environment: Mapping[str, str]) -> None:
        self._file = file
        self._window = window
        self.key = secrets.token_urlsafe(24)
        self._environment = {**environment, KEY_VARIABLE: self.key}

    @property
    def name(self) -> str:
        """The program and the file."""
        return f"llama.cpp with {self._file.name}"

    def start(self) -> Child:
        """Start it. Raises `ModelFailure` for a file that is no model, and without the extra."""
        trained = self._look_at_file()
        if find_spec("xllamacpp") is None:
            message = f"{self._file.name} needs the extra spear-chat[local], which is not installed"
            raise ModelFailure(FailureKind.UNREACHABLE, message, _INSTALL)
        window = min(self._window, trained or self._window)
        command = [sys.executable, "-P", str(_SERVER), str(self._file), str(window)]
        return Child(command, self._environment)

    def ready(self, child: Child) -> Ready | None:
        """The address it has written, once the model is loaded."""
        address = next((line for line in list(child.output) if line.startswith("http://")), None)
        return Ready(f"{address}/v1") if address else None

    def way_out(self, last_words: str) -> str:
        """What helps against the failures llama.cpp names."""
        if "memory" in last_words or "alloc" in last_words:
            return "choose a smaller model, or a smaller window with --ctx"
        return "try another GGUF file: this one may be damaged, or newer than the installed llama.cpp"

    def _look_at_file(self) -> int | None:
        hint = "name a GGUF file of a chat model with --gguf FILE"
        try:
            with self._file.open("rb") as stream:
                if stream.read(len(_MAGIC)) == _MAGIC:
                    return trained_window(stream)
        except OSError as error:
            raise ModelFailure(FailureKind.UNREACHABLE, f"cannot read {self._file}: {error.strerror}", hint) from error
        raise ModelFailure(FailureKind.UNREACHABLE, f"{self._file} is no GGUF file", hint)


def trained_window(stream: BinaryIO) -> int | None:
    """The window a model was trained for, in tokens, from a GGUF header read up to behind its magic bytes.

    None where the header does not say, or cannot be understood: llama.cpp has the last word on a file.
    """
    try:
        _, _, keys = struct.unpack("<IQQ", _exactly(stream, 20))
        for _ in range(min(keys, _MOST_KEYS)):
            key, kind = _text(stream), _number(stream, "<I")
            if key.endswith(b".context_length") and kind in _WHOLE:
                return _number(stream, _WHOLE[kind]) or None
            _skip(stream, kind)
    except (ValueError, struct.error, KeyError):
        return None
    return None


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise ValueError("the header ends early")
    return data


def _number(stream: BinaryIO, form: str) -> int:
    (value,) = struct.unpack(form, _exactly(stream, struct.calcsize(form)))
    return int(value)


def _text(stream: BinaryIO) -> bytes:
    length = _number(stream, "<Q")
    if length > _LONGEST_TEXT:
        raise ValueError("a text of absurd length")
    return _exactly(stream, length)


def _skip(stream: BinaryIO, kind: int) -> None:
    """Pass over a value. Raises KeyError for a kind nobody knows."""
    if kind == _TEXT:
        _text(stream)
    elif kind == _ARRAY:
        inner, count = _number(stream, "<I"), _number(stream, "<Q")
        if inner in (_TEXT, _ARRAY):
            raise ValueError("the vocabulary: what precedes it did not say")
        stream.seek(_SIZES[inner] * min(count, _MOST_ELEMENTS), 1)
    else:
        stream.seek(_SIZES[kind], 1)
