"""What a search answers: the passage, its lines, the line that shows it."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.retrieval.search import Index
from spear.retrieval.words import Query


def test_a_hit_names_the_passage_and_the_line_that_matches(update, find):
    update()
    hit = find("wraps at the end")[0]
    assert (hit.path, hit.first_line, hit.last_line, hit.title) == ("src/ring.c", 3, 10, "ring_next")
    assert hit.place == "src/ring.c:3"
    assert hit.snippet.startswith("/* Moves on by one slot and wraps at the end. */")


def test_the_line_shown_lies_inside_a_long_passage(update, find, tree):
    (tree / "long.py").write_text("def f():\n" + "".join(f"    a{n} = {n}\n" for n in range(40)) + "    zebra = 1\n")
    update()
    hit = find("zebra")[0]
    assert (hit.line, hit.snippet) == (42, "    zebra = 1")


def test_endings_accents_and_case_do_not_matter(update, find, tree):
    (tree / "note.txt").write_text("Les réglages de la Synchronisation\n")
    update()
    assert find("WRAPPING")[0].path == "src/ring.c"
    assert find("reglage synchronisation")[0].path == "note.txt"


def test_an_identifier_is_found_by_its_words_and_whole(update, find):
    update()
    for text in ("parse http header", "parseHttpHeader", "http"):
        assert find(text)[0].path == "lib/parser.py", text
    assert find("capacity of the ring")[0].title == "ring_capacity"


def test_a_definition_goes_before_its_uses(update, find, tree):
    uses = "".join(f"def use{n}():\n    ring_next(ring_next(ring_next(0, 1), 2), 3)\n\n\n" for n in range(8))
    (tree / "uses.py").write_text(uses)
    update()
    assert find("ring_next")[0].title == "ring_next"


def test_a_quoted_phrase_must_occur(update, find, tree):
    (tree / "a.txt").write_text("needle rests here\n")
    (tree / "b.txt").write_text("rests, then the needle\n")
    update()
    assert {hit.path for hit in find('"needle rests"')} == {"a.txt", "docs/guide.md"}
    assert {hit.path for hit in find("needle rests")} == {"a.txt", "b.txt", "docs/guide.md"}


def test_a_phrase_that_nothing_holds_is_words(update, find):
    update()
    assert find('"rests needle until"')[0].path == "docs/guide.md"


def test_the_path_and_the_heading_are_searched(update, find):
    update()
    assert find("calibration")[0].title == "Guide > Calibration"
    assert find("guide")[0].path == "docs/guide.md"


def test_coverage_is_the_share_of_the_terms_a_hit_holds(update, find):
    update()
    assert find("wraps slot")[0].coverage == 1.0
    assert find("wraps zebra")[0].coverage == 0.5


def test_nothing_asked_and_nothing_found_are_no_hits(update, find):
    update()
    assert find("") == find("???") == find("zebra") == []


def test_a_tree_that_was_never_indexed_has_no_index(index):
    assert Index.open(index) is None


def test_a_reader_sees_what_is_committed_meanwhile(update, index, tree):
    update()
    with Index.open(index) as opened:
        assert not opened.search(Query.of("zebra"))
        (tree / "z.txt").write_text("zebra\n")
        update()
        assert opened.search(Query.of("zebra"))


def test_a_long_line_is_shown_in_part(update, find, tree):
    (tree / "one.txt").write_text("zebra " + "x" * 3000)
    update()
    assert len(find("zebra")[0].snippet) == 200


def test_marks_in_the_text_itself_do_no_harm(update, find, tree):
    (tree / "odd.txt").write_text("zebra \x02inner\x03 \x1b[31m end\x03\n")
    update()
    assert "\x02" not in find("zebra")[0].snippet


def test_any_text_can_be_asked(update, index):
    update()
    with Index.open(index) as opened:

        @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(st.text(max_size=80))
        def ask(text):
            hits = opened.search(Query.of(text), 5)
            assert len(hits) <= 5
            assert all(0 <= hit.coverage <= 1 and hit.first_line <= hit.line <= hit.last_line for hit in hits)

        ask()
