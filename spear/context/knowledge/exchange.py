"""Knowledge in files: exports, imports of them, and the notes earlier versions kept (spec 4.3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spear.context.documents import DocumentProblem, read_own
from spear.context.knowledge.given import RecordModel
from spear.context.knowledge.records import KnowledgeProblem, Record, tidy

SCHEMA = "spear.knowledge/1"
LEGACY = re.compile(r"memories-(?P<name>.+)\.md\Z")
_LARGEST = 64 << 20
_NOTE = re.compile(r"\A\s*(?:[-*+]|\d+[.)])\s+(?:\[[^\]]{0,40}\]\s*)?(?P<text>.+)\Z")


def exported(workspace: str, records: Iterable[Record]) -> str:
    """The export document: one JSON object."""
    document = {"schema": SCHEMA, "workspace": workspace, "records": [record.record() for record in records]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_export(file: Path) -> list[RecordModel] | KnowledgeProblem:
    """The records of an export, validated one by one; the first wrong one is named and nothing is taken."""
    try:
        if file.stat().st_size > _LARGEST:
            return KnowledgeProblem("large", f"{file} is larger than 64 MiB", "split it")
        document: Any = json.loads(file.read_bytes())
    except OSError as error:
        return KnowledgeProblem("unreadable", f"{file} cannot be read: {error.strerror}", "name an export file")
    except (ValueError, RecursionError) as error:
        return KnowledgeProblem("no_export", f"{file} is no JSON: {str(error)[:100]}", "name an export file")
    if (
        not isinstance(document, dict)
        or document.get("schema") != SCHEMA
        or not isinstance(document.get("records"), list)
    ):
        return KnowledgeProblem("no_export", f"{file} is no export of schema {SCHEMA}", "name an export file")
    models: list[RecordModel] = []
    for number, row in enumerate(document["records"], start=1):
        try:
            models.append(RecordModel.model_validate(row))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "the record"
            return KnowledgeProblem(
                "bad_record", f"record {number} of {file}, {key}: {first['msg']}", "correct the file"
            )
    return models


def legacy_files(directories: Iterable[Path], name: str) -> tuple[list[Path], list[Path]]:
    """Files of notes of earlier versions: those of a workspace by its name, and the others there are."""
    mine: list[Path] = []
    others: list[Path] = []
    for directory in directories:
        for file in sorted(directory.glob("memories-*.md")):
            match = LEGACY.match(file.name)
            if match and file.is_file():
                (mine if match["name"] == name else others).append(file)
    return mine, others


def legacy_notes(file: Path) -> list[str] | KnowledgeProblem:
    """The notes of one such file: its list items, or its paragraphs where it has none."""
    text = read_own(file)
    if isinstance(text, DocumentProblem):
        return KnowledgeProblem("unreadable", f"{file} {text.text}", "name a file of notes")
    items = [tidy(match["text"]) for line in text.split("\n") if (match := _NOTE.match(line))]
    if items:
        return items
    blocks = [tidy(block) for block in re.split(r"\n\s*\n", text)]
    return [block for block in blocks if block and not block.startswith(("#", "---"))]
