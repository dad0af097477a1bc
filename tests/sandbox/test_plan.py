"""The arguments bwrap is given: the order of mounts is the policy."""

import dataclasses

import pytest

from spear.sandbox.closure import Protection
from spear.sandbox.plan import Machine, PlacedRoot, Plan, Show, arguments, base_environment, command, encode

PLAN = Plan(
    machine=Machine({"bin": "usr/bin"}, ("lib64",), (1000, 1000)),
    etc="/s/etc", tmp="/s/tmp", home="/s/home", script="/sys/script", report="/sys/report", nothing="/s/nothing",
    shown=(Show("/real/tools", "/opt/tools"),),
    roots=(
        PlacedRoot("/opt/tools/ws", "/sys/0", True, "demo",
                   Protection((".git",), (".git/hooks",), (".netrc",), (".ssh",))),
        PlacedRoot("/other", "/other", False, "", Protection((".git",), (".git/hooks",), (".netrc",))),
    ),
    environment={"A": "b"}, cwd="/opt/tools/ws", shell=("/bin/bash", "--noprofile", "--norc"),
)  # fmt: skip


def mounts(words):
    kinds = {"--bind", "--ro-bind"}
    return [(words[n], words[n + 1], words[n + 2]) for n, word in enumerate(words) if word in kinds]


def test_every_namespace_is_new_and_nothing_can_be_regained():
    words = arguments(PLAN)
    for flag in ("user", "pid", "ipc", "uts", "cgroup-try", "net"):
        assert f"--unshare-{flag}" in words
    for flag in ("--disable-userns", "--new-session", "--die-with-parent", "--seccomp"):
        assert flag in words
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert "--unshare-net" not in arguments(dataclasses.replace(PLAN, joined_network=True))


def test_roots_come_after_what_holds_them_and_leaves_after_their_pins():
    order = [destination for _, _, destination in mounts(arguments(PLAN))]
    for earlier, later in (("/opt/tools", "/opt/tools/ws"), ("/opt/tools/ws", "/opt/tools/ws/.git"),
                           ("/opt/tools/ws/.git", "/opt/tools/ws/.git/hooks")):  # fmt: skip
        assert order.index(earlier) < order.index(later)


def test_only_the_private_trees_the_overlay_and_its_pins_are_writable():
    writable = {destination for kind, _, destination in mounts(arguments(PLAN)) if kind == "--bind"}
    assert writable == {"/tmp", "/home/sandbox", "/run/spear/report", "/opt/tools/ws", "/opt/tools/ws/.git"}


def test_a_read_only_root_needs_no_pins_but_hides_what_is_hidden():
    others = [mount for mount in mounts(arguments(PLAN)) if mount[2].startswith("/other")]
    assert others == [("--ro-bind", "/other", "/other"), ("--ro-bind", "/dev/null", "/other/.netrc")]


def test_the_command_is_all_a_process_list_shows():
    assert command(PLAN) == ["/bin/bash", "--noprofile", "--norc", "/run/spear/script"]


def test_the_environment_is_made_from_named_things_only():
    host = {"LANG": "de_DE.UTF-8", "AWS_SECRET_ACCESS_KEY": "x", "TZ": "UTC"}
    made = base_environment("/usr/bin", {"NVM_DIR": "/n"}, host, "/bin/bash")
    assert (made["LANG"], made["TZ"], made["NVM_DIR"], made["HOME"]) == ("de_DE.UTF-8", "UTC", "/n", "/home/sandbox")
    assert "AWS_SECRET_ACCESS_KEY" not in made


def test_a_nul_is_an_error_and_not_two_arguments():
    with pytest.raises(ValueError, match="NUL"):
        encode(["a\0b"])


def test_the_primary_root_does_not_shadow_a_root_that_is_called_workspace():
    root = PlacedRoot("/workspace", "/sys/0", True, "", Protection())
    assert "--symlink /workspace /workspace" not in " ".join(arguments(dataclasses.replace(PLAN, roots=(root,))))
