"""The bound standard: one for the whole machine, shared by every session, pinned to an extraction (spec 5.2)."""

from __future__ import annotations

import contextlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from spear.errors import StateError
from spear.standards.standard_name import StandardName
from spear.standards.store import StandardStore, StoredStandard
from spear.state.audit import timestamp
from spear.state.files import make_private_directory, replace_durably, state_error, sync_directory

_FILE = ".bound.json"


class Binding(BaseModel):
    """What is bound, and the fingerprint of the extraction it was bound at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    revision: str
    fingerprint: str
    at: str

    @property
    def name(self) -> StandardName:
        """Its id and revision."""
        return StandardName(self.id, self.revision)


class Bindings:
    """What is bound in one store. Every question reads the file: another session may bind meanwhile."""

    def __init__(self, store: StandardStore) -> None:
        self._store = store
        self.path: Path = store.root / _FILE

    def present(self) -> Binding | None:
        """What is bound now. Raises StateError for a file that says nothing: not being able to tell is not `none`."""
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise state_error("read", self.path, error) from error
        try:
            return Binding.model_validate_json(text)
        except ValidationError as error:
            raise StateError(
                f"{self.path} does not say which standard is bound",
                hint="bind one (spear-chat standard use ID REV), or none: spear-chat standard unbind",
            ) from error

    def use(self, name: StandardName) -> Binding:
        """Bind a stored revision whose files are as they were checked. Raises UsageError, StateError."""
        found = self._store.trusted(name)
        with found.index():  # one that cannot be searched is not bound
            pass
        fingerprint = found.manifest.fingerprint
        binding = Binding(id=name.id, revision=name.revision, fingerprint=fingerprint, at=timestamp())
        make_private_directory(self._store.root)
        replace_durably(self.path, (binding.model_dump_json(indent=2) + "\n").encode())
        return binding

    def unbind(self) -> None:
        """Bind none; whatever the file says. Raises StateError."""
        try:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
                sync_directory(self.path.parent)
        except OSError as error:
            raise state_error("remove", self.path, error) from error

    def opened(self, binding: Binding) -> StoredStandard:
        """The bound revision, if it is still what was bound. Raises StateError: gone, changed, another extraction."""
        if not self._store.holds(binding.name):
            raise StateError(
                f"the bound standard {binding.name} is gone",
                hint="ingest it again, or work without it: spear-chat standard unbind",
            )
        found = self._store.trusted(binding.name)
        if found.manifest.fingerprint != binding.fingerprint:
            raise StateError(
                f"{binding.name} is another extraction than the one that was bound",
                hint=f"look at it, then bind it anew: spear-chat standard use {binding.name}",
            )
        return found
