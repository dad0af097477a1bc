"""Build products that no build made, remembered for a workspace from session to session (spec 3.2, 3.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from spear.state.files import replace_durably


class PlantedProducts:
    """The products of one workspace: paths relative to it, with the digest of what was put there. A file that cannot
    be read is empty. Sessions at work at the same time add to each other's."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def recall(self) -> dict[str, str]:
        """What is remembered; empty where nothing ever was."""
        try:
            document = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        rows = document.items() if isinstance(document, dict) else ()
        return {path: sha for path, sha in rows if isinstance(sha, str)}

    def remember(self, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        """Note what changed from `before` to `now`, and nothing else. Writes only then. Raises StateError."""
        if dict(before) == dict(now):
            return
        kept = {path: sha for path, sha in self.recall().items() if path not in before or path in now}
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_durably(self._file, f"{json.dumps({**kept, **now}, indent=1, sort_keys=True)}\n".encode())
