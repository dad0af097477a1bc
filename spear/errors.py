"""The one exception tree. Each error carries an exit status (chapter 1.3) and a hint: the way out.

    SpearError                      1    a defect, or the world broken in a way nobody planned for
    ├── UsageError                  2    the command line is wrong
    ├── ConfigurationError          2    a configuration file or variable is wrong (names key, file, nearest key)
    ├── StateError                  2    the state directory cannot be used (permissions, newer schema, full disk)
    ├── WorkspaceError              2    the launch directory cannot be used
    ├── ConfinementUnavailable      6    no sandbox: nothing runs and nothing is written
    ├── EndpointError              75    the model endpoint could not be used; a retry may help
    └── Interrupted               130    the operator stopped it (143 when terminated)

Expected outcomes (refused, stale, timed out, not run) are values with codes, never exceptions.
"""

from __future__ import annotations


class SpearError(Exception):
    """Base of every error the product raises on purpose.

    `message` names the thing; `hint` says what to do about it and may be empty.
    """

    exit_status: int = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} — {self.hint}" if self.hint else self.message


class UsageError(SpearError):
    """The command line cannot be understood."""

    exit_status = 2


class ConfigurationError(SpearError):
    """A configuration file, key or variable is wrong."""

    exit_status = 2


class StateError(SpearError):
    """The state directory cannot be read or written."""

    exit_status = 2


class WorkspaceError(SpearError):
    """The launch directory or a root cannot be used."""

    exit_status = 2


class ConfinementUnavailable(SpearError):
    """Commands cannot be confined on this machine; the hint is the exact remedy."""

    exit_status = 6


class EndpointError(SpearError):
    """The model endpoint could not be used after the bounded retries."""

    exit_status = 75


class Interrupted(SpearError):
    """The operator stopped the program: 130 for SIGINT, 143 for SIGTERM."""

    exit_status = 130

    def __init__(self, message: str = "interrupted", *, hint: str = "", exit_status: int = 130) -> None:
        super().__init__(message, hint=hint)
        self.exit_status = exit_status
