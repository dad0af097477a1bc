"""`spear-chat`: reads the command line, calls what was asked for, turns every error into one sentence and a status.

Only the parser is imported here: what a command needs is imported when it is that command's turn, so that `--version`,
`--help`, `doctor` and completion start fast (spec 9.1).
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from io import TextIOWrapper

from spear import __version__
from spear.cli.streams import forget_stdout, open_standard_streams, start_in_utf8
from spear.errors import Interrupted, SpearError, UsageError

TYPE_CHECKING = False  # as `typing` defines it, whose import takes a quarter of the time of `--version`
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

PROGRAM = "spear-chat"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; the exit status of spec 1.3."""
    words = _words(arguments)
    state = ""
    open_standard_streams()
    _speak_utf8()
    try:
        if (text := _said_at_once(words)) is not None:
            print(text, flush=True)
            return 0
        from spear.cli.arguments import parse
        from spear.cli.subcommands import WIRED

        parsed = parse(words, WIRED)
        state = str(getattr(parsed, "state_dir", None) or os.environ.get("SPEAR_STATE_DIR") or "")
        status = _dispatch(parsed)
        sys.stdout.flush()  # here, where what cannot be written is said, and not while the interpreter exits
        return status
    except SystemExit as exit_:  # --help and --version
        return exit_.code if isinstance(exit_.code, int) else 0
    except SpearError as error:
        _say(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        _say(str(Interrupted()))
        return Interrupted.exit_status
    except BrokenPipeError:
        forget_stdout()
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return _defect(error, state)
        forget_stdout()
        _say(f"{os.strerror(error.errno).lower()}: what was to be written is lost — make room, then run it again")
        return 1
    except Exception as error:  # noqa: BLE001 - the last handler: a defect becomes one line, a log and status 1
        return _defect(error, state)


def _words(arguments: Sequence[str] | None) -> list[str]:
    """What was given, else the command line of this process."""
    if arguments is not None:
        return list(arguments)
    start_in_utf8()
    return sys.argv[1:]


def _said_at_once(words: list[str]) -> str | None:
    """What is answered without reading a configuration; None where there is more to do."""
    if words == ["--version"]:
        return f"{PROGRAM} {__version__}"
    if words in (["--help"], ["-h"]):
        return _help()
    if len(words) == 2 and words[0] == "completion":
        return _completion(words[1]) or None
    return (_remembered() or None) if words == ["doctor"] else None


def _defect(error: Exception, state: str) -> int:
    from spear.cli.defects import report

    _say(report(error, state))
    return 1


def _speak_utf8() -> None:
    """Whatever the locale says: answers hold any character, a name that is no text is shown escaped, and what is
    typed is UTF-8, a byte that is none replaced."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _dispatch(parsed: argparse.Namespace) -> int:
    if parsed.command:
        from spear.cli.subcommands import run_subcommand

        return run_subcommand(parsed, _launch_directory())
    if parsed.demo:
        from spear.cli.demonstration import run_demo

        return run_demo(parsed)
    gc.disable()  # loading makes 300 000 objects that all stay; the end of a turn enables it again
    if parsed.print is not None:
        from spear.cli.one_shot import run_one_shot

        return run_one_shot(parsed, os.environ, _launch_directory())
    for flag, given in (("--explain", parsed.explain), ("--stdin", parsed.stdin), ("--output", parsed.output)):
        if given:
            raise UsageError(f"{flag} goes with -p", hint=f'{PROGRAM} -p "…" {flag}')
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the chat needs a terminal", hint=f'run one turn with {PROGRAM} -p "…"')
    from spear.cli.repl.main import run_repl

    return run_repl(parsed, os.environ, _launch_directory())


def _help() -> str:
    from spear.cli.help_page import help_page
    from spear.cli.subcommands import WIRED

    return help_page(WIRED)


def _remembered() -> str:
    """What doctor may say again; "" where it must examine."""
    from spear.cli.doctor_memory import recall

    try:
        return recall(os.environ, os.getcwd())  # noqa: PTH109 - without pathlib
    except FileNotFoundError:
        return ""


def _completion(shell: str) -> str:
    """The script of a shell, without argparse, for it is read at the start of every shell; "" for an unknown one."""
    from spear.cli.completion import SHELLS, script
    from spear.cli.subcommands import WIRED

    return script(shell, WIRED) if shell in SHELLS else ""


def _launch_directory() -> Path:
    from pathlib import Path

    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the launch directory is gone", hint="cd to an existing directory") from error
    if not os.access(here, os.R_OK | os.X_OK):
        raise UsageError(f"{here} may not be read: permission denied", hint="chmod u+rx it, or cd to another directory")
    return here


def _say(text: str) -> None:
    try:
        print(f"{PROGRAM}: {text}", file=sys.stderr)
    except BrokenPipeError:
        forget_stdout()


if __name__ == "__main__":
    sys.exit(main())
