"""What a session starts from (spec 1.3)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spear.cli.backend import SessionBackend
from spear.cli.settings import Loaded
from spear.state.sessions import Session


@dataclass(frozen=True, slots=True)
class Invocation:
    """What of the command line and the machine a session starts from. A `model` that is given outlives the session."""

    loaded: Loaded
    environ: Mapping[str, str]
    cwd: Path
    record: Path | None = None
    replay: Path | None = None
    resume: Session | None = None
    model: SessionBackend | None = None
    answer_form: str = ""
    """What the model is told of the form its answers must have."""

    @classmethod
    def of(
        cls, parsed: argparse.Namespace, loaded: Loaded, environ: Mapping[str, str], cwd: Path, resume: Session | None
    ) -> Invocation:
        """What a command line asks for; its recordings lie where it was given."""
        record, replay = (cwd / given if given else None for given in (parsed.record, parsed.replay))
        return cls(loaded, environ, cwd, record, replay, resume)
