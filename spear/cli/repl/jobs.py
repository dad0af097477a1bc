"""`/jobs`: commands that go on beside the chat, by the operator's own hand (spec 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from spear.agent.host import Refusal
from spear.cli.display.filtering import clean, one_line
from spear.cli.display.palette import Palette, Style
from spear.cli.repl.ports import ChatApplication, CommandHandler, CommandIO
from spear.errors import UsageError

if TYPE_CHECKING:
    from spear.host.job import Job, JobInfo

_USAGE = "/jobs [start COMMAND | show N [all] | stop N]"
_LINES = 40
"""How many of the last lines `/jobs show` prints."""
_CHARACTERS = 8000
_PLAIN_LINES = 400
_STATUS_WIDTH = 16
_COMMAND_WIDTH = 90


def handlers(app: ChatApplication) -> Mapping[str, CommandHandler]:
    """The handler of this command."""
    return {"jobs": lambda words, io: jobs(app, words, io)}


def jobs(app: ChatApplication, words: str, io: CommandIO) -> str:
    """`/jobs [start COMMAND | show N [all] | stop N]`."""
    action, _, rest = words.partition(" ")
    match action, rest.split():
        case "", []:
            return _listed(app, io)
        case "start", [_, *_]:
            return _start(app, rest.strip(), io)
        case "show", [number]:
            return _show(_job(app, number), io)
        case "show", [number, "all"]:
            return _whole(_job(app, number), io)
        case "stop", [number]:
            return _stop(app, _job(app, number))
    raise UsageError(f"/jobs {one_line(words, 60)} was not understood", hint=_USAGE)


def ended_line(info: JobInfo) -> str:
    """What is said of a job that has ended by itself."""
    how = f"ended with {info.status}" if info.exit_code is not None and info.signal is None else info.status
    told = f"job {info.number} {how} after {duration(info.seconds)}: {one_line(info.command, 60)}"
    return f"{told} · /jobs show {info.number}" + "".join(f"\n  {one_line(note, 200)}" for note in info.notes)


def farewell(stopped: tuple[JobInfo, ...]) -> str:
    """What the end of the chat says of the jobs it has ended; "" where none ran."""
    return "\n".join(f"stopped job {info.number}: {one_line(info.command, 90)}" for info in stopped)


def duration(seconds: float) -> str:
    """A time span in one unit."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _listed(app: ChatApplication, io: CommandIO) -> str:
    infos = app.jobs.listing()
    if not infos:
        return "no job was started in this chat; /jobs start COMMAND starts one"
    io.show("\n".join(_rows(info, io.palette) for info in infos))
    return ""


def _rows(info: JobInfo, palette: Palette) -> str:
    command = one_line(info.command, _COMMAND_WIDTH)
    row = f"{info.number:>3}  {info.status:<{_STATUS_WIDTH}} {duration(info.seconds):>7}  {command}"
    below = [clean(str(info.output)), *(one_line(note, 200) for note in info.notes)]
    return "\n".join([row, *(palette.paint(Style.MUTED, f"     {line}") for line in below)])


def _start(app: ChatApplication, command: str, io: CommandIO) -> str:
    found = app.jobs.start(command, io.confirm, io.sink)
    if isinstance(found, Refusal):
        raise UsageError(found.line())
    network = "without the network" if found.network.value == "none" else "with the network"
    return f"job {found.number} runs {network}; its output: {found.output}"


def _job(app: ChatApplication, number: str) -> Job:
    found = app.jobs.job(int(number)) if number.isascii() and number.isdigit() else None
    if found is None:
        raise UsageError(f"there is no job {one_line(number, 20)}", hint="/jobs lists them")
    return found


def _show(job: Job, io: CommandIO) -> str:
    info, lines = job.info(), _lines(job)
    if not lines:
        return f"job {info.number} ({info.status}) has printed nothing" + ("" if info.exit_code is not None else " yet")
    last = "\n".join(lines[-_LINES:])[-_CHARACTERS:]
    cut = len(lines) - _LINES
    earlier = f" · {cut} earlier lines: /jobs show {info.number} all" if cut > 0 else ""
    head = f"job {info.number} · {info.status} · {duration(info.seconds)} · {one_line(info.command, 60)}{earlier}"
    io.show("\n".join([io.palette.paint(Style.MUTED, head), clean(last)]))
    return ""


def _whole(job: Job, io: CommandIO) -> str:
    """In the pager, from its end; plain lines are printed, as many as a person can scroll back over."""
    lines = _lines(job)
    if io.palette.plain:
        return "\n".join(lines[-_PLAIN_LINES:]) or "it has printed nothing"
    io.read(clean("\n".join(lines)))
    return f"the output of job {job.info().number} is kept in {job.output.path}"


def _lines(job: Job) -> list[str]:
    try:
        text = job.output.tail().rstrip("\n")
    except OSError as error:
        raise UsageError(f"its output cannot be read: {error.strerror}", hint=f"it was in {job.output.path}") from error
    return text.split("\n") if text else []


def _stop(app: ChatApplication, job: Job) -> str:
    number = job.info().number
    stopped = app.jobs.stop(number)
    if not stopped:
        return f"job {number} has ended already: {job.info().status}"
    if job.running:
        return f"job {number} is being killed; /jobs says when it is gone"
    return f"job {number} stopped after {duration(job.info().seconds)}: {one_line(job.info().command, 60)}"
