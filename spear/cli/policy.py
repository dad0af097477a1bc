"""`spear-chat policy explain -- CMD` and `policy check --jsonl`: what would be decided, without running anything."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from spear.cli.display.filtering import clean
from spear.cli.rows import answer_rows
from spear.host.tree_facts import tree_facts
from spear.policy.command_policy import CommandPolicy
from spear.policy.explain import check_row
from spear.shell.parse import ShellParser


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Answer for one command or for every row. The status is 0 whatever the decision: it is an answer."""
    policy, root = CommandPolicy(ShellParser()), str(cwd.resolve())
    if parsed.action == "check":
        return answer_rows(parsed, lambda row, _: check_row(row, policy, root=root))
    row: dict[str, object] = {"command": _command(parsed.words)}
    if parsed.scope:
        row["scope"] = list(parsed.scope)
    if parsed.read_only:
        row["read_only"] = True
    if parsed.mode:
        row["mode"] = str(parsed.mode)
    answer = check_row(row, policy, root=root, facts=tree_facts(Path(root)))
    print(json.dumps(answer, ensure_ascii=False, indent=2) if parsed.json else _text(answer))
    return 0


def _command(words: list[str]) -> str:
    """The command as the shell handed it over: one word is a script, several are an argument list."""
    return words[0] if len(words) == 1 else shlex.join(words)


def _text(answer: Mapping[str, object]) -> str:
    lines = [f"{answer['decision']} ({answer['class']})"]
    destinations = answer.get("destinations")
    for row in destinations if isinstance(destinations, list) else []:
        lines.append(f"  writes {row.get('path') or 'somewhere not known'}  by {row.get('operator')}")
    reasons, refusal = answer.get("reasons"), answer.get("refusal")
    said = list(reasons) if isinstance(reasons, list) else []
    if isinstance(refusal, Mapping) and refusal.get("line") not in said:
        said.append(refusal.get("line"))
    lines += [f"  {reason}" for reason in said]
    return clean("\n".join(lines))
