"""What would be decided about a command, without running it: `policy explain`, `policy check`, `/policy why`."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spear.cli.display.filtering import clean
from spear.cli.permission_file import of_project
from spear.cli.rows import answer_rows
from spear.cli.settings import load
from spear.host.tree_facts import tree_facts
from spear.policy.command_policy import CommandPolicy
from spear.policy.explain import check_row
from spear.policy.permissions import PermissionStore
from spear.policy.places import Root
from spear.shell.parse import ShellParser

if TYPE_CHECKING:
    from spear.cli.application import Application


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Answer for one command or for every row. The status is 0 whatever the decision: it is an answer."""
    policy, root = CommandPolicy(ShellParser()), cwd.resolve()
    roots = (Root(str(root)),)
    if parsed.action == "check":
        return answer_rows(parsed, lambda row, _: check_row(row, policy, roots=roots))
    row: dict[str, object] = {"command": _command(parsed.words)}
    if parsed.scope:
        row["scope"] = list(parsed.scope)
    if parsed.read_only:
        row["read_only"] = True
    if parsed.mode:
        row["mode"] = str(parsed.mode)
    store = PermissionStore.of(of_project(load(parsed, environ, cwd).settings.permissions))
    answer = check_row(row, policy, roots=roots, facts=tree_facts(root), denials=store.denials())
    print(json.dumps(answer, ensure_ascii=False, indent=2) if parsed.json else _text(answer))
    return 0


def explained(app: Application, command: str) -> str:
    """`/policy why COMMAND`: in the session's mode, where its shell is, under the rules that hold in it."""
    primary, shell = app.roots.primary, app.host.shell.cwd
    others = (Root(str(path), f"/workspaces/{name}") for name, path in app.roots.others.items())
    cwd = str(shell.relative_to(primary)) if shell.is_relative_to(primary) else str(shell)
    row = {"command": command, "mode": app.mode.value, "cwd": "" if cwd == "." else cwd}
    answer = check_row(
        row,
        CommandPolicy(ShellParser()),
        roots=(Root(str(primary)), *others),
        facts=tree_facts(primary),
        denials=app.approvals.store.denials(),
    )
    return _text(answer)


def _command(words: list[str]) -> str:
    """The command as the shell handed it over: one word is a script, several are an argument list."""
    return words[0] if len(words) == 1 else shlex.join(words)


def _text(answer: Mapping[str, object]) -> str:
    lines = [f"{answer['decision']} ({answer['class']})"]
    destinations = answer.get("destinations")
    for row in destinations if isinstance(destinations, list) else []:
        lines.append(f"  writes {row.get('path') or 'somewhere not known'}  by {row.get('operator')}")
    reasons, refusal = answer.get("reasons"), answer.get("refusal")
    if isinstance(refusal, Mapping):
        lines.append(f"  decided by the rule {refusal.get('code')}: {refusal.get('line')}")
    said = reasons if isinstance(reasons, list) else []
    decided = refusal.get("line") if isinstance(refusal, Mapping) else None
    lines += [f"  {reason}" for reason in said if reason != decided]
    return clean("\n".join(lines))
