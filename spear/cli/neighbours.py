"""Other sessions that work on this tree: the operator is told of each once, whichever came first (spec 8.3)."""

from __future__ import annotations

from spear.state.liveness import LiveSession, Presence


class Neighbours:
    """Watches a session's neighbours, from its beginning to its end."""

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._told: frozenset[str] = frozenset()

    def announce(self) -> tuple[str, ...]:
        """Be present; sentences about those that were there before. Raises StateError as `Presence.announce`."""
        return self._sentences(self._presence.announce())

    def newcomers(self) -> tuple[str, ...]:
        """Sentences about those that came since the last look."""
        return self._sentences(self._presence.others())

    def _sentences(self, found: tuple[LiveSession, ...]) -> tuple[str, ...]:
        new = sorted({session.session for session in found} - self._told)
        self._told |= frozenset(new)
        return (f"another session works on this tree: {', '.join(new)}",) if new else ()
