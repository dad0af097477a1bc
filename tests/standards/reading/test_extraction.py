"""Extraction as a whole: what is refused and how, what is stable, what it holds to for any text."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.errors import SpearError, UsageError
from spear.standards.extraction import extract
from spear.standards.numbering import Nesting, Succession, printed_number
from spear.standards.profile import Profile, load_profile
from spear.standards.units import Extraction, Force, Kind
from spear.standards.usability import problems
from tests.standards.reading.outcomes import outcome

REFUSED = [
    ("empty.md", b"", "is empty"),
    ("blank.txt", b"  \n\n", "is empty"),
    ("junk.bin", bytes(range(256)) * 10, "is binary"),
    ("junk.md", b"# A\n\0\0\0", "is binary"),
    ("wide.txt", "It shall.".encode("utf-16"), "UTF-16"),
    ("page.pdf", b"<html>not found</html>", "no PDF"),
    ("broken.pdf", b"%PDF-1.7\nnothing", "damaged PDF"),
    ("letter.docx", b"PK words", "suffix"),
]


@pytest.mark.parametrize(("name", "data", "words"), REFUSED)
def test_what_is_no_document_is_refused_by_name_and_with_a_remedy(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UsageError, match=words) as caught:
        extract(path)
    assert name in caught.value.message and caught.value.hint


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        extract(tmp_path)
    with pytest.raises(UsageError, match="cannot read"):
        extract(tmp_path / "none.md")


@pytest.mark.parametrize(("name", "megabytes"), [("large.rst", 9), ("large.md", 33), ("large.txt", 65)])
def test_a_document_too_large_for_its_parser_is_refused_unread(tmp_path: Path, name: str, megabytes: int) -> None:
    path = tmp_path / name
    with path.open("wb") as stream:
        stream.write(b"A\n=\n" + b" " * 65536)
        stream.truncate(megabytes * 1024 * 1024)
    with pytest.raises(UsageError, match="MB"):
        extract(path)


def test_another_encoding_is_read_and_told(tmp_path: Path) -> None:
    path = tmp_path / "latin.md"
    path.write_bytes("## 1 Maß\n\nThe café shall open.\n".encode("latin-1"))
    extraction = extract(path)
    assert extraction.units[0].text == "1 Maß\nThe café shall open." and "line 1" in extraction.errors[0]


def test_the_format_is_told_by_bytes_before_names(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("<!DOCTYPE html><html><body><h2>1 A</h2><p>It shall.</p></body></html>", encoding="utf-8")
    assert extract(path).format == "html"


def test_what_progress_raises_passes_through(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("## 1 A\n\n" + "It shall be.\n\n" * 2000, encoding="utf-8")

    def stop(done: int, total: int) -> None:
        assert (done, total) == (1000, 4002)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract(path, progress=stop)


def test_the_version_is_known_without_loading_any_parser() -> None:
    code = "import sys; import spear.standards.extraction; print(sorted({'lxml','docutils','pdfplumber','pypdfium2','markdown_it'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_a_long_text_takes_memory_in_proportion(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("w", encoding="utf-8") as stream:
        for clause in range(1, 301):
            stream.write(
                f"{clause}.  Clause\n\n" + "   The field shall hold the value. It may not. It is there.\n\n" * 20
            )
    code = (
        "import resource, sys; from pathlib import Path; from spear.standards.extraction import extract\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "units = extract(Path(sys.argv[1])).units\n"
        "print(len(units), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=100
    )
    units, grown = map(int, done.stdout.split())
    assert units >= 300 * 20 * 2 and grown < 2500 * units


WORDS = st.sampled_from(
    ["# ", "## 1 A\n", "## 1.1 B\n", "\n\n", "Rule 1-1: ", "It shall be. ", "It may. ", "- x\n", "  - y:\n", "(MUST-1)", "NOTE: ", "|a|b|\n",
     "|-|-|\n", "```\n", "> ", "Table 1: T\n", "1. z\n", "é\u202e\ufffd", "<b>", "Annex A (informative)\n", "+---+\n", "=====\n", ":: x\n", "* \n"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=40), st.sampled_from([".md", ".txt", ".adoc", ".rst", ".html"]))
def test_any_text_comes_out_whole_or_is_refused_and_comes_out_the_same_again(words: list[str], suffix: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"any{suffix}"
        path.write_text("".join(words), encoding="utf-8")
        first = outcome(path)
        if isinstance(first, SpearError):
            assert first.hint
        else:
            assert extract(path) == first
            _holds(first)


def _holds(extraction: Extraction) -> None:
    """What is so for the units of any document."""
    identities = [unit.unit_id for unit in extraction.units]
    assert len(set(identities)) == len(identities)
    known = set(identities)
    for unit in extraction.units:
        assert unit.text.strip() and unit.lines[0] <= unit.lines[1] and (not unit.within or unit.within in known)
        assert (unit.label == "") == (unit.ordinal == "")
        strongest = {
            Kind.REQUIREMENT: Force.REQUIREMENT, Kind.RECOMMENDATION: Force.RECOMMENDATION, Kind.PERMISSION: Force.PERMISSION,
            Kind.TABLE: Force.REQUIREMENT,
        }.get(unit.kind, Force.INFORMATIVE)  # fmt: skip
        assert unit.force_ceiling.rank <= strongest.rank


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_numbers_by_nesting_are_each_new_and_follow_each_other(levels: list[int]) -> None:
    nesting, sequence = Nesting(), Succession()
    numbers = [nesting.next(level) for level in levels]
    assert len(set(numbers)) == len(numbers)
    if all(after <= before + 1 for before, after in zip([0, *levels], levels, strict=False)):
        for number in numbers:
            assert sequence.follows(number)
            sequence.take(number)


PRINTED = [
    ("7.1.5 Title", "7.1.5", "Title"), ("7.1.5. Title", "7.1.5", "Title"), ("A2.2.5 Title", "A2.2.5", "Title"),
    ("Annex B.3 Title", "B.3", "Title"), ("Annex B (informative) Title", "B", "(informative) Title"), ("Appendix A. Title", "A", "Title"),
    ("§ 7 Title", "7", "Title"), ("§ 7.2 Title", "7.2", "Title"), ("Chapter 9. Hart State", "9", "Hart State"), ("A.1. More", "A.1", "More"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number", "title"), PRINTED)
def test_printed_numbers_are_read_in_many_shapes(text: str, number: str, title: str) -> None:
    printed = printed_number(text)
    assert printed is not None and (printed.number, printed.title) == (number, title)


@pytest.mark.parametrize("text", ["Title", "A Title", "IPv4 Header", "1986", ""])
def test_other_headings_print_none(text: str) -> None:
    assert printed_number(text) is None


@pytest.mark.parametrize("number", ["1", "3.1", "3.6.1", "2", "7.1", "9"])
def test_a_number_that_cannot_come_next_is_no_headings(number: str) -> None:
    sequence = Succession()
    sequence.take("3.2")
    assert not sequence.follows(number)


@pytest.mark.parametrize("number", ["3.3", "3.2.1", "4", "4.1", "A", "A.1"])
def test_a_number_that_may_come_next_is(number: str) -> None:
    sequence = Succession()
    sequence.take("3.2")
    assert sequence.follows(number)


def test_a_profile_says_what_roles_sections_and_words_mean(tmp_path: Path) -> None:
    (tmp_path / "profile.toml").write_text(
        'informative = ["Background", "3"]\ndefinitions = ["Words"]\ncapitals = true\n[roles]\nGuidance = "recommendation"\nRule = "observation"\n',
        encoding="utf-8",
    )
    path = tmp_path / "spec.md"
    path.write_text(
        "## 1 Body\n\nGuidance 1-1: It MUST wait.\n\nRule 1-2: It MUST stop.\n\nIt must not count.\n\n## 2 Words\n\nbus: wires\n\n"
        "## 3 Old\n\nIt MUST go.\n\n## 4 Background\n\nIt MUST rest.\n",
        encoding="utf-8",
    )
    units = extract(path, load_profile(tmp_path / "profile.toml")).units
    assert [unit.kind for unit in units] == [
        "recommendation",
        "observation",
        "informative",
        "definition",
        "informative",
        "informative",
    ]


PROFILES = [
    ("roles = 3", "roles"), ('[roles]\nRule = "law"', "roles.Rule"), ("colour = 1", "colour"), ("= broken", "no TOML"), ("\udcff", "no TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), PROFILES)
def test_a_broken_profile_is_refused_with_its_key(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "profile.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=words) as caught:
        load_profile(path)
    assert caught.value.hint
    with pytest.raises(UsageError, match="cannot read"):
        load_profile(tmp_path / "none.toml")


def made(tmp_path: Path, text: str) -> tuple[str, ...]:
    path = tmp_path / "spec.md"
    path.write_text(text, encoding="utf-8")
    return problems(extract(path, Profile()))


def test_a_document_of_use_has_no_problems(tmp_path: Path) -> None:
    assert made(tmp_path, "# A\n\n## 1 B\n\nIt shall be.\n") == ()


USELESS = [
    ("lorem ipsum\n" * 400, "no provisions"),
    ("It shall be.\n", "no headings"),
    ("## 1 A\n\nIt shall be.\n\n" + "Words without end are here.\n\n" * 10_000, "did not extract"),
    ("## 1 A\n\nIt shall be.\n\n" + "\ufffd\ufffd\ufffd \ue001\n\n" * 20, "stand for nothing"),
    ("```\n```\n", "no text"),
]


@pytest.mark.parametrize(("text", "words"), USELESS)
def test_a_useless_document_says_why(tmp_path: Path, text: str, words: str) -> None:
    found = made(tmp_path, text)
    assert any(words in reason for reason in found) and all(reason[-1] not in ".\n" for reason in found)
