"""`spear-chat completion bash|zsh|fish`: prints the completion script of a shell."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from spear.cli.completion import script


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Print the script."""
    from spear.cli.subcommands import WIRED

    print(script(parsed.shell, WIRED))
    return 0
