"""The first screen, from what an application says of itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from spear.cli.display.palette import PLAIN, palette_of, unpainted
from spear.cli.keystrokes import DEFAULTS
from spear.cli.repl.banner import banner
from spear.events.names import Mode

NOTICE = "the tree declares commands that nobody has trusted \x1b]0;x\x07 — see what it declares: spear-chat trust"


@pytest.fixture
def app(tmp_path):
    return SimpleNamespace(
        roots=SimpleNamespace(primary=tmp_path, others={}), mode=Mode.SAFE, model_label="m", backend_label="b",
        context_window=32768, standard_label="", limits_label="", session="s", keys=DEFAULTS, notices=(NOTICE,),
    )  # fmt: skip


@pytest.mark.parametrize("width", [24, 40, 60, 80])
def test_a_notice_is_folded_and_keeps_its_way_out(app, width):
    lines = unpainted(banner(app, palette_of("dark", {"TERM": "xterm"}, plain=False), width)).split("\n")
    assert all(len(line) <= width for line in lines)
    said = " ".join(" ".join(lines[lines.index(next(x for x in lines if x.startswith("!"))) :]).split())
    assert said.endswith("see what it declares: spear-chat trust") and "\x1b" not in said


def test_both_other_modes_are_named_with_their_flags(app):
    for mode, flags in ((Mode.SAFE, "--ask, --auto"), (Mode.ASK, "--safe, --auto"), (Mode.AUTO, "--safe, --ask")):
        app.mode = mode
        assert f"({flags}" in banner(app, PLAIN, 200)
