"""FT4: `/finetune status|list|doctor|prepare|inspect` as answers to words (spec 7). Starts no training.

The operator's own: no tool of a model leads here.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from spear.errors import UsageError
from spear.state.directory import StateDirectory, safe_name
from spear.training.bundle import freeze, survey
from spear.training.governance import Governance
from spear.training.report import readiness_page, sample_counts
from spear.training.source import Source
from spear.training.validation import problems

USAGE = "/finetune status | list | doctor | prepare [sft | kto | dpo] | inspect ID"
_DATASET = {"sft": "datasets/sft/train", "kto": "datasets/unpaired/train", "dpo": "datasets/paired/train"}
_TRAINERS = ("torch", "transformers", "trl", "axolotl")
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class FinetuneAnswer:
    """What to show: plain text, then a page of Markdown; and 0 when it was done, else 2."""

    text: str
    status: int = 0
    page: str = ""


class FinetuneCommands:
    """Answers for one state directory. Bundles lie in `finetune/bundles/` below its root."""

    def __init__(self, state: StateDirectory) -> None:
        self._store = state.training_data
        self._output = state.root / "finetune"

    def answer(self, words: Sequence[str]) -> FinetuneAnswer:
        """Answer the words behind `/finetune`. Errors a person can act on become an answer with status 2."""
        verbs: dict[str, Callable[[Sequence[str]], FinetuneAnswer]] = {
            "status": self._status,
            "list": self._list,
            "doctor": self._doctor,
            "prepare": self._prepare,
            "inspect": self._inspect,
        }
        verb, *rest = words or ["status"]
        if verb not in verbs:
            return FinetuneAnswer(f"/finetune {verb} is not there: {USAGE}", UsageError.exit_status)
        try:
            return verbs[verb](rest)
        except UsageError as error:
            return FinetuneAnswer(str(error), error.exit_status)

    def _status(self, words: Sequence[str]) -> FinetuneAnswer:
        _no_more(words)
        if not self._store.is_dir():
            return FinetuneAnswer("nothing was captured yet: EMPTY, NOT_READY")
        with tempfile.TemporaryDirectory(prefix="spear-train-") as scratch:
            tally, readiness = survey(Source(self._store), Governance(), Path(scratch))
        return FinetuneAnswer("", page=readiness_page(readiness, tally))

    def _list(self, words: Sequence[str]) -> FinetuneAnswer:
        _no_more(words)
        bundles = sorted((self._output / "bundles").glob("bundle-*"))
        if not bundles:
            return FinetuneAnswer("no bundle is frozen yet: /finetune prepare makes one")
        return FinetuneAnswer("\n".join(_one_line(bundle) for bundle in bundles))

    def _doctor(self, words: Sequence[str]) -> FinetuneAnswer:
        if list(words) == ["--remote"]:
            raise UsageError("no remote launcher is part of this build", hint="/finetune doctor")
        _no_more(words)
        existing = next(p for p in (self._output, *self._output.parents) if p.exists())
        free = shutil.disk_usage(existing).free
        card = shutil.which("nvidia-smi") or shutil.which("rocm-smi")
        found = {name: find_spec(name) is not None for name in _TRAINERS}
        rows = [
            f"captured data  {'yes' if self._store.is_dir() else 'none yet'}  {self._store}",
            f"free disk      {free / _GIB:.1f} GiB at {existing}",
            f"accelerator    {card or 'no nvidia-smi or rocm-smi on PATH: a CPU only'}",
            *(
                f"{name:<14} {'installed' if there else f'missing: pip install {name}'}"
                for name, there in found.items()
            ),
        ]
        return FinetuneAnswer("\n".join(rows))

    def _prepare(self, words: Sequence[str]) -> FinetuneAnswer:
        method = words[0] if words else ""
        _no_more(words[1:])
        if method and method not in _DATASET:
            raise UsageError(f"there is no method {method}", hint=USAGE)
        frozen = freeze(Source(self._store), Governance(), self._output)
        counts = sample_counts(frozen.tally)
        lines = [
            f"{frozen.id} {'is frozen already' if frozen.existed else 'is frozen'}: {frozen.path}",
            f"{frozen.readiness.state.value}, {frozen.readiness.level.value}; "
            f"recommended strategy {frozen.readiness.strategy.value}",
        ]
        if method:
            lines.append(f"{method}: {counts[_DATASET[method]]} samples to train on")
        return FinetuneAnswer("\n".join([*lines, f"next: {frozen.path / 'RUNBOOK.md'}; nothing was trained"]))

    def _inspect(self, words: Sequence[str]) -> FinetuneAnswer:
        if len(words) != 1:
            raise UsageError("/finetune inspect takes the id of a bundle", hint="/finetune list")
        bundle = self._bundle(words[0])
        wrong = problems(bundle)
        state = wrong or ["as it was frozen"]
        page = (bundle / "readiness.md").read_text(encoding="utf-8") if not wrong else ""
        return FinetuneAnswer("\n".join([str(bundle), *state]), 2 if wrong else 0, page)

    def _bundle(self, prefix: str) -> Path:
        try:
            name = safe_name(prefix)
        except ValueError as error:
            raise UsageError(f"{prefix!r} is no id of a bundle", hint="/finetune list") from error
        bundles = sorted((self._output / "bundles").glob("bundle-*"))
        found = [b for b in bundles if b.name.startswith(name) or b.name.startswith(f"bundle-{name}")]
        if len(found) != 1:
            number = "no bundle starts" if not found else f"{len(found)} bundles start"
            raise UsageError(f"{number} with {prefix}", hint="/finetune list")
        return found[0]


def _one_line(bundle: Path) -> str:
    try:
        manifest = json.loads((bundle / "manifest.json").read_bytes())
        readiness = json.loads((bundle / "readiness.json").read_bytes())
        samples = manifest["samples"]
        counts = ", ".join(f"{method} {samples[name]}" for method, name in _DATASET.items())
        return f"{bundle.name}  {readiness['level']}  {counts}"
    except (OSError, ValueError, KeyError, TypeError):
        return f"{bundle.name}  cannot be read: /finetune inspect {bundle.name}"


def _no_more(words: Sequence[str]) -> None:
    if words:
        raise UsageError(f"{' '.join(words)} was not understood", hint=USAGE)
