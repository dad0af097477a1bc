"""The end of a turn as one block: verdict, reasons, files, checks, time, tokens (spec 8.2). Plain text."""

from __future__ import annotations

from spear.cli.display.filtering import clean, one_line
from spear.events.names import Stop, Verdict
from spear.events.turn import TurnResult

_WORTH_SHOWING = 12


def end_block(result: TurnResult, lines: dict[str, tuple[int, int]] | None = None) -> str:
    """The block for a finished turn; "" for a plain answer that changed nothing and stopped normally.

    `lines` gives added and removed lines of a changed file where they are known.
    """
    plain_answer = result.verdict is Verdict.NO_CHANGE and result.stop.reason is Stop.ANSWERED
    if plain_answer and not result.refusals:
        return ""
    rows = [result.verdict.value]
    if result.stop.reason is not Stop.ANSWERED:
        rows[0] += f" · stopped: {result.stop.reason.value.replace('_', ' ')}"
        if result.stop.detail:
            rows.append(f"  {one_line(result.stop.detail, 160)}")
    rows += [f"  {clean(reason.text)}" for reason in result.reasons]
    for changed in result.changed_files[:_WORTH_SHOWING]:
        count = (lines or {}).get(changed.path)
        delta = f"  +{count[0]} −{count[1]}" if count else ""
        rows.append(f"  {changed.change:<9} {clean(changed.path)}{delta}")
    if len(result.changed_files) > _WORTH_SHOWING:
        rows.append(f"  … and {len(result.changed_files) - _WORTH_SHOWING} more files")
    for check in result.checks[-_WORTH_SHOWING:]:
        rows.append(f"  {check.status:<9} {one_line(check.command, 70)} (epoch {check.epoch})")
    for step in result.validation:
        rows.append(
            f"  {step.status.lower():<9} {one_line(step.command, 70)} ({step.origin} {step.kind}, epoch {step.epoch})"
        )
    for refusal in result.refusals[:_WORTH_SHOWING]:
        times = f" ×{refusal.count}" if refusal.count > 1 else ""
        rows.append(f"  refused   {one_line(refusal.target, 60)} — {one_line(refusal.reason, 80)}{times}")
    tokens = result.usage.input_tokens + result.usage.output_tokens
    rows.append(f"  {result.duration_s:.1f} s · {result.rounds} rounds · {tokens:,} tokens".replace(",", " "))
    return "\n".join(rows)
