"""`/mode`, `/model`, `/permissions`, `/status`, `/help` (spec 2.1, 8.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spear.cli.commands.registry import COMMANDS, OPERATOR_TOOLS, Group, Unknown, resolve
from spear.cli.display.filtering import clean
from spear.cli.display.palette import Palette, Style
from spear.cli.display.wrapping import wrapped
from spear.cli.keystrokes import DEFAULTS
from spear.cli.repl.keys import KEYS, KeyHelp
from spear.cli.repl.ports import ChatApplication, CommandHandler, CommandIO
from spear.cli.settings import PROJECT_FILE
from spear.errors import UsageError
from spear.events.names import Mode
from spear.policy.permission import Permission, PermissionScope

Available = Callable[[str], bool]
_COLUMN = 34
"""Where `/help` says what something does."""


def handlers(app: ChatApplication, available: Available) -> Mapping[str, CommandHandler]:
    """The handlers of this family. `available` tells whether a command has an engine in this build."""
    return {
        "mode": lambda words, _: mode(app, words),
        "model": lambda words, _: model(app, words),
        "permissions": lambda words, _: permissions(app, words),
        "status": lambda _, io: status(app),
        "help": lambda words, io: help_(words, io, available, app.keys),
    }


def mode(app: ChatApplication, words: str) -> str:
    """`/mode [safe|ask|auto]`."""
    if not words:
        return f"mode {app.mode.value}; /mode safe, /mode ask or /mode auto changes it"
    try:
        wanted = Mode(words.lower())
    except ValueError as error:
        raise UsageError(f"there is no mode {words}", hint="/mode safe | ask | auto") from error
    app.set_mode(wanted)
    unasked = "; changes and commands now run without asking" if wanted is Mode.AUTO else ""
    return f"mode {wanted.value}{unasked}"


def model(app: ChatApplication, words: str) -> str:
    """`/model [NAME]`: a backend of the configuration by its name, else a model of the same endpoint."""
    if words:
        app.switch_model(words)
    present = f"{app.model_label} at {app.backend_label}"
    if words or not app.backends:
        return present
    rows = [f"  {name:<16} {text}" for name, text in app.backends.items()]
    return "\n".join([present, "/model NAME goes over to another model of this endpoint, or to one of", *rows])


def permissions(app: ChatApplication, words: str) -> str:
    """`/permissions [save N | revoke N]`."""
    approvals = app.approvals
    granted = approvals.store.permissions
    match words.split():
        case []:
            rows = [f"{number:>3}  {clean(permission.shown())}" for number, permission in enumerate(granted, 1)]
            return "\n".join(rows) or "nothing is approved for good here, and nothing forbidden"
        case ["save" | "revoke", number] if number.isdigit() and not 1 <= int(number) <= len(granted):
            raise UsageError(f"there is no approval {number}", hint="/permissions lists them by number")
        case ["save", number] if number.isdigit():
            app.permission_file.add(granted[int(number) - 1])
            approvals.store = approvals.store.settled(int(number) - 1)
            saved = approvals.store.permissions[int(number) - 1]
            return f"kept in {PROJECT_FILE}: {clean(saved.shown())}"
        case ["revoke", number] if number.isdigit():
            return f"revoked: {clean(_revoked(app, int(number) - 1).shown())}"
    raise UsageError(f"/permissions {words} was not understood", hint="/permissions [save N | revoke N]")


def _revoked(app: ChatApplication, index: int) -> Permission:
    """Take an approval back: in this session at once, and out of the project's file where it is kept there."""
    approvals = app.approvals
    permission = approvals.store.permissions[index]
    approvals.store = approvals.store.revoke(index)
    if permission.scope is PermissionScope.PROJECT:
        try:
            app.permission_file.remove(permission)
        except UsageError as error:
            raise UsageError(f"revoked in this session only: {error.message}", hint=error.hint) from error
    return permission


def status(app: ChatApplication) -> str:
    """`/status`."""
    result = app.last_result
    last = "none yet" if result is None else f"turn {result.turn}, {result.verdict.value}"
    rows = (
        ("session", app.session),
        ("workspace", str(app.roots.primary)),
        ("other roots", ", ".join(app.roots.others) or "none"),
        ("mode", app.mode.value),
        ("model", f"{app.model_label} at {app.backend_label}"),
        ("context", f"{app.context_window} tokens"),
        ("sandbox", app.limits_label or "being looked at"),
        ("standard", app.standard_label or "none bound"),
        ("last turn", last),
    )
    return "\n".join(f"{label:<12} {text}" for label, text in rows)


def help_(words: str, io: CommandIO, available: Available, keys: Mapping[str, tuple[str, ...]] = DEFAULTS) -> str:
    """`/help [COMMAND]`."""
    if words:
        command = resolve(words.removeprefix("/"))
        if isinstance(command, Unknown):
            return command.sentence
        aliases = f" (also {', '.join('/' + name for name in command.aliases)})" if command.aliases else ""
        lacking = "" if available(command.name) else f"\nthis build has no engine for it ({command.engine})"
        return f"{command.usage}{aliases}\n{command.summary}{lacking}"
    page = help_page(io.palette, available, keys)
    io.show(page if io.palette.plain else wrapped(page, io.width, _COLUMN))
    return ""


_PLAIN_KEYS = (
    "  Ctrl+C stops what runs; at a prompt, twice within a second, it ends the chat",
    "  Ctrl+D ends the chat; a line that ends in a backslash goes on",
)


def help_page(palette: Palette, available: Available, keys: Mapping[str, tuple[str, ...]] = DEFAULTS) -> str:
    """All commands, tools and keys, these as they are bound."""
    rows: list[str] = []
    for group in Group:
        rows.append(palette.paint(Style.ACCENT, group.value))
        for command in COMMANDS:
            if command.group is group:
                name = ", ".join(f"/{each}" for each in command.names)
                lacking = "" if available(command.name) else palette.paint(Style.MUTED, "  (not in this build)")
                rows.append(f"  {_pair(name, command.arguments)} {command.summary}{lacking}")
    rows.append(palette.paint(Style.ACCENT, "Tools, by your own hand"))
    rows += [f"  {_pair('!' + name, arguments)} {summary}" for name, arguments, summary in OPERATOR_TOOLS]
    rows.append(palette.paint(Style.ACCENT, "Keys"))
    if palette.plain:  # lines are read as the terminal gives them
        return "\n".join([*rows, *_PLAIN_KEYS])
    rows += [f"  {key.label(keys):<{_COLUMN - 3}} {_does(key)}" for key in KEYS]
    return "\n".join(rows)


def _does(key: KeyHelp) -> str:
    """What a key does, state by state, said once where it is the same."""
    states = [(key.idle, "at an empty prompt"), (key.with_text, "with text"), (key.running, "while a turn runs")]
    if key.idle == key.with_text:
        states[:2] = [(key.idle, "")]
    if len({what for what, _ in states}) == 1:
        states = [(key.idle, "")]
    said = (f"{when}: {what}" if when else what for what, when in states if what != "nothing")
    return "; ".join(said)


def _pair(name: str, arguments: str) -> str:
    whole = f"{name} {arguments}".rstrip()
    return f"{whole:<{_COLUMN - 3}}" if len(whole) <= _COLUMN - 3 else f"{whole}\n{'':<{_COLUMN - 1}}"
