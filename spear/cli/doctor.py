"""`spear-chat doctor [--json]`: what this machine has and lacks, and the command that mends each thing (spec 8.1).

Needs no terminal, no model and no network; every probe answers within two seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from spear.cli.backend import endpoint_label, environment_key
from spear.cli.display.filtering import clean
from spear.cli.settings import Loaded, load
from spear.cli.settings_model import Settings
from spear.cli.tool_memory import ToolMemory
from spear.errors import SpearError
from spear.models.catalogue import Catalogue
from spear.models.toolless import ToolSupport
from spear.sandbox.network import SEARCH_PATH
from spear.sandbox.selftest import preflight
from spear.state.directory import StateDirectory

_SECONDS = 2.0
_MOST_FILES = 200_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `status` is ok, missing, warning or problem; `fix` is a command or a sentence."""

    name: str
    status: str
    detail: str
    fix: str = ""


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Look at everything; status 1 when something keeps turns from working."""
    loaded = load(parsed, environ, cwd)
    findings = examine(loaded, environ)
    if parsed.json:
        document = {
            "findings": [asdict(found) for found in findings],
            "telemetry": "none",
            "configuration": _origins(loaded),
        }
        print(json.dumps(document, indent=2))
    else:
        print("\n".join(lines(findings)))
    return 1 if any(found.status == "problem" for found in findings) else 0


def lines(findings: list[Finding]) -> list[str]:
    """The findings as text, each with its fix below it."""
    found: list[str] = []
    for finding in findings:
        mark = {"ok": "ok     ", "warning": "note   ", "missing": "missing", "problem": "PROBLEM"}[finding.status]
        found.append(clean(f"{mark} {finding.name}: {finding.detail}"))
        if finding.fix:
            found.append(clean(f"        → {finding.fix}"))
    return found


def examine(loaded: Loaded, environ: Mapping[str, str]) -> list[Finding]:
    """Every finding, in the order an operator would mend them."""
    state = StateDirectory(loaded.settings.state_dir)
    probes: tuple[Callable[[], Finding], ...] = (
        lambda: _sandbox(state),
        _user_namespaces,
        lambda: _limits(state),
        _network_helper,
        lambda: _program("ripgrep", "rg", "the search falls back to Python: slower", "ripgrep"),
        lambda: _program("git", "git", "what git ignores and tracks is not known", "git"),
        lambda: _endpoint(loaded, environ),
        lambda: _configuration(loaded),
        lambda: _state(state),
        lambda: Finding("standards", "ok", "none bound"),
    )
    return [probe() for probe in probes]


def _sandbox(state: StateDirectory) -> Finding:
    try:
        state.prepare()
        found = preflight(state.root, cached=False)
    except (OSError, SpearError) as error:
        return Finding("bwrap", "problem", f"could not be tried: {error}", "make the state directory writable")
    if not found.ok:
        return Finding("bwrap", "problem", found.problem, found.remedy)
    if not found.overlay:
        return Finding(
            "bwrap", "warning", "works, but without overlays: commands cannot write", "; ".join(found.details)
        )
    return Finding("bwrap", "ok", "a real sandbox ran and held")


def _user_namespaces() -> Finding:
    limit = Path("/proc/sys/user/max_user_namespaces")
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if limit.exists() and limit.read_text(encoding="ascii").strip() == "0":
        return Finding("user namespaces", "problem", "switched off", "sudo sysctl user.max_user_namespaces=15000")
    if restricted.exists() and restricted.read_text(encoding="ascii").strip() == "1":
        fix = "install the bwrap AppArmor profile of the distribution (apparmor-profiles), or allow /usr/bin/bwrap"
        return Finding("user namespaces", "warning", "restricted by AppArmor", fix)
    return Finding("user namespaces", "ok", "available")


def _limits(state: StateDirectory) -> Finding:
    try:
        mechanism = preflight(state.root).limits
    except (OSError, SpearError):
        mechanism = ""
    if mechanism in ("", "rlimit-only"):
        return Finding(
            "limits", "warning", "a process tree cannot be bounded as a whole here (rlimit-only)",
            "run in a systemd user session, or give this user a cgroup",
        )  # fmt: skip
    return Finding("limits", "ok", mechanism)


def _network_helper() -> Finding:
    found = next((p for p in ("pasta", "slirp4netns") if shutil.which(p, path=SEARCH_PATH)), None)
    if found is None:
        return Finding("network helper", "missing", "commands never get the network", "sudo apt-get install passt")
    return Finding("network helper", "ok", found)


def _program(name: str, program: str, consequence: str, package: str) -> Finding:
    place = shutil.which(program)
    if place is None:
        return Finding(name, "missing", consequence, f"sudo apt-get install {package}")
    try:
        done = subprocess.run([place, "--version"], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, "warning", f"{place} does not answer: {error}", f"reinstall {package}")
    return Finding(name, "ok", done.stdout.decode("utf-8", "replace").split("\n", 1)[0])


def _endpoint(loaded: Loaded, environ: Mapping[str, str]) -> Finding:
    """Whether the endpoint lists its models: one short GET, the key in its header only. What would have to be started
    for it is looked for, and not started.
    """
    settings = loaded.settings
    shown = endpoint_label(settings)
    if settings.gguf is not None:
        return _served_here(settings.gguf, shown)
    if settings.ssh:
        if shutil.which("ssh", path=environ.get("PATH")) is None:
            return Finding("endpoint", "missing", f"{shown}: no ssh", "sudo apt-get install openssh-client")
        return Finding("endpoint", "ok", f"{shown}: not asked, for that would open the tunnel")
    way_out = "start it, or name another: spear-chat --api-base URL; without one, try: spear-chat --demo"
    if urlsplit(settings.api_base).scheme not in ("http", "https"):
        return Finding("endpoint", "warning", f"{shown} is no http address", way_out)
    try:
        with urllib.request.urlopen(_models_request(settings, environ), timeout=_SECONDS) as reply:  # noqa: S310
            document = json.loads(reply.read(1 << 20))
    except urllib.error.HTTPError as error:
        fix = f"check the key in {settings.api_key_env}" if error.code in (401, 403) else way_out
        return Finding("endpoint", "warning", f"{shown} answers {error.code}", fix)
    except (OSError, ValueError) as error:
        return Finding("endpoint", "warning", f"{shown} cannot be used: {error}", way_out)
    catalogue = Catalogue(settings.model or None)
    catalogue.learn(document if isinstance(document, dict) else {})
    model, window = catalogue.model or "?", catalogue.window or "not reported"
    support = ToolMemory(StateDirectory(settings.state_dir).tool_support, shown).recall(model)
    ignored = "; it ignores tools: calls are read from a JSON answer" if support is ToolSupport.IGNORED else ""
    return Finding("endpoint", "ok", f"{shown}, model {model}, window {window}{ignored}")


def _models_request(settings: Settings, environ: Mapping[str, str]) -> urllib.request.Request:
    """The request for the list of models, as each protocol wants it."""
    base, headers = settings.api_base.rstrip("/"), {}
    key = environment_key(settings, environ)
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if settings.provider == "anthropic":
        base = f"{base.removesuffix('/v1')}/v1"
        headers |= {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
    return urllib.request.Request(f"{base}/models", headers=headers)  # noqa: S310 - http(s) only


def _served_here(file: Path, shown: str) -> Finding:
    if not file.is_file():
        return Finding("endpoint", "warning", f"{shown}: there is no such file", "correct --gguf, or gguf = …")
    if find_spec("xllamacpp") is None:
        return Finding("endpoint", "missing", f"{shown}: the extra is not there", "pip install 'spear-chat[local]'")
    return Finding("endpoint", "ok", shown)


def _configuration(loaded: Loaded) -> Finding:
    files = ", ".join(str(path) for path in loaded.files) or "no file: defaults, flags and variables"
    return Finding("configuration", "ok", files, "; ".join(loaded.notices))


def _origins(loaded: Loaded) -> dict[str, str]:
    return {key: str(origin) for key, origin in sorted(loaded.origins.items())}


def _state(state: StateDirectory) -> Finding:
    total = files = 0
    for directory, _, names in os.walk(state.root):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size  # noqa: PTH118 - hot loop
            except OSError:
                continue
        files += len(names)
        if files > _MOST_FILES:
            break
    size = f"{total / 1e6:.1f} MB in {files} files"
    fix = "spear-chat sessions prune" if total > 1_000_000_000 else ""
    return Finding("state", "warning" if fix else "ok", f"{state.root}: {size}", fix)
