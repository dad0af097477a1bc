"""Few records are shown whole, many as an index with those the request names, conflicts always as conflicts."""

from spear.context.knowledge.presentation import present, section
from spear.context.knowledge.records import Kind, Provenance, Record, Source, State, Verification


def record(number, statement="", subject="", kind=Kind.FACT, tags=(), path="", source=None):
    return Record(
        f"k{number:02}", "w", kind, subject, statement or f"Statement {number}.", tags, path, Provenance.OPERATOR,
        Verification.USER_CONFIRMED, source, State.ACTIVE, 1, "", "", "", "a",
    )  # fmt: skip


def shown(records, request="", targets=()):
    presentation = present(records, request, targets)
    return section(presentation, presentation.lines)


def test_ten_short_records_are_shown_whole():
    text = shown([record(number) for number in range(10)])
    assert all(f"Statement {number}." in text for number in range(10))
    assert "spear-knowledge" not in text


def test_eleven_are_an_index_with_what_the_request_names():
    source = Source("src/ring.c", 1, "int", "")
    records = [
        *(record(number, subject=f"subject {number}") for number in range(9)),
        record(90, subject="baud rate"),
        record(91, tags=("uart",)),
        record(92, path="docs/a.md"),
        record(93, source=source),
        record(94),
    ]
    text = shown(records, "Is the Baud Rate of the uart in docs/a.md right, k94?", ("src/ring.c",))
    assert [n for n in range(9) if f"Statement {n}." in text] == []
    assert all(f"Statement {n}." in text for n in (90, 91, 92, 93, 94))
    assert "subject 3" in text
    assert "spear-knowledge show ID" in text


def test_a_word_inside_another_names_nothing():
    records = [record(number, subject="ring") for number in range(3)] + [record(n + 10) for n in range(9)]
    text = shown(records[:1] + records[3:] + [record(50)], "the string is wrong")
    assert "Statement 0." not in text


def test_a_long_statement_makes_an_index():
    text = shown([record(1, statement="x" * 301, subject="long")])
    assert "xxx" not in text
    assert "k01 fact: long" in text


def test_a_large_set_names_the_newest_and_how_many_more():
    text = shown([record(number, subject=f"s{number}") for number in range(100)])
    assert len(text) < 3000
    assert "s99" in text
    assert "60 older ones" in text


def test_a_conflict_shows_both_and_prefers_neither():
    one = record(1, "The baud rate is 9600.", "baud rate")
    other = record(2, "The baud rate is 115200.", "Baud  Rate ")
    text = shown([one, record(3), other])
    assert text.index("CONFLICT") < text.index("9600") < text.index("115200")
    assert "CONFLICT" in shown([one, other, *(record(n + 10) for n in range(12))])


def test_the_same_statement_twice_another_kind_or_no_subject_is_no_conflict():
    assert "CONFLICT" not in shown([record(1, "It is 5.", "x"), record(2, "it is 5", "x")])
    assert "CONFLICT" not in shown([record(1, "a", "x"), record(2, "b", "x", kind=Kind.BUILD)])
    assert "CONFLICT" not in shown([record(1, "a"), record(2, "b")])


def test_nothing_recorded_is_nothing_shown():
    assert shown([]) == ""
