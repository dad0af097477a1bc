"""Writes the pages and schemas that are made from the program itself; `--check` only compares.

Run by script/docs; a test holds that what is committed is current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from spear.cli.help_page import help_page
from spear.cli.subcommands import WIRED
from spear.events import names
from spear.events.turn import TurnResult
from spear.evidence.reasons import TEMPLATES
from spear.evidence.records import EvidenceRecord

HERE = Path(__file__).parent


def pages() -> dict[Path, str]:
    """Every generated file, by its path."""
    return {
        HERE / "cli.md": _cli(),
        HERE / "events.md": _events(),
        HERE / "reasons.md": _reasons(),
        HERE / "schemas/spear.turn-1.json": _schema(TurnResult),
        HERE / "schemas/evidence-record.json": _schema(EvidenceRecord),
    }


def _schema(model: type[TurnResult] | type[EvidenceRecord]) -> str:
    return json.dumps(model.model_json_schema(by_alias=True, mode="serialization"), indent=2, sort_keys=True) + "\n"


def _cli() -> str:
    return (
        "# The command line\n\n"
        "This is what `spear-chat --help` prints. Every setting is a flag, a variable and a key of the\n"
        "configuration file.\n\n"
        f"```text\n{help_page(WIRED, 100).rstrip()}\n```\n\n"
        "## What one-shot prints\n\n"
        "`--output text` prints the answer alone; `json` prints one object, whose schema is\n"
        "[spear.turn/1](schemas/spear.turn-1.json); `stream-json` prints one event a line while the turn runs\n"
        "and that object last. Diagnostics go to stderr. stdin is read only for `-p -` and with `--stdin`.\n\n"
        "## An answer for a program\n\n"
        "```sh\n"
        "spear-chat -p 'Which files hold a parser?' --schema files.json > files-found.json\n"
        "```\n\n"
        "`--schema FILE` names a JSON Schema (up to 64 KiB; `$ref` within the file only) that the answer must\n"
        "satisfy. A schema that cannot be used is status 2 before the model is asked, with its line or place. The\n"
        "model is told the schema; its answer is judged when the turn has ended. **Status 0 means that the answer\n"
        "is one JSON value that satisfies the schema**, and that the verdict is no UNVERIFIED. With `--output\n"
        "json` it is the text of `answer`. An answer that does not satisfy it is printed as it is, stderr says\n"
        "where it does not, and the status is 3; so is that of an UNVERIFIED turn, whose answer keeps its marks.\n"
        "A turn that stopped early keeps its own status and is not judged.\n"
    )


def _events() -> str:
    lines = [
        "# Events",
        "",
        "`audit/sessions/<id>/events.jsonl` holds one JSON object a line: `ts, seq, session, turn, event, data,",
        "prev, hash`. `hash` is SHA-256 over the canonical line without it, `prev` the previous hash:",
        "`spear-chat audit verify` finds a removed, reordered or edited line.",
        "`evidence.jsonl` holds one record a call, [as in this schema](schemas/evidence-record.json).",
        "This list of names is closed.",
        "",
    ]
    lines += [f"* `{name.value}`" for name in names.EventName]
    return "\n".join(lines) + "\n"


def _reasons() -> str:
    lines = [
        "# Reasons",
        "",
        "Every reason behind a verdict has a code of this closed list.",
        "",
        "| code | sentence |",
        "|---|---|",
    ]
    lines += [f"| `{code.value}` | {str(template).replace('|', '&#124;')} |" for code, template in TEMPLATES.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write, or with `--check` name what is stale and fail."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"stale: {path.relative_to(HERE.parent)} — run script/docs")
        return 1 if stale else 0
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
