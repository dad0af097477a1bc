"""The private files a command sees in place of the host's: /etc, and the session's own directories (spec 2.7)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spear.sandbox.wrapper import BEGIN_BASH, BEGIN_DIRECTORY, BEGIN_SH

HOME = "/home/sandbox"
USER = "sandbox"

# What programs open to work at all. Nothing that can hold a credential (pip.conf, npmrc, gitconfig) or names users.
ETC_FILES = (
    "ld.so.cache", "ld.so.conf", "localtime", "timezone", "mime.types", "magic", "protocols", "services", "host.conf",
    "os-release", "debian_version", "shells", "ssl/openssl.cnf", "pki/tls/openssl.cnf",
)  # fmt: skip
ETC_TREES = (
    "alternatives",
    "ld.so.conf.d",
    "terminfo",
    "fonts",
    "java",
    "maven",
    "texmf",
    "R",
    "crypto-policies",
    "ImageMagick-6",
)
ETC_TREE_PREFIXES = ("java-", "python3", "php", "perl")
NETWORK_FILES = ("resolv.conf", "gai.conf")
NETWORK_TREES = ("ssl/certs", "pki/tls/certs", "pki/ca-trust/extracted", "ca-certificates")


@dataclass(frozen=True, slots=True)
class Directories:
    """Where the session's private trees lie on the host. `etc` is without, `etc_network` with the resolver and the
    certificates; `exchanged` are the files of a script and of what its shell reports, where the supervisor cannot keep
    them in memory; `nothing` is a directory nobody may enter.
    """

    root: Path

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def etc(self) -> Path:
        return self.root / "etc"

    @property
    def etc_network(self) -> Path:
        return self.root / "etc-network"

    @property
    def exchanged(self) -> tuple[Path, Path]:
        return self.root / "script", self.root / "report"

    @property
    def nothing(self) -> Path:
        return self.root / "nothing"

    @property
    def caches(self) -> Path:
        return self.root / "caches"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def work(self) -> Path:
        return self.root / "work"


def prepare(root: Path, uid: int, gid: int) -> Directories:
    """Make the session's directories, owned by the user commands run as. Raises OSError."""
    directories = Directories(root)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, mode in ((directories.tmp, 0o1777), (directories.home, 0o700), (directories.nothing, 0)):
        path.mkdir(exist_ok=True)
        os.chown(path, uid, gid)
        path.chmod(mode)
    directories.work.mkdir(exist_ok=True)
    _make_etc(directories.etc, uid, gid)
    return directories


def prepare_network(directories: Directories, uid: int, gid: int, resolver: str) -> Path:
    """The /etc of a command that has the network: with certificates, and `resolver` as its resolv.conf."""
    etc = directories.etc_network
    if not (etc / "resolv.conf").exists():
        _make_etc(etc, uid, gid)
        _copy(etc, NETWORK_FILES, NETWORK_TREES)
        (etc / "resolv.conf").unlink(missing_ok=True)
        (etc / "resolv.conf").write_text(resolver, encoding="utf-8")
    return etc


def remove(directories: Directories) -> None:
    """Throw the session's private trees away, whatever permissions the commands left in them."""
    for path in (
        directories.tmp, directories.home, directories.etc, directories.etc_network, directories.caches,
        directories.work,
    ):  # fmt: skip
        _remove_tree(path)
    with contextlib.suppress(OSError):
        directories.nothing.rmdir()
    for path in directories.exchanged:
        path.unlink(missing_ok=True)
    directories.lock.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        directories.root.rmdir()


def hold(directories: Directories) -> int:
    """Mark the session as alive for as long as this process has the returned descriptor. Raises OSError."""
    descriptor = os.open(directories.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def sweep(parent: Path) -> tuple[Path, ...]:
    """Remove the session directories directly below `parent` whose process was killed before it could; their paths.

    Only directories that carry a session's lock are looked at, and only those nobody holds.
    """
    removed: list[Path] = []
    for lock in parent.glob("*/lock"):
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            remove(Directories(lock.parent))
            removed.append(lock.parent)
        finally:
            os.close(descriptor)
    return tuple(removed)


def _remove_tree(path: Path) -> None:
    """A command may have left directories nobody can enter: they are opened up first. Links are never followed."""
    if path.is_symlink() or not path.exists():
        return
    for directory, names, _ in os.walk(path, topdown=True, onerror=None):
        for name in names:
            place = Path(directory, name)
            if not place.is_symlink():
                with contextlib.suppress(OSError):
                    place.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def _make_etc(etc: Path, uid: int, gid: int) -> None:
    etc.mkdir(exist_ok=True)
    host = Path("/etc")
    trees = [
        *ETC_TREES,
        *(entry.name for entry in host.iterdir() if entry.name.startswith(ETC_TREE_PREFIXES) and entry.is_dir()),
    ]
    _copy(etc, ETC_FILES, trees)
    texts = {
        "passwd": f"{USER}:x:{uid}:{gid}:{USER}:{HOME}:/bin/bash\n",
        "group": f"{USER}:x:{gid}:\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n127.0.0.1 spear\n",
        "hostname": "spear\n",
        f"{BEGIN_DIRECTORY}/begin.bash": BEGIN_BASH,
        f"{BEGIN_DIRECTORY}/begin.sh": BEGIN_SH,
    }
    for name, text in texts.items():
        (etc / name).parent.mkdir(exist_ok=True)
        (etc / name).write_text(text, encoding="utf-8")
    # Mount points and links into /proc that programs expect.
    with contextlib.suppress(FileExistsError):
        (etc / "mtab").symlink_to("/proc/mounts")


def _copy(etc: Path, files: Iterable[str], trees: Iterable[str]) -> None:
    """Copy what is there and may be read; links inside trees stay links, a linked file becomes a file."""
    for name in files:
        source, target = Path("/etc", name), etc / name
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for name in trees:
        source = Path("/etc", name)
        if source.is_dir():
            (etc / name).mkdir(parents=True, exist_ok=True)
            _copy_tree(str(source), str(etc / name))


def _copy_tree(source: str, target: str) -> None:
    """`copytree` without times, modes and checks: hundreds of small links are copied at the start of every session."""
    for entry in os.scandir(source):
        place = f"{target}/{entry.name}"
        with contextlib.suppress(OSError):
            if entry.name.endswith(".gz"):
                continue  # half of /etc/alternatives are manual pages
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), place)  # noqa: PTH115, PTH211
            elif entry.is_dir():
                os.mkdir(place)  # noqa: PTH102
                _copy_tree(entry.path, place)
            elif entry.is_file():
                shutil.copyfile(entry.path, place)
