"""`spear-corpus list|add|rm|scan`: the registry of projects from the command line (spec 4.1)."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from spear.cli.display.filtering import clean
from spear.cli.settings import load
from spear.errors import SpearError, UsageError
from spear.workspace.corpora import CorpusCommands

PROGRAM = "spear-corpus"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; 0 when it did what was asked, else the status of the error (spec 1.3)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return run(words, os.environ, _launch_directory())
    except SpearError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run(words: Sequence[str], environ: Mapping[str, str], cwd: Path) -> int:
    """Answer one command. Raises ConfigurationError."""
    settings = load(Namespace(), environ, cwd).settings
    answer = CorpusCommands(settings.projects_file, cwd, settings.corpus_root).answer(words)
    print(clean(answer.text), file=sys.stderr if answer.status else sys.stdout)
    return answer.status


def _launch_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the launch directory is gone", hint="cd to an existing directory") from error


if __name__ == "__main__":
    sys.exit(main())
