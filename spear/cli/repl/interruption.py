"""What the operator wants stopped: the running command first, then the turn (spec 8.2)."""

from __future__ import annotations

import threading


class Interruption:
    """One per turn: asked from the turn's thread, raised from the terminal's.

    Stopping a command ends that command only; the model is told and the turn goes on. Asking again ends the turn.
    """

    def __init__(self) -> None:
        self._turn = threading.Event()
        self._command = threading.Event()
        self._running = threading.Event()

    def press(self) -> str:
        """Ctrl+C: ends the running command, else the turn. What is being stopped."""
        if self._running.is_set() and not self._command.is_set():
            self._command.set()
            return "the running command"
        self.stop()
        return "the turn"

    def stop(self) -> None:
        """End the turn, a command that is running included."""
        self._turn.set()

    def cancelled(self) -> bool:
        """Whether the turn is to end."""
        return self._turn.is_set()

    def command_cancelled(self) -> bool:
        """Whether the command that is running is to end."""
        return self._turn.is_set() or self._command.is_set()

    def command_started(self) -> None:
        """A command runs from now on."""
        self._command.clear()
        self._running.set()

    def command_ended(self) -> None:
        """It has ended; what was asked of it does not hold for the next."""
        self._running.clear()
        self._command.clear()
