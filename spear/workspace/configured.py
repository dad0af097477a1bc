"""What CMake and autotools put into the source itself, where they are told to build there (spec 3.2).

Their own records say so: a CMake cache, and the `config.status` that lists what it makes. A file without such a record,
or without the first lines or the template its tool gives it, is nobody's but the project's.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from spear.workspace import presence

_CACHE, _STATUS = "CMakeCache.txt", "config.status"
_OF_CMAKE = {
    _CACHE: re.compile(rb"# This is the CMakeCache file\."),
    "Makefile": re.compile(rb"# CMAKE generated file: DO NOT EDIT!"),
    "build.ninja": re.compile(rb"# CMAKE generated file: DO NOT EDIT!"),
    "cmake_install.cmake": re.compile(rb"# Install script for directory: "),
    "CTestTestfile.cmake": re.compile(rb"# CMake generated Testfile for"),
    "DartConfiguration.tcl": re.compile(rb"# This file is configured by CMake automatically"),
    "CPackConfig.cmake": re.compile(rb"# This file will be configured to contain variables for CPack"),
    "CPackSourceConfig.cmake": re.compile(rb"# This file will be configured to contain variables for CPack"),
    "compile_commands.json": re.compile(rb"\["),
    "install_manifest.txt": re.compile(rb"/"),
}
"""How the files begin that CMake writes beside its cache, by their names."""
_OF_CONFIGURE = re.compile(r"(?:GNUm|M|m)akefile|.+\.(?:h|pc|mk)|.+-config|Doxyfile")
_BESIDE_STATUS = {
    "libtool": re.compile(rb"#! ?/\S+\n# Generated automatically by config\.status"),
    "stamp-h1": re.compile(rb"timestamp for "),
}
_LISTED = re.compile(r'^config_(?:files|headers)="(?P<names>[^"]*)"', re.MULTILINE)
_LARGEST = 1 << 20
_HEAD = 256
_SAID_BEFORE = 3
"""Lines a tool puts before what it makes, to say so."""


def is_configured(tree: Path, relative: str, at: Path) -> bool:
    """Whether a configuring tool wrote this file. `at` is where its content is: in the tree, or in a layer over it, in
    which the records of the tool are looked for first. Reads nothing of files with other names."""
    return record_of(tree, relative, at) is not None


def record_of(tree: Path, relative: str, at: Path) -> str | None:
    """The record, relative to the tree, by which a configuring tool is known to have written this file; None where
    there is none. A record is its own."""
    directory, _, name = relative.rpartition("/")
    layer = at.parents[relative.count("/")]
    if name in _OF_CMAKE and _begins(at, _OF_CMAKE[name]):
        return _cache_of(directory, tree, layer)
    if name in _BESIDE_STATUS:
        beside = posixpath.join(directory, _STATUS)
        return beside if _first(beside, tree, layer) is not None and _begins(at, _BESIDE_STATUS[name]) else None
    if _OF_CONFIGURE.fullmatch(name) is None or (template := _first(f"{relative}.in", tree, layer)) is None:
        return None
    return _status_of(relative, tree, layer) if _is_made_from(template, at) else None


def _begins(at: Path, pattern: re.Pattern[bytes]) -> bool:
    try:
        if at.is_symlink():
            return False
        with at.open("rb") as stream:
            return pattern.match(stream.read(_HEAD)) is not None
    except OSError:
        return False


def _first(relative: str, tree: Path, layer: Path) -> Path | None:
    """A file as the layer has it or else the tree; None where it is no plain file."""
    places = (layer / relative, tree / relative)
    return next((place for place in places if presence.is_file(place) and not presence.is_link(place)), None)


def _upwards(directory: str) -> Iterator[str]:
    """A directory and all above it, up to the root's own ""."""
    yield directory
    while directory:
        directory = directory.rpartition("/")[0]
        yield directory


def _cache_of(directory: str, tree: Path, layer: Path) -> str | None:
    """The cache of the CMake that builds in this directory: it lies here, or above, and CMake's own directory here."""
    here = any(presence.is_directory(base / directory / "CMakeFiles") for base in (layer, tree))
    for above in _upwards(directory) if here else (directory,):
        cache = posixpath.join(above, _CACHE)
        if _first(cache, tree, layer) is not None:
            return cache
    return None


def _status_of(relative: str, tree: Path, layer: Path) -> str | None:
    """The nearest `config.status` here or above, if it lists the file."""
    for above in _upwards(relative.rpartition("/")[0]):
        status = _first(posixpath.join(above, _STATUS), tree, layer)
        if status is not None:
            listed = (relative[len(above) + 1 :] if above else relative) in _listed_in(status)
            return posixpath.join(above, _STATUS) if listed else None
    return None


def _listed_in(status: Path) -> frozenset[str]:
    """What a `config.status` makes of templates beside it."""
    names = (name for found in _LISTED.finditer(_text(status)) for name in found["names"].split())
    return frozenset(name for name in names if ":" not in name)


def _is_made_from(template: Path, at: Path) -> bool:
    """Whether a file can be what a template came out as: what is fixed in it is there, and no more is new than it has
    places to fill."""
    asked, given = _text(template).splitlines(), _text(at).splitlines()
    fixed = {line for line in asked if "@" not in line and not line.startswith("#undef")}
    new = [line for line in given if line not in fixed]
    return (
        fixed <= set(given) and len(new) <= len(asked) - len([line for line in asked if line in fixed]) + _SAID_BEFORE
    )


def _text(path: Path) -> str:
    try:
        if path.is_symlink():
            return ""
        with path.open("rb") as stream:
            return stream.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
