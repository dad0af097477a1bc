"""The terminal tool: the host runs the script; this tells the model what came of it."""

from __future__ import annotations

from spear.agent.host import CommandResult, FileChange, Host, Outcome, Refusal, ToolRequest, ToolResult
from spear.agent.tools import results
from spear.agent.tools.exit_meaning import benign, masked, meaning
from spear.agent.window import estimate

LONGEST = 600
OUTPUT_LIMIT = 50_000
_CHANGES_SHOWN = 12
_LINE_SHOWN = 400
_LEAST = 1_000
_NOTES_SHOWN = 8
_REFUSALS_SHOWN = 5
_MOST_A_CHARACTER = 5
"""Tokens one character may take."""


def terminal(host: Host, start: str, request: ToolRequest, tokens: int = OUTPUT_LIMIT) -> tuple[ToolResult, str]:
    """The result, and the directory the session is in now. `start` is the one it was in, "" at first (spec 2.5).
    The output takes `tokens` and OUTPUT_LIMIT characters at most."""
    command = str(request.arguments["command"])
    asked = int(request.arguments.get("timeout", 180))
    if asked < 1:
        return results.failed("timeout must be at least 1 second"), start
    timeout = min(asked, LONGEST)
    workdir = str(request.arguments.get("workdir") or "") or None
    done = host.run_command(command, timeout, workdir, request)
    if isinstance(done, Refusal):
        return results.refused(done), start
    clamped = f"timeout {asked} s is over the limit; {LONGEST} s was used" if asked > LONGEST else ""
    return _result(command, timeout, done, start, clamped, tokens), done.cwd


def _result(command: str, timeout: int, done: CommandResult, start: str, clamped: str, tokens: int) -> ToolResult:
    refusals = [_shortened(refusal.line()) for refusal in done.refusals[:_REFUSALS_SHOWN]]
    warning = masked(command, done.exit_code, done.pipe_status) if done.exit_code is not None else ""
    notes = [f"[note: {_shortened(note)}]" for note in (warning, clamped, *done.notes) if note]
    if len(notes) > _NOTES_SHOWN:
        notes[_NOTES_SHOWN:] = [f"[and {len(notes) - _NOTES_SHOWN} more notes]"]
    around = sum(map(len, [*refusals, *notes]))
    printed = done.output.rstrip("\n")
    output, cut = _bounded(printed, min(OUTPUT_LIMIT, _characters(printed, tokens)) - around)
    facts = _facts(command, timeout, done, start)
    if done.truncated or cut:
        facts.append(f"output truncated, all of it: {done.output_ref}" if done.output_ref else "output truncated")
    outcome, reason = _outcome(command, done)
    return ToolResult(
        "\n".join([*refusals, *([output] if output else []), f"[{'; '.join(facts)}]", *notes]),
        outcome,
        refusal=done.refusals[0] if done.refusals else None,
        changed=bool(done.changes),
        reason=reason,
    )


def _facts(command: str, timeout: int, done: CommandResult, start: str) -> list[str]:
    facts = [_ending(command, timeout, done)]
    if len(done.pipe_status) > 1:
        facts.append("pipe status " + " ".join(str(status) for status in done.pipe_status))
    if done.cwd != start and (start or done.cwd not in ("", ".")):
        facts.append(f"cwd {done.cwd or '.'}")
    if done.changes:
        facts.append(f"changed: {_changes(done.changes)}")
    return facts


def _shortened(line: str) -> str:
    return line if len(line) <= _LINE_SHOWN else line[: _LINE_SHOWN - 1] + "…"


def _ending(command: str, timeout: int, done: CommandResult) -> str:
    if done.timed_out:
        return f"timed out after {timeout} s: everything it started was killed; output so far is above"
    if done.cancelled:
        return "cancelled"
    if done.signal is not None:
        return f"killed by signal {done.signal}"
    if done.exit_code is None:
        return "did not end by itself"
    explained = meaning(command, done.exit_code, not done.output.strip())
    return f"exit {done.exit_code} ({explained})" if explained else f"exit {done.exit_code}"


def _outcome(command: str, done: CommandResult) -> tuple[Outcome, str]:
    if done.refusals:
        return Outcome.REFUSED, done.refusals[0].code
    if done.timed_out:
        return Outcome.TIMEOUT, "timed out"
    if done.cancelled:
        return Outcome.CANCELLED, "cancelled"
    if done.exit_code == 0:
        return Outcome.OK, ""
    if done.exit_code is not None and benign(command, done.exit_code, not done.output.strip()):
        return Outcome.OK, ""
    return Outcome.FAILED, f"exit {done.exit_code}"


def _changes(changes: tuple[FileChange, ...]) -> str:
    shown = ", ".join(f"{change.kind} {change.path}" for change in changes[:_CHANGES_SHOWN])
    more = len(changes) - _CHANGES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _characters(output: str, tokens: int) -> int:
    """How many characters of this output take so many tokens; none of it is looked at where all of it must fit."""
    size = estimate(output) if len(output) * _MOST_A_CHARACTER > tokens else 0
    return len(output) * tokens // size if size > tokens else OUTPUT_LIMIT


def _bounded(output: str, limit: int) -> tuple[str, bool]:
    """At most `limit` characters, head and tail, with the size of the middle; hosts cut already, this is the
    guarantee."""
    if len(output) <= limit:
        return output, False
    limit = max(limit, _LEAST)
    head, tail = limit * 2 // 5, limit * 3 // 5 - 100
    left_out = len(output) - head - tail
    return f"{output[:head]}\n… [{left_out} of {len(output)} characters left out] …\n{output[-tail:]}", True
