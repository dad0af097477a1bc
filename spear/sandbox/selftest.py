"""The start-up self-test: a real mini sandbox looked at from both sides, and the remedy when it fails (spec 2.7)."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from spear.sandbox.request import Ending, RootMount, RunOutcome, RunRequest
from spear.sandbox.runner import CommandRunner
from spear.sandbox.session import BWRAP_PATH

SCHEMA = 1
MARK = "SPEAR_PREFLIGHT_SECRET"
SCRIPT = """
touch /usr/spear-preflight 2>/dev/null && echo leak=usr
touch written 2>/dev/null && echo wrote=yes
tr '\\0' '\\n' </proc/1/environ | grep -c . | sed 's/^/environ=/'
grep -c ':' /proc/net/dev | sed 's/^/interfaces=/'
sed -n 's/^NoNewPrivs:[[:space:]]*/privileges=/p; s/^CapEff:[[:space:]]*/capabilities=/p' /proc/self/status
sed -n 's/^Seccomp:[[:space:]]*/filter=/p' /proc/self/status
unshare -Ur true 2>/dev/null && echo leak=userns
ls -A .. | grep -vx tree | head -1 | sed 's/^/beside=/'
echo done=yes
"""
EXPECTED = {"environ": "0", "interfaces": "1", "privileges": "1", "capabilities": "0000000000000000", "filter": "2"}


@dataclass(frozen=True, slots=True)
class Preflight:
    """Whether commands can be confined here. `problem` and `remedy` are one sentence each, empty when `ok`; `overlay`
    tells whether a command can write to a tree through an overlay (else roots are read-only, and `details` say why).
    """

    ok: bool
    problem: str = ""
    remedy: str = ""
    overlay: bool = False
    limits: str = ""
    details: tuple[str, ...] = ()


def preflight(
    state_dir: Path, *, bwrap: str = "", cached: bool = True, os_release: Path = Path("/etc/os-release")
) -> Preflight:
    """Run the self-test, or take the last good answer for this boot, user, kernel and bubblewrap. Takes about 0.2 s.

    A failure is never cached: the operator is repairing it. Writes below `state_dir`; raises OSError when it cannot.
    """
    program = bwrap or shutil.which("bwrap", path=BWRAP_PATH) or ""
    distribution = _distribution(os_release)
    if not program:
        return Preflight(False, "bubblewrap (bwrap) is not installed", _install(distribution))
    store = state_dir / "preflight.json"
    key = _key(program)
    if cached and (known := _load(store, key)) is not None:
        return known
    with tempfile.TemporaryDirectory(dir=state_dir, prefix="preflight-") as scratch:
        result = _try(Path(scratch), program, distribution)
    if result.ok:
        temporary = store.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"key": key, "preflight": asdict(result)}), encoding="utf-8")
        temporary.chmod(0o600)
        temporary.replace(store)
    return result


def _try(scratch: Path, program: str, distribution: Mapping[str, str]) -> Preflight:
    tree, writes = scratch / "tree", scratch / "writes"
    tree.mkdir()
    bus = {name: value for name, value in os.environ.items() if name.startswith(("XDG_", "DBUS_"))}
    runner = CommandRunner(
        scratch / "session", path="/usr/bin:/bin", home=Path("/nonexistent"), bwrap=program,
        host_environment={MARK: MARK, **bus},
    )  # fmt: skip
    try:
        overlay, reason = runner.overlay()
        outcome = runner.run(RunRequest(SCRIPT, (RootMount(tree, writes),), tree, 30))
        limits = runner.limits
    finally:
        runner.close()
    if outcome.ending is Ending.NOT_STARTED:
        return Preflight(False, *explain(outcome.problem, distribution))
    faults = list(_faults(outcome, tree, writes, overlay=overlay))
    if faults:
        return Preflight(False, f"the sandbox does not hold: {'; '.join(faults)}", "report this with `bwrap --version`")
    details = () if overlay else (f"no overlay: {reason}",)
    return Preflight(True, overlay=overlay, limits=limits, details=details)


def _faults(outcome: RunOutcome, tree: Path, writes: Path, *, overlay: bool) -> Sequence[str]:
    facts = dict(line.split("=", 1) for line in outcome.output.splitlines() if "=" in line)
    faults = [f"{name} is {facts.get(name, 'missing')}" for name, value in EXPECTED.items() if facts.get(name) != value]
    if "leak" in facts or "beside" in facts:
        faults.append("something of the host can be changed or seen")
    if MARK in outcome.output:
        faults.append("the host's environment is visible")
    if facts.get("done") != "yes":
        faults.append("the probe did not finish")
    if list(tree.iterdir()):
        faults.append("a write went through to the tree")
    if overlay and not (writes / "written").exists():
        faults.append("a write did not arrive in the upper layer")
    return faults


def explain(said: str, distribution: Mapping[str, str]) -> tuple[str, str]:
    """The named cause of what bubblewrap or the kernel said, and the exact remedy on this distribution."""
    ubuntu = "ubuntu" in (distribution.get("ID", ""), distribution.get("ID_LIKE", ""))
    restricted = _sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1"
    if restricted or re.search(r"RTM_NEWADDR|setting up uid map: Permission denied|loopback: Failed", said):
        remedy = (
            "give bwrap an AppArmor profile that allows user namespaces: write "
            "`abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }` to "
            "/etc/apparmor.d/bwrap and run `sudo apparmor_parser -r /etc/apparmor.d/bwrap`"
        )
        name = "Ubuntu's AppArmor" if ubuntu or restricted else "AppArmor or the container"
        return f"{name} refuses unprivileged user namespaces to bubblewrap ({_first(said)})", remedy
    if _sysctl("kernel/unprivileged_userns_clone") == "0":
        return (
            "this kernel refuses unprivileged user namespaces (kernel.unprivileged_userns_clone is 0)",
            "run `sudo sysctl -w kernel.unprivileged_userns_clone=1` and put it in /etc/sysctl.d/",
        )
    if _sysctl("user/max_user_namespaces") == "0" or "No space left on device" in said:
        return (
            "no user namespace may be made (user.max_user_namespaces is 0 or used up)",
            "run `sudo sysctl -w user.max_user_namespaces=15000` and put it in /etc/sysctl.d/",
        )
    if _in_container() and re.search(r"Operation not permitted|No permissions|pivot_root|Can't mount proc", said):
        return (
            f"this container does not let bubblewrap make its namespaces ({_first(said)})",
            "start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined` "
            "(docker, podman), or run spear-chat outside it",
        )
    return f"bubblewrap could not make a sandbox: {_first(said)}", "run `bwrap --ro-bind / / true` to see the cause"


def _install(distribution: Mapping[str, str]) -> str:
    names = f"{distribution.get('ID', '')} {distribution.get('ID_LIKE', '')}".split()
    commands = {
        "debian": "sudo apt install bubblewrap", "ubuntu": "sudo apt install bubblewrap",
        "fedora": "sudo dnf install bubblewrap", "rhel": "sudo dnf install bubblewrap",
        "suse": "sudo zypper install bubblewrap", "opensuse": "sudo zypper install bubblewrap",
        "arch": "sudo pacman -S bubblewrap", "alpine": "sudo apk add bubblewrap",
    }  # fmt: skip
    found = next((commands[name] for name in names if name in commands), "")
    return f"run `{found}`" if found else "install the package bubblewrap"


def _distribution(os_release: Path) -> Mapping[str, str]:
    try:
        lines = os_release.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in lines)}


def _sysctl(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _in_container() -> bool:
    return any(Path(name).exists() for name in ("/.dockerenv", "/run/.containerenv"))


def _first(said: str) -> str:
    return next((line.strip() for line in said.splitlines() if line.strip()), "no message")


def _key(program: str) -> str:
    version = subprocess.run(
        [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env={}
    ).stdout.strip()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{SCHEMA} {boot} {os.geteuid()} {platform.release()} {program} {version}"


def _load(store: Path, key: str) -> Preflight | None:
    try:
        stored = json.loads(store.read_text(encoding="utf-8"))
        if stored["key"] != key:
            return None
        values = stored["preflight"]
        return Preflight(**{**values, "details": tuple(values["details"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
