"""The one row below the input: what may happen, which model, how full the window is; while a turn runs, its figures."""

from __future__ import annotations

from spear.agent.messages import Role
from spear.cli.repl.ports import ChatApplication
from spear.cli.repl.progress import Progress
from spear.cli.undo_fact import are_files_put_back


def idle_line(app: ChatApplication, width: int, hint: str = "") -> str:
    """The row of a chat that waits for its operator."""
    parts = [app.mode.value, app.model_label]
    if app.standard_label:
        parts.append(app.standard_label)
    parts += running_jobs(app)
    if app.last is not None:
        verdict = app.last.result.verdict.value.lower().replace("_", " ")
        asked = [message.content for message in app.conversation if message.role is Role.USER]
        parts.append(f"last turn {verdict}" + (", files put back since" if are_files_put_back(asked) else ""))
    return fitted(hint or " · ".join(parts), width)


def running_line(app: ChatApplication, progress: Progress, waiting: int, width: int, hint: str = "") -> str:
    """The row of a turn that runs: elapsed, rounds, tokens, context, cost, what its checks show so far."""
    window = max(1, app.context_window)
    rounds = "1 round" if progress.rounds == 1 else f"{progress.rounds} rounds"
    spent = f"{progress.tokens:,}".replace(",", " ") if progress.tokens else ""
    context = f"{100 * progress.context_tokens // window}%"
    begin = (app.mode.value, f"{progress.elapsed:.0f} s", rounds)
    cost = (progress.spending.text,) if progress.spending.text else ()
    beside = (*running_jobs(app), *((f"{waiting} waiting",) if waiting else ()))
    end = (*cost, progress.so_far, *beside, *((hint,) if hint else ()))
    long = " · ".join((*begin, *([f"{spent} tokens"] if spent else ()), f"context {context}", *end))
    short = " · ".join((*begin, *([f"{spent} tok"] if spent else ()), f"ctx {context}", *end))
    stops = "" if hint else " · Ctrl+C stops"
    least = " · ".join((*begin[:2], hint or progress.so_far))
    rows = (long + stops, short + stops, short, least)
    return fitted(next((row for row in rows if len(row) <= width), least), width)


def running_jobs(app: ChatApplication) -> tuple[str, ...]:
    """`1 job` while one runs beside the chat."""
    number = app.jobs.running
    return (f"{number} job{'' if number == 1 else 's'}",) if number else ()


def fitted(text: str, width: int) -> str:
    """At most `width` cells; the end gives way. The chat's own rows hold only characters one cell wide or less."""
    from prompt_toolkit.utils import get_cwidth

    if get_cwidth(text) <= width:
        return text
    room = max(1, width - 1)
    while text and get_cwidth(text) > room:
        text = text[:-1]
    return text + "…"
