"""Ingesting a document: extracted, written beside the store, and there at once or not at all (spec 5.1).

An ingestion that was cut off after the document was extracted goes on from there when it is asked for again; one that
was cut off before leaves nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spear.errors import StateError, UsageError
from spear.standards.corpus import write_corpus
from spear.standards.index import build_index, counted
from spear.standards.manifest import Manifest, Origin, SourceFile, load_manifest
from spear.standards.retrieval import Retrieval
from spear.standards.stamps import digest_of
from spear.standards.standard_name import StandardName
from spear.standards.store import CORPUS, INDEXES, MANIFEST, SOURCE, StandardStore, StoredStandard
from spear.state.audit import timestamp
from spear.state.files import make_private_directory, state_error, sync_directory

if TYPE_CHECKING:
    from spear.standards.units import Extraction

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it, of how much (0: unknown). What it raises ends the ingestion."""


@dataclass(frozen=True, slots=True)
class Document:
    """What is to be ingested: a file, under which name, whose it is, and how it is read."""

    source: Path
    name: StandardName
    origin: Origin = Origin.LICENSED
    retain: bool = False
    profile: Path | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """The revision is stored. `fresh` is false where it was before, from the same bytes."""

    manifest: Manifest
    fresh: bool


@dataclass(frozen=True, slots=True)
class Unusable:
    """The document did not come out as a standard, for these reasons; nothing is stored."""

    reasons: tuple[str, ...]


def ingest(store: StandardStore, document: Document, progress: Progress) -> Ingested | Unusable:
    """Ingest a document. Raises UsageError for a file that is none and for other bytes under a name that is taken,
    SpearError for one that cannot be read, StateError where it cannot be stored; whatever `progress` raises."""
    read = _digested(document.source)
    with store.alone(document.name):
        if store.holds(document.name):
            return Ingested(_same(store.stored(document.name).manifest, document), fresh=False)
        return _Ingestion(store, document, read, progress).run()


class _Ingestion:
    """One ingestion, alone at its revision."""

    def __init__(self, store: StandardStore, document: Document, read: SourceFile, progress: Progress) -> None:
        self._store, self._document, self._read, self._progress = store, document, read, progress
        self._place = store.staging(document.name)

    def run(self) -> Ingested | Unusable:
        """From the first unfinished step to the stored revision."""
        manifest = self._extracted_before()
        if manifest is None:
            extracted = self._extract()
            if isinstance(extracted, Unusable):
                return extracted
            manifest = extracted
        corpus_units, done = manifest.units, StoredStandard(self._place, manifest)
        self._progress("indexing", 0, corpus_units)
        make_private_directory(self._place / INDEXES)
        with done.corpus() as corpus:
            build_index(
                self._place / INDEXES, corpus, manifest.corpus_sha256,
                lambda count: self._progress("indexing", count, corpus_units),
            )  # fmt: skip
        self._retain(manifest)
        Retrieval().save(self._place)
        done.trust()
        return Ingested(self._publish(manifest), fresh=True)

    def _extracted_before(self) -> Manifest | None:
        """The manifest of an extraction of these bytes that was not stored; any other leftover is removed."""
        try:
            manifest = load_manifest(self._place / MANIFEST)
            same = _differences(manifest, self._document) == () and manifest.origin is self._document.origin
            if same and digest_of(self._place / CORPUS / "units.jsonl") == manifest.corpus_sha256:
                return manifest.model_copy(update={"retained": self._document.retain})
        except (StateError, OSError):
            pass  # not there, or torn: it is made anew
        self._store.discard_staging(self._document.name)
        return None

    def _extract(self) -> Manifest | Unusable:
        """Extract the document and write what came out; a trace of it is left only when it is whole."""
        from spear.standards.extraction import EXTRACTOR_VERSION, extract
        from spear.standards.profile import load_profile
        from spear.standards.usability import problems

        document = self._document
        profile = load_profile(document.profile) if document.profile is not None else None
        extraction = extract(document.source, profile, lambda done, of: self._progress("extracting", done, of))
        if reasons := tuple(problems(extraction)):
            return Unusable((*reasons, *extraction.errors))
        try:
            make_private_directory(self._place / CORPUS)
            corpus_sha256 = write_corpus(self._place / CORPUS, extraction.units)
            manifest = self._manifest(extraction, EXTRACTOR_VERSION, corpus_sha256)
            manifest.save(self._place / MANIFEST)
        except BaseException:
            self._store.discard_staging(document.name)
            raise
        return manifest

    def _manifest(self, extraction: Extraction, version: str, corpus_sha256: str) -> Manifest:
        document = self._document
        sources = extraction.sources or (document.source,)
        files = tuple(_digested(path, document.source.parent) for path in sources)
        if files[0].sha256 != self._read.sha256:
            raise UsageError(f"{document.source} changed while it was read", hint="ingest it again")
        counts, sections = counted(extraction.units)
        return Manifest(
            id=document.name.id, revision=document.name.revision, origin=document.origin, title=extraction.title,
            format=extraction.format, source=files, retained=document.retain,
            profile_sha256=_profile_digest(document), counts=counts, units=len(extraction.units), sections=sections,
            pages=extraction.pages, errors=extraction.errors, extractor_version=version, corpus_sha256=corpus_sha256,
            ingested_at=timestamp(),
        )  # fmt: skip

    def _retain(self, manifest: Manifest) -> None:
        """Keep the document beside what came of it, where that was asked for."""
        manifest.save(self._place / MANIFEST)
        if not manifest.retained:
            return
        beside = self._document.source.parent
        for number, file in enumerate(manifest.source):
            path = self._document.source if number == 0 else beside / file.path
            kept = self._place / SOURCE / file.path
            make_private_directory(kept.parent)
            try:
                shutil.copyfile(path, kept)
                kept.chmod(0o600)
                if digest_of(kept) != file.sha256:
                    raise UsageError(f"{path} changed while it was read", hint="ingest it again")
            except OSError as error:
                raise state_error("keep the document in", kept, error) from error

    def _publish(self, manifest: Manifest) -> Manifest:
        """Make the revision be there, whole."""
        final = self._store.place(self._document.name)
        make_private_directory(final.parent)
        try:
            for directory in [path for path in self._place.rglob("*") if path.is_dir()]:
                sync_directory(directory)
            sync_directory(self._place)
            self._place.rename(final)
            sync_directory(final.parent)
        except OSError as error:
            raise state_error("store the standard in", final, error) from error
        self._store.discard_staging(self._document.name)
        return manifest


def _same(stored: Manifest, document: Document) -> Manifest:
    """The manifest of a stored revision that is of this very document. Raises UsageError where it is of another."""
    if differing := _differences(stored, document):
        raise UsageError(
            f"the revision {stored.revision} of {stored.id} was ingested from other bytes ({', '.join(differing)})",
            hint=f"give this document a --revision of its own, or first: spear-chat standard remove {stored.name}",
        )
    return stored


def _differences(manifest: Manifest, document: Document) -> tuple[str, ...]:
    """Which files of an ingestion are not what lies there now; what it was read with is one of them."""
    beside, differing = document.source.parent, []
    for number, file in enumerate(manifest.source):
        path = document.source if number == 0 else beside / file.path
        try:
            found = digest_of(path.resolve(strict=True))
        except OSError:
            found = ""
        if found != file.sha256:
            differing.append(file.path)
    if manifest.profile_sha256 != _profile_digest(document):
        differing.append("the profile")
    return tuple(differing)


def _profile_digest(document: Document) -> str:
    if document.profile is None:
        return ""
    return _digested(document.profile).sha256


def _digested(path: Path, beside: Path | None = None) -> SourceFile:
    """A file with its digest. Raises UsageError for what cannot be read as one."""
    try:
        resolved = path.resolve(strict=True)
        if not resolved.is_file():
            raise UsageError(f"{path} is no regular file", hint="name the document itself")
        size, digest = resolved.stat().st_size, digest_of(resolved)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{path} cannot be read: {reason}", hint="name a file you may read") from error
    shown = path.name
    if beside is not None and resolved.is_relative_to(beside.resolve()):
        shown = resolved.relative_to(beside.resolve()).as_posix()
    return SourceFile(path=shown, sha256=digest, size=size)
