"""Which subcommands exist, and the module that answers each: imported only when it is called."""

from __future__ import annotations

import os

from spear.cli.option import Command
from spear.cli.subcommand_table import COMMANDS

TYPE_CHECKING = False  # as `typing` defines it, without its import
if TYPE_CHECKING:
    import argparse
    from pathlib import Path

_MODULES = {
    "doctor": "spear.cli.doctor",
    "audit": "spear.cli.audit",
    "undo": "spear.cli.undoing",
    "redo": "spear.cli.undoing",
    "policy": "spear.cli.policy",
    "classify": "spear.cli.classifying",
    "sessions": "spear.cli.sessions",
    "completion": "spear.cli.completing",
    "trust": "spear.cli.trusting",
    "config": "spear.cli.explaining",
    "knowledge": "spear.cli.knowledge",
    "standard": "spear.cli.standard",
}
"""Subcommand → the module whose `run(parsed, environ, cwd) -> int` answers it."""

WIRED: tuple[Command, ...] = tuple(command for command in COMMANDS if command.name in _MODULES)


def run_subcommand(parsed: argparse.Namespace, cwd: Path) -> int:
    """Run a subcommand in a directory to its exit status."""
    from importlib import import_module

    module = import_module(_MODULES[parsed.command])
    status: int = module.run(parsed, os.environ, cwd)
    return status
