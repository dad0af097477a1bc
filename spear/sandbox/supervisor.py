"""The session's launcher process: overlays by mount(2) in a mount namespace of its own, one bwrap per message.

Run as `python -I -S supervisor.py SOCKET-FD HOST-PID SETTINGS`; nothing of the package is imported, so that it starts
in some 20 ms and stays small. It answers one command at a time over a SOCK_SEQPACKET pair (JSON, descriptors by
SCM_RIGHTS) and leaves nothing behind: when the socket or the host process goes, the running command is killed and it
exits; when it is killed itself, bwrap's --die-with-parent takes the command along (docs/decisions/0004).

    host → {"overlays": [{"lower", "upper", "work"}…], "walk": [[slot, relative]…], "command": [word…]}
           with the descriptors output, bwrap's arguments, script
         ← {"code": wait status, "oom": n}  or  {"error": sentence}
    host → {"kill": true}                     while a command runs
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import stat
import sys

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x2, 0x4, 0x1000, 0x4000, 0x40000, 0x2
PR_SET_CHILD_SUBREAPER = 36
# Where bwrap finds what the host passed; far above anything it opens itself before reading them.
ARGS_FD, SCRIPT_FD, SECCOMP_FD = 200, 201, 202
# Nothing needs /sys in this namespace, it exists everywhere, and a workspace is never below it.
STAGE = "/sys"
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


class Overlays:
    """The overlays of one command, mounted on slots of the stage."""

    def __init__(self) -> None:
        self.slots: list[str] = []

    def mount(self, overlays: list[dict[str, str]]) -> None:
        """Mount each on its slot. Paths go in as descriptors: no quoting, no length limit, no second look-up."""
        for index, overlay in enumerate(overlays):
            slot = f"{STAGE}/{index}"
            with contextlib.suppress(FileExistsError):
                os.mkdir(slot)  # noqa: PTH102 - no pathlib here: the start of every session waits for these imports
            opened = [os.open(overlay[key], OPEN_DIRECTORY) for key in ("lower", "upper", "work")]
            try:
                lower, upper, work = opened
                # volatile: unmounting must not flush the whole file system; what is kept is made durable on promotion.
                mount(
                    "overlay",
                    slot,
                    "overlay",
                    MS_NOSUID | MS_NODEV,
                    f"lowerdir=/proc/self/fd/{lower},upperdir=/proc/self/fd/{upper},workdir=/proc/self/fd/{work},"
                    "userxattr,redirect_dir=nofollow,metacopy=off,index=off,xino=off,volatile",
                )
            finally:
                for descriptor in opened:
                    os.close(descriptor)
            self.slots.append(slot)

    def unmount(self) -> None:
        """Detach them all."""
        while self.slots:
            libc.umount2(os.fsencode(self.slots.pop()), MNT_DETACH)


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
        self.seccomp = bytes.fromhex(str(settings["seccomp"]))
        self.overlays = Overlays()

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
            try:
                reply = self.run(request, descriptors)
            except OSError as error:
                reply = {"error": str(error), "errno": error.errno}
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
                self.overlays.unmount()
            self.channel.send(json.dumps(reply).encode())

    def readable(self, descriptor: int) -> bool:
        """Wait until `descriptor` has something; False when the host died instead."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.register(self.host, select.POLLIN)
        ready = {number for number, _ in poll.poll()}
        return self.host not in ready

    def run(self, request: dict[str, object], descriptors: list[int]) -> dict[str, object]:
        """One command from mounts to the last process gone."""
        self.overlays.mount(request["overlays"])  # type: ignore[arg-type]
        for slot, relative in request["walk"]:  # type: ignore[attr-defined]
            link = symlink_in(f"{STAGE}/{slot}", relative)
            if link:
                return {"error": f"a mount destination changed under way: {link}"}
        pid = self.spawn(descriptors, request["command"])  # type: ignore[arg-type]
        status = self.wait(pid)
        reap_all()
        return {"code": os.waitstatus_to_exitcode(status)}

    def spawn(self, descriptors: list[int], command: list[str]) -> int:
        """Start bwrap with nothing of this process but the descriptors named, and an empty environment."""
        out, args, script = descriptors
        seccomp = os.memfd_create("seccomp")
        try:
            os.write(seccomp, self.seccomp)
            os.lseek(seccomp, 0, os.SEEK_SET)
            return os.posix_spawn(
                self.bwrap,
                ["bwrap", "--args", str(ARGS_FD), "--", *command],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, out, 1),
                    (os.POSIX_SPAWN_DUP2, out, 2),
                    (os.POSIX_SPAWN_DUP2, args, ARGS_FD),
                    (os.POSIX_SPAWN_DUP2, script, SCRIPT_FD),
                    (os.POSIX_SPAWN_DUP2, seccomp, SECCOMP_FD),
                ],
            )
        finally:
            os.close(seccomp)

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
    channel.send(json.dumps({"overlay": not reason, "reason": reason}).encode())
    Supervisor(channel, int(sys.argv[2]), settings).serve()


if __name__ == "__main__":
    main()
