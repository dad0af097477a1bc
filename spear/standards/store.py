"""The normative store: the revisions kept in the state directory, opened, checked and removed (spec 5.1).

standards/<id>/<revision>/manifest.json    what was ingested and what came out
                          corpus/          the units, canonical
                          indexes/         derived from the corpus
                          structures/      what a person approved, and what was built of it
                          source/          the document, where it is kept
                          verified.json    how the files looked when they were last checked in full
                          retrieval.json   how this document is searched
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spear.errors import StateError, UsageError
from spear.standards.corpus import FILE as CORPUS_FILE
from spear.standards.corpus import Corpus
from spear.standards.index import UnitIndex, build_index
from spear.standards.manifest import Manifest, load_manifest
from spear.standards.stamps import Stamp, Verified, digest_or_fail, load_verified, refuse_changed
from spear.standards.standard_name import StandardName
from spear.state.audit import timestamp
from spear.state.files import make_private_directory, open_private, state_error, sync_directory

MANIFEST, CORPUS, INDEXES, STRUCTURES, SOURCE = "manifest.json", "corpus", "indexes", "structures", "source"
VERIFIED = "verified.json"
_STAMPED = (CORPUS, INDEXES, STRUCTURES)
_STAGING, _LOCKS, _GOING = ".staging", ".locks", ".removed"


class StandardStore:
    """All stored revisions below one directory. Makes nothing before something is ingested."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, name: StandardName) -> Path:
        """Where a revision lies, or would."""
        return self.root / name.id / name.revision

    def staging(self, name: StandardName) -> Path:
        """Where a revision is built before it is one."""
        return self.root / _STAGING / name.id / name.revision

    def names(self) -> tuple[StandardName, ...]:
        """Every stored revision, by id and revision."""
        return _names(self.root)

    def unfinished(self) -> tuple[StandardName, ...]:
        """Revisions whose ingestion was cut off, or goes on now."""
        return _names(self.root / _STAGING)

    def holds(self, name: StandardName) -> bool:
        """Whether it is stored."""
        return self.place(name).is_dir()

    def stored(self, name: StandardName) -> StoredStandard:
        """A stored revision with its manifest; nothing is checked. Raises UsageError, StateError."""
        if not self.holds(name):
            known = ", ".join(map(str, self.names())) or "none is ingested"
            raise UsageError(f"there is no standard {name}", hint=f"known: {known}")
        return StoredStandard(self.place(name), load_manifest(self.place(name) / MANIFEST))

    def trusted(self, name: StandardName) -> StoredStandard:
        """A stored revision whose files are as they were when they were checked. Raises UsageError, StateError: one
        whose files changed is not used before `standard verify`."""
        found = self.stored(name)
        found.require_unchanged()
        return found

    @contextlib.contextmanager
    def alone(self, name: StandardName) -> Iterator[None]:
        """Be the one process that writes a revision. Raises StateError when another is at it."""
        path = self.root / _LOCKS / _token(name)
        try:
            descriptor = open_private(path, os.O_CREAT | os.O_RDWR)
        except OSError as error:
            raise state_error("open", path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise StateError(
                f"another process is writing the standard {name}", hint="wait for it to end, then try again"
            ) from error
        try:
            yield
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def changing(self, name: StandardName) -> Iterator[StoredStandard]:
        """A trusted revision whose structures, retrieval or review are changed here; it is trusted as it then is.
        Raises UsageError, StateError."""
        with self.alone(name):
            yield self.trusted(name)
            self.stored(name).trust()

    def remove(self, name: StandardName) -> None:
        """Remove a revision, or what an interrupted ingestion left of it: it is gone at once, whatever happens then.
        Raises StateError."""
        with self.alone(name):
            going = self.root / _GOING / _token(name)
            self.discard_staging(name)
            _discard(going)  # of a removal that was interrupted
            place = self.place(name)
            try:
                if place.exists():
                    make_private_directory(going.parent)
                    place.rename(going)
                    sync_directory(place.parent)
                    with contextlib.suppress(OSError):  # another revision is there
                        place.parent.rmdir()
            except OSError as error:
                raise state_error("remove", place, error) from error
            _discard(going)
            with contextlib.suppress(OSError):
                going.parent.rmdir()

    def discard_staging(self, name: StandardName) -> None:
        """Remove what was built of a revision that is none yet. Raises StateError."""
        place = self.staging(name)
        _discard(place)
        for above in (place.parent, place.parent.parent):
            with contextlib.suppress(OSError):  # another one is being built there
                above.rmdir()


@dataclass(frozen=True, slots=True)
class StoredStandard:
    """One stored revision: its directory and its manifest."""

    place: Path
    manifest: Manifest

    @property
    def name(self) -> StandardName:
        """Its id and revision."""
        return self.manifest.name

    def corpus(self) -> Corpus:
        """Its units, open for reading. Raises StateError."""
        return Corpus(self.place / CORPUS)

    def index(self) -> UnitIndex:
        """Its index, open for reading. Raises StateError."""
        return UnitIndex(self.place / INDEXES, self.manifest.corpus_sha256)

    def differing(self) -> tuple[str, ...]:
        """Files that do not look as they did when they were checked; no byte of them is read."""
        verified = load_verified(self.place / VERIFIED)
        if verified is None:
            return (VERIFIED,)
        return verified.differing(self.place, _stamped(self.place))

    def require_unchanged(self) -> None:
        """Raises StateError for a revision whose files changed since they were checked."""
        if differing := self.differing():
            remedy = f"check it: spear-chat standard verify {self.name}"
            raise refuse_changed(f"the standard {self.name}", differing, remedy)

    def verify(self) -> tuple[str, ...]:
        """Check every byte against the digests; what does not hold, in sentences. When all does, the files are trusted
        as they look now; nothing is written where they look as before. Raises StateError where they cannot be read."""
        digests = self._digests()
        problems = tuple(self._wrong(digests, load_verified(self.place / VERIFIED), (INDEXES, STRUCTURES)))
        if not problems and self.differing():
            self.trust(digests)
        return problems

    def rebuild(self, step: Callable[[int], None] = lambda _: None) -> bool:
        """Make the index anew from the corpus and trust it. Structures that are not what was checked are dropped: they
        have to be approved again; whether that was so. `step` is told how many units are done and may raise. Raises
        StateError when the corpus or the manifest is not what was extracted."""
        digests, verified = self._digests(), load_verified(self.place / VERIFIED)
        if wrong := tuple(self._wrong(digests, verified, ())):
            raise StateError(
                f"{self.name} cannot be made anew: {'; '.join(wrong)}",
                hint=f"spear-chat standard remove {self.name}, then ingest its document again",
            )
        dropped = verified is None or any(self._edited(digests, verified, (STRUCTURES,)))
        if dropped := dropped and (self.place / STRUCTURES).exists():
            _discard(self.place / STRUCTURES)
        make_private_directory(self.place / INDEXES)
        with self.corpus() as corpus:
            build_index(self.place / INDEXES, corpus, self.manifest.corpus_sha256, step)
        self.trust()
        return dropped

    def _digests(self) -> dict[str, str]:
        return {path: digest_or_fail(self.place / path) for path in _stamped(self.place)}

    def _wrong(self, digests: dict[str, str], verified: Verified | None, directories: tuple[str, ...]) -> Iterator[str]:
        """What is not as it was extracted and checked: the manifest, the corpus, the files of these directories."""
        if self.place.name != self.manifest.revision or self.place.parent.name != self.manifest.id:
            yield f"{MANIFEST} is of {self.name}"
        corpus = f"{CORPUS}/{CORPUS_FILE}"
        if corpus not in digests:
            yield f"{corpus} is gone"
        elif digests[corpus] != self.manifest.corpus_sha256:
            yield f"{corpus} is not what was extracted from the document"
        if verified is None:
            if directories:
                yield f"{VERIFIED} is gone or unreadable: nothing says what the index was"
        else:
            yield from self._edited(digests, verified, directories)

    def _edited(self, digests: dict[str, str], verified: Verified, directories: tuple[str, ...]) -> Iterator[str]:
        """Which files are gone, changed or new: the manifest, and those of these directories."""
        within = tuple(f"{directory}/" for directory in directories)
        known = {path: stamp.sha256 for path, stamp in verified.files.items()}
        for path in sorted(known.keys() | digests.keys()):
            if path == MANIFEST or path.startswith(within):
                if path not in digests:
                    yield f"{path} is gone"
                elif path not in known:
                    yield f"{path} was not there"
                elif digests[path] != known[path]:
                    yield f"{path} is not what it was"

    def trust(self, digests: dict[str, str] | None = None) -> None:
        """Write down how the files look now; `digests` are those just computed. Raises StateError."""
        known = digests or {}
        try:
            files = {path: Stamp.of(self.place / path, known.get(path, "")) for path in _stamped(self.place)}
        except OSError as error:
            raise state_error("read", self.place, error) from error
        Verified(checked_at=timestamp(), files=files).save(self.place / VERIFIED)


def _stamped(place: Path) -> list[str]:
    """The files whose change would change an answer, as paths below a revision."""
    found = [MANIFEST] if (place / MANIFEST).exists() else []
    for directory in _STAMPED:
        with contextlib.suppress(FileNotFoundError):
            found += [f"{directory}/{each.name}" for each in os.scandir(place / directory) if each.name[0] != "."]
    return sorted(found)


def stamped_files(place: Path) -> list[Path]:
    """The files a trusted revision rests on, and what says how they looked."""
    return [place / VERIFIED, *(place / path for path in _stamped(place))]


def _names(place: Path) -> tuple[StandardName, ...]:
    found = []
    for standard in _directories(place):
        found += [StandardName(standard.name, each.name) for each in _directories(standard)]
    return tuple(sorted(found))


def _directories(place: Path) -> list[Path]:
    try:
        return [path for path in sorted(place.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise state_error("read", place, error) from error


def _discard(place: Path) -> None:
    """Remove a directory of ours with all that is in it. Raises StateError."""
    try:
        if place.is_dir():
            shutil.rmtree(place)
    except OSError as error:
        raise state_error("remove", place, error) from error


def _token(name: StandardName) -> str:
    return hashlib.sha256(f"{name.id}\0{name.revision}".encode()).hexdigest()[:32]
