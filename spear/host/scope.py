"""From what a request names to what its turn may write: names looked up in the tree, symbols in sources (spec 2.3)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from spear.policy.belonging import is_manifest
from spear.policy.write_scope import WriteScope
from spear.workspace import presence

_MOST_DEFINITIONS = 3
_SEARCH_SECONDS = 10
_HEADERS = ("*.h", "*.hh", "*.hpp", "*.hxx", "*.pyi", "*.d.ts")
_TESTS = ("tests/", "test/", "*_test.*", "test_*", "*.test.*", "*.spec.*", "*Test.java", "*_spec.rb")
_DOCS = ("docs/", "doc/", "*.md", "*.rst")
_KINDS = {"header": _HEADERS, "tests": _TESTS, "docs": _DOCS}


def write_scope(
    root: Path,
    targets: Sequence[str],
    exclusions: Sequence[str],
    symbols: Sequence[str],
    excluded_kinds: Sequence[str],
    *,
    everywhere: bool,
) -> WriteScope:
    """The scope of a turn. Targets confine it; without any, a symbol the request names confines it to the files that
    define it, where that is clear; otherwise it is the workspace."""
    found = [place for target in targets for place in locate(root, target)]
    if not found and symbols and not everywhere:
        found = definitions(root, symbols)
    closed = [place for name in exclusions for place in locate(root, name)]
    closed += [pattern for kind in excluded_kinds for pattern in _KINDS.get(kind, ())]
    targets = tuple(dict.fromkeys(found))
    return WriteScope(
        targets=targets,
        exclusions=tuple(dict.fromkeys(closed)),
        created=frozenset(target for target in targets if not os.path.lexists(root / target)),
        workspace_wide=not found,
        manifests=tuple(_manifests(root, targets)),
    )


def _manifests(root: Path, targets: Sequence[str]) -> list[str]:
    """The build manifests in the directories of the targets and above, up to the root."""
    directories = {parent for target in targets for parent in Path(target.rstrip("/")).parents} | {Path()}
    found: list[str] = []
    for directory in sorted(directories):
        place = root / directory
        found += [str(directory / name) for name in presence.names(place) if is_manifest(name)]
    return found


def locate(root: Path, name: str) -> list[str]:
    """The workspace-relative paths a name in a request may mean: itself where it exists or is new, else the files of
    that name further down (`ring.c` for `src/ring.c`)."""
    plain = name.removeprefix(str(root)).lstrip("/") if name.startswith(str(root)) else name
    if os.path.lexists(root / plain.rstrip("/")) or "/" in plain.rstrip("/") or any(c in plain for c in "*?["):
        return [plain]
    return _files_named(root, plain) or [plain]


def _files_named(root: Path, name: str) -> list[str]:
    """Files called `name`, as git or a plain walk lists them: at most a hundred."""
    listed = _run(root, ["rg", "--no-config", "--files", "--hidden", "--glob", "!.git", "--iglob", f"**/{name}"])
    if listed is None:
        return [str(p.relative_to(root)) for p in list(root.rglob(name))[:100] if ".git" not in p.parts]
    return listed[:100]


def definitions(root: Path, symbols: Sequence[str]) -> list[str]:
    """The files that define every one of these symbols' last names; empty when that is not clear."""
    found: list[str] = []
    for symbol in symbols:
        name = re.escape(re.split(r"::|\.|->", symbol)[-1])
        pattern = (
            rf"^\s*(?:(?:pub(?:\([a-z]+\))?|async|export|default|static|inline|extern|const|unsafe)\s+)*"
            rf"(?:def|class|fn|func(?:\s+\([^)]*\))?|function|struct|enum|trait|interface|type|module|macro_rules!)\s+{name}\b"
            rf"|^#\s*define\s+{name}\b"
            rf"|^(?:[A-Za-z_][\w\s\*]*[\s\*]){name}\s*\([^;]*$"
            rf"|^\s*(?:const|let|var)\s+{name}\s*="
        )
        files = _run(root, ["rg", "--no-config", "--files-with-matches", "--sort", "path", "-e", pattern, "."])
        named = [path.removeprefix("./") for path in files or []]
        if not named or len(named) > _MOST_DEFINITIONS:
            return []
        found += named
    return list(dict.fromkeys(found))


def _run(root: Path, argv: list[str]) -> list[str] | None:
    """Lines of a search; None when it cannot be made."""
    if shutil.which(argv[0]) is None:
        return None
    try:
        done = subprocess.run(
            argv, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SEARCH_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return [line for line in done.stdout.decode("utf-8", "surrogateescape").split("\n") if line]
