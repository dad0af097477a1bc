"""Which of the operator's tools a command may see: PATH outside /usr, with the prefix each part belongs to (spec 2.7).

Everything found is shown read-only at its own path. Nothing else of the home is: a directory that is the home, holds
it, or holds a credential store is never shown whole, whatever PATH says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Where a prefix of each manager lies relative to the home, and the variable that tells its programs so.
HOME_PREFIXES: tuple[tuple[str, str], ...] = (
    (".pyenv", "PYENV_ROOT"),
    (".rbenv", "RBENV_ROOT"),
    (".nodenv", "NODENV_ROOT"),
    (".asdf", "ASDF_DATA_DIR"),
    (".nvm", "NVM_DIR"),
    (".volta", "VOLTA_HOME"),
    (".sdkman", "SDKMAN_DIR"),
    (".bun", "BUN_INSTALL"),
    (".deno", "DENO_INSTALL_ROOT"),
    (".local/share/mise", "MISE_DATA_DIR"),
    (".local/share/fnm", "FNM_DIR"),
    (".local/share/uv", ""),
    (".local/pipx", ""),
    (".local/share/pipx", ""),
    (".ghcup", ""),
    (".juliaup", ""),
    (".linuxbrew", ""),
    ("miniconda3", ""),
    ("anaconda3", ""),
    ("miniforge3", ""),
    ("mambaforge", ""),
)
CACHES = (".cargo/registry", ".cargo/git", ".m2/repository", "go/pkg/mod", ".npm", ".cache/pip", ".gradle/caches")
SHARED_PREFIXES = ("/opt", "/nix/store", "/usr/local", "/home/linuxbrew/.linuxbrew", "/snap")
NEVER_WHOLE = (".ssh", ".gnupg", ".aws", ".kube", ".docker", ".netrc", ".git-credentials", ".pypirc")


@dataclass(frozen=True, slots=True)
class Toolchains:
    """`shown` maps the path inside to the host path it shows; `variables` are what the managers' programs look for."""

    shown: Mapping[Path, Path] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    path: str = "/usr/local/bin:/usr/bin:/bin"
    caches: tuple[tuple[Path, str], ...] = ()


def find(path: str, home: Path, declared: Sequence[Path] = (), roots: Sequence[Path] = ()) -> Toolchains:
    """Look at each directory of `path` and each declared toolchain. `roots` need no showing: they are bound anyway."""
    shown: dict[Path, Path] = {}
    variables: dict[str, str] = {}
    visible: list[str] = []
    for entry in dict.fromkeys(path.split(":")):
        directory = Path(entry)
        if not directory.is_absolute() or not directory.is_dir():
            continue
        if not _within(directory, [Path("/usr"), Path("/bin"), Path("/sbin"), *roots]):
            for inside, outside in _prefixes(directory, home, variables):
                if _may_show(outside, home):
                    shown[inside] = outside
        visible.append(entry)
    for prefix in declared:
        if prefix.is_dir() and _may_show(prefix.resolve(), home):
            shown[prefix] = prefix.resolve()
    caches = tuple((home / name, name) for name in CACHES if (home / name).is_dir())
    return Toolchains(_outermost(shown), variables, ":".join(visible), caches)


def _prefixes(directory: Path, home: Path, variables: dict[str, str]) -> Iterable[tuple[Path, Path]]:
    """The directory itself at the spelling PATH has, and the prefix around it."""
    real = directory.resolve()
    yield directory, real
    for place in dict.fromkeys((directory, real)):
        # HOME may be a throw-away one while PATH still names the tools of the real home: any ancestor may be it.
        for base in dict.fromkeys((home, *place.parents)):
            yield from _managed(place, base, variables)
        for prefix in SHARED_PREFIXES:
            if place.is_relative_to(prefix):
                parts = place.relative_to(prefix).parts
                shared = Path(prefix, parts[0]) if prefix == "/opt" and parts else Path(prefix)
                yield shared, shared.resolve()
        if place.name == "bin":
            yield from _environment(place.parent)


def _managed(place: Path, home: Path, variables: dict[str, str]) -> Iterable[tuple[Path, Path]]:
    if not place.is_relative_to(home):
        return
    relative = place.relative_to(home)
    if relative.parts[:2] == (".cargo", "bin"):
        yield from _rust(home, variables)
    if relative == Path(".local/bin"):
        for name in (".local/share/uv", ".local/share/pipx", ".local/pipx"):
            if (home / name).is_dir():
                yield home / name, (home / name).resolve()
    for name, variable in HOME_PREFIXES:
        prefix = home / name
        if relative.is_relative_to(name):
            if variable:
                variables.setdefault(variable, str(prefix))
            yield prefix, prefix.resolve()
    if relative.parts[:2] == ("go", "bin") or relative.parts[:1] == ("sdk",):
        yield place, place.resolve()


def _rust(home: Path, variables: dict[str, str]) -> Iterable[tuple[Path, Path]]:
    rustup = home / ".rustup"
    if rustup.is_dir():
        variables.setdefault("RUSTUP_HOME", str(rustup))
        yield rustup, rustup.resolve()


def _environment(prefix: Path) -> Iterable[tuple[Path, Path]]:
    """A virtual environment or a conda one: its prefix, and the interpreter it was made from."""
    if (prefix / "conda-meta").is_dir():
        yield prefix, prefix.resolve()
    configuration = prefix / "pyvenv.cfg"
    if not configuration.is_file():
        return
    yield prefix, prefix.resolve()
    for line in configuration.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition("=")
        base = Path(value.strip())
        if key.strip() == "home" and base.is_absolute() and not base.is_relative_to("/usr") and base.name == "bin":
            yield base.parent, base.parent.resolve()


def _may_show(prefix: Path, home: Path) -> bool:
    return (
        prefix.is_dir()
        and len(prefix.parts) > 1
        and not home.is_relative_to(prefix)
        and not prefix.is_relative_to("/proc")
        and not any((prefix / name).exists() for name in NEVER_WHOLE)
        and prefix not in (home / ".local", home / ".config", home / ".cache", home / ".local/share")
    )


def _within(path: Path, places: Iterable[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _outermost(shown: Mapping[Path, Path]) -> dict[Path, Path]:
    """Drop what another entry shows already: each bind costs every command."""
    kept: dict[Path, Path] = {}
    for inside, outside in sorted(shown.items()):
        covered = any(
            inside.is_relative_to(seen) and outside == origin / inside.relative_to(seen)
            for seen, origin in kept.items()
        )
        if not covered:
            kept[inside] = outside
    return kept


def host_path(environment: Mapping[str, str] = os.environ) -> str:
    """The operator's PATH."""
    return environment.get("PATH", "/usr/local/bin:/usr/bin:/bin")
