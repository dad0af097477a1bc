"""`spear-index [DIR]`: bring the search index of a corpus up to date, with a bar (spec 4.5)."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from spear.cli.display.filtering import clean, one_line
from spear.cli.embedding import embedder_of
from spear.cli.settings import Loaded, load
from spear.cli.workspace import open_workspace
from spear.errors import Interrupted, SpearError, UsageError
from spear.retrieval.embedding.embedder import Embedder, NoEmbedder
from spear.retrieval.embedding.vectors import VectorProgress, embed_missing
from spear.retrieval.engines import Cluster, Engine, InProcess
from spear.retrieval.federation import Corpus, corpus_of
from spear.retrieval.indexing import IndexOptions, IndexProgress, IndexReport, index_tree
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor

PROGRAM = "spear-index"
_WIDTH = 30

T = TypeVar("T", IndexProgress, VectorProgress)
R = TypeVar("R")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program: 0 when the index is up to date, 2 when the corpus or the command line is wrong, 130 when
    interrupted (the next run goes on from there)."""
    try:
        status = run(_parser().parse_args(arguments), os.environ, Path.cwd())
        sys.stdout.flush()
        return status
    except SpearError as error:
        _say(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        _say("interrupted; what is indexed so far is kept, run it again to go on")
        return Interrupted.exit_status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Index what the command line names. A directory inside a registered project stands for the whole project."""
    directory = (cwd / Path(parsed.directory).expanduser()).resolve()
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory", hint=f"{PROGRAM} DIR")
    loaded = load(parsed, environ, directory)
    corpus = _corpus(loaded, directory)
    options = IndexOptions(
        loaded.settings.index_max_files, parsed.allow_partial, parsed.rebuild, Redactor.of_environment(environ)
    )
    with _engine(parsed.cluster) as engine:
        report = _index(corpus, options, engine, quiet=parsed.json)
        embedder = embedder_of(loaded.settings, environ) if parsed.vectors else None
        embedded = _embed(corpus, embedder, engine, quiet=parsed.json) if embedder is not None else 0
    if parsed.json:
        print(json.dumps(_as_json(corpus, report, embedded)))
    else:
        _show(corpus, report, embedded, vectors=parsed.vectors)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Bring the search index of a corpus up to date.")
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".", help="a tree (default: where you are)")
    parser.add_argument(
        "--allow-partial", action="store_true", help="index the first files of a tree that holds too many"
    )
    parser.add_argument("--rebuild", action="store_true", help="throw the index away and make it anew")
    parser.add_argument("--vectors", action="store_true", help="embed the passages too (slow; may be interrupted)")
    parser.add_argument("--cluster", metavar="ADDRESS", default="", help="a Dask scheduler to cut and embed on")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--state-dir", metavar="DIR", default=None, help="state directory")
    parser.add_argument("--config", metavar="FILE", default=None, help="the user's configuration file")
    return parser


def _corpus(loaded: Loaded, directory: Path) -> Corpus:
    workspace = open_workspace(loaded.settings, directory)
    for notice in (*loaded.notices, *workspace.notices):
        _say(notice)
    return corpus_of(workspace.project, directory, StateDirectory(loaded.settings.state_dir))


@contextlib.contextmanager
def _engine(address: str) -> Iterator[Engine]:
    if not address:
        yield InProcess()
        return
    with Cluster(address) as cluster:
        yield cluster


def _index(corpus: Corpus, options: IndexOptions, engine: Engine, *, quiet: bool) -> IndexReport:
    return _with_bar("indexing", "files", index_tree(corpus.tree, corpus.index, options, engine), quiet=quiet)


def _embed(corpus: Corpus, embedder: Embedder | NoEmbedder, engine: Engine, *, quiet: bool) -> int:
    """Embed what lacks a vector; how many passages have one then."""
    if isinstance(embedder, NoEmbedder):
        raise UsageError(f"--vectors: {embedder.reason}", hint=embedder.remedy)

    def steps() -> Generator[VectorProgress, None, int]:
        done = 0
        for step in embed_missing(corpus.index, embedder, engine):
            done = step.done
            yield step
        return done

    return _with_bar("embedding", "passages", steps(), quiet=quiet)


def _with_bar(doing: str, things: str, steps: Generator[T, None, R], *, quiet: bool) -> R:
    """Run to the end behind a bar on stderr, where that is a terminal."""
    drawn = not quiet and sys.stderr.isatty()
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                result: R = end.value
                return result
            if drawn:
                part = step.done / step.total if step.total else 1.0
                bar = ("#" * round(part * _WIDTH)).ljust(_WIDTH, "-")
                print(f"\r{doing} [{bar}] {step.done}/{step.total} {things}", end="", file=sys.stderr, flush=True)
    finally:
        steps.close()
        if drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _show(corpus: Corpus, report: IndexReport, embedded: int, *, vectors: bool) -> None:
    print(clean(f"{corpus.name}: {report.files} files, {report.passages} passages ({report.root})"))
    print(f"  {report.added} added, {report.changed} changed, {report.removed} removed, {report.unchanged} unchanged")
    if report.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
        print(f"  not indexed: {reasons}")
    if report.without_grammar:
        print(f"  cut by lines, no grammar installed: {', '.join(report.without_grammar)}")
    if vectors:
        print(f"  {embedded} passages have vectors")
    if report.partial:
        print("  PARTIAL: the tree holds more files than were indexed")


def _as_json(corpus: Corpus, report: IndexReport, embedded: int) -> dict[str, object]:
    return {
        "schema": "spear.index/1",
        "corpus": corpus.name,
        "root": str(report.root),
        "index": str(report.index),
        "files": report.files,
        "passages": report.passages,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "skipped": dict(report.skipped),
        "without_grammar": list(report.without_grammar),
        "vectors": embedded,
        "partial": report.partial,
    }


def _say(text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(f"{PROGRAM}: {one_line(text, 2_000)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
