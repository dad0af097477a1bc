"""The session's launcher process: overlays by mount(2) in a mount namespace of its own, one bwrap per message.

Run by `launcher.py` as `python -I -S` with the arguments SOCKET-FD HOST-PID SETTINGS. It and what it imports use the
standard library only, so that it starts in some 20 ms and stays small; that is also why it has no pathlib. It answers
one command at a time over a SOCK_SEQPACKET pair (JSON, descriptors by SCM_RIGHTS) and leaves nothing behind: when the
socket or the host process goes, the running command is killed and it exits; when it is killed itself, bwrap's
--die-with-parent takes the command along (docs/decisions/0004).

    host → {"overlays": [{"lower", "upper"}…], "walk": [[slot, relative]…], "command": [word…],
            "network": "" | "full" | "listed", "stage": [[slot, path]…], "filter": name}
           with the descriptors output, bwrap's arguments, release
         ← {"code": wait status}  or  {"error": sentence}
    host → {"kill": true}                     while a command runs; any other message ends it as well
    host → {"network": "full"}                ← {"made": bool} with a namespace's descriptors: network, user
    host → {"network": "up"}                  ← {"up": bool}; once up, link-local addresses are unreachable in it
    host → {"network": "listed", "port": n}   ← {} with the socket that listens in a second one

Every message of the host but a kill carries a "serial", and so does its answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import stat
import sys
from collections.abc import Iterator

from spear.sandbox.namespaces import STAGE, Networks, enter_namespaces, namespaces_work
from spear.sandbox.syscalls import MNT_DETACH, MS_BIND, MS_REC, PR_SET_CHILD_SUBREAPER, libc, mount, mount_overlay

# Where bwrap finds what the host passed; far above anything it opens itself before reading them.
ARGS_FD, SECCOMP_FD = 200, 202
# Where the shell hears that its script is there. One digit, so that a POSIX shell can close it; passed last, for one of
# the others may have this number here.
RELEASE_FD = 9
OOM_BLAMED = 500
# What Python ignores, or whoever started the host, a command does not: the `yes` of `yes | head` ends without a word.
DEFAULT_SIGNALS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}


class Overlays:
    """The overlays of one command, mounted on slots of the stage; their work directories wait ready-made in `work`."""

    def __init__(self, work: str) -> None:
        self.work = work
        self.mounted = 0
        self.prepared = 0

    def prepare(self, count: int) -> None:
        """Make slots and work directories up to `count`."""
        for index in range(self.prepared, count):
            for place in (f"{STAGE}/{index}", f"{self.work}/{index}"):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(place, 0o700)  # noqa: PTH102 - no pathlib here: every session waits for these imports
        self.prepared = max(self.prepared, count)

    def mount(self, overlays: list[dict[str, str]]) -> None:
        """Mount each on its slot."""
        self.prepare(len(overlays))
        for index, overlay in enumerate(overlays):
            mount_overlay(overlay["lower"], overlay["upper"], f"{self.work}/{index}", f"{STAGE}/{index}")
            self.mounted += 1

    def unmount(self) -> None:
        """Detach them all and make their work directories fresh: the kernel refuses one that a volatile mount used."""
        for index in range(self.mounted):
            libc.umount2(f"{STAGE}/{index}".encode(), MNT_DETACH)
            left = [f"{self.work}/{index}/work", f"{self.work}/{index}/work/incompat"]
            left.append(f"{left[-1]}/volatile")
            with contextlib.suppress(OSError):
                for place in left:
                    os.chmod(place, 0o700)  # noqa: PTH101
                os.unlink(f"{left[-1]}/dirty")  # noqa: PTH108
            for place in reversed(left):
                with contextlib.suppress(OSError):
                    os.rmdir(place)  # noqa: PTH106
        self.mounted = 0


def symlink_in(slot: str, relative: str) -> str:
    """The first component of slot/relative that is a symbolic link, or the empty string (spec 2.7, CVE-2026-87766)."""
    path = slot
    for part in relative.split("/"):
        path = f"{path}/{part}"
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return path
        if stat.S_ISLNK(mode):
            return path
    return ""


def set_blame(score: int) -> None:
    """Write this process's oom_score_adj, which children start with."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(str(score))


def reap_all() -> None:
    """Wait for every process that was left, the init of the command's PID namespace included; kill what lingers."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid:
            continue
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            for child in file.read().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


class Supervisor:
    """One socket, one host, one command at a time."""

    def __init__(self, channel: socket.socket, host: int, settings: dict[str, object]) -> None:
        self.channel = channel
        self.host = os.pidfd_open(host)
        self.bwrap = str(settings["bwrap"])
        self.filters = {name: bytes.fromhex(text) for name, text in settings["filters"].items()}  # type: ignore[attr-defined]
        self.overlays = Overlays(str(settings["work"]))
        self.networks = Networks()
        self.staged: set[int] = set()
        self.identity: tuple[int, int] | None = tuple(settings["identity"]) if settings["identity"] else None  # type: ignore[arg-type,assignment]
        self.blame_commands = bool(settings["blame_commands"])

    def serve(self) -> None:
        """Answer until the host is gone."""
        while self.readable(self.channel.fileno()):
            message, descriptors, _, _ = socket.recv_fds(self.channel, 1 << 18, 8)
            if not message:
                return
            for descriptor in descriptors:
                # They arrive inheritable; the command gets copies of what it needs and nothing else.
                os.set_inheritable(descriptor, False)
            request = json.loads(message)
            if "kill" in request:
                continue
            attached: list[int] = []
            try:
                reply = self.run(request, descriptors) if descriptors else self.network(request, attached)
            except OSError as error:
                reply = {"error": str(error), "overlays": self.overlays.mounted}
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            # The host works on with the answer while the mounts are taken down.
            reply["serial"] = request["serial"]
            socket.send_fds(self.channel, [json.dumps(reply).encode()], attached)
            for descriptor in attached:
                os.close(descriptor)
            self.overlays.unmount()

    def network(self, request: dict[str, object], attached: list[int]) -> dict[str, object]:
        """What the host needs to give commands a network."""
        if request["network"] == "up":
            return {"up": self.networks.up()}
        if request["network"] == "listed":
            attached.append(self.networks.listen(int(str(request["port"]))).detach())
        else:
            attached.append(os.dup(self.networks.make("full")))
            attached.append(os.open("/proc/self/ns/user", os.O_RDONLY | os.O_CLOEXEC))
        return {"made": True}

    def stage(self, places: list[tuple[int, str]]) -> None:
        """Bind what the user commands run as could not reach by its own path."""
        for slot, path in places:
            if slot in self.staged:
                continue
            target = f"{STAGE}/s{slot}"
            if os.path.isdir(path):  # noqa: PTH112
                os.mkdir(target)  # noqa: PTH102
            else:
                os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
            mount(path, target, None, MS_BIND | MS_REC)
            self.staged.add(slot)

    def readable(self, descriptor: int) -> bool:
        """Wait until `descriptor` has something; False when the host died instead."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.register(self.host, select.POLLIN)
        ready = {number for number, _ in poll.poll()}
        return self.host not in ready

    def run(self, request: dict[str, object], descriptors: list[int]) -> dict[str, object]:
        """One command from mounts to the last process gone."""
        self.stage(request["stage"])  # type: ignore[arg-type]
        self.overlays.mount(request["overlays"])  # type: ignore[arg-type]
        for slot, relative in request["walk"]:  # type: ignore[attr-defined]
            link = symlink_in(f"{STAGE}/{slot}", relative)
            if link:
                return {"error": f"a mount destination changed under way: {link}"}
        joined = str(request["network"])
        if joined:
            self.networks.join(joined)
        try:
            pid = self.spawn(descriptors, request["command"], self.filters[str(request["filter"])])  # type: ignore[arg-type]
        finally:
            if joined:
                self.networks.join("")
        status = self.wait(pid)
        reap_all()
        return {"code": os.waitstatus_to_exitcode(status)}

    def spawn(self, descriptors: list[int], command: list[str], program: bytes) -> int:
        """Start bwrap with nothing of this process but the descriptors named, and an empty environment."""
        out, args, release = descriptors
        seccomp = os.memfd_create("seccomp")
        passed = ((out, 1), (out, 2), (args, ARGS_FD), (seccomp, SECCOMP_FD), (release, RELEASE_FD))
        words = ["bwrap", "--args", str(ARGS_FD), "--", *command]
        try:
            os.write(seccomp, program)
            os.lseek(seccomp, 0, os.SEEK_SET)
            with self.blamed():
                if self.identity is None:
                    actions = [(os.POSIX_SPAWN_DUP2, source, target) for source, target in passed]
                    return os.posix_spawn(
                        self.bwrap, words, {}, file_actions=actions, setsigmask=(), setsigdef=DEFAULT_SIGNALS
                    )
                return self.spawn_as(self.identity, words, passed)
        finally:
            os.close(seccomp)

    def spawn_as(self, identity: tuple[int, int], words: list[str], passed: tuple[tuple[int, int], ...]) -> int:
        """As `posix_spawn`, but as another user: root's harness on somebody's tree."""
        pid = os.fork()
        if pid:
            return pid
        try:
            uid, gid = identity
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            for number in DEFAULT_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            for source, target in passed:
                os.dup2(source, target)
                os.set_inheritable(target, True)
            os.execve(self.bwrap, words, {})  # noqa: S606
        finally:
            os._exit(127)

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Children started meanwhile are who the kernel kills first when the group's memory runs out."""
        if not self.blame_commands:
            yield
            return
        set_blame(OOM_BLAMED)
        try:
            yield
        finally:
            set_blame(0)

    def wait(self, pid: int) -> int:
        """Wait for bwrap; kill it when the host sends anything or is gone."""
        ended = os.pidfd_open(pid)
        poll = select.poll()
        for descriptor in (ended, self.channel.fileno(), self.host):
            poll.register(descriptor, select.POLLIN)
        try:
            while True:
                ready = {number for number, _ in poll.poll()}
                if ended in ready:
                    return os.waitpid(pid, 0)[1]
                os.kill(pid, signal.SIGKILL)
                # Left where it is: one that is no kill is for `serve`, and the host waits for its answer.
                if self.host in ready or not self.channel.recv(1, socket.MSG_PEEK):
                    os.waitpid(pid, 0)
                    reap_all()
                    sys.exit(0)
                poll.unregister(self.channel.fileno())
        finally:
            os.close(ended)


def mount_caches(caches: list[tuple[str, str, str]]) -> list[str]:
    """One overlay for the session over each of the operator's caches; where each can be bound from ("" for nowhere)."""
    places: list[str] = []
    for index, (lower, upper, work) in enumerate(caches):
        place = f"{STAGE}/c{index}"
        os.mkdir(place)  # noqa: PTH102
        try:
            mount_overlay(lower, upper, work, place)
        except OSError:
            place = ""
        places.append(place)
    return places


def main() -> None:
    """Set the process up once, say hello, serve."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    # Inherited on purpose by this process; a command that had it could give orders to it.
    channel.set_inheritable(False)
    settings = json.loads(sys.argv[3])
    uid, gid = os.geteuid(), os.getegid()
    os.chdir("/")
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    open_files = min(int(settings["open_files"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    reason = namespaces_work(uid, gid)
    if not reason:
        enter_namespaces(uid, gid)
    # In memory: ext4 starts writing back a file that is truncated and written again, once a command.
    exchange = str(settings["exchange"]) if reason else STAGE
    descriptors: list[int] = []
    for name in ("script", "report"):
        descriptors.append(os.open(f"{exchange}/{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if settings["identity"]:
            os.fchown(descriptors[-1], *settings["identity"])
    caches = mount_caches(settings["caches"]) if not reason else []
    hello = {"overlay": not reason, "reason": reason, "exchange": exchange, "caches": caches}
    socket.send_fds(channel, [json.dumps(hello).encode()], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    Supervisor(channel, int(sys.argv[2]), settings).serve()
