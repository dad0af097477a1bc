"""Whether Python finds an older copy of a changed module before the module itself (spec 3.2, 3.3).

A package that was installed as a copy, or copied by a build, is imported in place of its source where its directory
stands earlier on the path; tests then speak of what was copied.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from spear.evidence.elsewhere import SeenCheck
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckKind
from spear.evidence.launching import checks_reached, followed_by
from spear.evidence.names import names
from spear.evidence.setting import assigned, sourced
from spear.evidence.weakened import is_test_file
from spear.shell.syntax import Simple

_PYTHON = names(".py")
_PYTEST = names("pytest py.test")
_RUNNERS = _PYTEST | names("unittest nose nosetests trial doctest")
_RUNS_IN_VENV = names("uv poetry pdm pipenv rye")
_CONFIGURED = re.compile(r"^\s*pythonpath\s*=\s*(?P<entries>\[[^\]]*\]|.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_CONFIGURATIONS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_IMPORTS = re.compile(r"^\s*(?:import|from)\s+(?P<module>\w+)", re.MULTILINE)
_PUTS = re.compile(r"\bsys\.path\.(?P<how>insert|append)\((?P<said>[^\n]*)")
_WAYS = ("insert", "append")
_LITERAL = re.compile(r"""(["'])([^"'\n]{1,200})\1""")
_VERSION = re.compile(r"^version(?:_info)?\s*=\s*(?P<version>3\.\d+)", re.MULTILINE)


def imports_a_copy(seen: SeenCheck, variables: Collection[tuple[str, str]], activated: Collection[str]) -> bool:
    """Whether a check of Python's, typed or run by a recipe or a script, comes to a copy of a module this turn changed,
    and the copy is another. `variables` are those it sees, `activated` the words of what was sourced before it."""
    if not any(seen.facts.told(_PYTHON)):
        return False
    sourced_on_the_way = [word for followed, _ in followed_by(seen) for word in sourced(followed.script)]
    return any(
        _imports_a_copy(each, (*variables, *assigned(each.candidate.simple)), (*activated, *sourced_on_the_way))
        for each in checks_reached(seen)
    )


def _imports_a_copy(seen: SeenCheck, variables: Collection[tuple[str, str]], activated: Collection[str]) -> bool:
    finding, facts = seen.candidate.finding, seen.facts
    is_python = finding.tool in _RUNNERS or finding.tool.startswith("python") or _runs_script(seen)
    if not is_python or not finding.kinds & {CheckKind.TEST, CheckKind.RUN} or finding.cwd is None:
        return False
    changed = [path for path in facts.told(_PYTHON) if not is_test_file(path)]
    entries = tuple(dict.fromkeys(_search_path(seen, variables, activated))) if changed else ()
    called = {posixpath.basename(path) for path in changed}
    copied = changed and any(True for _ in facts.built(lambda path: posixpath.basename(path) in called))
    if not (copied or any(name for source in changed for name in _copies(source, entries, facts))):
        return False  # nothing else of that name is there: no other file need be read
    texts = tuple(facts.texts(_PYTHON))
    first, last = ([place for path, text in texts for place in _put(path, text, how, facts)] for how in _WAYS)
    tests = (path for path, _ in texts if is_test_file(path) or posixpath.basename(path) == "conftest.py")
    beside = sorted({_top_of_package(path, facts) for path in tests}) if finding.tool in _PYTEST else ()
    entries = (*first, *beside, *entries, *last)
    imported = {match["module"] for _, text in texts for match in _IMPORTS.finditer(text)}
    return any(name in imported for source in changed for name in _copies(source, entries, facts))


def _runs_script(seen: SeenCheck) -> bool:
    return any(path.endswith(".py") for path in seen.candidate.finding.paths)


def _search_path(seen: SeenCheck, variables: Collection[tuple[str, str]], activated: Collection[str]) -> Iterator[str]:
    """The directories of the tree in which modules are looked for, in order."""
    finding, facts, simple = seen.candidate.finding, seen.facts, seen.candidate.simple
    cwd = finding.cwd or ""
    if finding.tool in _PYTEST:
        yield from _configured(facts)
    if any(word.value == "-m" for word in simple.argv[1:]) or finding.tool == "unittest":
        yield cwd
    yield from (posixpath.dirname(path) for path in finding.paths if _runs_script(seen))
    for name, value in variables:
        if name == "PYTHONPATH":
            places = (facts.place(entry, cwd) for entry in value.split(":") if entry and "$" not in entry)
            yield from (place for place in places if place is not None)
    for environment in _environments(simple, cwd, variables, activated, facts):
        found = _VERSION.search(facts.read(posixpath.join(facts.root, environment, "pyvenv.cfg")) or "")
        if found is not None:
            yield posixpath.join(environment, "lib", f"python{found['version']}", "site-packages")


def _put(path: str, text: str, how: str, facts: ProjectFacts) -> Iterator[str]:
    """The directories that a test or a `conftest.py` puts on the path: `sys.path.insert(0, "build/lib")`."""
    if not (is_test_file(path) or posixpath.basename(path) == "conftest.py"):
        return
    for match in _PUTS.finditer(text):
        if match["how"] != how:
            continue
        pieces = [piece for _, piece in _LITERAL.findall(match["said"])]
        for word in dict.fromkeys((*pieces, "/".join(pieces))):
            for base in ("", posixpath.dirname(path)):
                if word and (place := facts.place(word, base)) is not None:
                    yield place


def _configured(facts: ProjectFacts) -> Iterator[str]:
    for name in _CONFIGURATIONS:
        found = _CONFIGURED.search(facts.read(posixpath.join(facts.root, name)) or "")
        for entry in re.findall(r"[\w./-]+", found["entries"]) if found is not None else ():
            if (place := facts.place(entry, "")) is not None:
                yield place


def _environments(
    simple: Simple,
    cwd: str,
    variables: Collection[tuple[str, str]],
    activated: Collection[str],
    facts: ProjectFacts,
) -> Iterator[str]:
    """The virtual environments that the interpreter may be one of, in the tree or, absolute, outside."""
    programs = [word for word in (simple.argv[0].value if simple.argv else None, *activated) if word]
    for program in programs:
        place = facts.place(program, cwd) if "/" in program else None
        if place is not None:
            yield posixpath.dirname(posixpath.dirname(place))
    told = [value for name, value in variables if name == "VIRTUAL_ENV"]
    yield from (facts.shown(value) or value for value in told)
    if simple.words and simple.words[0].value in _RUNS_IN_VENV:
        yield ".venv"
    elif not any("/" in program for program in programs) and not told:
        yield from (posixpath.dirname(entry) for entry in sorted(facts.usual_path))


def _top_of_package(path: str, facts: ProjectFacts) -> str:
    """The directory a module is imported from: that which holds the outermost package it is in."""
    directory = posixpath.dirname(path)
    while directory and facts.exists(posixpath.join(directory, "__init__.py")):
        directory = posixpath.dirname(directory)
    return directory


def _copies(source: str, entries: Collection[str], facts: ProjectFacts) -> Iterator[str]:
    """The names under which what is found first is no source, and says something else."""
    path, top = PurePosixPath(source), _top_of_package(source, facts)
    tops = (top, *map(str, PurePosixPath(top).parents)) if top else ("",)
    here = facts.read(posixpath.join(facts.root, source))
    for called in (path.relative_to(above or ".") for above in tops):
        for entry in entries:
            place = posixpath.normpath(posixpath.join(entry, str(called)))
            there = facts.read(posixpath.join(facts.root, place))
            if there is None:
                continue
            if place != source and there != here and (place.startswith("/") or facts.is_built(place)):
                yield called.parts[0].removesuffix(".py")
            break
