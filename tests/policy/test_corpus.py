"""The recorded corpus, judged where it lies: set SPEAR_SHELL_CORPUS to its path to define this test."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

from spear.events.names import Mode
from spear.policy.command_policy import CommandPolicy, Decision
from spear.policy.destination_policy import PolicyView
from spear.policy.modes import grants
from spear.policy.places import Root
from spear.policy.write_scope import WriteScope

WIDE = WriteScope(workspace_wide=True)

if "SPEAR_SHELL_CORPUS" in os.environ:

    def test_no_benign_row_is_refused_and_the_readable_attacks_are(policy: CommandPolicy):
        rows = [
            json.loads(line)
            for line in Path(os.environ["SPEAR_SHELL_CORPUS"]).read_text(encoding="utf-8").split("\n")
            if line
        ]
        counts: Counter[tuple[str, str]] = Counter()
        benign_refused = []
        for row in rows:
            if row["kind"] != "bash":
                continue
            scope = WriteScope(("src/a.c",)) if row["turn"] == "scope_confined" else WIDE
            asked = PolicyView((Root("/ws"),), grants(Mode.AUTO, read_only=row["turn"] == "read_only"), scope)
            found = policy.assess(row["command"], asked)
            counts[row["must"], found.decision.value] += 1
            if row["must"] == "allow" and found.decision is Decision.REFUSE:
                benign_refused.append(row["id"])
        print(dict(counts))
        assert benign_refused == []
        refused = sum(
            count for (must, decision), count in counts.items() if must.startswith("refuse") and decision == "refuse"
        )
        every = sum(count for (must, _), count in counts.items() if must.startswith("refuse"))
        assert refused >= 0.85 * every
