"""Retrieval: the cost of an index against inserting its rows, the time of a query, and whether the answer is found.

The corpus is the standard library. Queries are first sentences of docstrings; the right answer is the function they
were taken from, whose docstring is removed before indexing. `--semantic` embeds the corpus too (ten minutes and more).
"""

from __future__ import annotations

import argparse
import ast
import json
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

from bench.measure import Row, paired, table, timed
from spear.retrieval.embedding.minilm import MiniLm
from spear.retrieval.embedding.vectors import embed_missing
from spear.retrieval.federation import search_index
from spear.retrieval.indexing import finish, index_tree
from spear.retrieval.search import Index
from spear.retrieval.walk import Tree
from spear.retrieval.words import Query

_QUERIES = 300
_FILES = 720


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


def plain_index(path: Path, rows: Sequence[tuple[object, ...]], *, ours: bool) -> None:
    """What any program must do: insert the rows into FTS5, and be durable."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    columns = "path, title, body, parts, first_line UNINDEXED, last_line UNINDEXED"
    tokenize = "porter unicode61 remove_diacritics 2" if ours else "unicode61"
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5 ({columns}, tokenize = '{tokenize}')")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()


def recall(questions: Sequence[Question], answer: Callable[[str], list[tuple[str, int, int]]]) -> dict[str, float]:
    """Shares of questions answered first and in the first five, and the times of a query."""
    first = five = 0
    times = []
    for question in questions:
        start = time.perf_counter()
        hits = answer(question.text)
        times.append((time.perf_counter() - start) * 1000)
        right = [
            path == question.path and begin <= question.last and end >= question.first for path, begin, end in hits[:5]
        ]
        first += right[:1] == [True]
        five += any(right)
    times.sort()
    return {
        "r@1": round(first / len(questions), 3),
        "r@5": round(five / len(questions), 3),
        "p50_ms": round(statistics.median(times), 2),
        "p95_ms": round(times[int(len(times) * 0.95)], 2),
    }


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Measure, print a table, return the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--semantic", action="store_true")
    parser.add_argument("--files", type=int, default=_FILES)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        root, state = Path(name) / "tree", Path(name)
        root.mkdir()
        questions = corpus(root, options.files)
        index = state / "index" / "ours.sqlite3"

        def ours() -> float:
            for old in index.parent.glob("*") if index.parent.exists() else ():
                old.unlink()
            return timed(lambda: finish(index_tree(Tree(root), index)))

        ours()
        with Index.open(index) as opened:  # type: ignore[union-attr]
            rows = opened.connection.execute("SELECT * FROM passages").fetchall()
        floor = state / "floor.sqlite3"
        value, base, ratio = paired(options.runs, ours, lambda: timed(lambda: plain_index(floor, rows, ours=True)))
        size = sum(len(str(row[2])) for row in rows) / 1e6
        figures: list[Row] = [
            Row(f"index of {len(rows)} passages, {size:.1f} MB", value, base, "ms", ratio, "<= 2 x", "FTS5, same rows"),
            Row(
                "index again, nothing changed",
                timed(lambda: finish(index_tree(Tree(root), index))),
                None,
                "ms",
                None,
                "",
            ),
        ]
        plain_index(floor, rows, ours=False)
        plain = sqlite3.connect(floor)

        def by_plain(text: str) -> list[tuple[str, int, int]]:
            terms = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
            return plain.execute(
                "SELECT path, first_line, last_line FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5", (terms,)
            ).fetchall()

        quality: dict[str, dict[str, float]] = {"plain FTS5": recall(questions, by_plain)}
        with Index.open(index) as opened:  # type: ignore[union-attr]
            quality["words"] = recall(
                questions, lambda text: [(h.path, h.first_line, h.last_line) for h in opened.search(Query.of(text), 5)]
            )
            if options.semantic:
                embedder = MiniLm.load()
                start = time.perf_counter()
                for _ in embed_missing(index, embedder):
                    pass
                took = (time.perf_counter() - start) * 1000
                figures.append(Row("embedding of the passages", took, None, "ms", None, ""))
                quality["words and vectors"] = recall(
                    questions,
                    lambda text: [
                        (h.path, h.first_line, h.last_line) for h in search_index(opened, Query.of(text), 5, embedder)
                    ],
                )
    print(table(figures))
    for kind, values in quality.items():
        print(f"{kind:<20} {json.dumps(values)}  ({len(questions)} questions)")
    return {"rows": [row.as_json() for row in figures], "quality": quality}


if __name__ == "__main__":
    main()
