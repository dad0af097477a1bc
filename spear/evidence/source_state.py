"""Which state of the source a product was made of: all of it, and what compilers read of it (spec 3.2, 3.3).

A change of compiled source makes old what is older and of its family, one of a build file everything. Prose, what only
tests read and what tools keep for themselves go into no product, other data and scripts where a build file names them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from spear.evidence.coverage import is_prose
from spear.evidence.derivation import derived_from, is_read_at_set_up
from spear.evidence.epochs import EpochLedger, FileState, fingerprint
from spear.evidence.facts import ProjectFacts
from spear.evidence.families import family_of_source
from spear.evidence.kinds import CheckKind
from spear.evidence.names import names
from spear.evidence.roots import root_of, within_root
from spear.evidence.weakened import is_expectation, kinds_of_check_file

_BUILD_FILES = names(
    ".cmake .am .ac .m4 .in .bzl .bazel .gn .gni .ninja .gradle .kts .lock .mod .sum .toml .build .pro .ld"
)
_SCRIPTS = names(".py .sh .bash .zsh .pl .rb .lua .tcl .awk .php .r .ps1 .bat")


def may_go_in(path: str, facts: ProjectFacts) -> bool:
    """Whether a changed file, by its recorded name, may be taken into a product."""
    inside = within_root(path)
    if family_of_source(path) is not None:
        return True
    name = PurePosixPath(inside.lower())
    decides = kinds_of_check_file(inside)
    if CheckKind.BUILD in decides or name.suffix in _BUILD_FILES:
        return True
    if is_prose(inside) or any(part.startswith(".") for part in name.parts) or decides or is_expectation(inside):
        return False
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    words = (name.name,) if name.suffix in _SCRIPTS else (name.name, *name.parts[:-1])
    return there is None or any(there.named_before(word) for word in words) or _is_derived_from(path, facts)


@dataclass(frozen=True, slots=True)
class SourceState:
    """A state of the source: a fingerprint of the `whole` of what differs from the start of the turn and may go into a
    product, and of that what is `compiled`, file by file, itself or by what rules make of it; `new` are those of these
    that the turn did not find."""

    whole: str
    compiled: frozenset[tuple[str, FileState]] = frozenset()
    new: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ledger: EpochLedger, facts: ProjectFacts) -> SourceState:
        """The present state of a ledger."""
        told = {path: state for path, state in ledger.differences.items() if may_go_in(path, facts)}
        compiled = frozenset((path, state) for path, state in told.items() if _is_compiled(path, facts))
        began_absent = {path for path, state in ledger.start if state[0] is None}
        return cls(fingerprint(told), compiled, frozenset(path for path, _ in compiled if path in began_absent))


def _is_compiled(path: str, facts: ProjectFacts) -> bool:
    return family_of_source(path) is not None or _is_derived_from(path, facts)


def _is_derived_from(path: str, facts: ProjectFacts) -> bool:
    return bool(derived_from(path, facts)) or is_read_at_set_up(path, facts)


UNCHANGED = SourceState(fingerprint({}))
"""The source as the turn found it."""
