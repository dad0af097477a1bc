"""Whether a process that a test started has ended."""

from __future__ import annotations

import os
import select

LONGEST_S = 10


def is_gone(pid: int) -> bool:
    """Whether a process has ended, waiting for it a while; one that nobody has collected yet counts as ended."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], LONGEST_S)[0])
    finally:
        os.close(watched)
