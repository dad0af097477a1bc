"""`spear-chat undo|redo`: put back what turns changed, or bring it back again (spec 3.6). Asks; `--yes` answers yes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from spear.cli.display.filtering import clean
from spear.cli.settings import load
from spear.errors import UsageError
from spear.state.directory import StateDirectory
from spear.workspace.checkpoints import CheckpointManager, UndoReport
from spear.workspace.undo_plan import UndoPlan


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Show what would be restored, ask, restore. Status 0 when something was, 2 when there is nothing to do."""
    settings = load(parsed, environ, cwd).settings
    manager = CheckpointManager(StateDirectory(settings.state_dir).checkpoints)
    root = workspace_of(manager, cwd.resolve())
    if getattr(parsed, "list", False):
        return _list(manager, root, parsed)
    count = parsed.count or 1
    if parsed.command == "undo":
        plan = manager.undo(root, count, _relative(root, cwd, parsed.file), parsed.session)
    else:
        plan = manager.redo(root, count, parsed.session)
    if plan.problem:
        raise UsageError(plan.problem, hint="spear-chat undo --list shows what there is")
    print(plan_text(plan))
    if not parsed.yes and not _agreed():
        print("nothing was changed")
        return 0
    report = manager.apply(plan)
    print(json.dumps(report_json(report)) if parsed.json else report_text(report))
    return 0


def workspace_of(manager: CheckpointManager, cwd: Path) -> Path:
    """The workspace root the directory belongs to: itself, or the nearest one above it that has checkpoints."""
    for place in (cwd, *cwd.parents):
        if manager.listing(place):
            return place
    return cwd


def plan_text(plan: UndoPlan) -> str:
    """What would happen, one line a path."""
    lines = [
        f"{_verb(change.now.kind.value, change.target.kind.value)} {clean(change.path)}" for change in plan.changes
    ]
    lines += [f"leave   {clean(conflict.path)}: {clean(conflict.reason)}" for conflict in plan.conflicts]
    if plan.interrupted:
        lines.append("(that turn never finished: it was interrupted)")
    return "\n".join(lines) or "nothing differs"


def report_text(report: UndoReport) -> str:
    """What happened."""
    lines = [f"{len(report.restored)} restored"] + [f"  {clean(path)}" for path in report.restored[:50]]
    lines += [f"left alone: {clean(conflict.path)}: {clean(conflict.reason)}" for conflict in report.conflicts]
    return "\n".join(lines)


def report_json(report: UndoReport) -> dict[str, object]:
    """The same for a script."""
    return {
        "restored": list(report.restored),
        "conflicts": [{"path": c.path, "reason": c.reason} for c in report.conflicts],
        "removed_directories": list(report.removed_dirs),
    }


def _verb(now: str, target: str) -> str:
    if target == "absent":
        return "remove "
    return "restore" if now != "absent" else "recreate"


def _relative(root: Path, cwd: Path, file: str | Path | None) -> str | None:
    if file is None:
        return None
    place = (cwd / file).absolute()
    if not place.is_relative_to(root):
        raise UsageError(f"{file} is not in {root}", hint="name a file of this workspace")
    return str(place.relative_to(root))


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here", hint="add --yes")
    return input("Put this back? [y/N] ").strip().lower() in ("y", "yes", "o", "oui")


def _list(manager: CheckpointManager, root: Path, parsed: argparse.Namespace) -> int:
    infos = manager.listing(root, parsed.session)
    for info in infos:
        if parsed.json:
            print(json.dumps({"id": info.id, "session": info.session, "turn": info.turn, "files": len(info.paths)}))
        else:
            print(f"{info.id}  session {info.session}  turn {info.turn}  {len(info.paths)} files")
    if not infos and not parsed.json:
        print("nothing to undo here")
    return 0
