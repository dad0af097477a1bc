"""`/search`, `/reindex` and the indexing a session does by itself (spec 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING

from spear.cli.display.filtering import clean, one_line
from spear.cli.settings_model import Settings
from spear.cli.workspace import Workspace
from spear.errors import EndpointError, SpearError, UsageError
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor

if TYPE_CHECKING:
    from spear.retrieval.embedding.embedder import Embedder
    from spear.retrieval.federation import Answer, Corpus
    from spear.retrieval.indexing import IndexProgress, IndexReport

_MOST_HITS = 10
_SHOWN_STEPS = 10


class Searching:
    """Searches and indexes for one session. Imports and opens nothing before it is asked."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        state: StateDirectory,
        redactor: Redactor,
        environ: Mapping[str, str],
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._state = state
        self._redactor = redactor
        self._environ = environ
        self._embedder: Embedder | None = None
        self._looked_for_embedder = False
        self._lacking = ""

    def search(self, words: str) -> str:
        """The best passages of the session's corpora; what is not indexed is said, with the way out."""
        if not words.strip():
            raise UsageError("/search needs words", hint="/search retry limit")
        answer = self._answer(words)
        lines = [f"{found.corpus.name}  {found.hit.place}  {one_line(found.hit.snippet, 110)}" for found in answer.hits]
        lines += [f"{corpus.name} is not indexed: /reindex {corpus.name}" for corpus in answer.not_indexed]
        lines += [f"the index of {corpus.name} is not complete: /reindex {corpus.name}" for corpus in answer.incomplete]
        lines += [f"{corpus.name} is left out: {error}" for corpus, error in answer.unusable]
        lines = lines or ["nothing found"]
        if self._lacking:
            lines.append(self._lacking)  # once a session
            self._lacking = ""
        return clean("\n".join(lines))

    def _answer(self, words: str) -> Answer:
        """By words and vectors; by words alone when what embeds cannot be reached."""
        from spear.retrieval.federation import search_corpora

        corpora = self._corpora()
        try:
            return search_corpora(corpora, words, _MOST_HITS, self._vectors())
        except EndpointError as error:
            self._lacking = f"search is by words alone: {error}"
            return search_corpora(corpora, words, _MOST_HITS)

    def reindex(self, name: str, show: Callable[[str], None], cancelled: Callable[[], bool]) -> str:
        """Bring one index up to date: of this workspace, or of the corpus named. `show` gets a line now and then."""
        corpus = self._named(name.strip())
        work = _index(corpus, self._settings, self._redactor)
        steps = 0
        while True:
            try:
                progress = next(work)
            except StopIteration as done:
                return f"{corpus.name}: {_told(done.value)}"
            if cancelled():
                work.close()
                return (
                    f"{corpus.name}: stopped at {progress.done} of {progress.total} files; /reindex goes on from there"
                )
            if progress.total and progress.done * _SHOWN_STEPS // progress.total > steps:
                steps = progress.done * _SHOWN_STEPS // progress.total
                show(f"{corpus.name}: {progress.done} of {progress.total} files")

    def keep_up(self, notify: Callable[[str], None], stopping: Callable[[], bool]) -> None:
        """Bring the indexes of corpora with `autoindex` up to date, then their vectors where those can be had. Meant
        for a background thread; what goes wrong is a notice."""
        from spear.retrieval.embedding.vectors import embed_missing

        for corpus in self._corpora():
            if not corpus.autoindex:
                continue
            try:
                for _ in _index(corpus, self._settings, self._redactor):
                    if stopping():
                        return
                embedder = self._vectors()
                if embedder is not None:
                    for _ in embed_missing(corpus.index, embedder):
                        if stopping():
                            return
            except SpearError as error:
                notify(f"indexing {corpus.name}: {error}")

    def _corpora(self) -> tuple[Corpus, ...]:
        from spear.retrieval.federation import corpora_of

        workspace, settings = self._workspace, self._settings
        return tuple(
            corpora_of(
                workspace.registry, workspace.project, workspace.roots.primary, self._state,
                also=settings.with_corpora, without=settings.without_corpora,
            )
        )  # fmt: skip

    def _named(self, name: str) -> Corpus:
        from spear.retrieval.federation import corpus_of

        workspace = self._workspace
        project = workspace.registry.projects.get(name)
        if project is None and (not name or name == workspace.roots.primary.name):
            project = workspace.project
        elif project is None:
            known = ", ".join(workspace.registry.projects) or "none is registered"
            raise UsageError(f"there is no corpus {name}", hint=f"known: {known}")
        return corpus_of(project, project.root if project else workspace.roots.primary, self._state)

    def _vectors(self) -> Embedder | None:
        """The operator's endpoint or the model of the `semantic` extra, None where there is neither."""
        if not self._looked_for_embedder:
            from spear.cli.embedding import embedder_of
            from spear.retrieval.embedding.embedder import NoEmbedder

            found = embedder_of(self._settings, self._environ, threads=1)
            self._looked_for_embedder = True
            if isinstance(found, NoEmbedder):
                self._lacking = found.line()
            else:
                self._embedder = found
        return self._embedder


def _index(corpus: Corpus, settings: Settings, redactor: Redactor) -> Generator[IndexProgress, None, IndexReport]:
    from spear.retrieval.indexing import IndexOptions, index_tree

    return index_tree(corpus.tree, corpus.index, IndexOptions(settings.index_max_files, redactor=redactor))


def _told(report: IndexReport) -> str:
    moved = f"{report.added} added, {report.changed} changed, {report.removed} removed"
    cut = f"; no grammar for {', '.join(report.without_grammar)}" if report.without_grammar else ""
    return f"{report.files} files, {report.passages} passages ({moved}){cut}"
