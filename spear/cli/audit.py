"""`spear-chat audit verify|show|tail|export`: the record of sessions, checked and shown (spec 3.8)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spear.cli.display.filtering import clean, one_line
from spear.cli.settings import load
from spear.errors import UsageError
from spear.state.audit import heads_of, read, tail_records, verify
from spear.state.directory import StateDirectory
from spear.state.export import ExportForm, export
from spear.state.intoto import last_judged_turn, statement
from spear.state.records import read_evidence
from spear.state.redaction import Redactor
from spear.state.sessions import SessionStore

_POLL_S = 0.3


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Answer one audit question. `verify` exits 3 when a chain does not hold."""
    settings = load(parsed, environ, cwd).settings
    state = StateDirectory(settings.state_dir)
    redactor = Redactor.of_environment(environ)
    store = SessionStore(state, redactor)
    match parsed.action:
        case "verify":
            return _verify(parsed, state, store)
        case "show":
            return _show(_events(state, _session(store, parsed, cwd)), parsed)
        case "tail":
            return _tail(state, _session(store, parsed, cwd), parsed)
        case "export":
            return _export(state, store, _session(store, parsed, cwd), parsed, redactor)
        case _:
            raise UsageError("audit needs an action", hint="verify, show, tail or export")


def _session(store: SessionStore, parsed: argparse.Namespace, cwd: Path) -> str:
    if parsed.session:
        return store.resolve(parsed.session)
    newest = store.newest(cwd.resolve()) or next(iter(reversed(store.ids())), None)
    if newest is None:
        raise UsageError("there is no session yet", hint='run one: spear-chat -p "…"')
    return newest


def _verify(parsed: argparse.Namespace, state: StateDirectory, store: SessionStore) -> int:
    wanted = [store.resolve(parsed.session)] if parsed.session else store.ids()
    sound = True
    for session in wanted:
        path = state.events(session)
        if not path.exists() and not heads_of(path).exists():
            continue  # a session that never began to write
        report = verify(path)
        sound = sound and report.ok
        if parsed.json:
            problems = [{"line": p.line, "seq": p.seq, "what": p.what} for p in report.problems]
            print(json.dumps({"session": session, "ok": report.ok, "torn": report.torn, "problems": problems}))
            continue
        torn = f" (an incomplete last line of {report.torn} bytes)" if report.torn else ""
        print(f"{session}: {'intact' if report.ok else 'DOES NOT HOLD'}{torn}")
        for problem in report.problems[:20]:
            print(f"  line {problem.line}: {problem.what}")
    if not wanted and not parsed.json:
        print("there is no session yet")
    return 0 if sound else 3


def _events(state: StateDirectory, session: str) -> Iterator[dict[str, Any]]:
    return read(state.events(session))


def _show(events: Iterator[dict[str, Any]], parsed: argparse.Namespace) -> int:
    for event in events:
        if parsed.turn is None or event.get("turn") == parsed.turn:
            _print(event, as_json=parsed.json)
    return 0


def _print(event: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(event, ensure_ascii=True))
    else:
        data = one_line(json.dumps(event.get("data", {}), ensure_ascii=False), 140)
        print(clean(f"{event.get('ts', '')}  turn {event.get('turn', 0)}  {event.get('event', ''):<26} {data}"))


def _tail(state: StateDirectory, session: str, parsed: argparse.Namespace) -> int:
    path = state.events(session)
    shown = tail_records(path, int(parsed.lines or 20))
    for event in shown:
        _print(event, as_json=parsed.json)
    last = shown[-1]["seq"] if shown else 0
    while parsed.follow:
        fresh = [event for event in tail_records(path, 200) if event["seq"] > last]
        for event in fresh:
            _print(event, as_json=parsed.json)
        last = fresh[-1]["seq"] if fresh else last
        sys.stdout.flush()  # into a pipe as well, at once
        if not fresh:
            time.sleep(_POLL_S)
    return 0


def _export(
    state: StateDirectory, store: SessionStore, session: str, parsed: argparse.Namespace, redactor: Redactor
) -> int:
    if parsed.format != "intoto":
        loaded = store.load(session)
        print(export(loaded.conversation, ExportForm(parsed.format), redactor, title=loaded.title or session))
        return 0
    events = list(read(state.events(session)))
    turn = parsed.turn or last_judged_turn(events)
    if turn is None:
        raise UsageError(f"session {session} has no turn with a verdict", hint="name another session")
    found = statement(events, read_evidence(state.evidence(session)), turn)
    if found is None:
        raise UsageError(f"turn {turn} of session {session} has no verdict", hint="name another with --turn")
    print(json.dumps(found, indent=2))
    return 0
