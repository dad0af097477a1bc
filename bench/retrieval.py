"""Retrieval: the cost of an index against inserting its rows, the time of a query, and whether the answer is found.

The corpus is the standard library. Queries are first sentences of docstrings; the right answer is the function they
were taken from, whose docstring is removed before indexing. `python -m bench.retrieval` answers them with vectors too.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sqlite3
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Row, paired, ratio_row, table, timed
from spear.retrieval.embedding.embedder import Embedder
from spear.retrieval.embedding.minilm import MiniLm
from spear.retrieval.embedding.vectors import embed_missing
from spear.retrieval.federation import search_index
from spear.retrieval.indexing import finish, index_tree
from spear.retrieval.search import Index
from spear.retrieval.walk import Tree
from spear.retrieval.words import Query

_QUERIES = 300
_FILES = 720
_TOKENIZE = "porter unicode61 remove_diacritics 2"

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Question:
    """A docstring's first sentence, and where its function is."""

    text: str
    path: str
    first: int
    last: int


def corpus(root: Path, files: int) -> list[Question]:
    """Copy the standard library without docstrings of functions into `root`; the questions they answer."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    sources = sorted(p for p in stdlib.rglob("*.py") if "site-packages" not in p.parts and "test" not in p.parts)
    questions: list[Question] = []
    for source in random.Random(1).sample(sources, min(files, len(sources))):
        relative = source.relative_to(stdlib)
        text, found = _without_docstrings(source.read_text("utf-8", "replace"), str(relative))
        (root / relative).parent.mkdir(parents=True, exist_ok=True)
        (root / relative).write_text(text, "utf-8")
        questions += found
    return random.Random(2).sample(questions, min(_QUERIES, len(questions)))


def _without_docstrings(text: str, path: str) -> tuple[str, list[Question]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text, []
    lines = text.split("\n")
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.body) < 2:
            continue
        doc = ast.get_docstring(node)
        if not doc:
            continue
        sentence = re.split(r"(?<=[.!?])\s|\n\n", doc.strip())[0].replace("\n", " ")
        for number in range(node.body[0].lineno - 1, node.body[0].end_lineno or 0):
            lines[number] = ""
        if len(sentence.split()) >= 4 and node.name.lower() not in sentence.lower():
            found.append(Question(sentence, path, node.lineno, node.end_lineno or node.lineno))
    return "\n".join(lines), found


def plain_index(path: Path, passages: Sequence[tuple[object, ...]], *, tokenize: str) -> None:
    """What any program must do: insert the rows into FTS5, and be durable."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    columns = "path, title, body, parts, first_line UNINDEXED, last_line UNINDEXED"
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5 ({columns}, tokenize = '{tokenize}')")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", passages)
    connection.commit()
    connection.close()


def rows(quick: bool) -> list[Row]:
    """The rows of this measurement, without vectors."""
    with tempfile.TemporaryDirectory() as name:
        bed = Bed(Path(name), _FILES // 4 if quick else _FILES)
        return [*bed.costs(3 if quick else 9), *bed.answers(None)]


class Bed:
    """A corpus, its index and a plain FTS5 table of the same rows, in a temporary directory."""

    def __init__(self, directory: Path, files: int) -> None:
        self.tree = Tree(directory / "tree")
        self.tree.root.mkdir()
        self.questions = corpus(self.tree.root, files)
        self.index = directory / "index" / "ours.sqlite3"
        self.floor = directory / "floor.sqlite3"
        self._build()
        with _opened(self.index) as opened:
            self.passages = opened.connection.execute("SELECT * FROM passages").fetchall()

    def _build(self) -> float:
        for old in self.index.parent.glob("*"):
            old.unlink()
        return timed(lambda: finish(index_tree(self.tree, self.index)))

    def costs(self, runs: int) -> list[Row]:
        """What an index costs."""
        left, right = paired(
            runs, self._build, lambda: timed(lambda: plain_index(self.floor, self.passages, tokenize=_TOKENIZE))
        )
        size = sum(len(row[2]) for row in self.passages) / 1e6
        again = [timed(lambda: finish(index_tree(self.tree, self.index))) for _ in range(runs)]
        what = f"index of {len(self.passages)} passages, {size:.1f} MB"
        return [
            ratio_row(what, 2, left, right, note="inserting the same rows into FTS5"),
            _plain_row("index again, nothing changed", statistics.median(again), "ms", runs),
        ]

    def answers(self, embedder: Embedder | None) -> list[Row]:
        """How well and how fast questions are answered: by plain FTS5, by words, and with an embedder by both."""
        plain_index(self.floor, self.passages, tokenize="unicode61")
        plain = sqlite3.connect(self.floor)

        def by_plain(text: str) -> list[Place]:
            terms = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
            sql = "SELECT path, first_line, last_line FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5"
            return plain.execute(sql, (terms,)).fetchall()

        found = self._quality("plain FTS5", by_plain)
        with _opened(self.index) as opened:

            def by(model: Embedder | None) -> Callable[[str], list[Place]]:
                return lambda text: [
                    (hit.path, hit.first_line, hit.last_line) for hit in search_index(opened, Query.of(text), 5, model)
                ]

            found += self._quality("by words", by(None))
            if embedder is not None:
                took = timed(lambda: list(embed_missing(self.index, embedder))) / 1000
                found.append(_plain_row("embedding, passages a second", len(self.passages) / took, "/s", 1))
                found += self._quality("by words and vectors", by(embedder))
        plain.close()
        return found

    def _quality(self, what: str, answer: Callable[[str], list[Place]]) -> list[Row]:
        times: list[float] = []
        first = five = 0
        for asked in self.questions:
            start = time.perf_counter()
            hits = answer(asked.text)
            times.append((time.perf_counter() - start) * 1000)
            right = [path == asked.path and begin <= asked.last and end >= asked.first for path, begin, end in hits]
            first += right[:1] == [True]
            five += any(right)
        times.sort()
        count = len(self.questions)
        speed = f"query p50 {statistics.median(times):.1f} ms, p95 {times[int(count * 0.95)]:.1f} ms"
        return [
            _plain_row(f"{what}: right one in the first five", five / count, "", count, speed),
            _plain_row(f"{what}: right one first", first / count, "", count),
        ]


def _opened(index: Path) -> Index:
    found = Index.open(index)
    assert found is not None
    return found


def _plain_row(what: str, value: float, unit: str, runs: int, note: str = "") -> Row:
    return Row(what, round(value, 3), None, unit, None, "", None, runs, note)


def main() -> None:
    """With vectors: some thirty passages a second, so `--files` chooses how long it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=_FILES)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        print(table(Bed(Path(name), asked.files).answers(MiniLm.load())))


if __name__ == "__main__":
    main()
