"""What the id of a bundle is computed from (spec 7)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

_AFTER_THE_ID = frozenset({"manifest.json", "RUNBOOK.md", "checksums.sha256"})


def bundle_id(digests: Mapping[str, str]) -> str:
    """The id from the SHA-256 of each file by name. Files that name the bundle are not part of it."""
    whole = hashlib.sha256()
    for name in sorted(digests.keys() - _AFTER_THE_ID):
        whole.update(f"{digests[name]}  {name}\n".encode())
    return f"bundle-{whole.hexdigest()[:24]}"
