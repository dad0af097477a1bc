"""Which corpora a session searches, and one ranking out of many (spec 4.1, 4.5).

Each corpus keeps an index of its own. Ranks are fused, not scores: a score depends on how large its corpus is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spear.errors import ConfigurationError, StateError
from spear.retrieval.embedding.embedder import Embedder
from spear.retrieval.embedding.vectors import nearest
from spear.retrieval.search import Hit, Index
from spear.retrieval.store import failures
from spear.retrieval.walk import Tree
from spear.retrieval.words import Query
from spear.state.directory import StateDirectory
from spear.workspace.projects import Project, Registry

RANK_CONSTANT = 20
"""k of reciprocal rank fusion, 1 / (k + rank); measured on this kind of corpus."""

_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Corpus:
    """A tree and where its index lies. `name` is what the operator calls it; `autoindex` what its entry declares."""

    name: str
    tree: Tree
    index: Path
    autoindex: bool = False


@dataclass(frozen=True, slots=True)
class CorpusHit:
    """A hit and the corpus it comes from."""

    corpus: Corpus
    hit: Hit


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found, best first; `not_indexed` are corpora without an index, `incomplete` those whose index lacks
    files: an indexing that was stopped, or one that ended at its cap; `unusable` those that cannot be read, and why."""

    hits: tuple[CorpusHit, ...]
    not_indexed: tuple[Corpus, ...] = ()
    incomplete: tuple[Corpus, ...] = ()
    unusable: tuple[tuple[Corpus, StateError], ...] = ()


def search_corpora(corpora: Iterable[Corpus], text: str, limit: int = 10, embedder: Embedder | None = None) -> Answer:
    """Ask every corpus, by words and, given an `embedder`, by vectors. Any text is a query; "quoted phrases" must
    occur. An index that is damaged or of another version leaves the others usable.
    """
    query = Query.of(text)
    found: dict[Corpus, Sequence[Hit]] = {}
    missing, incomplete, unusable = [], [], []
    for corpus in corpora:
        try:
            index = Index.open(corpus.index)
            if index is None:
                missing.append(corpus)
                continue
            with index:
                found[corpus] = search_index(index, query, limit, embedder)
                if not index.is_complete:
                    incomplete.append(corpus)
        except StateError as error:
            unusable.append((corpus, error))
    return Answer(fuse(found, limit), tuple(missing), tuple(incomplete), tuple(unusable))


def search_index(index: Index, query: Query, limit: int, embedder: Embedder | None = None) -> tuple[Hit, ...]:
    """The best passages of one index: by words, fused by rank with the nearest vectors where there are any."""
    if embedder is None or query.is_empty:
        return index.search(query, limit)
    with failures(index.path):
        near = nearest(index.connection, embedder, query.text, _DEPTH)
    if not near:
        return index.search(query, limit)
    return index.hits(query, fuse_ranks((index.ranked(query, _DEPTH), near), limit))


def corpus_of(project: Project | None, directory: Path, state: StateDirectory) -> Corpus:
    """The corpus of a project; of the directory alone when nothing is declared about it."""
    if project is None:
        root = directory.resolve()
        return Corpus(root.name or "root", Tree(root), state.index(_collection(root.name, str(root))))
    declared = project.declared
    tree = Tree(project.root, declared.exclude, declared.include_build)
    return Corpus(project.name, tree, state.index(_of_project(project)), declared.autoindex)


def corpora_of(
    registry: Registry,
    project: Project | None,
    directory: Path,
    state: StateDirectory,
    *,
    also: Iterable[str] = (),
    without: Iterable[str] = (),
) -> tuple[Corpus, ...]:
    """What a session searches: its own corpus first, then those its entry federates, shared ones, and `also`
    (`--with`), less `without`. Raises ConfigurationError for a name that is not registered.
    """
    left_out = set(without)
    names = dict.fromkeys(project.declared.corpora if project else ())
    names.update(dict.fromkeys(name for name, each in registry.projects.items() if each.declared.shared))
    for name in (*also, *left_out):
        if name not in registry.projects:
            raise ConfigurationError(f"no corpus {name} is registered", hint="spear-corpus list shows the names")
    names.update(dict.fromkeys(also))
    own = corpus_of(project, directory, state)
    found = {} if own.name in left_out and project else {own.index: own}
    for name in names:
        if name in registry.projects and name not in left_out:
            corpus = corpus_of(registry.projects[name], directory, state)
            found.setdefault(corpus.index, corpus)
    return tuple(found.values())


def fuse(found: Mapping[Corpus, Sequence[Hit]], limit: int) -> tuple[CorpusHit, ...]:
    """One ranking of several: by rank within each corpus, and at equal rank by how much of the query a hit holds. The
    size of a corpus decides nothing."""
    ranked = [
        (-1 / (RANK_CONSTANT + rank), -hit.coverage, order, CorpusHit(corpus, hit))
        for order, (corpus, hits) in enumerate(found.items())
        for rank, hit in enumerate(hits)
    ]
    ranked.sort(key=lambda row: row[:3])
    return tuple(row[3] for row in ranked[:limit])


def fuse_ranks(rankings: Sequence[Sequence[int]], limit: int) -> tuple[int, ...]:
    """One ranking of several over the same passages: reciprocal ranks added up, ties as the first ranking has them."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking):
            scores[number] = scores.get(number, 0.0) + 1 / (RANK_CONSTANT + rank)
    return tuple(sorted(scores, key=lambda number: -scores[number])[:limit])


def _of_project(project: Project) -> str:
    declared = project.declared.collection
    if declared is not None:
        return declared
    if project.registered:
        return _collection(project.name, project.name, exact=True)
    return _collection(project.root.name, str(project.root))


def _collection(name: str, identity: str, *, exact: bool = False) -> str:
    """A name for the index. That of an unregistered tree carries a digest of its path: two may be called the same."""
    plain = re.sub(r"[^A-Za-z0-9_.+@-]", "_", name)[:80].lstrip(".+@-") or "tree"
    if exact and plain == name:
        return plain
    return f"{plain}-{hashlib.sha256(identity.encode('utf-8', 'surrogateescape')).hexdigest()[:10]}"
