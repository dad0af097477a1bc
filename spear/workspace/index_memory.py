"""What git's index remembers of files whose status moved: the bytes they had at an earlier look (spec 3.2).

The index keeps each tracked file's blob beside the status the file had when the blob was made. Where that is still the
status of the earlier look, the blob is what the file held then, and nobody had to read it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence

from spear.workspace.changes import Snapshot
from spear.workspace.git_layout import git_layout
from spear.workspace.host_git import git_output

MOST_PATHS = 50
"""How many paths are asked about; a larger change is no touch."""

_ENTRY = re.compile(
    rb"\d+ (?P<blob>[0-9a-f]+) 0\t(?P<path>[^\0]+)\0  ctime: (?P<ctime>\d+:\d+)\n  mtime: (?P<mtime>\d+:\d+)\n"
    rb"  dev: \d+\tino: (?P<inode>\d+)\n  uid: \d+\tgid: \d+\n  size: (?P<size>\d+)\tflags: \w+\n"
)


def indexed_digests(look: Snapshot, paths: Sequence[str], unchanged_since_ns: int) -> dict[str, str]:
    """The SHA-256 each of these paths had at `look`, where the index knows. An index written after
    `unchanged_since_ns`, the time of the look, is not believed: a command of the turn may have written it.
    """
    layout = git_layout(look.root)
    if layout is None or not 0 < len(paths) <= MOST_PATHS:
        return {}
    try:
        index = (layout.git_dir / "index").stat()
    except OSError:
        return {}
    if max(index.st_mtime_ns, index.st_ctime_ns) >= unchanged_since_ns:
        return {}
    listed = (
        git_output(look.root, "ls-files", "--stage", "--debug", "-z", "--", *(f":(literal){p}" for p in paths)) or b""
    )
    found: dict[str, str] = {}
    for entry in _ENTRY.finditer(listed):
        path = os.fsdecode(entry["path"])
        # A file as young as the index may have changed within the same tick without its status showing it.
        if _ns(entry["mtime"]) >= index.st_mtime_ns or not _as_seen(look, entry):
            continue
        content = git_output(look.root, "cat-file", "blob", entry["blob"].decode())
        if content is not None:
            found[path] = hashlib.sha256(content).hexdigest()
    return found


def _as_seen(look: Snapshot, entry: re.Match[bytes]) -> bool:
    """Whether the look saw the status that the index has."""
    fields = (entry["inode"], entry["size"], _seconds(entry["mtime"]), _seconds(entry["ctime"]))
    line = b"f " + b" ".join(fields) + b" "
    return (
        re.search(rb"(?:^|\0)" + re.escape(line) + rb"\d+ " + re.escape(entry["path"]) + rb"\0", look.listing)
        is not None
    )


def _ns(stamp: bytes) -> int:
    seconds, _, fraction = stamp.partition(b":")
    return int(seconds) * 1_000_000_000 + int(fraction)


def _seconds(stamp: bytes) -> bytes:
    """As a look's listing has it: ten digits after the point."""
    seconds, _, fraction = stamp.partition(b":")
    return seconds + b"." + fraction.rjust(9, b"0") + b"0"
