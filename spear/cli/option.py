"""What an option and a subcommand are. Imports nothing: `--help` and `--version` must start about as fast as the
interpreter (spec 9.1), hence plain slotted classes and no dataclasses.
"""

from __future__ import annotations

BOOLEAN = "boolean"
TEXT = "text"
INTEGER = "integer"
NUMBER = "number"
FILE = "file"
DIRECTORY = "directory"
LIST = "list"
CONSTANT = "constant"
"""Kinds of option values. CONSTANT sets `constant` on the key, BOOLEAN sets true; the rest take one value."""


class Option:
    """One flag with its aliases.

    `key` is the name in the parsed arguments and, unless `run_only`, the configuration key (dots name tables).
    `variable` is the environment variable; `default` is what the help page says. `choices` closes the values.
    `optional` values may be left out (`--resume`), and are then the empty string.
    """

    __slots__ = (
        "choices",
        "constant",
        "default",
        "help",
        "key",
        "kind",
        "metavar",
        "names",
        "optional",
        "run_only",
        "variable",
    )

    def __init__(
        self,
        key: str,
        names: str,
        text: str,
        kind: str = TEXT,
        variable: str = "",
        default: str = "",
        *,
        metavar: str = "",
        choices: tuple[str, ...] = (),
        constant: str = "",
        optional: bool = False,
        run_only: bool = False,
    ) -> None:
        self.key = key
        self.names = tuple(names.split())
        self.help = text
        self.kind = kind
        self.metavar = metavar or _METAVARS.get(kind, "")
        self.variable = variable
        self.default = default
        self.choices = choices
        self.constant = constant
        self.optional = optional
        self.run_only = run_only

    @property
    def attribute(self) -> str:
        """The attribute of the parsed arguments."""
        return self.key.replace(".", "_")

    @property
    def takes_value(self) -> bool:
        """Whether a value follows the flag."""
        return self.kind not in (BOOLEAN, CONSTANT)


class Positional:
    """One word of a subcommand: `count` is argparse's (`?` optional, `*` any number, `+` at least one, empty: one)."""

    __slots__ = ("choices", "count", "help", "kind", "name")

    def __init__(
        self, name: str, text: str, *, count: str = "", kind: str = TEXT, choices: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.help = text
        self.count = count
        self.kind = kind
        self.choices = choices


class Command:
    """One subcommand. `free` hands all its words on unparsed; `actions` are its own subcommands (`default` is meant
    when none is named); `shared` are keys of global options it accepts behind its name too.
    """

    __slots__ = ("actions", "default", "free", "help", "name", "options", "positionals", "shared")

    def __init__(
        self,
        name: str,
        text: str,
        *,
        options: tuple[Option, ...] = (),
        positionals: tuple[Positional, ...] = (),
        actions: tuple[Command, ...] = (),
        default: str = "",
        shared: tuple[str, ...] = ("state_dir", "operator"),
        free: bool = False,
    ) -> None:
        self.name = name
        self.help = text
        self.options = options
        self.positionals = positionals
        self.actions = actions
        self.default = default
        self.shared = shared
        self.free = free


_METAVARS = {INTEGER: "N", NUMBER: "X", FILE: "FILE", DIRECTORY: "DIR", TEXT: "TEXT", LIST: "NAME"}
