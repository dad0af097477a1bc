"""`/standard` in the real chat: taken in, bound, shown where the chat says what is bound, completed, withheld."""

from __future__ import annotations

from tests.standards.keeping.conftest import TEXT


def test_a_standard_is_taken_in_bound_read_and_removed(real, project, scripted):
    (project / "lamp-bus.md").write_text(TEXT)
    r = real([scripted.text("Hello there.")], "--auto")

    def answered(entry: str, answer: str) -> str:
        r.mark()
        r.line(entry)
        return r.wait(rf"(?s)> {entry[:20]}.*?\n.*{answer}", 40)

    answered("/standard", r"promote-candidate +say what a candidate is")
    answered("/standard frobnicate", r"frobnicate")
    answered("/standard status", r"no standard is bound: /standard use ID REV")
    answered(
        "/standard ingest lamp-bus.md --id LAMP-BUS --revision 2 --origin PUBLIC", r"bind it: /standard use LAMP-BUS 2"
    )
    answered("/standard use LAMP-BUS 2", r"bound: LAMP-BUS 2")
    r.wait(r"scripted.*· LAMP-BUS 2")  # the row below the input
    answered("/status", r"standard +LAMP-BUS 2")
    answered("/standard search how long may a frame be before it is discarded", r"\(Rule 2\.1-2, §2\.1\)")
    answered("/standard show Rule 4-1", r"ambiguous: 2 provisions")
    answered("/standard show zzz", r"the standard has no zzz — search it: /standard search QUESTION")
    answered("/standard export", r"written to .*LAMP-BUS-2\.jsonl")
    assert (project / "LAMP-BUS-2.jsonl").read_text().count("\n") > 10
    answered("What does Rule 2.1-2 require?", r"Withheld: .*LAMP-BUS 2")
    answered("hello", r"Hello there\.")
    answered("/standard remove LAMP-BUS 2", r"is bound")
    answered("/standard unbind", r"bound no more")
    answered("/standard remove LAMP-BUS 2", r"Remove LAMP-BUS 2")
    r.line("n")
    r.wait("nothing was removed")
    answered("/standard remove LAMP-BUS 2", r"Remove LAMP-BUS 2")
    r.line("y")
    r.wait("LAMP-BUS 2 is removed")
    assert len(r.server.requests) == 1


def test_labels_complete_from_the_bound_standard(real, project, state):
    from spear.standards.binding import Bindings
    from spear.standards.ingestion import Document, ingest
    from spear.standards.store import StandardStore
    from tests.standards.keeping.conftest import NAME

    (project / "lamp-bus.md").write_text(TEXT)
    store = StandardStore(state / "standards")
    ingest(store, Document(project / "lamp-bus.md", NAME), lambda *_: None)
    Bindings(store).use(NAME)
    r = real([], "--auto")
    r.wait(r"standard +LAMP-BUS 2")
    r.keys("what does Rule 2.1-")
    r.wait(r"Rule 2\.1-2")
    r.keys("\x15")
    r.keys("is §2.")
    r.wait(r"\b2\.2\b")
