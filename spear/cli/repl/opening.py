"""Opens the chat on this terminal, drawn or in lines, and says how it ended (spec 8.2)."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from spear.cli.display.palette import palette_of
from spear.cli.repl.history import InputHistory
from spear.cli.repl.plain_chat import run_plain
from spear.cli.repl.ports import ChatApplication, PastTurn

HANGUP = 129
_TERMINAL_GONE = frozenset({errno.EIO, errno.EBADF, errno.ENXIO, errno.EPIPE})


@dataclass(frozen=True, slots=True)
class Opening:
    """How a chat is opened: what the terminal can do, what the operator prefers, what came before. `ready` is called
    once the first screen is there."""

    environ: Mapping[str, str]
    history: InputHistory
    defect: Callable[[Exception], str]
    theme: str = "auto"
    plain: bool = False
    vi: bool = False
    notify: bool = False
    earlier: Sequence[PastTurn] = ()
    ready: Callable[[], None] = field(default=lambda: None)


def converse(app: ChatApplication, opening: Opening) -> int:
    """Run the chat to its end; the exit status: 0, 129 after a hangup, 143 after SIGTERM."""
    palette = palette_of(opening.theme, opening.environ, plain=opening.plain)
    try:
        if palette.plain:
            status = run_plain(app, opening)
        else:
            from spear.cli.repl.live_chat import run_live  # prompt_toolkit

            status = run_live(app, opening, palette)
    except EOFError:
        status = HANGUP
    except OSError as error:
        if error.errno not in _TERMINAL_GONE:
            raise
        status = HANGUP
    finally:
        opening.history.close()
    if status == 0:
        print(f"go on with this session: spear-chat --resume {app.session}", flush=True)
    return status
