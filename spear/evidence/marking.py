"""How an answer nothing shows is put before the operator: verdict first, claims marked where they stand (spec 3.4)."""

from __future__ import annotations

from collections.abc import Iterator

from spear.events.names import Verdict
from spear.evidence.claims import read_claims
from spear.evidence.completion import VerdictReport
from spear.evidence.reasons import name_files

MARK = "*(not verified)*"
"""Put after every sentence that claims success without hedging."""

SHOWN_REASONS = 6


def header(report: VerdictReport) -> str:
    """The lines shown before an UNVERIFIED answer: the first names the verdict, the files and the first reason."""
    texts = [reason.text for reason in report.reasons[:SHOWN_REASONS]]
    files = name_files(report.files)
    first = texts[0] if texts else "nothing that ran shows that it works."
    first = first if not files or files in first else f"{files}: {first}"
    rest = "".join(f"\n- {text}" for text in texts[1:])
    return f"**UNVERIFIED** — {first}{rest}"


def mark(answer: str, report: VerdictReport) -> str:
    """The answer as it is shown. A VERIFIED or NO_CHANGE answer is returned unchanged; marking twice marks once.

    Code blocks, inline code and quotations are never edited: a mark is only ever put after a whole sentence.
    """
    if report.verdict is not Verdict.UNVERIFIED:
        return answer
    top = header(report)
    body = answer.removeprefix(top).lstrip("\n")
    pieces: list[str] = []
    position = 0
    for end in _ends(body):
        pieces.append(body[position:end])
        if not body[end:].lstrip().startswith(MARK):
            pieces.append(f" {MARK}")
        position = end
    marked = "".join([*pieces, body[position:]])
    return f"{top}\n\n{marked}" if marked.strip() else top


def _ends(body: str) -> Iterator[int]:
    """Where the sentences that claim something end, each once, in order."""
    last = -1
    for claim in read_claims(body):
        if not claim.hedged and claim.end > last:
            last = claim.end
            yield claim.end
