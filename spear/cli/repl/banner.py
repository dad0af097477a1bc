"""The first screen: where, what may happen, with which model, under which standard (spec 8.2). At most one screen."""

from __future__ import annotations

from spear import __version__
from spear.cli.display.filtering import one_line
from spear.cli.display.palette import Palette, Style
from spear.cli.display.wrapping import wrapped
from spear.cli.keystrokes import shown
from spear.cli.repl.ports import ChatApplication
from spear.events.names import Mode

_SHOWN_ROOTS = 4
_SHOWN_NOTICES = 6
_NOTICE = 400
_MEANING = {
    Mode.SAFE: "reads, changes nothing",
    Mode.ASK: "asks before each change",
    Mode.AUTO: "runs without asking",
}


def banner(app: ChatApplication, palette: Palette, width: int) -> str:
    """The banner, painted."""
    others = [f"/workspaces/{name}" for name in app.roots.others]
    roots = f"{1 + len(others)} root" + ("s" if others else "")
    if others:
        more = f" and {len(others) - _SHOWN_ROOTS} more" if len(others) > _SHOWN_ROOTS else ""
        roots += f": /workspace, {', '.join(others[:_SHOWN_ROOTS])}{more}"

    def key(action: str, text: str) -> str:
        return "" if palette.plain else _key(app, action, text)

    rows = [
        ("workspace", f"{app.roots.primary} ({roots})"),
        ("mode", f"{app.mode.value}: {_MEANING[app.mode]} ({other_modes(app.mode)}{key('mode', '; {}')})"),
        ("model", f"{app.model_label} at {app.backend_label}"),
        ("context", _thousands(app.context_window)),
        ("standard", app.standard_label or "none bound"),
        ("sandbox", app.limits_label or "being tried: /status says"),
        ("session", f"{app.session} · /help lists commands{key('newline', ', {}: new line')}"),
    ]
    lines = [palette.paint(Style.TITLE, f"spear-chat {__version__}")]
    lines += [
        f"{palette.paint(Style.MUTED, f'{label:<10}')} {one_line(text, max(8, width - 12))}" for label, text in rows
    ]
    for notice in app.notices[:_SHOWN_NOTICES]:
        told = palette.paint(Style.WARN, f"! {one_line(notice, _NOTICE)}")
        lines.append(told if palette.plain else wrapped(told, width))
    return "\n".join(lines)


def _key(app: ChatApplication, action: str, text: str) -> str:
    """`text` with the first key of an action; "" where it has none."""
    keys = app.keys[action]
    return text.format(shown(keys[0])) if keys else ""


def _thousands(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def other_modes(mode: Mode) -> str:
    """The flags to the two other modes."""
    return ", ".join(f"--{other.value}" for other in Mode if other is not mode)
