"""What the knowledge commands take, for a person who asks (spec 4.3)."""

from __future__ import annotations

USAGE = """\
knowledge list [--proposed | --stale | --revoked | --all] [--kind K]
knowledge show ID
knowledge search TEXT
knowledge add [--kind K] [--subject S] [--tags a,b] [--path P] [--source FILE[:LINE] --quote TEXT] STATEMENT
knowledge accept ID… | --all
knowledge amend ID [options] STATEMENT
knowledge revoke ID…
knowledge check
knowledge export [FILE]
knowledge import FILE [--proposed]
knowledge purge NAME
knowledge migrate-remember [FILE…]
list, show, search and check take --json. Kinds: fact, architecture, build, relation, decision, command."""
"""The operator's commands, one a line."""

ASKED = frozenset({"help", "--help", "-h"})
"""First words that ask for it."""
