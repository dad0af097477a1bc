"""The registry of projects on this machine (`projects.json`) and the declarations a tree carries itself (spec 4.1).

Declared behaviour only: nothing follows from a name or from `kind`. A wrong entry is reported by entry, key and
accepted values, and leaves the others usable. What a tree declares about itself is data the operator trusts once, by
its digest, before any of its commands run.
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from spear.errors import ConfigurationError
from spear.state.directory import safe_name

DECLARATION = ".spear/project.toml"
"""Where a tree declares itself, relative to its root."""

_NAME_LIMIT = 64
_LARGEST_DECLARATION = 256 * 1024


class Declaration(BaseModel):
    """What is declared about a project. Commands are shell text, run from the project's root in the sandbox."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: str = Field("", description="a label; nothing follows from it")
    indexer: Literal["generic", "buildsystem"] = Field("generic", description="`generic` or `buildsystem`")
    autoindex: bool = Field(False, description="true or false")
    prompt_file: str | None = Field(None, description="a path relative to the project")
    collection: str | None = Field(
        None, description="the name of the index: letters, digits, `_`, `-` and `.`, as no path is"
    )
    exclude: tuple[str, ...] = Field((), description="a list of names (matched anywhere) or `./` paths (anchored)")
    include_build: bool = Field(False, description="true or false")
    corpora: tuple[str, ...] = Field((), description="a list of registered names")
    shared: bool = Field(False, description="true or false")
    build_commands: tuple[str, ...] = Field((), description="a list of shell commands")
    test_commands: tuple[str, ...] = Field((), description="a list of shell commands")
    lint_commands: tuple[str, ...] = Field((), description="a list of shell commands")
    acceptance_commands: tuple[str, ...] = Field((), description="a list of shell commands")
    bench: str | None = Field(None, description="the acceptance script that rates a changing turn")
    public: bool | tuple[str, ...] = Field(False, description="true, false, or a list of globs")
    protected: tuple[str, ...] = Field((), description="a list of globs")
    toolchains: tuple[str, ...] = Field((), description="a list of directories")
    normative_checks: tuple[dict[str, Any], ...] = Field((), description="a list of objects")
    normative_applicability: tuple[dict[str, Any], ...] = Field((), description="a list of objects")
    standards: tuple[str, ...] = Field((), description="a list of standard names")

    @field_validator("collection")
    @classmethod
    def _a_file_name(cls, given: str | None) -> str | None:
        return given if given is None else safe_name(given)


class ProjectEntry(Declaration):
    """One entry of `projects.json`."""

    path: str = Field(min_length=1, description="an absolute path, or one relative to SPEAR_CORPUS_ROOT")


@dataclass(frozen=True, slots=True)
class ProjectProblem:
    """Why an entry cannot be used. `key` is empty when the entry itself is wrong."""

    entry: str
    key: str
    text: str

    def line(self) -> str:
        """One line for the operator."""
        where = f"project {self.entry}, key {self.key}" if self.key else f"project {self.entry}"
        return f"{where}: {self.text}"


@dataclass(frozen=True, slots=True)
class Project:
    """A usable project: its canonical root and what is declared about it. One that is not `registered` is what a
    trusted tree says of itself: its name is that of its directory, which other trees may share."""

    name: str
    root: Path
    declared: Declaration
    registered: bool = True


@dataclass(frozen=True, slots=True)
class Registry:
    """The projects of this machine by name, what is wrong with other entries, and notices (a tree that is gone)."""

    projects: Mapping[str, Project] = field(default_factory=dict)
    problems: tuple[ProjectProblem, ...] = ()
    notices: tuple[str, ...] = ()

    def detect(self, directory: Path) -> Project | None:
        """The project a directory belongs to: the innermost whose root holds it."""
        here = directory.resolve()
        holding = [project for project in self.projects.values() if here.is_relative_to(project.root)]
        return max(holding, key=lambda project: len(project.root.parts), default=None)


@dataclass(frozen=True, slots=True)
class TreeDeclaration:
    """What a tree says about itself. `digest` (SHA-256 of the file) is what the operator's trust is bound to."""

    file: Path
    digest: str
    declared: Declaration | None
    problems: tuple[ProjectProblem, ...] = ()


def load_registry(file: Path, corpus_root: Path | None = None) -> Registry:
    """Read `projects.json`; a missing file is an empty registry. `corpus_root` is SPEAR_CORPUS_ROOT, what relative
    paths start from (default: the directory of the file). Raises ConfigurationError when it is no JSON object.
    """
    projects: dict[str, Project] = {}
    problems: list[ProjectProblem] = []
    notices: list[str] = []
    for name, raw in _entries(file).items():
        found = _entry(name, raw)
        if not isinstance(found, ProjectEntry):
            problems += found
            continue
        try:
            root = ((corpus_root or file.parent) / Path(found.path).expanduser()).resolve()
            there = root.is_dir()
        except (ValueError, RuntimeError, OSError):  # a NUL, an unknown user after `~`, a loop of links
            problems.append(ProjectProblem(name, "path", "does not name a directory"))
            continue
        if not there:
            notices.append(f"project {name}: {root} is gone; the entry is ignored")
            continue
        projects[name] = Project(name, root, Declaration(**found.model_dump(exclude={"path"})))
    for project in projects.values():
        for other in project.declared.corpora:
            if other not in projects:
                notices.append(f"project {project.name}: corpus {other} is not usable")
    return Registry(projects, tuple(problems), tuple(notices))


def load_tree_declaration(root: Path) -> TreeDeclaration | None:
    """What the tree at `root` declares in `.spear/project.toml`; None when it declares nothing."""
    file = root / DECLARATION
    try:
        data = _content(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return TreeDeclaration(file, "", None, (ProjectProblem(DECLARATION, "", f"is not used: {error.strerror}"),))
    digest = hashlib.sha256(data).hexdigest()
    try:
        raw = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        return TreeDeclaration(file, digest, None, (ProjectProblem(DECLARATION, "", f"is not valid TOML: {error}"),))
    try:
        return TreeDeclaration(file, digest, Declaration.model_validate(_frozen(raw)))
    except ValidationError as error:
        return TreeDeclaration(file, digest, None, tuple(_explained(DECLARATION, error, Declaration)))


def _content(file: Path) -> bytes:
    """The bytes of a tree's declaration. Raises OSError, also for what is no plain file of bounded length: a pipe would
    never end, a link would declare for this tree what another says."""
    if file.parent.is_symlink() or file.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link")
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as source:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        data = source.read(_LARGEST_DECLARATION + 1)
    if len(data) > _LARGEST_DECLARATION:
        raise OSError(errno.EFBIG, f"it is larger than {_LARGEST_DECLARATION // 1024} KiB")
    return data


def add_project(file: Path, name: str, entry: Mapping[str, Any]) -> tuple[ProjectProblem, ...]:
    """Write one entry into the registry, leaving the others byte for byte as values; what is wrong with it instead."""
    entries = _entries(file)
    if name in entries:
        return (ProjectProblem(name, "", "is registered already; remove it first"),)
    found = _entry(name, dict(entry))
    if not isinstance(found, ProjectEntry):
        return tuple(found)
    _save(file, {**entries, name: dict(entry)})
    return ()


def remove_project(file: Path, name: str) -> bool:
    """Take one entry, usable or not, out of the registry; whether it was there. The tree is not touched."""
    entries = _entries(file)
    if name not in entries:
        return False
    _save(file, {key: value for key, value in entries.items() if key != name})
    return True


def _entries(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{file} cannot be read: {error}", hint="check its permissions and encoding"
        ) from error
    try:
        found = json.loads(text, object_pairs_hook=_unique)
    except RecursionError as error:
        raise ConfigurationError(f"{file} is nested too deeply", hint="one object of entries is expected") from error
    except ValueError as error:
        raise ConfigurationError(f"{file} is not valid JSON: {error}", hint="see projects.json.example") from error
    if not isinstance(found, dict):
        raise ConfigurationError(f"{file} must hold one JSON object", hint='like {"name": {"path": "…"}}')
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _entry(name: str, raw: Any) -> ProjectEntry | list[ProjectProblem]:
    if not name or len(name) > _NAME_LIMIT or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        return [ProjectProblem(name, "", "names are letters, digits, `-`, `_` and `.`, at most 64")]
    if not isinstance(raw, dict):
        return [ProjectProblem(name, "", 'must be an object like {"path": "…"}')]
    try:
        return ProjectEntry.model_validate(_frozen(raw))
    except ValidationError as error:
        return list(_explained(name, error, ProjectEntry))


def _frozen(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as the tuples the strict models take."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


def _explained(entry: str, error: ValidationError, model: type[Declaration]) -> dict[ProjectProblem, None]:
    """One problem a key, in words."""
    problems: dict[ProjectProblem, None] = {}
    for detail in error.errors():
        key = str(detail["loc"][0]) if detail["loc"] else ""
        known = model.model_fields.get(key)
        if known is None:
            near = difflib.get_close_matches(key, model.model_fields, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(model.model_fields)}"
            text = f"is not a known key; {hint}"
        elif detail["type"] == "missing":
            text = f"is missing; it must be {known.description}"
        else:
            text = f"must be {known.description}"
        problems[ProjectProblem(entry, key, text)] = None
    return problems


def _save(file: Path, entries: Mapping[str, Any]) -> None:
    """Replace the registry whole."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, prefix=".projects-", delete=False) as new:
        try:
            new.write(data)
            new.flush()
            os.fsync(new.fileno())
            Path(new.name).replace(file)
        except BaseException:  # nothing half written stays, whatever ended it
            Path(new.name).unlink(missing_ok=True)
            raise
