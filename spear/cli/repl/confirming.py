"""A host's question as a dialog, and the dialog's answer as the host's reply (spec 2.1)."""

from __future__ import annotations

from spear.cli.display.diff import bounded, painted_diff
from spear.cli.display.filtering import escaped, one_line
from spear.cli.display.palette import Palette, Style
from spear.cli.repl.dialog import Dialog
from spear.cli.repl.ports import Answer, Option
from spear.host.confirmation import Choice, Question, Reply, Subject

_ROWS = 24
_REASON = "no_with_reason"
_NO = Option("n", "no", Choice.NO.value)
_WHY = Option("w", "no, and say why", _REASON, entry="Why not (told to the model)")


def dialog_of(question: Question, palette: Palette, more: str = "Ctrl+O shows all of it") -> Dialog:
    """The dialog for one confirmation: what will happen exactly, and only the answers the host accepts."""
    body = "\n" + bounded(painted_text(question, palette), _ROWS, more)
    return Dialog(_sentence(question), _options(question), body, escaped(question.text))


def reply_of(answer: Answer) -> Reply:
    """What the host is told. A dismissed question is a no."""
    match answer.value:
        case "":
            return Reply(Choice.NO)
        case "no_with_reason":
            return Reply(Choice.NO, answer.text.strip())
        case Choice.EDITED.value:
            return Reply(Choice.EDITED, command=answer.text) if answer.text.strip() else Reply(Choice.NO)
        case value:
            return Reply(Choice(value))


def edited_line(command: str, palette: Palette) -> str:
    """The command that runs instead of the one asked about."""
    return "\n".join(f"{palette.paint(Style.TITLE, '$')} {line}" for line in escaped(command).split("\n"))


def painted_text(question: Question, palette: Palette) -> str:
    """What will happen: a coloured diff, or the command with every control character written out."""
    if question.subject is Subject.EDIT:
        return painted_diff(question.text, palette)
    text = escaped(question.text)
    if question.subject is not Subject.COMMAND:
        return text
    first, *rest = text.split("\n")
    rows = [f"{palette.paint(Style.TITLE, '$')} {first}", *(f"  {line}" for line in rest)]
    if question.writes:
        shown = ", ".join(one_line(path, 60) for path in question.writes[:6])
        more = f" and {len(question.writes) - 6} more" if len(question.writes) > 6 else ""
        rows.append(palette.paint(Style.MUTED, f"  writes: {shown}{more}"))
    if question.network:
        rows.append(palette.paint(Style.WARN, "  needs the network"))
    return "\n".join(rows)


def _sentence(question: Question) -> str:
    target = one_line(question.target, 70)
    match question.subject:
        case Subject.EDIT:
            return f"Make this change to {target}?"
        case Subject.DELETE:
            return f"Delete {target}?"
        case Subject.COMMAND:
            return "Run this command with the network?" if question.network else "Run this command?"
        case Subject.SCOPE:
            return f"Let this turn change {target} too?"
        case Subject.CAPABILITY:
            return f"Let {target} act?"
        case Subject.WEB:
            return "Let this reach the internet?"


def _options(question: Question) -> tuple[Option, ...]:
    prefix = one_line(" ".join(question.text.split()[:2]), 40)
    offered = {
        Choice.YES: Option("y", "yes", Choice.YES.value),
        Choice.ALWAYS_FILE: Option("f", "always this file", Choice.ALWAYS_FILE.value),
        Choice.ALWAYS_COMMAND: Option("a", "always this command", Choice.ALWAYS_COMMAND.value),
        Choice.ALWAYS_PREFIX: Option("p", f"always when it begins with `{prefix}`", Choice.ALWAYS_PREFIX.value),
        Choice.EDITED: Option("e", "edit it", Choice.EDITED.value, entry="Run instead", prefill=question.text),
    }
    chosen = [option for choice, option in offered.items() if choice in question.choices]
    yes = [option for option in chosen if option.value == Choice.YES.value]
    return (*yes, _NO, _WHY, *(option for option in chosen if option not in yes))
