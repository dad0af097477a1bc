"""The configurations of trainers and the runbook of a bundle (spec 7). Pure text, the same on every machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from spear.training.readiness import Level, Readiness
from spear.training.report import sample_counts
from spear.training.tally import Tally

UNCHOSEN_MODEL = "SET_ME_TO_THE_BASE_MODEL"

_AXOLOTL_SFT = """\
# axolotl train axolotl/sft.yaml        (from the root of the bundle)
base_model: {model}
datasets:
  - path: datasets/sft/train.jsonl
    ds_type: json
    type: chat_template
    field_messages: messages
    field_tools: tools
    message_field_training: train
    roles_to_train: []
    train_on_eos: turn
{validation}adapter: lora
lora_r: 16
lora_alpha: 32
lora_dropout: 0.05
lora_target_linear: true
sequence_len: 16384
micro_batch_size: 1
gradient_accumulation_steps: 8
num_epochs: 2
learning_rate: 0.0001
lr_scheduler: cosine
optimizer: adamw_torch
seed: 1
output_dir: ./output/sft
"""
_AXOLOTL_VALIDATION = """\
test_datasets:
  - path: datasets/sft/validation.jsonl
    ds_type: json
    type: chat_template
    field_messages: messages
    field_tools: tools
    message_field_training: train
    roles_to_train: []
    train_on_eos: turn
    split: train
"""
_TRL = """\
# trl {method} --config trl/{method}.yaml        (from the root of the bundle)
model_name_or_path: {model}
datasets:
  - path: json
    data_files: [{files}]
    split: train
    columns: [{columns}]
use_peft: true
lora_r: 16
lora_alpha: 32
per_device_train_batch_size: {batch}
gradient_accumulation_steps: 8
num_train_epochs: {epochs}
learning_rate: {rate}
seed: 1
output_dir: ./output/{method}
"""


@dataclass(frozen=True, slots=True)
class _Method:
    """How TRL trains with one method: the files it reads, the columns it takes of them, and its usual figures."""

    files: str
    columns: str
    batch: int
    epochs: int
    rate: str


_DESIRABLE, _UNDESIRABLE, _PAIRS = "trl/desirable-train.jsonl", "trl/undesirable-train.jsonl", "trl/dpo-train.jsonl"
_TRL_METHODS = {
    "sft": _Method(_DESIRABLE, "prompt, completion, tools", 1, 2, "1.0e-4"),
    "kto": _Method(f"{_DESIRABLE}, {_UNDESIRABLE}", "prompt, completion, label, tools", 2, 1, "5.0e-6"),
    "dpo": _Method(_PAIRS, "prompt, chosen, rejected, tools", 1, 1, "5.0e-6"),
}
_DATASET = {"sft": "datasets/sft/train", "kto": "datasets/unpaired/train", "dpo": "datasets/paired/train"}


def configurations(model: str, tally: Tally) -> dict[str, str]:
    """File name → text of each trainer configuration."""
    validation = _AXOLOTL_VALIDATION if sample_counts(tally)["datasets/sft/validation"] else ""
    files = {"axolotl/sft.yaml": _AXOLOTL_SFT.format(model=model, validation=validation)}
    for name, method in _TRL_METHODS.items():
        files[f"trl/{name}.yaml"] = _TRL.format(method=name, model=model, **asdict(method))
    return files


def runbook(bundle: str, model: str, readiness: Readiness, tally: Tally, *, smoke_test_only: bool) -> str:
    """`RUNBOOK.md`. A bundle for smoke tests only names no command that trains."""
    counts = sample_counts(tally)
    rows = [
        f"# Bundle {bundle}",
        "",
        f"Level {readiness.level.value}, recommended strategy {readiness.strategy.value}.",
        "",
        "1. Check that nothing was changed since it was frozen: `spear-train validate-bundle .`",
        "",
    ]
    if smoke_test_only:
        return "\n".join(
            [*rows, "2. This bundle admits an origin that no real training may use. It is for smoke tests only.", ""]
        )
    if model == UNCHOSEN_MODEL:
        rows += ["2. Freeze again with `--base-model NAME`: the configurations name no base model yet.", ""]
    rows += [_commands(method, counts[_DATASET[method]]) for method in ("sft", "kto", "dpo")]
    if readiness.level is not Level.READY_FOR_EXPERIMENT:
        rows += ["", "The data is too little for an experiment: a run shows that the pipeline works, no more."]
    rows += [
        "",
        "`datasets/` is in a neutral form: `messages` in which one assistant message says `train: true`.",
        "`trl/` holds the same samples as TRL reads them. KTO and DPO have no Axolotl configuration: its strategies",
        "for these two (as of 0.19) keep role and content only and would drop tool calls.",
        "",
        "Evaluate as `evaluation-plan.json` says, on tasks of held-out families.",
        "",
    ]
    return "\n".join(rows)


def _commands(method: str, samples: int) -> str:
    if not samples:
        return f"- {method}: no samples"
    trl = f"`trl {method} --config trl/{method}.yaml`"
    axolotl = "`axolotl train axolotl/sft.yaml`, or " if method == "sft" else ""
    return f"- {method}: {samples} samples; {axolotl}{trl}"
