"""`spear-chat sessions [list|prune]`: what is stored, and what closing would free (spec 1.5, 8.3)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from spear.cli.display.filtering import one_line
from spear.cli.settings import load
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.state.sessions import SessionStore


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """List sessions, or what pruning would free; nothing is removed without `--yes`."""
    settings = load(parsed, environ, cwd).settings
    store = SessionStore(StateDirectory(settings.state_dir), Redactor.of_environment(environ))
    return _prune(store, parsed) if parsed.action == "prune" else _list(store, parsed, cwd)


def _list(store: SessionStore, parsed: argparse.Namespace, cwd: Path) -> int:
    summaries = store.summaries(None if parsed.all else cwd.resolve())
    for summary in summaries:
        if parsed.json:
            print(json.dumps(asdict(summary), default=str))
        else:
            print(f"{summary.id}  {summary.last:<27} {summary.state.value:<10} {one_line(summary.title, 70)}")
    if not summaries and not parsed.json:
        print("no sessions here; --all lists those of every directory")
    return 0


def _prune(store: SessionStore, parsed: argparse.Namespace) -> int:
    items = store.freeable()
    if parsed.json:
        for item in items:
            print(json.dumps(asdict(item), default=str))
        if parsed.yes:
            store.prune(items)
        return 0
    for item in items:
        files = "1 file" if item.files == 1 else f"{item.files} files"
        print(f"{_size(item.bytes):>10}  {item.session}  {files}")
    if not items:
        print("nothing to free")
    elif parsed.yes:
        print(f"{_size(store.prune(items))} freed")
    else:
        print(f"{_size(sum(item.bytes for item in items))} in all; nothing was removed; --yes removes it")
    return 0


def _size(count: int) -> str:
    """Bytes as a person reads them."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
