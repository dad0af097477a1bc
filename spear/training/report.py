"""What a pass found, as the JSON and the page a bundle and `spear-train readiness` carry (spec 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spear.training.governance import Governance
from spear.training.readiness import Readiness
from spear.training.tally import Tally
from spear.training.vocabulary import Split


def readiness_record(readiness: Readiness, tally: Tally) -> dict[str, Any]:
    """`readiness.json`."""
    return {
        "schema": "spear.readiness/1",
        "state": readiness.state.value,
        "level": readiness.level.value,
        "strategy": readiness.strategy.value,
        "reasons": list(readiness.reasons),
        "episodes": tally.episodes,
        "outcomes": _counts(tally.outcomes),
        "excluded": _counts(tally.excluded),
        "problems": _counts(tally.problems),
        "samples": sample_counts(tally),
        "families": {split.value: tally.families.get(split, 0) for split in Split},
        "duplicates": tally.duplicates,
    }


def governance_record(governance: Governance, tally: Tally) -> dict[str, Any]:
    """`governance.json`."""
    return {
        "schema": "spear.governance/1",
        "admitted_origins": sorted(origin.value for origin in governance.origins),
        "smoke_test_only": governance.smoke_test_only,
        "origins": _counts(tally.origins),
        "marks": _counts(tally.marks),
        "excluded": _counts(tally.excluded),
        "without_whole_context": tally.partial_contexts,
        "standards_text": "never exported: an episode that may hold text of a bound standard is excluded",
        "holdout": "families held out by spear.split/1 are in no dataset, nor is any turn that could see one",
        "redaction": "at capture, before anything was written",
        "source_digest": tally.source_digest,
    }


def evaluation_record(tally: Tally) -> dict[str, Any]:
    """`evaluation-plan.json`."""
    return {
        "schema": "spear.evaluation-plan/1",
        "holdout": {"rule": "spear.split/1", "families": tally.families.get(Split.HOLDOUT, 0)},
        "validation": {name: n for name, n in sample_counts(tally).items() if name.endswith("validation")},
        "compare": ["base model", "fine-tuned model"],
        "measure": [
            "share of held-out tasks whose turn ends VERIFIED",
            "share of turns that end early, by stop reason",
            "refusals and malformed calls per turn",
            "input and output tokens per turn",
        ],
        "accept_when": "more held-out tasks end VERIFIED and no other figure is worse beyond its run-to-run spread",
        "runs_per_task": 3,
    }


def readiness_page(readiness: Readiness, tally: Tally) -> str:
    """`readiness.md`, and what the commands print."""
    rows = [
        f"state {readiness.state.value}, level {readiness.level.value}, strategy {readiness.strategy.value}",
        "",
        *(f"- {reason}" for reason in readiness.reasons),
        *([""] if readiness.reasons else []),
        "| what | how many |",
        "|---|---|",
        f"| episodes | {tally.episodes} |",
        *(f"| outcome {name} | {count} |" for name, count in _counts(tally.outcomes).items()),
        *(f"| not used: {name} | {count} |" for name, count in _counts(tally.excluded).items()),
        *(f"| not used: repeated | {count} |" for count in [tally.duplicates] if count),
        *(f"| store: {name} | {count} |" for name, count in _counts(tally.problems).items()),
        *(f"| families, {split.value} | {tally.families.get(split, 0)} |" for split in Split),
        *(f"| {name} | {count} |" for name, count in sample_counts(tally).items()),
    ]
    return "\n".join(["# Readiness", "", *rows, ""])


def sample_counts(tally: Tally) -> dict[str, int]:
    """Samples by dataset and split, in a fixed order."""
    names = ("datasets/sft", "datasets/unpaired", "datasets/paired")
    return {
        f"{name}/{split.value}": tally.samples[(name, split)]
        for name in names
        for split in (Split.TRAIN, Split.VALIDATION)
    }


def _counts(counter: Mapping[str, int]) -> dict[str, int]:
    return {str(name): counter[name] for name in sorted(counter)}
