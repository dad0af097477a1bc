"""`spear-train export`: the captured work as one JSONL file for a person or another program (spec 7)."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from spear.errors import UsageError
from spear.state.files import open_private, state_error, write_all
from spear.state.lines import canonical
from spear.training.episode import Episode
from spear.training.source import Source
from spear.training.trajectory import trajectory
from spear.training.vocabulary import Mark


@dataclass(slots=True)
class Exported:
    """How many trajectories were written, and how many episodes were left out, by reason."""

    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def export(source: Source, output: Path) -> Exported:
    """Write one trajectory a line, with the operator's mark, streamed. `output` appears whole or not at all.

    What may hold text of a bound standard and what is marked bad is left out. Raises UsageError when `output` exists,
    StateError when the disk does not take it.
    """
    if output.exists():
        raise UsageError(f"{output} exists", hint="name a new file with --output")
    exported = Exported()
    temporary = output.with_name(f".{output.name}.{secrets.token_hex(6)}.new")
    try:
        descriptor = open_private(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            _write(source, descriptor, exported)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(output)
    except OSError as error:
        raise state_error("write", output, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return exported


def _write(source: Source, descriptor: int, exported: Exported) -> None:
    for found in source.episodes():
        episode = found.episode
        if not isinstance(episode, Episode):
            exported.left_out[episode.value] += 1
        elif episode.facts.standard_text:
            exported.left_out["standard_text"] += 1
        elif found.mark is Mark.BAD:
            exported.left_out["marked_bad"] += 1
        else:
            record = {**trajectory(episode), "origin": episode.facts.origin.value, "mark": found.mark}
            write_all(descriptor, canonical(record) + b"\n")
            exported.written += 1
