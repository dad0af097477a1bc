"""The end of a turn as one block: verdict, reasons, files, checks, time, tokens, cost (spec 8.2)."""

from __future__ import annotations

from collections.abc import Mapping

from spear.cli.display.filtering import clean, one_line
from spear.cli.display.palette import PLAIN, Palette, Style
from spear.events.names import Stop, Verdict
from spear.events.turn import TurnResult

_WORTH_SHOWING = 12
_OF_VERDICT = {Verdict.VERIFIED: Style.OK, Verdict.UNVERIFIED: Style.BAD, Verdict.NO_CHANGE: Style.TITLE}
_OF_STATUS = {"passed": Style.OK, "failed": Style.BAD, "error": Style.BAD}


def end_block(
    result: TurnResult,
    lines: Mapping[str, tuple[int, int]] | None = None,
    palette: Palette = PLAIN,
    cost: str = "",
) -> str:
    """The block for a finished turn; "" for a plain answer that changed nothing and stopped normally.

    `lines` gives added and removed lines of a changed file where they are known, `cost` the sum where it is.
    """
    plain_answer = result.verdict is Verdict.NO_CHANGE and result.stop.reason is Stop.ANSWERED
    if plain_answer and not result.refusals:
        return ""
    rows = [palette.paint(_OF_VERDICT[result.verdict], result.verdict.value)]
    if result.stop.reason is not Stop.ANSWERED:
        why = result.stop.reason.value.replace("_", " ")
        rows[0] += f" · stopped: {why}"
        if (
            result.stop.detail not in ("", why) and result.stop.reason is not Stop.ENDPOINT_ERROR
        ):  # said beside, with its hint
            rows.append(f"  {one_line(result.stop.detail, 160)}")
    rows += [f"  {clean(reason.text)}" for reason in result.reasons]
    rows += _files(result, lines or {}, palette)
    rows += _checks(result, palette)
    rows += _refusals(result, palette)
    rows.append(palette.paint(Style.MUTED, f"  {spent(result, cost)}"))
    return "\n".join(rows)


def spent(result: TurnResult, cost: str = "") -> str:
    """Time, rounds, tokens and cost of a turn, one line."""
    tokens = f"{result.usage.input_tokens + result.usage.output_tokens:,}".replace(",", " ")
    rounds = "1 round" if result.rounds == 1 else f"{result.rounds} rounds"
    figures = (f"{result.duration_s:.1f} s", rounds, f"{tokens} tokens", cost)
    return " · ".join(figure for figure in figures if figure)


def _files(result: TurnResult, lines: Mapping[str, tuple[int, int]], palette: Palette) -> list[str]:
    rows = []
    for changed in result.changed_files[:_WORTH_SHOWING]:
        delta = ""
        if count := lines.get(changed.path):
            added = palette.paint(Style.ADDED, f"+{count[0]}")
            delta = f"  {added} {palette.paint(Style.REMOVED, f'−{count[1]}')}"
        rows.append(f"  {changed.change:<9} {clean(changed.path)}{delta}")
    if len(result.changed_files) > _WORTH_SHOWING:
        rows.append(f"  … and {len(result.changed_files) - _WORTH_SHOWING} more files")
    return rows


def _checks(result: TurnResult, palette: Palette) -> list[str]:
    seen: list[tuple[str, str, str]] = [
        (check.status, check.command, f"epoch {check.epoch}") for check in result.checks[-_WORTH_SHOWING:]
    ]
    seen += [
        (step.status.lower().replace("_", " "), step.command, f"{step.origin} {step.kind}, epoch {step.epoch}")
        for step in result.validation
    ]
    return [
        f"  {palette.paint(_OF_STATUS.get(status, Style.WARN), f'{status:<9}')} {one_line(command, 70)} ({where})"
        for status, command, where in seen
    ]


def _refusals(result: TurnResult, palette: Palette) -> list[str]:
    rows = []
    for refusal in result.refusals[:_WORTH_SHOWING]:
        times = f" ×{refusal.count}" if refusal.count > 1 else ""
        what = f"{one_line(refusal.target, 60)} — {one_line(refusal.reason, 80)}{times}"
        rows.append(f"  {palette.paint(Style.WARN, 'refused  ')} {what}")
    return rows
