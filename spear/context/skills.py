"""Skills: `SKILL.md` folders and single files with front matter, offered by scope and never by resemblance (spec 4.2).

Reading a skill runs nothing. At most eight are offered, in one order; every other one is withheld with its reason.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from spear.context import front_matter
from spear.context.documents import DocumentProblem, names_in, one_line, read_in_tree, read_own
from spear.context.identity import WorkspaceIdentity
from spear.workspace import presence

MOST = 8
"""Skills offered to a turn at most."""

TREE_SKILLS = ".agents/skills"
CONFIG_SKILLS = "skills"
_FOLDER_FILE = "SKILL.md"
_ANY = "any"
_MOST_NAMES = 100
_LARGEST_NUMBER = 256
_WHOLE = 4_000
"""Characters of skill bodies shown whole, in order; the others are named with where to read them."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. `place` is its path in the workspace, "" for one of the configuration directory, which the host
    shows on request; `scope` names projects, or `any`. The header of one that is `unread` is part of its body.
    """

    name: str
    description: str
    body: str
    scope: tuple[str, ...]
    requires: tuple[str, ...]
    version: str
    shown: str
    place: str = ""
    problem: str = ""
    unread: bool = False


@dataclass(frozen=True, slots=True)
class SkillChoice:
    """The skills offered, in order, and the others with the reason."""

    offered: tuple[Skill, ...]
    withheld: tuple[tuple[str, str], ...]


class SkillShelf:
    """The skills within reach of a workspace. `path` is what commands are looked for in (PATH)."""

    def __init__(self, workspace: WorkspaceIdentity, config: Path, path: str) -> None:
        self._workspace = workspace
        self._config = config
        self._path = path

    def choose(self) -> SkillChoice:
        """What a turn is offered: the operator's own skills first, those for this project before those for any."""
        offered: list[Skill] = []
        withheld: list[tuple[str, str]] = []
        found = sorted(
            self._read(), key=lambda skill: (bool(skill.place), _ANY in skill.scope, skill.name, skill.shown)
        )
        for skill in found:
            reason = self._unfit(skill)
            if not reason and any(other.name == skill.name for other in offered):
                reason = "another skill has the name"
            if not reason and len(offered) == MOST:
                reason = f"only {MOST} are offered"
            if reason:
                withheld.append((f"{skill.name} ({skill.shown})", reason))
            else:
                offered.append(skill)
        return SkillChoice(tuple(offered), tuple(withheld))

    def body(self, name: str) -> str | None:
        """The text of an offered skill; None when none of that name is offered."""
        return next((skill.body for skill in self.choose().offered if skill.name == name), None)

    def report(self) -> tuple[str, ...]:
        """The lines of `/skills`."""
        choice = self.choose()
        lines = [f"✓ {skill.name} ({skill.shown}): {skill.description or 'no description'}" for skill in choice.offered]
        lines += [f"✗ {name}: {reason}" for name, reason in choice.withheld]
        return tuple(lines) or (
            f"no skills: put SKILL.md folders into {TREE_SKILLS} or {self._config / CONFIG_SKILLS}",
        )

    def _unfit(self, skill: Skill) -> str:
        if skill.problem:
            return skill.problem
        if not skill.body:
            return "is empty"
        if not skill.scope:
            why = "its header cannot be read, so it says no scope" if skill.unread else "says no scope"
            return f"{why}: name the project, or say `scope: [any]`"
        if _ANY not in skill.scope and not (self._workspace.registered and self._workspace.name in skill.scope):
            return f"is for {', '.join(skill.scope)}"
        missing = [command for command in skill.requires if shutil.which(command, path=self._path) is None]
        return f"needs {', '.join(missing)}, which is not installed" if missing else ""

    def _read(self) -> Iterator[Skill]:
        own = self._config / CONFIG_SKILLS
        for relative in _files(own):
            text = read_own(own / relative)
            yield _skill(f"{CONFIG_SKILLS}/{relative}", text, "", ())
        tree = self._workspace.directory
        here = (self._workspace.name, _ANY)
        for relative in _files(tree / TREE_SKILLS):
            place = f"{TREE_SKILLS}/{relative}"
            found = read_in_tree(tree, place)
            if found is not None:
                yield _skill(place, found, place, here)


def section(skills: Iterable[Skill]) -> str:
    """The offered skills as one part of the prompt; "" for none."""
    blocks: list[str] = []
    spent = 0
    for skill in skills:
        title = f"{skill.name}: {skill.description}".rstrip(": ")
        spent += len(skill.body)
        if spent <= _WHOLE:
            blocks.append(f"## {title}\n{skill.body}")
        else:
            spent -= len(skill.body)
            how = f"read {skill.place}" if skill.place else f"run: spear-knowledge skill {skill.name}"
            blocks.append(f"## {title}\n({len(skill.body)} characters; when you need it, {how})")
    return (
        "Skills (how some tasks are done here; use one when its description fits):\n\n" + "\n\n".join(blocks)
        if blocks
        else ""
    )


def _files(directory: Path) -> Iterator[str]:
    """Skill files of a directory, relative to it: single files, and folders that hold SKILL.md."""
    for name in names_in(directory):
        if name.startswith("."):
            continue
        if presence.is_directory(directory / name):
            if presence.exists(directory / name / _FOLDER_FILE):
                yield f"{name}/{_FOLDER_FILE}"
        elif name.endswith(".md"):
            yield name


def _skill(shown: str, text: str | DocumentProblem, place: str, default_scope: tuple[str, ...]) -> Skill:
    """A skill of a file. `default_scope` is that of a tree's own skills, which its place already scopes."""
    path = Path(shown)
    name = path.parent.name if path.name == _FOLDER_FILE else path.stem
    if isinstance(text, DocumentProblem):
        return Skill(one_line(name, 64), "", "", (), (), "", shown, place, text.text)
    header, body = front_matter.split(text)
    keys = front_matter.yaml_mapping(header) if header is not None else None
    if keys is None:
        unread = header is not None
        return Skill(one_line(name, 64), "", text.strip(), default_scope, (), "", shown, place, unread=unread)
    given = keys.get("name")
    return Skill(
        one_line(given if isinstance(given, str) and given.strip() else name, 64),
        one_line(_scalar(keys.get("description")), 300),
        body.strip(),
        _names(keys["scope"]) if "scope" in keys else default_scope,
        _names(keys.get("requires")),
        one_line(_scalar(keys.get("version")), 40),
        shown,
        place,
    )


def _names(value: Any) -> tuple[str, ...]:
    """A list of names from a YAML value: a list, or words between commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple(name for item in value[:_MOST_NAMES] if (name := _scalar(item).strip()))


def _scalar(value: Any) -> str:
    """A plain YAML value as text. A list or mapping is none: through aliases a short one may stand for gigabytes."""
    if isinstance(value, int) and value.bit_length() > _LARGEST_NUMBER:
        return ""
    return str(value) if isinstance(value, str | int | float | date) and value is not False else ""
