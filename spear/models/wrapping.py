"""A backend around another one, which adds something to its answers and passes the rest on."""

from __future__ import annotations

from typing import Generic, TypeVar

from spear.models.backend import ModelBackend

Inner = TypeVar("Inner", bound=ModelBackend)


class WrappingBackend(Generic[Inner]):
    """Everything of `inner` but `complete`, which each subclass has of its own."""

    def __init__(self, inner: Inner) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The endpoint of the backend inside."""
        return self._inner.name

    @property
    def model(self) -> str:
        """The model of the backend inside. May raise `ModelFailure`."""
        return self._inner.model

    def context_window(self) -> int | None:
        """As the backend inside reports it."""
        return self._inner.context_window()

    def begin_turn(self) -> None:
        """Passed on."""
        self._inner.begin_turn()

    def close(self) -> None:
        """Passed on."""
        self._inner.close()
