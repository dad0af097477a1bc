"""What the commands of one session share: private directories, the operator's tools, supervisor and networks."""

from __future__ import annotations

import itertools
import os
import platform
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spear.sandbox.launcher import Hello, Launcher, Settings, SupervisorLost
from spear.sandbox.limits import Group, Mechanism, choose
from spear.sandbox.namespaces import STAGE
from spear.sandbox.network import PROXY_PORT, Attachment, attach, proxy_environment, resolver_text
from spear.sandbox.plan import Machine, Show
from spear.sandbox.proxy import FilteringProxy
from spear.sandbox.request import Limits, Network
from spear.sandbox.sealed import HOME, Directories, hold, prepare, prepare_network, remove
from spear.sandbox.seccomp import program
from spear.sandbox.toolchains import Toolchains, find

MERGED_USR = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
BWRAP_PATH = "/usr/bin:/usr/local/bin:/bin"
# A control group is named after the process and this: two sessions of one process must not share, and remove, one.
_SUPERVISORS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a session's sandbox is made from (see `CommandRunner`)."""

    directory: Path
    path: str
    home: Path
    owner: Path | None = None
    toolchains: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    bwrap: str = ""


@dataclass(frozen=True, slots=True)
class Granted:
    """The network a command really gets: what it is, the namespace to start in, its /etc, variables, and a note when it
    is less than what was asked for.
    """

    network: Network
    namespace: str
    etc: Path
    variables: Mapping[str, str]
    note: str = ""


class Session:
    """Made once; `start` is cheap and may be repeated, also after the supervisor was lost or `stop`ped."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.bwrap = configuration.bwrap or shutil.which("bwrap", path=BWRAP_PATH) or ""
        self.shell = ("bash", "/bin/bash") if Path("/bin/bash").exists() else ("sh", "/bin/sh")
        self.identity = _identity(configuration.owner)
        self.machine = _machine(self.identity)
        self.directories = Directories(configuration.directory)
        self.tools = Toolchains()
        self.launcher: Launcher | None = None
        self.group = Group(Mechanism.RLIMIT_ONLY)
        self.limits = configuration.limits
        self._prepared = False
        self._held = -1
        self._systemd = True
        self._serial = 0
        self._staged: dict[str, int] = {}
        self._attached: Attachment | str | None = None
        self._proxy: FilteringProxy | None = None

    def start(self, limits: Limits | None = None) -> Launcher:
        """The supervisor, started when there is none under these limits. Raises OSError."""
        if limits is not None and limits != self.limits:
            self.stop()
            self.limits = limits
        if not self._prepared:
            uid, gid = self.identity or (os.geteuid(), os.getegid())
            prepare(self.directories.root, uid, gid)
            self._held = hold(self.directories)
            self.tools = find(self.configuration.path, self.configuration.home, self.configuration.toolchains)
            self._prepared = True
        if self.launcher is None:
            self.launcher = self._launch()
        return self.launcher

    def _launch(self) -> Launcher:
        self._serial = next(_SUPERVISORS)
        self.group = choose(self.limits, self.configuration.environment, self._serial, systemd=self._systemd)
        # A supervisor of its own work directories: a volatile overlay refuses one that another has used.
        work = self.directories.work / str(self._serial)
        work.mkdir(exist_ok=True)
        caches: list[tuple[str, str, str]] = []
        for index, (lower, _) in enumerate(self.tools.caches):
            layers = [self.directories.caches / str(index) / name for name in ("upper", f"work{self._serial}")]
            for layer in layers:
                layer.mkdir(parents=True, exist_ok=True)
                os.chown(layer, *(self.identity or (-1, -1)))
            caches.append((str(lower), str(layers[0]), str(layers[1])))
        machine = platform.machine()
        filters = {"strict": program(machine, unix_sockets=False), "sockets": program(machine, unix_sockets=True)}
        settings = Settings(
            self.bwrap, filters, self.limits.open_files, work,
            self.directories.root, self.identity, self.group.mechanism is not Mechanism.RLIMIT_ONLY, tuple(caches),
        )  # fmt: skip
        launcher = Launcher(settings, self.group)
        try:
            self.group.adopt(launcher.pid)
        except OSError:
            # A group may be made where nothing may be moved to: that needs rights on the common ancestor.
            self.group.remove()
            self.group = Group(Mechanism.RLIMIT_ONLY)
        return launcher

    def ready(self, limits: Limits | None = None) -> tuple[Launcher, Hello]:
        """The supervisor, awaited. One that its service manager would not start is started without it, once.

        Raises OSError, SupervisorLost.
        """
        launcher = self.start(limits)
        try:
            return launcher, launcher.ready()
        except SupervisorLost:
            if self.group.mechanism is not Mechanism.SYSTEMD:
                raise
        self._systemd = False
        self.stop()
        launcher = self.start(limits)
        return launcher, launcher.ready()

    def stop(self) -> None:
        """End the supervisor and what hangs on it: the running command, the network, the groups."""
        if isinstance(self._attached, Attachment):
            self._attached.close()
        self._attached = None
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None
        if self.launcher is not None:
            self.launcher.close()
            self.launcher = None
        self.group.remove()
        self._staged.clear()

    def close(self) -> None:
        """`stop`, and remove the private directories."""
        self.stop()
        if self._prepared:
            remove(self.directories)
            os.close(self._held)
            self._prepared = False

    def shown(self, hello: Hello) -> tuple[Show, ...]:
        """The operator's tools and caches."""
        tools = [Show(self.reach(str(source)), str(place)) for place, source in self.tools.shown.items()]
        for (lower, name), merged in zip(self.tools.caches, hello.caches or [""] * len(self.tools.caches), strict=True):
            tools.append(Show(merged or self.reach(str(lower)), f"{HOME}/{name}", writable=bool(merged)))
        return tuple(tools)

    def reach(self, path: str) -> str:
        """Where bwrap finds `path`: itself, or a place on the stage when it runs as a user who may not walk there."""
        if self.identity is None or path.startswith(f"{STAGE}/"):
            return path
        return f"{STAGE}/s{self._staged.setdefault(path, len(self._staged))}"

    @property
    def stage(self) -> tuple[tuple[int, str], ...]:
        """What `reach` has promised so far."""
        return tuple((slot, path) for path, slot in self._staged.items())

    def grant(self, wanted: Network, allowed_hosts: tuple[str, ...], launcher: Launcher) -> Granted:
        """Give a command its network; what cannot be given is not, and the note says why. Raises SupervisorLost."""
        nothing = Granted(Network.NONE, "", self.directories.etc, {})
        if wanted is Network.NONE:
            return nothing
        hello = launcher.ready()
        if not hello.overlay:
            return _less(nothing, f"commands have no network: {hello.reason}")
        uid, gid = self.identity or (os.geteuid(), os.getegid())
        if wanted is Network.LISTED:
            if self._proxy is None:
                self._proxy = FilteringProxy(socket.socket(fileno=launcher.listen(PROXY_PORT)))
            self._proxy.allowed = allowed_hosts
            etc = prepare_network(self.directories, uid, gid, "")
            return Granted(wanted, "listed", etc, proxy_environment())
        if self._attached is None or (isinstance(self._attached, Attachment) and self._attached.ended()):
            namespace = launcher.make_network()
            try:
                self._attached = attach(namespace, launcher.network_is_up)
            finally:
                namespace.close()
        if isinstance(self._attached, str):
            return _less(nothing, f"commands have no network: {self._attached}")
        etc = prepare_network(self.directories, uid, gid, resolver_text(self._attached.resolver))
        return Granted(wanted, "full", etc, {})


def _less(granted: Granted, note: str) -> Granted:
    return Granted(granted.network, granted.namespace, granted.etc, granted.variables, note)


def _identity(owner: Path | None) -> tuple[int, int] | None:
    """Whom commands run as when that is not the operator: root's harness on a tree that belongs to somebody."""
    if os.geteuid() != 0 or owner is None:
        return None
    status = owner.stat()
    return (status.st_uid, status.st_gid) if status.st_uid != 0 else None


def _machine(identity: tuple[int, int] | None) -> Machine:
    links: dict[str, str] = {}
    system: list[str] = []
    for name in MERGED_USR:
        place = Path("/", name)
        if place.is_symlink():
            links[name] = str(place.readlink())
        elif place.is_dir():
            system.append(name)
    uid, gid = identity or (os.geteuid(), os.getegid())
    return Machine(links, tuple(system), (uid, gid) if uid else None)
