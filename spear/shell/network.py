"""Whether a command plainly needs the network, by its name and its first words (spec 2.6, 2.7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from spear.shell.destinations import commands
from spear.shell.options import read_options
from spear.shell.syntax import Script, Simple, Word
from spear.shell.tools.call import names
from spear.shell.tools.downloads import CURL_VALUED, WGET_VALUED
from spear.shell.tools.git import git_call
from spear.shell.tools.python import NAMES as PYTHON_NAMES

_ALWAYS = names(
    "ssh scp sftp ftp telnet ping ping6 traceroute tracepath mtr dig nslookup host whois nc ncat netcat socat nmap "
    "lftp aria2c ssh-copy-id wget curl http https youtube-dl yt-dlp w3m lynx elinks gh glab"
)
_INSTALLERS: Mapping[str, frozenset[str]] = {
    "pip": names("install download wheel index search"),
    "pip3": names("install download wheel index search"),
    "pipx": names("install upgrade run inject"),
    "uv": names("add sync lock pip"),
    "poetry": names("add install update lock publish"),
    "conda": names("install create update search"),
    "mamba": names("install create update search"),
    "npm": names("install i ci add update publish view outdated audit search"),
    "pnpm": names("install i add update publish dlx fetch"),
    "yarn": names("install add upgrade publish dlx") | {""},
    "bun": names("install add update x"),
    "npx": frozenset(),
    "cargo": names("fetch add install update search publish login"),
    "go": names("get install"),
    "gem": names("install update fetch push search"),
    "bundle": names("install update"),
    "composer": names("install update require"),
    "apt": names("install update upgrade download full-upgrade source search"),
    "apt-get": names("install update upgrade download dist-upgrade source"),
    "dnf": names("install update upgrade download makecache"),
    "yum": names("install update upgrade"),
    "apk": names("add update upgrade fetch"),
    "pacman": names("-S -Sy -Syu -Syyu"),
    "brew": names("install update upgrade fetch"),
    "rustup": names("update install toolchain target component"),
    "mvn": names("dependency:go-offline dependency:resolve deploy"),
    "nix": names("build shell develop flake"),
}
_GIT = names("clone fetch pull push ls-remote")

_LOOPBACK = re.compile(r"(?:\w+://)?(?:[^@/]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|0\.0\.0\.0)(?::\d+)?(?:/|$)")
_OFFLINE = names("--offline --no-index --frozen-offline --prefer-offline --help --version --dry-run -h")


def network_intent(script: Script) -> tuple[str, ...]:
    """The commands in `script` whose need of the network is plain, each once, in order."""
    return tuple(dict.fromkeys(simple.name or "" for simple in commands(script) if _needs(simple)))


def _needs(simple: Simple) -> bool:
    if any((word.target.value or "").startswith(("/dev/tcp/", "/dev/udp/")) for word in simple.redirects):
        return True
    name = simple.name
    if name is None:
        return False
    words = simple.argv[1:]
    reader = _READERS.get(name)
    if reader is not None:
        return reader(words)
    if PYTHON_NAMES.fullmatch(name):
        return _python(words)
    if name in _INSTALLERS:
        return _installs(name, words)
    return name in _ALWAYS and not any(word.value in ("--version", "--help", "-h", "-V") for word in words)


def _installs(name: str, words: tuple[Word, ...]) -> bool:
    if any(word.value in _OFFLINE for word in words):
        return False
    operands = [word.value or "" for word in words if word.value and not word.value.startswith("-")]
    if name in ("npx", "pacman"):
        return name == "npx" or any((word.value or "") in _INSTALLERS[name] for word in words)
    action = operands[0] if operands else ""
    if name == "uv" and action == "pip":
        return operands[1:2] in (["install"], ["download"], ["compile"], ["sync"])
    if name in ("pip", "pip3") and action in ("install", "wheel") and _only_local(operands[1:]):
        return False
    if name == "go" and action == "install" and not any("@" in operand for operand in operands[1:]):
        return False
    if name == "cargo" and action == "install" and any((word.value or "").startswith("--path") for word in words):
        return False
    return action in _INSTALLERS[name]


def _only_local(operands: list[str]) -> bool:
    """`pip install .`: builds what is here. Its dependencies may need more; the result then says so itself."""
    return bool(operands) and all(operand.startswith((".", "/")) or operand.endswith(".whl") for operand in operands)


def _git(words: tuple[Word, ...]) -> bool:
    call = git_call(words)
    operands = [word.value or "" for word in call.words if not (word.value or "").startswith("-")]
    if call.subcommand in ("submodule", "remote"):
        return operands[:1] in (["update"], ["add"])
    if call.subcommand not in _GIT:
        return False
    return not (operands and operands[0].startswith((".", "/", "file:")))


def _rsync(words: tuple[Word, ...]) -> bool:
    return any(re.match(r"(?:[\w.-]+@)?[\w.-]+:(?!/$)", word.value or "") for word in read_options(words).operands)


def _transfer(words: tuple[Word, ...]) -> bool:
    """curl and wget: not for this machine's own services, which the sandbox may run itself."""
    options = read_options(words, f"{CURL_VALUED} {WGET_VALUED}")
    if options.has("--version", "--help", "-V", "-h"):
        return False
    addresses = [word.value or "" for word in (*options.operands, *options.values("--url"))]
    return not (addresses and all(_LOOPBACK.match(address) for address in addresses))


def _python(words: tuple[Word, ...]) -> bool:
    values = [word.value for word in words]
    if "-m" in values[:3]:
        rest = words[values.index("-m") + 1 :]
        return bool(rest) and rest[0].value in ("pip", "pipx") and _installs("pip", rest[1:])
    return False


_READERS: Mapping[str, Callable[[tuple[Word, ...]], bool]] = {
    "git": _git,
    "rsync": _rsync,
    "curl": _transfer,
    "wget": _transfer,
}
