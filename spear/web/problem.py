"""Why something of the web could not be had, as a value; and the exception that carries it up through a connection."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebProblem:
    """`reason` says what is so, `remedy` what to do instead. `refused` tells a decision not to from what went wrong."""

    code: str
    reason: str
    remedy: str = "go on without it, and say so"
    refused: bool = False


class WebStop(Exception):
    """Ends an exchange from within; whoever began the exchange catches it and returns its problem."""

    def __init__(self, problem: WebProblem) -> None:
        super().__init__(problem.reason)
        self.problem = problem
