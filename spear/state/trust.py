"""What the operator has trusted: files of a tree that may declare commands and settings, by digest (spec 4.1).

A file that changed since is not trusted any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from spear.state.files import replace_durably, state_error


class TrustStore:
    """`trusted.json` of the state directory: absolute path → SHA-256 of the content that was approved."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def trusts(self, file: Path) -> bool:
        """Whether `file` exists and is, byte for byte, what was approved. A damaged store trusts nothing."""
        approved = self.approved().get(str(file.resolve()))
        return approved is not None and approved == digest(file)

    def trust(self, *files: Path) -> None:
        """Approve these files as they are now. Raises StateError; a file that cannot be read is passed over."""
        self.approve({file: content for file in files if (content := digest(file))})

    def approve(self, contents: Mapping[Path, str]) -> None:
        """Approve files by the digests of what the operator was shown of them. Raises StateError."""
        self._write({**self.approved(), **{str(file.resolve()): content for file, content in contents.items()}})

    def forget(self, *files: Path) -> None:
        """Take the approval of these files back. Raises StateError."""
        gone = {str(file.resolve()) for file in files}
        self._write({path: content for path, content in self.approved().items() if path not in gone})

    def approved(self) -> dict[str, str]:
        """Every approval: absolute path → digest."""
        try:
            document = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise state_error("read", self.path, error) from error
        except ValueError:
            return {}
        if not isinstance(document, dict):
            return {}
        return {str(path): content for path, content in document.items() if isinstance(content, str)}

    def _write(self, approved: dict[str, str]) -> None:
        replace_durably(self.path, json.dumps(approved, indent=1, sort_keys=True).encode() + b"\n")


def digest(file: Path) -> str:
    """SHA-256 of a file's content, "" when it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
