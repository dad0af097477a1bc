"""The bound standard as a session sees it: its name for the screen, whether a turn may rely on it (spec 5.2).

Binding is the machine's: another session may bind while this one runs, so every look is at the file. Nothing of the
normative store is imported while none is bound.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spear.control.ports import BoundStandard
from spear.errors import SpearError

if TYPE_CHECKING:
    from spear.standards.binding import Binding, Bindings
    from spear.standards.index import UnitIndex

_FILE = ".bound.json"
_MOST = 50
_Stamp = tuple[int, int, int]


class BoundStandards:
    """What is bound on this machine, now. Safe from several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._label: tuple[_Stamp | None, str] = (None, "")
        self._completing: tuple[str, UnitIndex] | None = None
        self._announced = ""

    @property
    def label(self) -> str:
        """Its id and revision, "" for none; a look at one file's stamp while that is as it was."""
        stamp = self._stamp()
        with self._lock:
            if stamp != self._label[0]:
                self._label = (stamp, self._read_label() if stamp else "")
            return self._label[1]

    def examine(self) -> BoundStandard | None:
        """What a turn that begins now is bound to, and whether it can be relied on; None for nothing. Its files are
        looked at by their stamps."""
        if self._stamp() is None:
            return None
        name: tuple[str, str] = ("", "")
        try:
            bindings = self._bindings()
            bound = bindings.present()
            if bound is None:
                return None
            name = bound.id, bound.revision
            bindings.opened(bound)
        except SpearError as error:
            return BoundStandard(*name, problem=str(error))
        return BoundStandard(*name)

    def announced(self) -> dict[str, object] | None:
        """What the record is told of the binding, the first time and each time it is another; None for nothing new."""
        binding = self._binding() if self._stamp() is not None else None
        fingerprint = binding.fingerprint if binding else ""
        if fingerprint == self._announced:
            return None
        self._announced = fingerprint
        if binding is None:
            return {"id": "", "revision": "", "fingerprint": ""}
        return {"id": binding.id, "revision": binding.revision, "fingerprint": fingerprint}

    def sections(self, beginning: str) -> Sequence[str]:
        """Sections of the bound standard that begin so."""
        return self._completed(lambda index: index.sections(beginning, _MOST))

    def labels(self, beginning: str) -> Sequence[str]:
        """Labels of the bound standard that begin so."""
        return self._completed(lambda index: index.labels(beginning, _MOST))

    def stored(self) -> Sequence[tuple[str, str]]:
        """Id and revision of all that is ingested."""
        if not self._root.is_dir():
            return ()
        try:
            from spear.standards.store import StandardStore

            return tuple((name.id, name.revision) for name in StandardStore(self._root).names())
        except SpearError:
            return ()

    def rests_on(self) -> Sequence[Path]:
        """The files whose change would change what `examine` and `stored` say."""
        files = [self._root, self._root / _FILE, *sorted({self._root / id_ for id_, _ in self.stored()})]
        binding = self._binding() if self._stamp() is not None else None
        if binding is not None:
            from spear.standards.store import StandardStore, stamped_files

            files += stamped_files(StandardStore(self._root).place(binding.name))
        return files

    def close(self) -> None:
        """Give back what completion holds open."""
        with self._lock:
            if self._completing is not None:
                self._completing[1].close()
                self._completing = None

    def _completed(self, ask: Callable[[UnitIndex], Sequence[str]]) -> Sequence[str]:
        """Completion never fails: what cannot be looked up completes to nothing."""
        binding = self._binding() if self._stamp() is not None else None
        if binding is None:
            return ()
        with self._lock:
            try:
                if self._completing is None or self._completing[0] != binding.fingerprint:
                    if self._completing is not None:
                        self._completing[1].close()
                    self._completing = None
                    self._completing = (binding.fingerprint, self._bindings().opened(binding).index())
                return ask(self._completing[1])
            except SpearError:
                return ()

    def _binding(self) -> Binding | None:
        try:
            return self._bindings().present()
        except SpearError:
            return None

    def _bindings(self) -> Bindings:
        from spear.standards.binding import Bindings
        from spear.standards.store import StandardStore

        return Bindings(StandardStore(self._root))

    def _read_label(self) -> str:
        try:
            bound = self._bindings().present()
        except SpearError:
            return "cannot be told: /standard status"
        return str(bound.name) if bound else ""

    def _stamp(self) -> _Stamp | None:
        try:
            found = (self._root / _FILE).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
