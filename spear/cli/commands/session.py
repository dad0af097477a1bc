"""`/clear`, `/history`, `/resume`, `/fork`, `/sessions`, `/export`, `/editor`, `/quit` (spec 8.3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from spear.agent.messages import Role
from spear.cli.display.filtering import one_line
from spear.cli.repl.ports import ChatApplication, CommandHandler, CommandIO, Option, SessionRow
from spear.cli.undo_fact import is_undo_fact
from spear.errors import UsageError

_SHOWN = 30
_CHOOSABLE = 9
_BESIDE = 8
"""Cells that stand beside the label of a choice."""
_FORMS = ("md", "jsonl", "html")


def handlers(app: ChatApplication) -> Mapping[str, CommandHandler]:
    """The handlers of this family."""
    return {
        "clear": lambda _, io: clear(app),
        "history": lambda words, _: history(app, words),
        "resume": lambda words, io: resume(app, words, io),
        "fork": lambda _, io: f"this is session {app.fork()} now; the one it came from stays as it was",
        "sessions": lambda _, io: listing(app),
        "export": lambda words, _: export(app, words),
        "editor": editor,
        "quit": quit_,
    }


def clear(app: ChatApplication) -> str:
    """`/clear`: a new session, nothing of the old one is told to the model."""
    before = app.session
    app.new_session()
    return f"session {app.session}; {before} is stored: /resume {before} goes on with it"


def history(app: ChatApplication, words: str) -> str:
    """`/history [TEXT]`: the requests of this conversation."""
    asked = [m.content for m in app.conversation if m.role is Role.USER and not is_undo_fact(m.content)]
    found = [(n, text) for n, text in enumerate(asked, 1) if words.lower() in text.lower()]
    if not found:
        return "nothing asked here holds that text" if words else "nothing has been asked yet"
    return "\n".join(f"{n:>4}  {one_line(text, 110)}" for n, text in found[-_SHOWN:])


def resume(app: ChatApplication, words: str, io: CommandIO) -> str:
    """`/resume [ID]`: by id, its beginning, or from a list."""
    wanted = words
    if not wanted:
        rows = [row for row in app.sessions() if row.id != app.session][:_CHOOSABLE]
        if not rows:
            return "no other session is stored for this workspace"
        room = io.width - _BESIDE
        options = [Option(str(n), one_line(session_line(row), room), row.id) for n, row in enumerate(rows, 1)]
        wanted = io.choose("Go on with which session?", options).value
        if not wanted:
            return "nothing was changed"
    turns = app.resume(wanted)
    io.replay(turns)
    return f"\nsession {app.session}"


def listing(app: ChatApplication) -> str:
    """`/sessions`."""
    rows = app.sessions()
    if not rows:
        return "no session is stored for this workspace yet"
    return "\n".join(f"{'*' if row.id == app.session else ' '} {session_line(row)}" for row in rows[:_SHOWN])


def session_line(row: SessionRow) -> str:
    """One stored session on one line."""
    when = datetime.fromtimestamp(row.last, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    turns = "1 turn" if row.turns == 1 else f"{row.turns} turns"
    return "  ".join(part for part in (row.id, when, turns, row.note, one_line(row.title, 60)) if part)


def export(app: ChatApplication, words: str) -> str:
    """`/export md|jsonl|html`."""
    form = words or "md"
    if form not in _FORMS:
        raise UsageError(f"/export {words} was not understood", hint="/export md | jsonl | html")
    return f"written to {app.export(form)}"


def editor(words: str, io: CommandIO) -> str:
    """`/editor [TEXT]`: a request written in the operator's editor. Left as it was, nothing is asked."""
    text = io.edit(words).encode("utf-8", "replace").decode("utf-8").strip()
    if not text or text == words:
        return "nothing was asked"
    io.submit(text)
    return ""


def quit_(_: str, io: CommandIO) -> str:
    """`/quit`."""
    io.quit()
    return ""
