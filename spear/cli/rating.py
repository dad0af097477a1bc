"""What the project's acceptance script says of a turn, for the training episode (spec 4.1, 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spear.control.controller import FinishedTurn
from spear.events.stream import Live, LiveKind, Sink
from spear.workspace.projects import Project

if TYPE_CHECKING:
    from spear.host.session import HostSession


def rated(
    done: FinishedTurn,
    project: Project | None,
    host: Callable[[], HostSession],
    sink: Sink,
    cancelled: Callable[[], bool],
) -> bool | None:
    """What the script says of a turn that changed something; None where nothing said anything. It rates the episode and
    never the turn, whose verdict stands."""
    script = project.declared.bench if project is not None else None
    if not script or not done.result.changed_files or cancelled():
        return None
    from spear.host.bench import rate

    found = rate(host(), script, cancelled)
    sink(Live(LiveKind.NOTICE, f"bench {found.text}; it rates the training episode, not the verdict"))
    return found.passed
