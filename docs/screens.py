"""Takes the pictures of docs/screens.md: a real chat in a real terminal (tmux), its model a recording played back.

    python docs/screens.py

The pictures are drawn anew when what the chat prints has changed; tmux has to be installed.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
DEMO = HERE.parent / "spear/cli/demo"
REQUEST = "The test of ring_next() fails. Find out why, fix src/ring.c, then run the tests."
WIDTH, HEIGHT = 100, 56
ENDED = "last turn"
DIALOG = "[y] yes"
CHOSEN = "❯ [y] yes"
PATIENCE = 30.0
GUARD = 1.0
"""Seconds; keys that reach a dialog early are ignored by it."""


class Tmux:
    """One chat in one pane of a server of its own."""

    def __init__(self, home: Path, project: Path) -> None:
        self._home, self._socket = home, home / "tmux"
        chat = f"{Path(sys.executable).parent / 'spear-chat'} --ask --replay {DEMO / 'turns.jsonl'}"
        environ = {**os.environ, "SPEAR_STATE_DIR": str(home / "state"), "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        command = ["tmux", "-S", str(self._socket), "-f", os.devnull, "new-session", "-d", *size, "-c", project, chat]
        subprocess.run(command, env=environ, check=True)

    def do(self, *words: str) -> str:
        """A command of tmux; what it prints."""
        command = ["tmux", "-S", str(self._socket), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def wait(self, *any_of: str) -> str:
        """The first of these the pane shows. Raises TimeoutError with what it shows instead."""
        ends = time.monotonic() + PATIENCE
        while True:
            seen = self.do("capture-pane", "-p")
            if found := next((one for one in any_of if one in seen), ""):
                return found
            if time.monotonic() > ends:
                raise TimeoutError(f"none of {any_of} in:\n{seen}")
            time.sleep(0.1)

    def gone(self, what: str) -> None:
        """Until the pane does not show it. Raises TimeoutError."""
        ends = time.monotonic() + PATIENCE
        while what in self.do("capture-pane", "-p"):
            if time.monotonic() > ends:
                raise TimeoutError(f"{what!r} stays:\n{self.do('capture-pane', '-p')}")
            time.sleep(0.1)

    def say(self, text: str) -> None:
        """Enter a line."""
        self.do("send-keys", "-l", text)
        self.do("send-keys", "Enter")

    def answer_yes(self) -> None:
        """Choose it once the dialog takes keys, and confirm."""
        time.sleep(GUARD)
        self.do("send-keys", "y")
        self.wait(CHOSEN)
        self.do("send-keys", "Enter")
        self.gone(CHOSEN)

    def picture(self, name: str, title: str) -> None:
        """Write what the pane shows as an SVG."""
        console = Console(width=WIDTH, record=True, file=io.StringIO(), force_terminal=True)
        shown = self.do("capture-pane", "-p", "-e").rstrip().replace(str(self._home), "~")
        console.print(Text.from_ansi(shown))
        console.save_svg(str(HERE / "screens" / f"{name}.svg"), title=title)


def main() -> None:
    """A chat with an approval, a turn and its end."""
    (HERE / "screens").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        project = home / "ring"
        shutil.copytree(DEMO / "project", project)
        tmux = Tmux(home, project)
        try:
            tmux.wait("session")
            tmux.say(REQUEST)
            while tmux.wait(DIALOG, ENDED) == DIALOG:
                if "@@" in tmux.do("capture-pane", "-p"):
                    tmux.picture("approval", "an edit is shown before it is made")
                tmux.answer_yes()
            tmux.picture("turn", "a turn, its calls and its verdict")
        finally:
            tmux.do("kill-server")


if __name__ == "__main__":
    main()
