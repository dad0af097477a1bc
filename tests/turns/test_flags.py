"""Flags that do what they say (spec 1.3)."""

from __future__ import annotations

import json

from tests.turns.conftest import ASK


def test_a_session_belongs_to_the_corpus_that_is_named_and_unknown_names_are_refused(counter, tmp_path):
    registry = tmp_path / "named.json"
    registry.write_text(json.dumps({"ring": {"path": str(counter.root)}}))
    where = ("--projects-file", str(registry), "-p", "Explain the Makefile", "--explain")
    for flag in ("--corpus", "--with", "--without"):
        done = counter.run(*where, flag, "nope")
        assert done.returncode == 2 and "there is no corpus nope" in done.stderr and "ring" in done.stderr
    assert counter.run(*where, "--corpus", "ring").returncode == 0


def test_a_trace_is_written_only_when_it_is_asked_for(counter, tmp_path):
    trace = tmp_path / "deep/trace.jsonl"
    counter.turn(ASK, "Nothing to do.", flags=("--trace-file", str(trace)))
    assert not trace.exists()
    counter.turn(ASK, "Nothing to do.", flags=("--trace", "--trace-file", str(trace)))
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    assert {"event", "live"} <= {key for row in rows for key in row}
    assert "verdict_computed" in [row.get("event") for row in rows]
    assert trace.stat().st_mode & 0o077 == 0


def test_a_trace_that_cannot_be_opened_is_said_before_the_turn(counter, tmp_path):
    (tmp_path / "directory").mkdir()
    done = counter.run("-p", ASK, "--trace", "--trace-file", str(tmp_path / "directory"))
    assert done.returncode == 2 and "directory" in done.stderr and "defect" not in done.stderr
