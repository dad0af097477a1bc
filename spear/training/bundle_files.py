"""The files of a bundle while they are written: digests are taken on the way, and all is durable at the end."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from spear.state.files import make_private_directory, open_private, sync_directory, write_all
from spear.training.curation import Parts
from spear.training.vocabulary import Split

DATASETS = ("datasets/sft", "datasets/unpaired", "datasets/paired")
TRL = ("trl/desirable", "trl/undesirable", "trl/dpo")
_SPLITS = (Split.TRAIN, Split.VALIDATION)
_BLOCK = 1 << 20
_BEHIND = 8 << 20


def file_name(dataset: str, split: Split) -> str:
    """The file of a dataset's split: a directory each for the neutral form, flat for TRL."""
    return f"{dataset}/{split.value}.jsonl" if dataset in DATASETS else f"{dataset}-{split.value}.jsonl"


class _Growing:
    """One dataset file. Lines are gathered to blocks, which another thread digests and writes: one block at a time, so
    that nothing piles up in memory."""

    def __init__(self, path: Path, writer: Executor) -> None:
        self._writer = writer
        self._underway: Future[None] | None = None
        self._descriptor = open_private(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        self._digest = hashlib.sha256()
        self._waiting: list[bytes] = []
        self._size = 0
        self._written = 0

    def write(self, line: Parts) -> None:
        self._waiting += line
        self._size += sum(map(len, line))
        if self._size >= _BLOCK:
            self._flush()

    def finish(self) -> str:
        """The digest of the whole file, which is on the disk then. Raises OSError."""
        self._flush()
        self._await()
        os.fsync(self._descriptor)
        self.close()
        return self._digest.hexdigest()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _flush(self) -> None:
        block = b"".join(self._waiting)
        self._waiting, self._size = [], 0
        self._await()
        self._underway = self._writer.submit(self._put, block)

    def _await(self) -> None:
        if self._underway is not None:
            self._underway.result()

    def _put(self, block: bytes) -> None:
        self._digest.update(block)
        write_all(self._descriptor, block)
        # The disk begins now, and not when all is written and waited for; what it has written makes room for others.
        begin = max(0, self._written - _BEHIND)
        self._written += len(block)
        os.posix_fadvise(self._descriptor, begin, self._written - begin, os.POSIX_FADV_DONTNEED)


class BundleFiles:
    """Writes a bundle below `root`. `digests` holds the SHA-256 of every finished file by its name."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.digests: dict[str, str] = {}
        make_private_directory(root)
        self._writer = ThreadPoolExecutor(1, "bundle")
        self._growing = {
            (dataset, split): _Growing(root / file_name(dataset, split), self._writer)
            for dataset in (*DATASETS, *TRL)
            for split in _SPLITS
        }

    def write(self, dataset: str, split: Split, line: Parts) -> None:
        """Add one line to a dataset. Raises OSError."""
        self._growing[(dataset, split)].write(line)

    def finish_datasets(self) -> None:
        """Complete the datasets. Raises OSError."""
        for (dataset, split), file in self._growing.items():
            self.digests[file_name(dataset, split)] = file.finish()

    def add(self, name: str, data: bytes) -> None:
        """Write a small file. Raises OSError."""
        descriptor = open_private(self._root / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.digests[name] = hashlib.sha256(data).hexdigest()

    def __enter__(self) -> BundleFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.shutdown(cancel_futures=True)
        for file in self._growing.values():
            file.close()
        if error is None:
            for directory in {self._root, *(self._root / name for name in self.digests)}:
                sync_directory(directory if directory == self._root else directory.parent)
