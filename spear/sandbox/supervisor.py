"""The session's launcher process: overlays by mount(2) in a mount namespace of its own, one bwrap per message.

Run as `python -I -S supervisor.py SOCKET-FD HOST-PID SETTINGS`; nothing of the package is imported, so that it starts
in some 20 ms and stays small. It answers one command at a time over a SOCK_SEQPACKET pair (JSON, descriptors by
SCM_RIGHTS) and leaves nothing behind: when the socket or the host process goes, the running command is killed and it
exits; when it is killed itself, bwrap's --die-with-parent takes the command along (docs/decisions/0004).

    host → {"overlays": [{"lower", "upper"}…], "walk": [[slot, relative]…], "command": [word…],
            "network": "" | "full" | "listed", "stage": [[slot, path]…], "filter": name}
           with the descriptors output, bwrap's arguments, script
         ← {"code": wait status, "oom": n}  or  {"error": sentence}
    host → {"kill": true}                     while a command runs
    host → {"network": "full"}                ← {"made": bool} with a namespace's descriptors: network, user
    host → {"network": "up"}                  ← {"up": bool}; once up, link-local addresses are unreachable in it
    host → {"network": "listed", "port": n}   ← {} with the socket that listens in a second one
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import stat
import struct
import sys
from collections.abc import Iterator

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x2, 0x4, 0x1000, 0x4000, 0x40000, 0x2
PR_SET_CHILD_SUBREAPER = 36
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
RTM_NEWROUTE, NLM_F_REQUEST, NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE = 24, 0x1, 0x4, 0x400, 0x100
RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_UNIVERSE, RTN_UNREACHABLE, RTA_DST, RTA_PRIORITY = 254, 4, 0, 7, 1, 6
# Addresses that mean a machine's own services (metadata, link-local neighbours), never the network.
UNREACHABLE = (("169.254.0.0", 16), ("fe80::", 64), ("fe80::", 10), ("fd00:ec2::254", 128))
# Where bwrap finds what the host passed; far above anything it opens itself before reading them.
ARGS_FD, SCRIPT_FD, SECCOMP_FD = 200, 201, 202
# Nothing needs /sys in this namespace, it exists everywhere, and a workspace is never below it.
STAGE = "/sys"
OOM_BLAMED = 500
OPEN_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError named `what` when a libc call returned -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """mount(2)."""
    done = libc.mount(
        source.encode(), os.fsencode(target), kind.encode() if kind else None, flags, data.encode() or None
    )
    check(done, f"mount {kind or 'bind'} on {target}")


def enter_namespaces(uid: int, gid: int) -> None:
    """A mount namespace nobody sees into and an empty network namespace; as a user, by way of a user namespace."""
    if uid == 0:
        check(libc.unshare(CLONE_NEWNS | CLONE_NEWNET), "unshare")
    else:
        check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    if uid == 0:
        # Every mount that is not copied makes each bwrap faster: it reads the whole table for every bind.
        libc.umount2(b"/sys/fs/cgroup", MNT_DETACH)
    mount("tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m")


def namespaces_work(uid: int, gid: int) -> str:
    """Try in a child, so that a half-made namespace is not kept; the empty string or the reason."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        reason = ""
        try:
            enter_namespaces(uid, gid)
        except OSError as error:
            reason = str(error)
        os.write(write, reason.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    reason = os.read(read, 4096).decode()
    os.close(read)
    return reason


def mount_overlay(lower: str, upper: str, work: str, target: str) -> None:
    """Mount one. Paths go in as descriptors: no quoting, no length limit, no second look-up."""
    opened = [os.open(path, OPEN_DIRECTORY) for path in (lower, upper, work)]
    try:
        names = [f"/proc/self/fd/{descriptor}" for descriptor in opened]
        # volatile: unmounting must not flush the file system; what is kept is made durable when promoted.
        mount(
            "overlay", target, "overlay", MS_NOSUID | MS_NODEV,
            f"lowerdir={names[0]},upperdir={names[1]},workdir={names[2]},"
            "userxattr,redirect_dir=nofollow,metacopy=off,index=off,xino=off,volatile",
        )  # fmt: skip
    finally:
        for descriptor in opened:
            os.close(descriptor)


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


class Networks:
    """The session's network namespaces besides the supervisor's own, which is empty and stays so."""

    def __init__(self) -> None:
        self.own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.others: dict[str, int] = {}

    def make(self, name: str) -> int:
        """Make one, with its loopback up; the descriptor of it."""
        if name not in self.others:
            check(libc.unshare(CLONE_NEWNET), "unshare")
            try:
                self.others[name] = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
                loopback_up()
            finally:
                self.join("")
        return self.others[name]

    def join(self, name: str) -> None:
        """Go there; the empty name is home."""
        check(libc.setns(self.others[name] if name else self.own, CLONE_NEWNET), "setns")

    def listen(self, port: int) -> socket.socket:
        """A socket on the loopback of the namespace `listed`: its other end is served by the host."""
        self.make("listed")
        self.join("listed")
        try:
            return socket.create_server(("127.0.0.1", port), backlog=128)
        finally:
            self.join("")

    def up(self) -> bool:
        """Whether the helper has given `full` a default route; then what must not be reached is cut off."""
        self.join("full")
        try:
            with open("/proc/self/net/route", encoding="ascii") as file:
                ready = any(line.split()[1:2] == ["00000000"] for line in file)
            if not ready:
                with open("/proc/self/net/ipv6_route", encoding="ascii") as file:
                    ready = any(f"{'0' * 32} 00 " in line and " lo" not in line for line in file)
            if ready:
                for address, bits in UNREACHABLE:
                    with contextlib.suppress(OSError):
                        make_unreachable(address, bits)
            return ready
        finally:
            self.join("")


def loopback_up() -> None:
    """A server on 127.0.0.1 must be reachable by its own client."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        flags = struct.unpack("16sh14x", fcntl.ioctl(probe, SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0)))[1]
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def make_unreachable(address: str, bits: int) -> None:
    """`ip route replace unreachable ADDRESS/BITS metric 1`, without needing `ip`."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address)
    body = struct.pack(
        "=BBBBBBBBI", family, bits, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_UNIVERSE, RTN_UNREACHABLE, 0
    )
    body += struct.pack("=HH", 4 + len(packed), RTA_DST) + packed + struct.pack("=HHI", 8, RTA_PRIORITY, 1)
    flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.send(struct.pack("=IHHII", 16 + len(body), RTM_NEWROUTE, flags, 1, 0) + body)
        number = struct.unpack_from("=i", link.recv(4096), 16)[0]
    if number:
        raise OSError(-number, f"route {address}: {os.strerror(-number)}")


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
        out, args, script = descriptors
        seccomp = os.memfd_create("seccomp")
        passed = ((out, 1), (out, 2), (args, ARGS_FD), (script, SCRIPT_FD), (seccomp, SECCOMP_FD))
        words = ["bwrap", "--args", str(ARGS_FD), "--", *command]
        try:
            os.write(seccomp, program)
            os.lseek(seccomp, 0, os.SEEK_SET)
            with self.blamed():
                if self.identity is None:
                    actions = [(os.POSIX_SPAWN_DUP2, source, target) for source, target in passed]
                    return os.posix_spawn(self.bwrap, words, {}, file_actions=actions)
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
            for source, target in passed:
                os.dup2(source, target)
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
        """Wait for bwrap; kill it when asked to or when the host is gone."""
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
                if self.host in ready or not self.channel.recv(1 << 16):
                    os.waitpid(pid, 0)
                    reap_all()
                    sys.exit(0)
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
    report = str(settings["report"])
    if not reason:
        # In memory: ext4 starts writing back a file that is truncated and written again, once a command.
        report = f"{STAGE}/report"
    descriptor = os.open(report, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if settings["identity"]:
        os.fchown(descriptor, *settings["identity"])
    caches = mount_caches(settings["caches"]) if not reason else []
    hello = {"overlay": not reason, "reason": reason, "report": report, "caches": caches}
    socket.send_fds(channel, [json.dumps(hello).encode()], [descriptor])
    os.close(descriptor)
    Supervisor(channel, int(sys.argv[2]), settings).serve()


if __name__ == "__main__":
    main()
