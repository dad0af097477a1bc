"""`spear-chat standard …`, each command as a shell sees it: what it prints, where, and its status (spec 5.2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from spear.cli.arguments import parse
from spear.cli.standard import run
from spear.cli.subcommands import WIRED
from spear.errors import SpearError
from tests.standards.keeping.conftest import TEXT


@dataclass
class Done:
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


Standard = Callable[..., Done]


@pytest.fixture
def empty(tmp_path: Path, capsys) -> Standard:
    """The command, in a directory and a state of its own."""
    (tmp_path / "ws").mkdir()
    environ = {"HOME": str(tmp_path), "SPEAR_STATE_DIR": str(tmp_path / "state")}

    def standard(*words: str) -> Done:
        try:
            status, said = run(parse(["standard", *words], WIRED), environ, tmp_path / "ws"), ""
        except SpearError as error:
            status, said = error.exit_status, f"{error}\n"
        out, err = capsys.readouterr()
        return Done(status, out, err + said)

    return standard


@pytest.fixture
def lamp(empty: Standard, tmp_path: Path) -> Standard:
    (tmp_path / "ws/lamp-bus.md").write_text(TEXT)
    done = empty("ingest", "lamp-bus.md", "--id", "LAMP-BUS", "--revision", "2", "--origin", "PUBLIC")
    assert done.returncode == 0, done.stderr
    assert "6 requirement" in done.stdout
    return empty


@pytest.fixture
def bound(lamp: Standard) -> Standard:
    assert lamp("use", "LAMP-BUS", "2").returncode == 0
    return lamp


def test_a_useless_document_is_status_3_with_its_reasons(empty, tmp_path):
    (tmp_path / "ws/junk.md").write_text("lorem ipsum\n" * 400)
    done = empty("ingest", "junk.md", "--id", "JUNK", "--revision", "1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "provision" in done.stderr
    assert "no standard is ingested" in empty("list").stdout


def test_each_command_prints_what_it_is_for(bound):
    listed = bound("list").stdout
    for word in ("* LAMP-BUS 2", "PUBLIC", "NOT_REVIEWED", "6 requirements"):
        assert word in listed
    assert bound("cite", "Rule 2.1-2").stdout == "(Rule 2.1-2, §2.1)\n"
    assert bound("cite", "§2.1").stdout == "(§2.1)\n"
    assert "ambiguous: 2 provisions are printed as Rule 4-1" in bound("show", "Rule", "4-1").stdout
    shown = bound("show", "LAMP-BUS", "2", "2.2").stdout
    assert "15:8 | LEVEL | brightness, 0 is dark" in shown
    hits = json.loads(bound("search", "LAMP-BUS", "2", "discard long frames", "--limit", "2", "--json").stdout)
    assert [set(hit) >= {"section", "label", "page", "text", "kind", "force_ceiling", "score"} for hit in hits]
    assert (hits[0]["label"], hits[0]["section"], hits[0]["force_ceiling"]) == ("Rule 2.1-2", "2.1", "requirement")
    units = [json.loads(line) for line in bound("export", "LAMP-BUS", "2").stdout.splitlines()]
    assert list(units[0]) == [
        "unit_id", "kind", "ordinal", "label", "section", "heading_path", "page", "lines", "text", "modality",
        "force_ceiling",
    ]  # fmt: skip
    assert {unit["label"]: unit["force_ceiling"] for unit in units}["Permission 3-2"] == "permission"
    assert "2 units" in bound("retrieval", "lexical", "--completion", "2").stdout
    assert "choose from 'lexical'" in bound("retrieval", "hybrid").stderr
    assert "near it: Rule 1" not in bound("show", "Ruler 1").stderr
    assert "a question is needed" in bound("search", " ").stderr
    assert "(Permission 3-2, §3)" in bound("search", "answer a poll", "--limit", "1").stdout


def test_a_structure_is_approved_and_built(bound):
    first = json.loads(bound("candidates", "LAMP-BUS", "2", "--json").stdout)[0]
    assert first["kind"] == "fields"
    assert first["served"] is False
    assert bound("approve-structure", "LAMP-BUS", "2", first["id"]).returncode == 2
    named = ("approve-structure", "LAMP-BUS", "2", first["id"], "--reviewer", "Ada")
    assert bound(*named).returncode == 0
    assert "15:8 | LEVEL" in bound("build-structure", "LAMP-BUS", "2").stdout
    again = json.loads(bound("candidates", "--json").stdout)[0]
    assert (again["served"], again["approved_by"]) == (True, "Ada")
    assert bound("approve", "LAMP-BUS", "2", "--reviewer", "Ada").returncode == 0
    assert "REVIEWED" in bound("list").stdout
    assert bound("verify", "--full").returncode == 0


def test_removing_is_asked_about_and_never_what_is_bound(bound):
    assert "is bound" in bound("remove", "LAMP-BUS", "2", "--yes").stderr
    bound("unbind")
    refused = bound("remove", "LAMP-BUS", "2")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert bound("remove", "LAMP-BUS", "2", "--yes").returncode == 0
    assert bound("remove", "LAMP-BUS", "2", "--yes").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("use", "NONE", "1"), "there is no standard NONE 1"),
        (("use", "..", "1"), "cannot be the id"),
        (("show", "2.1"), "no standard is bound"),
        (("search", "frames"), "no standard is bound"),
        (("verify", "LAMP-BUS"), "which revision of LAMP-BUS?"),
        (("ingest", "lamp-bus.md", "--id", "X"), "ingest needs --revision"),
        (("ingest", "nothing.pdf", "--id", "X", "--revision", "1"), "nothing.pdf cannot be read"),
        (("frobnicate",), "frobnicate"),
        (("search", "LAMP-BUS", "2", "frame", "--limit", "0"), "is not from 1 to 100"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_sentence(lamp, words, said):
    done = lamp(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_changed_standard_is_not_read_before_it_is_verified(bound, tmp_path):
    corpus = tmp_path / "state/standards/LAMP-BUS/2/corpus/units.jsonl"
    corpus.write_bytes(corpus.read_bytes().replace(b"64 octets", b"65 octets"))
    for words in (("search", "octets"), ("show", "2.1"), ("export",), ("use", "LAMP-BUS", "2")):
        refused = bound(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "standard verify LAMP-BUS 2" in refused.stderr
    assert bound("status").returncode == 3
    verified = bound("verify")
    assert verified.returncode == 3
    assert "is not what was extracted" in verified.stderr
    corpus.write_bytes(corpus.read_bytes().replace(b"65 octets", b"64 octets"))
    assert bound("verify").returncode == 0
    assert "64 octets" in bound("search", "discard octets").stdout


def test_what_a_document_says_cannot_move_the_cursor(empty, tmp_path):
    (tmp_path / "ws/evil.md").write_text(
        TEXT.replace("dark |", "\x1b[2Jdark\u202e |").replace("20 ms", "20 \x1b]0;x\x07ms")
    )
    assert empty("ingest", "evil.md", "--id", "EVIL", "--revision", "1").returncode == 0
    shown = empty("show", "EVIL", "1", "2.2").stdout + empty("search", "EVIL", "1", "poll").stdout
    assert "dark" in shown
    assert not set(shown) & set("\x1b\x07\u202e")
    exported = empty("export", "EVIL", "1").stdout
    assert not set(exported) & set("\x1b\x07\u202e")


def test_what_a_sentence_leads_in_is_shown_once(empty, tmp_path):
    text = "# 1 Kinds\n\nA lamp shall be:\n\n- white;\n- red.\n\n| Lamp |\n|---|\n| a |\n"
    (tmp_path / "ws/kinds.md").write_text(text)
    assert empty("ingest", "kinds.md", "--id", "KINDS", "--revision", "1").returncode == 0
    shown = empty("show", "KINDS", "1", "1").stdout
    assert [shown.count(word) for word in ("A lamp shall be:", "white;", "red.")] == [1, 1, 1]
