"""`spear-chat trust [DIRECTORY]`: approve what a tree declares about itself, after showing it (spec 4.1)."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from spear.cli.display.filtering import clean
from spear.cli.settings import PROJECT_FILE, load
from spear.errors import UsageError
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore
from spear.workspace.projects import DECLARATION

_SHOWN = 65_536
"""Bytes of a file that is shown and trusted: what is trusted is shown whole."""


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Show the files that may declare commands or settings, ask, remember their digests."""
    state = StateDirectory(load(parsed, environ, cwd).settings.state_dir)
    store = TrustStore(state.trusted)
    if parsed.list:
        for path in sorted(store.approved()):
            print(f"{path}{'' if store.trusts(Path(path)) else '  (changed since: not trusted any more)'}")
        return 0
    root = (cwd / parsed.directory).resolve() if parsed.directory else cwd.resolve()
    files = [root / name for name in (DECLARATION, PROJECT_FILE) if (root / name).is_file()]
    if not files:
        raise UsageError(f"{root} declares nothing", hint=f"there is no {DECLARATION} and no {PROJECT_FILE} in it")
    shown: dict[Path, str] = {}
    for file in files:
        data = file.read_bytes()
        if len(data) > _SHOWN:
            raise UsageError(f"{file} is too long to be read before it is trusted", hint=f"at most {_SHOWN} bytes")
        print(f"--- {file}\n{clean(data.decode(errors='replace'))}")
        shown[file] = hashlib.sha256(data).hexdigest()
    if not parsed.yes and not _agreed():
        print("nothing was trusted")
        return 0
    state.prepare()
    store.approve(shown)
    print("trusted as they are now; a change to them asks again")
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here", hint="add --yes")
    return input("May these declare commands and settings? [y/N] ").strip().lower() in ("y", "yes", "o", "oui")
