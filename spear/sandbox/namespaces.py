"""The namespaces of the supervisor and the networks of its commands. Standard library only (see supervisor.py)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct

from spear.sandbox.syscalls import (
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MNT_DETACH,
    MS_NODEV,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    check,
    libc,
    mount,
)

# Nothing needs /sys in this namespace, it exists everywhere, and a workspace is never below it.
STAGE = "/sys"
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
RTM_NEWROUTE, NLM_F_REQUEST, NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE = 24, 0x1, 0x4, 0x400, 0x100
RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_UNIVERSE, RTN_UNREACHABLE, RTA_DST, RTA_PRIORITY = 254, 4, 0, 7, 1, 6
# Addresses that mean a machine's own services (metadata, link-local neighbours), never the network.
UNREACHABLE = (("169.254.0.0", 16), ("fe80::", 64), ("fe80::", 10), ("fd00:ec2::254", 128))


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
    mount("tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64m")


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
