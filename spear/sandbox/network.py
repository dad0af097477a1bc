"""The network of a command: none, a user-mode stack on a namespace of the session, or a filtering proxy (spec 2.7).

The session's network namespace is made by the supervisor and reached by descriptors, never by a process number. Nothing
of the host's own network is shared: its loopback and the link-local addresses (metadata services) stay unreachable.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

# From the range for benchmarks between networks (RFC 2544): nobody's real resolver.
PASTA_RESOLVER = "198.18.0.53"
SLIRP_RESOLVER = "10.0.2.3"
ATTACH_TIMEOUT_S = 5.0
PROXY_PORT = 3128
# The helper must end with this process even when that is killed: the shell's input is a pipe only we hold.
LEASH = (
    'exec 3<&0; "$@" 3<&- & helper=$!; { read -r _ <&3; kill "$helper"; } & wait "$helper"; s=$?; kill "$!"; exit "$s"'
)
SEARCH_PATH = "/usr/bin:/usr/local/bin:/usr/sbin:/bin"
INSTALL_HINT = "install passt (or slirp4netns) to give commands the network"


@dataclass(frozen=True, slots=True)
class Namespace:
    """Descriptors of the session's network namespace and of the user namespace it belongs to."""

    network: int
    user: int

    def close(self) -> None:
        """Let go of it; the helper and the supervisor keep it alive."""
        os.close(self.network)
        os.close(self.user)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A running helper, and the resolver commands are to use."""

    process: subprocess.Popen[bytes]
    resolver: str

    def ended(self) -> bool:
        """Whether the helper is gone."""
        return self.process.poll() is not None

    def close(self) -> None:
        """End the helper."""
        _end(self.process)


def has_helper(search_path: str = SEARCH_PATH) -> bool:
    """Whether a program that attaches the network is installed."""
    return any(shutil.which(name, path=search_path) for name in ("pasta", "slirp4netns"))


def attach(namespace: Namespace, is_up: Callable[[], bool], search_path: str = SEARCH_PATH) -> Attachment | str:
    """Attach `pasta` or `slirp4netns`, whichever is there and works; the reason in one sentence when neither does.

    `is_up` tells whether the namespace has been configured.
    """
    problem = f"neither pasta nor slirp4netns is installed; {INSTALL_HINT}"
    for name, words, resolver in (
        # By the descriptor it inherits; later versions close those, and find ours by our process instead.
        ("pasta", _pasta("self", namespace), PASTA_RESOLVER),
        ("pasta", _pasta(str(os.getpid()), namespace), PASTA_RESOLVER),
        ("slirp4netns", _slirp("self", namespace), SLIRP_RESOLVER),
    ):
        program = shutil.which(name, path=search_path)
        if program is None:
            continue
        process = subprocess.Popen(
            ["/bin/sh", "-c", LEASH, "sh", program, *words],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={}, start_new_session=True,
            pass_fds=(namespace.network, namespace.user),
        )  # fmt: skip
        failure = _wait_until_up(process, is_up)
        if not failure:
            return Attachment(process, resolver)
        problem = f"{name} could not attach the network: {failure}"
    return problem


def _pasta(process: str, namespace: Namespace) -> list[str]:
    user = ["--userns", _descriptor(process, namespace.user)] if os.geteuid() else ["--netns-only", "--runas", "0:0"]
    return [
        "--foreground", "--quiet", "--config-net", "--ns-ifname", "spear0", "--no-map-gw",
        "--dns-forward", PASTA_RESOLVER, "-t", "none", "-u", "none", "-T", "none", "-U", "none",
        *user, "--netns", _descriptor(process, namespace.network),
    ]  # fmt: skip


def _slirp(process: str, namespace: Namespace) -> list[str]:
    user = [f"--userns-path={_descriptor(process, namespace.user)}"] if os.geteuid() else []
    return [
        "--configure", "--mtu=65520", "--disable-host-loopback", "--netns-type=path", *user,
        _descriptor(process, namespace.network), "tap0",
    ]  # fmt: skip


def _wait_until_up(process: subprocess.Popen[bytes], is_up: Callable[[], bool]) -> str:
    """Wait until the namespace is configured; the helper's complaint when it ends instead."""
    limit = time.monotonic() + ATTACH_TIMEOUT_S
    while time.monotonic() < limit:
        if process.poll() is not None:
            said = process.stderr.read() if process.stderr else b""
            _end(process)
            lines = said.decode("utf-8", errors="replace").strip().splitlines()
            return lines[-1] if lines else f"it ended with status {process.returncode}"
        if is_up():
            return ""
        time.sleep(0.003)
    _end(process)
    return "it did not come up in time"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let go of the leash, which ends the helper, and wait for it."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stderr is not None:
        process.stderr.close()


def _descriptor(process: str, descriptor: int) -> str:
    return f"/proc/{process}/fd/{descriptor}"


def resolver_text(resolver: str) -> str:
    """The resolv.conf of a command with the network."""
    return f"nameserver {resolver}\noptions edns0 trust-ad\n"


def proxy_environment(port: int = PROXY_PORT) -> dict[str, str]:
    """The variables that make programs use the filtering proxy."""
    address = f"http://127.0.0.1:{port}"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {**dict.fromkeys(names, address), "no_proxy": "localhost,127.0.0.1,::1"}
