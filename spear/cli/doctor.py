"""`spear-chat doctor [--json] [--fresh]`: what this machine has and lacks, and the command that mends each thing.

Needs no terminal, no model and no network; every probe answers within two seconds (spec 8.1). What waits for others
(the sandbox, programs, the endpoint) is looked at together. A healthy report is kept for `doctor_memory` to say again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from spear.cli import doctor_memory
from spear.cli.backend import endpoint_label, environment_key
from spear.cli.bound_standard import BoundStandards
from spear.cli.display.filtering import clean
from spear.cli.settings import PROJECT_FILE, Loaded, load, user_config
from spear.cli.settings_layers import LayerName
from spear.cli.settings_model import Settings
from spear.cli.tool_memory import ToolMemory
from spear.errors import SpearError
from spear.models.catalogue import Catalogue
from spear.models.toolless import ToolSupport
from spear.sandbox.network import SEARCH_PATH
from spear.sandbox.selftest import Preflight, preflight
from spear.sandbox.session import BWRAP_PATH
from spear.state.directory import StateDirectory
from spear.state.files import replace_durably

_SECONDS = 2.0
_WAY_OUT = "start it, or name another: spear-chat --api-base URL; without one, try: spear-chat --demo"
_LIMITED = Path("/proc/sys/user/max_user_namespaces")
_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_KERNEL = (
    "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/unprivileged_userns_clone",
    str(_LIMITED), str(_RESTRICTED), "/proc/self/cgroup",
)  # fmt: skip


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
    grounds = _grounds(loaded.settings, (user_config(parsed, environ, cwd), cwd / PROJECT_FILE), environ)
    taken, digest = time.time(), doctor_memory.digest(grounds, environ, str(cwd))
    findings = examine(loaded, environ)
    if _is_plain(loaded, environ):
        _keep(findings, loaded.settings, lambda said: doctor_memory.written(taken, digest, grounds, said))
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


def lines(findings: Sequence[Finding]) -> list[str]:
    """The findings as text, each with its fix below it."""
    return [clean(line) for found in findings for line in _printed(found)]


def _printed(found: Finding) -> list[str]:
    return doctor_memory.report_lines(found.status, found.name, found.detail, found.fix)


def examine(loaded: Loaded, environ: Mapping[str, str]) -> list[Finding]:
    """Every finding, in the order an operator would mend them."""
    state = StateDirectory(loaded.settings.state_dir)
    with ThreadPoolExecutor(4, "doctor") as pool:
        tried = pool.submit(_try, state)
        ripgrep = pool.submit(_program, "ripgrep", "rg", "the search falls back to Python: slower", "ripgrep")
        git = pool.submit(_program, "git", "git", "what git ignores and tracks is not known", "git")
        endpoint = pool.submit(_endpoint, loaded, environ)
    sandbox = tried.result()
    return [
        _sandbox(sandbox), _user_namespaces(), _limits(sandbox), _network_helper(), ripgrep.result(), git.result(),
        endpoint.result(), _configuration(loaded), _state(state), _standards(state),
    ]  # fmt: skip


def _try(state: StateDirectory) -> Preflight | OSError | SpearError:
    """The self-test of the sandbox, or why it could not be made."""
    try:
        state.prepare()
        return preflight(state.root, cached=False)
    except (OSError, SpearError) as error:
        return error


def _sandbox(found: Preflight | OSError | SpearError) -> Finding:
    if not isinstance(found, Preflight):
        return Finding("bwrap", "problem", f"could not be tried: {found}", "make the state directory writable")
    if not found.ok:
        return Finding("bwrap", "problem", found.problem, found.remedy)
    if not found.overlay:
        return Finding(
            "bwrap", "warning", "works, but without overlays: commands cannot write", "; ".join(found.details)
        )
    return Finding("bwrap", "ok", "a real sandbox ran and held")


def _user_namespaces() -> Finding:
    if _LIMITED.exists() and _LIMITED.read_text(encoding="ascii").strip() == "0":
        return Finding("user namespaces", "problem", "switched off", "sudo sysctl user.max_user_namespaces=15000")
    if _RESTRICTED.exists() and _RESTRICTED.read_text(encoding="ascii").strip() == "1":
        fix = "install the bwrap AppArmor profile of the distribution (apparmor-profiles), or allow /usr/bin/bwrap"
        return Finding("user namespaces", "warning", "restricted by AppArmor", fix)
    return Finding("user namespaces", "ok", "available")


def _limits(found: Preflight | OSError | SpearError) -> Finding:
    mechanism = found.limits if isinstance(found, Preflight) else ""
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
    if urlsplit(settings.api_base).scheme not in ("http", "https"):
        return Finding("endpoint", "warning", f"{shown} is no http address", _WAY_OUT)
    try:
        with urllib.request.urlopen(_models_request(settings, environ), timeout=_SECONDS) as reply:  # noqa: S310
            document = json.loads(reply.read(1 << 20))
    except urllib.error.HTTPError as error:
        fix = f"check the key in {settings.api_key_env}" if error.code in (401, 403) else _WAY_OUT
        return Finding("endpoint", "warning", f"{shown} answers {error.code}", fix)
    except urllib.error.URLError as error:
        reason = error.reason if isinstance(error.reason, OSError) else error
        return Finding("endpoint", "warning", doctor_memory.unusable(shown, reason), _WAY_OUT)
    except (OSError, ValueError) as error:
        return Finding("endpoint", "warning", f"{shown} cannot be used: {error}", _WAY_OUT)
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
    """The files that were read, and where each value that is no default comes from."""
    files = ", ".join(str(path) for path in loaded.files) or "no file"
    named = ", ".join(f"{key} ({origin.where or origin.layer})" for key, origin in loaded.given().items())
    detail = f"{files}; {named}; the rest is default" if named else f"{files}; all is default"
    return Finding("configuration", "ok", detail, "; ".join(loaded.notices))


def _origins(loaded: Loaded) -> dict[str, str]:
    return {key: str(origin) for key, origin in sorted(loaded.origins.items())}


def _state(state: StateDirectory) -> Finding:
    status, detail, fix = doctor_memory.state_finding(str(state.root))
    return Finding("state", status, detail, fix)


def _standards(state: StateDirectory) -> Finding:
    """What is bound, and whether a turn may rely on it."""
    known = BoundStandards(state.standards)
    bound, stored = known.examine(), len(known.stored())
    ingested = f"{stored} ingested" if stored else "none ingested"
    if bound is None:
        return Finding("standards", "ok", f"none bound, {ingested}")
    if bound.problem:
        fix = f"spear-chat standard verify {bound.name}" if bound.id else "spear-chat standard unbind"
        return Finding("standards", "warning", f"{bound.name or 'unknown'} bound: {bound.problem}", fix)
    return Finding("standards", "ok", f"{bound.name} bound, {ingested}")


def _is_plain(loaded: Loaded, environ: Mapping[str, str]) -> bool:
    """Whether a bare `doctor` would examine just this: no flag, the usual state directory."""
    flagged = any(origin.layer is LayerName.FLAG for origin in loaded.origins.values())
    return not flagged and str(loaded.settings.state_dir) == doctor_memory.default_state(environ)


def _keep(findings: Sequence[Finding], settings: Settings, written: Callable[[Sequence[Sequence[str]]], str]) -> None:
    """Keep a healthy report for the next time; whatever was kept before is no longer true, or older."""
    state = StateDirectory(settings.state_dir)
    kept = Path(doctor_memory.file_of(str(state.root)))
    address = urlsplit(settings.api_base)
    healthy = all(found.status == "ok" for found in findings if found.name not in ("endpoint", "state"))
    asked = address.scheme == "http" and address.hostname and not settings.gguf and not settings.ssh
    try:
        if not healthy or not asked or urllib.request.getproxies():
            kept.unlink(missing_ok=True)
            return
        said: list[tuple[str, ...]] = []
        for found in findings:
            match found.name:
                case "endpoint":
                    answer = found.detail if found.status == "ok" else ""
                    place = (str(address.hostname).encode("idna").decode("ascii"), str(address.port or 80))
                    said.append(("endpoint", *place, endpoint_label(settings), answer, _WAY_OUT))
                case "state":
                    said.append(("state", str(state.root)))
                case _:
                    said += [("line", line) for line in lines([found])]
        replace_durably(kept, written(said).encode("utf-8", "replace"))
    except (OSError, ValueError, SpearError):
        return  # what cannot be kept is examined anew


def _grounds(settings: Settings, files: Sequence[Path], environ: Mapping[str, str]) -> Sequence[doctor_memory.Ground]:
    """All that the findings follow from, but for the environment."""
    state, path = StateDirectory(settings.state_dir), environ.get("PATH", "")
    programs = (
        ("bwrap", BWRAP_PATH), ("pasta", SEARCH_PATH), ("slirp4netns", SEARCH_PATH), ("rg", path), ("git", path)
    )  # fmt: skip
    return (
        *(("text", name) for name in _KERNEL),
        ("lines", "/proc/self/status", "Uid:", "CapEff:", "NoNewPrivs:", "Seccomp:"),
        *(("program", *program) for program in programs),
        *(("file", str(file)) for file in (*files, state.trusted, state.last_backend, state.tool_support)),
        *(("file", str(file)) for file in BoundStandards(state.standards).rests_on()),
        *(("file", hook.command[0]) for hook in settings.hooks),
    )
