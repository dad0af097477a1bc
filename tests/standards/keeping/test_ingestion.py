from __future__ import annotations

import json
import os
import resource
import stat
from pathlib import Path

import pytest

from spear.errors import Interrupted, StateError, UsageError
from spear.standards import extraction
from spear.standards.ingestion import Document, Ingested, Unusable, ingest
from spear.standards.manifest import Origin, Review, load_manifest
from spear.standards.standard_name import StandardName
from spear.standards.store import StandardStore
from tests.standards.keeping.conftest import NAME, TEXT


def no_progress(*_: object) -> None:
    return


def left_in(store: StandardStore) -> list[Path]:
    return [path for path in store.root.rglob("*") if path.is_file() and ".locks" not in path.parts]


def test_what_came_out_stands_in_the_manifest(stored):
    manifest = load_manifest(stored.place / "manifest.json")
    assert (manifest.id, manifest.revision, manifest.origin) == ("LAMP-BUS", "2", Origin.PUBLIC)
    assert manifest.title == "Lamp Bus Specification"
    assert manifest.counts["requirement"] == 6
    assert manifest.counts["table"] == 2
    assert manifest.units == sum(manifest.counts.values())
    assert manifest.extractor_version == extraction.EXTRACTOR_VERSION
    assert manifest.human_validation.status is Review.NOT_REVIEWED
    assert manifest.pages is None
    assert manifest.source[0].path == "lamp-bus.md"
    assert {path.name for path in stored.place.iterdir()} == {
        "manifest.json", "corpus", "indexes", "verified.json", "retrieval.json",
    }  # fmt: skip


def test_everything_is_private(stored):
    for path in (stored.place, *stored.place.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_the_document_is_kept_when_that_is_asked_for(store, document):
    ingest(store, Document(document, NAME, retain=True), no_progress)
    assert (store.place(NAME) / "source" / "lamp-bus.md").read_text() == TEXT
    assert store.stored(NAME).manifest.retained
    store.trusted(NAME)


def test_the_same_bytes_again_change_nothing(store, stored, document):
    before = (stored.place / "manifest.json").read_bytes()
    done = ingest(store, Document(document, NAME, Origin.PUBLIC), no_progress)
    assert isinstance(done, Ingested)
    assert not done.fresh
    assert (stored.place / "manifest.json").read_bytes() == before


def test_a_link_to_the_document_is_the_document(store, stored, document):
    link = document.with_name("link.md")
    link.symlink_to(document)
    done = ingest(store, Document(link, NAME), no_progress)
    assert isinstance(done, Ingested)
    assert not done.fresh
    assert isinstance(ingest(store, Document(link, StandardName("LINK", "1"), retain=True), no_progress), Ingested)
    assert (store.place(StandardName("LINK", "1")) / "source").is_dir()


def test_other_bytes_under_a_taken_name_are_refused(store, stored, document):
    document.write_text(TEXT.replace("64 octets", "65 octets"))
    with pytest.raises(UsageError, match="the revision 2 of LAMP-BUS was ingested from other bytes") as refused:
        ingest(store, Document(document, NAME), no_progress)
    assert "--revision" in refused.value.hint
    assert "standard remove LAMP-BUS 2" in refused.value.hint
    assert isinstance(ingest(store, Document(document, StandardName("LAMP-BUS", "3")), no_progress), Ingested)


def test_another_profile_is_another_reading(store, stored, document, tmp_path):
    profile = tmp_path / "p.toml"
    profile.write_text('informative = ["4"]\n')
    with pytest.raises(UsageError, match="the profile"):
        ingest(store, Document(document, NAME, profile=profile), no_progress)


def test_a_useless_document_leaves_nothing(store, tmp_path):
    junk = tmp_path / "junk.md"
    junk.write_text("lorem ipsum\n" * 400)
    done = ingest(store, Document(junk, StandardName("JUNK", "1")), no_progress)
    assert isinstance(done, Unusable)
    assert "provision" in " ".join(done.reasons)
    assert left_in(store) == []


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir(), lambda p: os.mkfifo(p)])
def test_what_is_no_file_is_said_and_not_waited_for(store, tmp_path, make):
    path = tmp_path / "thing.md"
    make(path)
    with pytest.raises(UsageError, match=r"thing\.md"):
        ingest(store, Document(path, NAME), no_progress)
    assert left_in(store) == []


def test_an_interrupted_extraction_leaves_nothing(store, document):
    def stop(doing: str, *_: int) -> None:
        raise Interrupted

    long = document.with_name("long.md")
    long.write_text(TEXT + "".join(f"\n## {n} More\n\n**Rule {n}-1**: It shall be {n}.\n" for n in range(5, 60)))
    with pytest.raises(Interrupted):
        ingest(store, Document(long, NAME), stop)
    assert not store.holds(NAME)
    assert left_in(store) == []


def test_an_ingestion_goes_on_from_the_extraction(store, document, monkeypatch):
    def stop(doing: str, *_: int) -> None:
        if doing == "indexing":
            raise Interrupted

    long = document.with_name("long.md")
    long.write_text(TEXT + "".join(f"\n## {n} More\n\n**Rule {n}-1**: It shall be {n}.\n" for n in range(5, 60)))
    with pytest.raises(Interrupted):
        ingest(store, Document(long, NAME), stop)
    assert store.names() == ()
    assert store.unfinished() == (NAME,)
    assert {path.name for path in left_in(store)} == {"units.jsonl", "manifest.json"}
    read = []
    monkeypatch.setattr(extraction, "extract", lambda *_, **__: read.append(1))
    done = ingest(store, Document(long, NAME), no_progress)
    assert isinstance(done, Ingested)
    assert done.fresh
    assert read == []
    assert store.trusted(NAME).manifest.counts["requirement"] == 6 + 55
    assert not (store.root / ".staging").exists()


def test_an_extraction_of_other_bytes_is_not_gone_on_from(store, document):
    def stop(doing: str, *_: int) -> None:
        raise Interrupted

    staging = store.staging(NAME)
    ingest(store, Document(document, NAME), no_progress)
    staging.parent.mkdir(parents=True)
    store.place(NAME).rename(staging)
    document.write_text(TEXT.replace("20 ms", "30 ms"))
    done = ingest(store, Document(document, NAME), no_progress)
    assert isinstance(done, Ingested)
    with store.trusted(NAME).corpus() as corpus:
        assert any("within 30 ms" in unit.text for unit in corpus)


def test_a_torn_leftover_is_made_anew(store, document):
    staging = store.staging(NAME)
    ingest(store, Document(document, NAME), no_progress)
    staging.parent.mkdir(parents=True)
    store.place(NAME).rename(staging)
    corpus = staging / "corpus/units.jsonl"
    corpus.write_bytes(corpus.read_bytes()[:-40])
    assert isinstance(ingest(store, Document(document, NAME), no_progress), Ingested)
    assert store.stored(NAME).verify() == ()


def test_two_at_once_are_one_after_the_other(store, document):
    with store.alone(NAME), pytest.raises(StateError, match="another process is writing the standard LAMP-BUS 2"):
        ingest(store, Document(document, NAME), no_progress)
    assert isinstance(ingest(store, Document(document, NAME), no_progress), Ingested)


def test_the_index_and_the_corpus_agree_on_every_unit(stored):
    with stored.index() as index, stored.corpus() as corpus:
        by_place = [corpus.at(*place).unit_id for place in index.places("position > 0")]
        assert by_place == [unit.unit_id for unit in corpus]
    lines = (stored.place / "corpus/units.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["unit_id"] for line in lines] == by_place


def test_what_cannot_be_written_leaves_nothing(store, document):
    """A disk that is full while the units are written, as far as a process may be told so: a limit on its files."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    store.root.mkdir(parents=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StateError, match=r"cannot write .*units\.jsonl"):
            ingest(store, Document(document, NAME), no_progress)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert left_in(store) == []
    assert isinstance(ingest(store, Document(document, NAME), no_progress), Ingested)
