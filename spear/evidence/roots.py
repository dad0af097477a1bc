"""Roots of recorded paths: workspace-relative in the primary root, `/workspaces/NAME/…` in another (spec 2.2)."""

from __future__ import annotations

import re

_OTHER_ROOT = re.compile(r"(/workspaces/[^/]+)(?=/|$)")


def root_of(path: str) -> str:
    """The shown name of the other root a recorded path lies in, "" for the primary one."""
    found = _OTHER_ROOT.match(path)
    return found[1] if found else ""


def within_root(path: str) -> str:
    """A recorded path relative to its own root, "" for the root itself."""
    return path[len(root) + 1 :] if (root := root_of(path)) else path
