"""Bringing the index of a corpus up to date: only what changed, in steps that an interruption cannot undo (spec 4.5).

The walk comes first and may refuse; nothing is written before it has ended. After that every batch is one transaction:
what is stopped half-way goes on from there the next time.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spear.errors import ConfigurationError
from spear.retrieval.chunking.files import Cutter
from spear.retrieval.engines import Engine, InProcess
from spear.retrieval.reading import Batch, Known, Source, read_changes
from spear.retrieval.store import meta, meta_number, set_meta, writer
from spear.retrieval.walk import MAX_FILES, Tree, walk
from spear.retrieval.words import MixedCase
from spear.state.redaction import Redactor
from spear.workspace.beneath import Beneath

_INSERT_PASSAGE = (
    "INSERT INTO passages (rowid, path, title, body, parts, first_line, last_line) VALUES (?, ?, ?, ?, ?, ?, ?)"
)

Row = tuple[str, str, str, str, int, int]


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """How to index. `max_files` is the cap of the walk; `redactor` knows the host's own secrets."""

    max_files: int = MAX_FILES
    allow_partial: bool = False
    rebuild: bool = False
    redactor: Redactor | None = None


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """`done` of `total` files are looked at and, where they changed, indexed."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an indexing did. `skipped` counts files by why they are not in the index; `without_grammar` names languages
    whose files were cut by lines; `partial` says that the walk ended at its cap."""

    root: Path
    index: Path
    files: int
    passages: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: Mapping[str, int]
    without_grammar: tuple[str, ...]
    partial: bool


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A batch with the rows of its changed files."""

    batch: Batch
    rows: tuple[tuple[Row, ...], ...]
    without_grammar: tuple[str, ...]


@dataclass(slots=True)
class _Counts:
    added: int = 0
    changed: int = 0
    done: int = 0
    kept: set[str] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    without_grammar: set[str] = field(default_factory=set)


def index_tree(
    tree: Tree, index: Path, options: IndexOptions | None = None, engine: Engine | None = None
) -> Generator[IndexProgress, None, IndexReport]:
    """Bring `index` up to date with `tree`, yielding progress; the generator's value is the report.

    Raises WorkspaceError (more files than the cap; the old index stays as it was), ConfigurationError (the index
    belongs to another tree), StateError (another process writes it, damaged, newer, disk full).
    """
    options = options or IndexOptions()
    met = walk(tree, options.max_files, allow_partial=options.allow_partial)
    with writer(index, rebuild=options.rebuild) as connection, Beneath(tree.root) as beneath:
        _belongs(connection, tree.root, index)
        known = _known(connection)
        set_meta(connection, "complete", 0)
        connection.commit()
        counts = _Counts()
        batches = read_changes(beneath, met.files, known, options.redactor)
        yield IndexProgress(0, len(met.files))
        for prepared in (engine or InProcess()).map(prepare, batches):
            _take(connection, prepared, known, counts)
            connection.commit()
            yield IndexProgress(counts.done, len(met.files))
        removed = _remove_gone(connection, beneath, known, counts.kept, partial=met.partial)
        set_meta(connection, "partial", int(met.partial))
        set_meta(connection, "complete", 1)
        connection.commit()
        files, passages = connection.execute("SELECT count(*), coalesce(sum(count), 0) FROM files").fetchone()
    return IndexReport(
        tree.root, index, files, passages, counts.added, counts.changed, removed,
        len(counts.kept) - counts.added - counts.changed, dict(counts.skipped),
        tuple(sorted(counts.without_grammar)), met.partial,
    )  # fmt: skip


def finish(steps: Generator[object, None, IndexReport]) -> IndexReport:
    """Run an indexing to its end without looking at its progress."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            report: IndexReport = end.value
            return report


def prepare(batch: Batch) -> _Prepared:
    """Cut the changed files of a batch. Needs nothing but the batch, so that it can run anywhere."""
    cutter, mixed = Cutter(), MixedCase()
    rows = tuple(tuple(_rows(source, cutter, mixed)) for source in batch.changed)
    return _Prepared(batch, rows, cutter.grammars.missing)


def _rows(source: Source, cutter: Cutter, mixed: MixedCase) -> Iterator[Row]:
    in_path = mixed.of(source.path)
    for first, last, title, text in cutter.cut(source.path, source.text):
        parts = mixed.of(f"{title}\n{text}")
        both = f"{in_path} {parts}" if in_path and parts else in_path or parts
        yield source.path, title, text, both, first, last


def _belongs(connection: sqlite3.Connection, root: Path, index: Path) -> None:
    """An index is of one tree; that of a tree which is gone (it was moved) passes to the new one."""
    before = meta(connection, "root")
    if before and before != str(root) and Path(before).is_dir():
        raise ConfigurationError(
            f"the index {index.name} is of {before}, not of {root}",
            hint="give the project a `collection` of its own, or make it anew: spear-index --rebuild",
        )
    set_meta(connection, "root", str(root))


def _known(connection: sqlite3.Connection) -> dict[str, Known]:
    rows = connection.execute("SELECT path, sha256, stamp, first, count FROM files")
    known = {row[0]: Known(*row[1:]) for row in rows}
    for path, file in known.items():
        if not (isinstance(file.first, int) and isinstance(file.count, int) and isinstance(file.sha256, bytes)):
            raise sqlite3.DatabaseError(f"its entry for {path!r} cannot be read")
    return known


def _take(connection: sqlite3.Connection, prepared: _Prepared, known: Mapping[str, Known], counts: _Counts) -> None:
    """Write one batch; the caller commits."""
    batch = prepared.batch
    next_id = meta_number(connection, "next")
    files: list[tuple[object, ...]] = []
    passages: list[tuple[object, ...]] = []
    for source, rows in zip(batch.changed, prepared.rows, strict=True):
        before = known.get(source.path)
        if before is None:
            counts.added += 1
        else:
            _remove(connection, before)
            counts.changed += 1
        passages += [(number, *row) for number, row in enumerate(rows, next_id)]
        files.append((source.path, source.sha256, source.stamp, next_id, len(rows)))
        next_id += len(rows)
        counts.kept.add(source.path)
    connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", files)
    connection.executemany(_INSERT_PASSAGE, passages)
    set_meta(connection, "next", next_id)
    connection.executemany(
        "UPDATE files SET stamp = ? WHERE path = ?", ((stamp, path) for path, stamp in batch.touched)
    )
    counts.kept.update(batch.kept)
    counts.skipped += batch.skipped
    counts.without_grammar.update(prepared.without_grammar)
    counts.done += batch.seen


def _remove(connection: sqlite3.Connection, known: Known) -> None:
    """Take a file's passages and their vectors out. Their numbers are never given again."""
    run = (known.first, known.first + known.count)
    connection.execute("DELETE FROM passages WHERE rowid >= ? AND rowid < ?", run)
    connection.execute("DELETE FROM vectors WHERE passage >= ? AND passage < ?", run)


def _remove_gone(
    connection: sqlite3.Connection, beneath: Beneath, known: Mapping[str, Known], kept: set[str], *, partial: bool
) -> int:
    """Take out what the walk did not meet; after a partial walk only what is no longer there."""
    gone = [path for path in known if path not in kept and not (partial and _is_there(beneath, path))]
    for path in gone:
        _remove(connection, known[path])
        connection.execute("DELETE FROM files WHERE path = ?", (path,))
    return len(gone)


def _is_there(beneath: Beneath, path: str) -> bool:
    try:
        return beneath.lstat(path) is not None
    except OSError:
        return False
