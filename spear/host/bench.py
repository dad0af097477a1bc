"""A project's `bench`: the acceptance script that rates a changing turn once it has ended (spec 4.1, 7).

It runs confined like any command, without network, on the tree as the turn left it. What it writes is thrown away, and
what it says never changes the verdict.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from spear.host.mounts import mounts
from spear.host.session import HostSession
from spear.sandbox.request import Ending, RunRequest


@dataclass(frozen=True, slots=True)
class BenchRating:
    """What the script said: `passed` is None where it was not able to say anything, and `text` says why."""

    passed: bool | None
    text: str


def rate(session: HostSession, script: str, cancelled: Callable[[], bool]) -> BenchRating:
    """Run the script from the root of the workspace: status 0 passes, any other fails. It has the time of the project's
    own validation."""
    writes = session.scratch / "bench"
    try:
        asked = RunRequest(
            script=script,
            roots=mounts(session.roots, session.state.root, writes, ()),
            cwd=session.roots.primary,
            timeout_s=session.options.validation_timeout_s,
            limits=session.options.limits,
            cancelled=cancelled,
        )
        outcome = session.runner.run(asked)
    except OSError as error:  # a root that is gone by now
        return BenchRating(None, f"was not started: {error.strerror}: {error.filename}")
    finally:
        shutil.rmtree(writes, ignore_errors=True)
    match outcome.ending:
        case Ending.EXITED:
            passed = outcome.exit_code == 0
            return BenchRating(passed, "passed" if passed else f"failed with status {outcome.exit_code}")
        case Ending.SIGNALLED:
            return BenchRating(False, f"failed: ended by signal {outcome.signal}")
        case Ending.TIMED_OUT:
            return BenchRating(None, f"did not end within {session.options.validation_timeout_s} s")
        case Ending.CANCELLED:
            return BenchRating(None, "was interrupted")
        case Ending.NOT_STARTED:
            return BenchRating(None, f"was not started: {outcome.problem}")
