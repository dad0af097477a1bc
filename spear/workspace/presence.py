"""Whether something stands at a path, where not being allowed to look is an answer and no error.

`Path.exists` and its like raise for a path below a directory that may not be searched; a tree may hold such
directories, and what lies in them is then simply not there for whoever asks (spec 2.2).
"""

from __future__ import annotations

import os
from pathlib import Path


def exists(path: Path) -> bool:
    """Whether it leads to something that may be seen. Never raises OSError."""
    return os.path.exists(path)  # noqa: PTH110 - pathlib's raises


def is_directory(path: Path) -> bool:
    """Whether it leads to a directory that may be seen. Never raises OSError."""
    return os.path.isdir(path)  # noqa: PTH112 - pathlib's raises


def is_file(path: Path) -> bool:
    """Whether it leads to a regular file that may be seen. Never raises OSError."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib's raises


def is_link(path: Path) -> bool:
    """Whether it is a symbolic link that may be seen. Never raises OSError."""
    return os.path.islink(path)  # noqa: PTH114 - pathlib's raises


def is_empty(directory: Path) -> bool:
    """Whether a directory is known to hold nothing; false where it may not be listed. Never raises OSError."""
    try:
        return not os.listdir(directory)  # noqa: PTH208 - strings
    except OSError:
        return False


def names(directory: Path) -> list[str]:
    """The names in a directory, unordered; none where it is no directory or may not be listed."""
    try:
        return os.listdir(directory)  # noqa: PTH208 - strings
    except OSError:
        return []
