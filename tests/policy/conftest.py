"""Fixtures of the policy tests."""

from __future__ import annotations

import pytest

from spear.policy.command_policy import CommandPolicy
from spear.shell.parse import ShellParser


@pytest.fixture(scope="session")
def policy() -> CommandPolicy:
    """One policy, so that every text is parsed once."""
    return CommandPolicy(ShellParser())
