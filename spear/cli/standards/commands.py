"""Which function answers which action of `standard`. The actions are declared in the table of subcommands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spear.cli.standards import ingesting, keeping, reading, structuring
from spear.cli.standards.answer import Answer, Desk

ACTIONS: Mapping[str, Callable[[Desk], Answer]] = {
    "list": keeping.listing,
    "status": keeping.status,
    "use": keeping.use,
    "unbind": keeping.unbind,
    "ingest": ingesting.ingesting,
    "verify": keeping.verify,
    "rebuild": keeping.rebuild,
    "retrieval": keeping.retrieval,
    "candidates": structuring.listing,
    "promote-candidate": structuring.promoting,
    "approve": keeping.approve,
    "approve-structure": structuring.approving,
    "build-structure": structuring.building,
    "show": reading.show,
    "cite": reading.cite,
    "export": reading.export,
    "search": reading.search_,
    "remove": keeping.remove,
}
"""Every action, by its name. Each raises SpearError for what the operator should be told in one sentence."""
