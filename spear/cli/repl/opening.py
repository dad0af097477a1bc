"""Opens the chat on this terminal, drawn or in lines, and says how it ended (spec 8.2).

The prompt is there before the session behind it is: what is entered meanwhile waits for it (spec 9.1).
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spear.cli.display.palette import palette_of

if TYPE_CHECKING:
    from spear.cli.repl.driver import Driver, Screen
    from spear.cli.repl.history import InputHistory
    from spear.cli.repl.ports import ChatApplication, PastTurn

HANGUP = 129
LONG_TURN_SECONDS = 20.0
"""What lasted longer is rung for when it has ended, where the operator asked for that."""
AGAIN_SECONDS = 1.0
"""How soon Ctrl+C must follow Ctrl+C, while nothing runs, to end the chat."""
_TERMINAL_GONE = frozenset({errno.EIO, errno.EBADF, errno.ENXIO, errno.EPIPE})


@dataclass(frozen=True, slots=True)
class Opened:
    """A session ready to be talked to: its application, what serves entries on a screen, the operator's preferences,
    what came before, what is entered for them at first. `ready` is called once the first screen is there, with what
    prints a notice later; `leave` when the chat has ended, for what is to be said of it, and `close` after that."""

    app: ChatApplication
    driver: Callable[[Screen], Driver]
    history: InputHistory
    theme: str = "auto"
    plain: bool = False
    vi: bool = False
    notify: bool = False
    earlier: Sequence[PastTurn] = ()
    first: str = ""
    ready: Callable[[Callable[[str], None]], None] = field(default=lambda _: None)
    leave: Callable[[], str] = field(default=lambda: "")
    close: Callable[[], None] = field(default=lambda: None)


Open = Callable[[], Opened]
"""Puts a session together; may take a while. Raises SpearError for what keeps it from starting."""


def converse(open_session: Open, environ: Mapping[str, str], *, plain: bool) -> int:
    """Run a chat to its end; the exit status: 0, 129 after a hangup, 143 after SIGTERM. Raises what opening raises."""
    sessions: list[Opened] = []

    def opened() -> Opened:
        sessions.append(open_session())
        return sessions[0]

    try:
        status = _run(opened, environ, plain)
        if sessions and (said := sessions[0].leave()):
            print(said, flush=True)
        if status == 0 and sessions:
            print(f"go on with this session: spear-chat --resume {sessions[0].app.session}", flush=True)
    except EOFError:
        status = HANGUP
    except OSError as error:
        if error.errno not in _TERMINAL_GONE:
            raise
        status = HANGUP
    finally:
        for session in sessions:
            session.history.close()
            session.close()
    return status


def _run(opened: Open, environ: Mapping[str, str], plain: bool) -> int:
    palette = palette_of("auto", environ, plain=plain)
    if not palette.plain:
        from spear.cli.repl.live_chat import run_live  # prompt_toolkit

        status = run_live(opened, environ, palette)
        if isinstance(status, int):
            return status
        session = status
    else:
        session = opened()
    from spear.cli.repl.plain_chat import run_plain

    return run_plain(session)
