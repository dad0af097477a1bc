"""A turn in a network of its own, in which one address of the public internet is a server here (run by test_web.py).

The policy about addresses is the product's: a page is fetched because its address is public, in a network namespace
that holds nothing but this machine. Prints one JSON object.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import sys
from pathlib import Path

from tests.turns.conftest import Tree, sh
from tests.web.conftest import PageServer
from tests.web.documents import Page, redirect

PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"
_SIOCSIFADDR, _SIOCSIFFLAGS, _UP_RUNNING = 0x8916, 0x8914, 0x41


def give(interface: str, address: str) -> None:
    """Make `address` one of this machine's, in this namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name = interface.encode().ljust(16, b"\0")
        family = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
        fcntl.ioctl(control, _SIOCSIFADDR, name + family + b"\0" * 8)
        fcntl.ioctl(control, _SIOCSIFFLAGS, name + struct.pack("H22x", _UP_RUNNING))


def main() -> None:
    give("lo", "127.0.0.1")
    give("lo:1", PUBLIC)
    give("lo:2", OTHER)
    tree = Tree(Path(sys.argv[1]))
    page, local = PageServer(PUBLIC, port=80), PageServer("127.0.0.1")
    page.pages["/"] = Page(b"<title>Ring</title><p>A ring buffer wraps.")
    page.pages["/inward"] = redirect(f"{local.base}/secret")
    page.pages["/file"] = Page(b"\x89PNG\0", "application/octet-stream")
    local.pages["/secret"] = Page(b"the secret of this machine", "text/plain")
    turn = tree.turn(
        "What is a ring buffer? Look at the page.",
        sh(f"spear-web fetch_url 'http://{PUBLIC}/'"),
        sh(f"spear-web fetch_url 'http://{PUBLIC}/inward'"),
        sh(f"spear-web fetch_url '{local.base}/secret'"),
        "It wraps.",
    )
    saving = tree.turn(
        "Download the file into assets/file.dat",
        sh(f"spear-web fetch_url 'http://{PUBLIC}/file' --save-as assets/file.dat"),
        "Saved.",
    )
    saved = tree.root / "assets/file.dat"
    print(json.dumps({
        "results": turn.results(), "system": turn.requests[0]["messages"][0]["content"],
        "tools": [tool["function"]["name"] for tool in turn.requests[0]["tools"]],
        "commands": turn.result["commands"], "refusals": turn.result["refusals"], "verdict": turn.verdict,
        "asked": page.paths, "asked_local": local.paths, "events": tree.events(),
        "saved": saved.read_bytes().hex() if saved.exists() else None, "changed": saving.result["changed_files"],
        "saving": saving.results(), "uid": os.getuid(),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
