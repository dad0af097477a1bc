"""`/undo`, `/redo`, `/diff`, `/verdict`: what was changed, and what shows it (spec 3.4, 3.6)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import UTC, datetime

from spear.agent.messages import Role
from spear.cli.display.diff import bounded, painted_diff
from spear.cli.display.filtering import clean, one_line
from spear.cli.display.palette import Palette, Style
from spear.cli.display.wrapping import wrapped
from spear.cli.repl.ports import ChatApplication, CommandHandler, CommandIO, Option
from spear.cli.undo_fact import are_files_put_back
from spear.errors import UsageError
from spear.events.turn import CommandReport, TurnResult
from spear.workspace.build_output import CACHE_DIRECTORIES
from spear.workspace.checkpoints import CheckpointInfo, UndoReport
from spear.workspace.tree_state import NodeKind
from spear.workspace.undo_plan import Restore, UndoPlan

_SHOWN = 40
_DIFF_ROWS = 400
_CHOOSABLE = 9

_PUT_BACK = Option("y", "put it back", "yes")
_LEAVE = Option("n", "leave everything as it is", "no")
_FORCE = Option("f", "put back what others changed as well", "force")


def handlers(app: ChatApplication) -> Mapping[str, CommandHandler]:
    """The handlers of this family."""
    return {
        "undo": lambda words, io: undo(app, words, io),
        "redo": lambda words, io: redo(app, words, io),
        "diff": lambda words, io: diff(app, words, io),
        "verdict": lambda _, io: verdict(app, io),
    }


def undo(app: ChatApplication, words: str, io: CommandIO) -> str:
    """`/undo [N | list | --file PATH]`; `choose` asks which turn."""
    given = _words(words)
    match given:
        case ["list"]:
            return _listing(app.checkpoints())
        case ["choose"]:
            return _choose(app, io)
        case []:
            return _restore(app, app.undo_plan(1), io, ask=True)
        case [number] if number.isdigit() and int(number) > 0:
            return _restore(app, app.undo_plan(int(number)), io, ask=True)
        case ["--file", path]:
            return _restore(app, app.undo_plan(1, path.removeprefix("@")), io, ask=True)
        case [number, "--file", path] if number.isdigit() and int(number) > 0:
            return _restore(app, app.undo_plan(int(number), path.removeprefix("@")), io, ask=True)
    raise UsageError(f"/undo {words} was not understood", hint="/undo [N | list | --file PATH]")


def redo(app: ChatApplication, words: str, io: CommandIO) -> str:
    """`/redo [N]`. It asks only where somebody else's changes are in the way: /undo takes it back."""
    if words and not (words.isdigit() and int(words) > 0):
        raise UsageError(f"/redo {words} was not understood", hint="/redo [N]")
    plan = app.redo_plan(int(words or 1))
    return _restore(app, plan, io, ask=bool(plan.conflicts))


def diff(app: ChatApplication, words: str, io: CommandIO) -> str:
    """`/diff [turn | session]`."""
    scope = words or "turn"
    if scope not in ("turn", "session"):
        raise UsageError(f"/diff {words} was not understood", hint="/diff [turn | session]")
    text = app.diff(scope)
    if not text.strip():
        return f"the {scope} changed nothing that is still different" if scope == "turn" else "nothing differs"
    io.show(bounded(painted_diff(text, io.palette), _DIFF_ROWS, "git diff shows them"))
    return ""


def verdict(app: ChatApplication, io: CommandIO) -> str:
    """`/verdict`: the last turn's evidence, check by check."""
    result = app.last_result
    if result is None and app.turn_number:
        return f"the result of the last turn was not kept: spear-chat audit show {app.session}"
    if result is None:
        return "no turn has ended in this session yet"
    asked = [message.content for message in app.conversation if message.role is Role.USER]
    since = "Files were put back to an earlier state since this verdict.\n" if are_files_put_back(asked) else ""
    page = since + evidence_page(result, io.palette)
    io.show(page if io.palette.plain else wrapped(page, io.width))
    return ""


def evidence_page(result: TurnResult, palette: Palette) -> str:
    """Everything the verdict of a turn rests on."""
    rows = [palette.paint(Style.TITLE, f"{result.verdict.value} · turn {result.turn} · final epoch {result.epoch}")]
    rows += [f"  {clean(reason.text)}  {palette.paint(Style.MUTED, reason.code)}" for reason in result.reasons]
    sections = (
        ("Files", [f"{file.change:<9} {clean(file.path)}" for file in result.changed_files]),
        ("Checks", [
            f"{check.status:<12} epoch {check.epoch}  {one_line(check.command, 90)} [{', '.join(check.kinds)}]"
            + (f" — {clean(check.reason)}" if check.reason else "")
            for check in result.checks
        ]),
        ("Validation", [
            f"{step.status.lower():<12} epoch {step.epoch}  {one_line(step.command, 90)} [{step.origin} {step.kind}]"
            + (f" — {one_line(step.detail, 120)}" if step.detail else "")
            for step in result.validation
        ]),
        ("Commands", [
            f"{_exit(command):<4} {command.status:<10} epoch {command.epoch}  {one_line(command.command, 90)}"
            for command in result.commands
        ]),
        ("Refused", [f"{one_line(r.target, 60)} — {one_line(r.reason, 100)} ×{r.count}" for r in result.refusals]),
    )  # fmt: skip
    for title, lines in sections:
        if lines:
            rows.append(palette.paint(Style.ACCENT, title))
            rows += [f"  {line}" for line in lines]
    rows.append(palette.paint(Style.MUTED, f"  record: {clean(result.audit.session_dir)}"))
    return "\n".join(rows)


def _exit(command: CommandReport) -> str:
    return "—" if command.exit_code is None else str(command.exit_code)


def _restore(app: ChatApplication, plan: UndoPlan, io: CommandIO, *, ask: bool) -> str:
    if plan.problem:
        return plan.problem
    if not plan.changes and not plan.conflicts:
        return "nothing differs from how it was: nothing to do"
    body = plan_page(plan, io.palette)
    force = False
    if ask:
        forcible = any(conflict.target is not None for conflict in plan.conflicts)
        options = (_PUT_BACK, _LEAVE, *((_FORCE,) if forcible else ()))
        count = len(_files(plan))
        question = f"Put back {count} file{'' if count == 1 else 's'}?"
        answer = io.choose(question, options, body).value
        if answer not in ("yes", "force"):
            return "nothing was changed"
        force = answer == "force"
    else:
        io.show(body)
    return report_page(app.apply_undo(plan, force))


def plan_page(plan: UndoPlan, palette: Palette) -> str:
    """What putting back would do, one line a path."""
    files = _files(plan)
    rows = [f"  {_verb(change):<9} {clean(change.path)}" for change in files[:_SHOWN]]
    if len(files) > _SHOWN:
        rows.append(f"  … and {len(files) - _SHOWN} more")
    rows += [
        palette.paint(Style.WARN, f"  left alone {clean(conflict.path)}: {clean(conflict.reason)}")
        for conflict in plan.conflicts[:_SHOWN]
    ]
    if plan.interrupted:
        rows.append(palette.paint(Style.WARN, "  that turn never finished: it was interrupted"))
    return "\n".join(rows)


def _files(plan: UndoPlan) -> list[Restore]:
    """What a person counts: files and links; directories come and go with them."""
    files = (c for c in plan.changes if NodeKind.DIRECTORY not in (c.now.kind, c.target.kind))
    return sorted(files, key=lambda change: _interest(change.path))


def _interest(path: str) -> tuple[bool, str]:
    """The order of paths for a person: what tools keep for themselves comes last."""
    return not CACHE_DIRECTORIES.isdisjoint(path.split("/")), path


def report_page(report: UndoReport) -> str:
    """What putting back did."""
    count = len(report.restored)
    restored = sorted(report.restored, key=_interest)
    rows = [f"{count} file{'' if count == 1 else 's'} restored: {', '.join(restored[:_SHOWN]) or 'none'}"]
    rows += [f"left alone: {conflict.path}: {conflict.reason}" for conflict in report.conflicts[:_SHOWN]]
    if report.removed_dirs:
        rows.append(f"removed, empty now: {', '.join(report.removed_dirs[:_SHOWN])}")
    return "\n".join(rows)


def _verb(change: Restore) -> str:
    if change.target.kind is NodeKind.ABSENT:
        return "remove"
    return "recreate" if change.now.kind is NodeKind.ABSENT else "put back"


def _listing(infos: tuple[CheckpointInfo, ...]) -> str:
    if not infos:
        return "there is nothing to take back here"
    return "\n".join(f"{number:>3}  {_line(info)}" for number, info in enumerate(infos[:_SHOWN], 1))


def _line(info: CheckpointInfo) -> str:
    when = datetime.fromtimestamp(info.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    state = "running" if info.running else "" if info.finished else "interrupted"
    parents = {path.rpartition("/")[0] for path in info.paths}
    files = sorted((path for path in info.paths if path not in parents), key=_interest)
    paths = ", ".join(one_line(path, 40) for path in files[:3])
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return "  ".join(part for part in (f"turn {info.turn}", when, state, f"{paths}{more}") if part)


def _choose(app: ChatApplication, io: CommandIO) -> str:
    """Which turn to go back before; the present is where the choice begins."""
    infos = app.checkpoints()[:_CHOOSABLE]
    if not infos:
        return "there is nothing to take back here"
    options = [Option("0", "(current) leave everything as it is", "0")]
    options += [Option(str(n), f"before {one_line(_line(info), 60)}", str(n)) for n, info in enumerate(infos, 1)]
    chosen = io.choose("Go back to", options).value
    if chosen in ("", "0"):
        return "nothing was changed"
    return _restore(app, app.undo_plan(int(chosen)), io, ask=True)


def _words(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError as error:
        raise UsageError(f"{words}: {str(error).lower()}", hint="/undo [N | list | --file PATH]") from error
