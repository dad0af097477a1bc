"""Vectors of an index: filled bit by bit beside its passages, searched exactly.

They lie in the index itself as 16-bit floats. Up to some 200 000 passages comparing with every one of them takes
milliseconds, so there is no second, approximate index.
"""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spear.retrieval.embedding.embedder import Embedder
from spear.retrieval.engines import Engine, InProcess
from spear.retrieval.store import failures, meta, open_reader, set_meta, writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 64
_CHARACTERS = 1_200


@dataclass(frozen=True, slots=True)
class VectorProgress:
    """`done` of `total` passages have a vector."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class _Texts:
    numbers: tuple[int, ...]
    texts: tuple[str, ...]


def embed_missing(index: Path, embedder: Embedder, engine: Engine | None = None) -> Iterator[VectorProgress]:
    """Give every passage without a vector one, 64 at a time; each 64 are kept at once, so that it can stop and go on
    at any point. Vectors of another model are thrown away first. Nothing happens where there is no index.

    Raises StateError: the index is being written by another process at that moment, or cannot be used.
    """
    connection = open_reader(index)
    if connection is None:
        return
    with failures(index):
        try:
            if meta(connection, "embedding") != embedder.name:
                with writer(index) as writing:
                    writing.execute("DELETE FROM vectors")
                    set_meta(writing, "embedding", embedder.name)
            total = connection.execute("SELECT coalesce(sum(count), 0) FROM files").fetchone()[0]
            done = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
            yield VectorProgress(done, total)
            batches = _missing(connection)
            for batch, vectors in (engine or InProcess()).map(_Embedding(embedder), batches):
                with writer(index) as writing:
                    _keep(writing, batch.numbers, vectors)
                done += len(batch.numbers)
                yield VectorProgress(done, max(total, done))
        finally:
            connection.close()


def nearest(connection: sqlite3.Connection, embedder: Embedder, text: str, depth: int) -> tuple[int, ...]:
    """Numbers of the `depth` passages whose vectors are nearest to that of `text`, best first; none where the index
    has no vectors of this model."""
    if meta(connection, "embedding") != embedder.name:
        return ()
    rows = connection.execute("SELECT passage, vector FROM vectors").fetchall()
    if not rows:
        return ()
    np = importlib.import_module("numpy")
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16).reshape(len(rows), -1)
    asked = embedder.embed([text])[0]
    scores = matrix.astype(np.float32) @ asked
    best = np.argsort(-scores, kind="stable")[:depth]
    return tuple(rows[number][0] for number in best)


@dataclass(frozen=True, slots=True)
class _Embedding:
    """The work of one batch, in a form that can be sent to another machine."""

    embedder: Embedder

    def __call__(self, batch: _Texts) -> tuple[_Texts, NDArray[np.float32]]:
        return batch, self.embedder.embed(batch.texts)


def _missing(connection: sqlite3.Connection) -> Iterator[_Texts]:
    """Passages without a vector, in order; each read ends before the batch is handed out, so that no writer waits."""
    after = 0
    while True:
        rows = connection.execute(
            "SELECT rowid, path, title, body FROM passages WHERE rowid > ?"
            " AND NOT EXISTS (SELECT 1 FROM vectors WHERE passage = passages.rowid) ORDER BY rowid LIMIT ?",
            (after, _BATCH),
        ).fetchall()
        if not rows:
            return
        after = rows[-1][0]
        texts = tuple(f"{path} {title}\n{body}"[:_CHARACTERS] for _, path, title, body in rows)
        yield _Texts(tuple(row[0] for row in rows), texts)


def _keep(connection: sqlite3.Connection, numbers: tuple[int, ...], vectors: NDArray[np.float32]) -> None:
    """Write the vectors of passages that are still there."""
    connection.executemany(
        "INSERT OR REPLACE INTO vectors SELECT ?, ? WHERE EXISTS (SELECT 1 FROM passages WHERE rowid = ?)",
        ((number, vector.astype("float16").tobytes(), number) for number, vector in zip(numbers, vectors, strict=True)),
    )
