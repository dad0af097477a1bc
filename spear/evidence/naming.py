"""Which qualities a check names: by its command, by what it printed, by what decides what it runs (spec 3.4)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.facts import Makefile, ProjectFacts
from spear.evidence.kinds import CheckKind, Scope
from spear.evidence.qualities import SANITIZER, TOOLS, contradicted, named_in, named_in_manifest, named_in_output
from spear.evidence.tree import leaves
from spear.shell.syntax import Script, Simple

_MOST_SCRIPTS = 20
_ROUNDS = 6
_SHELL = (".sh", ".bash", ".zsh", ".bats")
_SETS_UP = frozenset({"cmake", "meson", "configure", "export"})
_BESIDE: dict[str, tuple[str, ...]] = {
    "pre-commit": (".pre-commit-config.yaml",),
}
"""What tools read of the directory they work in, beside what decides which checks they run."""
_INTEGRATION_PLACES = ("tests/integration", "test/integration", "tests/e2e", "test/e2e", "integration", "e2e")
"""Where a run of all tests there are finds those of integration."""
_FOR_A_TARGET = re.compile(r"^(?P<target>[\w./-]+)\s*:\s*\w+\s*[+:?]?=")
_RUN_TOOLS = frozenset({"pre-commit", "tox", "nox", "just", "task", "rake"})
"""Checks that start the tools their files name; other files only hold the settings of such tools."""
_CACHED = re.compile(r"^CMAKE_(?:BUILD_TYPE|C(?:XX)?_FLAGS):\w+=(?P<value>.*)$", re.MULTILINE)
_SANITIZED = re.compile(r"^\w*(?:SANITI[SZ]|ASAN|UBSAN|TSAN)\w*:BOOL=(?:ON|TRUE|1|YES)$", re.MULTILINE | re.IGNORECASE)


def names_of(script: Script, seen: SeenCheck, output: str) -> tuple[str, ...]:
    """The qualities a check names, sorted. `output` is what its command's checks printed; a checker that says in it
    that it found something names nothing."""
    candidate, facts = seen.candidate, seen.facts
    told = [_written(candidate.simple), *_set_up(script), *_told(seen)]
    found = named_in("\n".join(told)) | named_in_output(output)
    runs_tools = candidate.finding.tool in _RUN_TOOLS
    for text in _manifests(seen):
        found |= named_in_manifest(text) - (frozenset() if runs_tools else TOOLS.keys())
    if CheckKind.TEST in candidate.kinds:
        found |= _tests_named(seen, facts)
    return tuple(sorted(found - contradicted(output)))


def _written(simple: Simple) -> str:
    """A command as written, with its wrappers and the variables set for it."""
    words = [f"{name}={word.value or word.raw}" for name, word in simple.assignments if word is not None]
    return " ".join([*simple.wrappers, *words, *(word.value or word.raw for word in simple.words)])


def _set_up(script: Script) -> Iterator[str]:
    """What the same script configures or exports for its checks."""
    return (_written(leaf.simple) for leaf in leaves(script) if leaf.simple.name in _SETS_UP)


def _told(seen: SeenCheck) -> Iterator[str]:
    """What the check was told to do: the recipes make follows, the package's script, the shell script it is."""
    finding, facts = seen.candidate.finding, seen.facts
    if finding.cwd is None:
        return
    if finding.tool in MAKE_NAMES:
        for path in finding.decided_by or (posixpath.join(finding.cwd, "Makefile"),):
            text = facts.read(posixpath.join(facts.root, path))
            makefile = facts.makefiles.get(posixpath.dirname(path))
            if text is not None and makefile is not None:
                yield _recipes(makefile, text, finding.selectors)
    elif finding.tool.startswith("package script "):
        yield _package_script(facts, finding.cwd, finding.tool.removeprefix("package script "))
    elif finding.scope is Scope.PROGRAM:
        for path in finding.decided_by:
            text = facts.read(posixpath.join(facts.root, path))
            if text is not None and (path.endswith(_SHELL) or re.match(r"#!.*\b(?:ba|z|da)?sh\b", text)):
                yield _without_comments(text)
    cache = facts.read(posixpath.join(facts.root, finding.cwd, "CMakeCache.txt"))
    yield from (match["value"] for match in _CACHED.finditer(cache or ""))
    yield SANITIZER if _SANITIZED.search(cache or "") else ""


def _manifests(seen: SeenCheck) -> Iterator[str]:
    """The other files that decide what the check runs, as a whole."""
    finding, facts = seen.candidate.finding, seen.facts
    if finding.cwd is None or finding.tool in MAKE_NAMES or finding.tool.startswith("package script "):
        return
    beside = (posixpath.join(finding.cwd, name) for name in _BESIDE.get(finding.tool, ()))
    for path in dict.fromkeys((*finding.decided_by, *beside)):
        if (text := facts.read(posixpath.join(facts.root, path))) is not None:
            yield _without_branches(text) if path.endswith("CMakeLists.txt") else _without_comments(text)


def _recipes(makefile: Makefile, text: str, selectors: tuple[str, ...]) -> str:
    """The recipes of the targets that are made, of what these need, and the variables they use."""
    goals = [word for word in selectors if word in makefile.targets] or [makefile.default]
    reached: dict[str, None] = {}
    while goals:
        goal = goals.pop()
        if goal in reached or goal not in makefile.targets:
            continue
        reached[goal] = None
        goals += makefile.targets[goal].prerequisites
        goals += (word for line in makefile.targets[goal].recipe for word in _made_by_hand(line))
    lines = [f"{goal}:" for goal in reached]
    lines += [line for goal in reached for line in makefile.targets[goal].recipe]
    lines += [line for line in text.split("\n") if (own := _FOR_A_TARGET.match(line)) and own["target"] in reached]
    values: dict[str, list[str]] = {}
    for match in re.finditer(r"^(?:export\s+)?(?P<name>\w+)\s*[+:?]*=\s*(?P<value>.*)$", text, re.MULTILINE):
        values.setdefault(match["name"], []).append(match["value"])
    known: set[str] = set()
    for _ in range(_ROUNDS):
        used = set(re.findall(r"\$[({](\w+)[)}]", "\n".join(lines))) | {"CFLAGS", "CXXFLAGS", "LDFLAGS"}
        new = (used & values.keys()) - known
        lines += [value for name in sorted(new) for value in values[name]]
        known |= new
    return "\n".join(lines)


def _made_by_hand(line: str) -> list[str]:
    """The targets a recipe makes with a make of its own."""
    found = re.search(r"\$[({]MAKE[)}](?P<words>[^;&|]*)", line)
    return [word for word in found["words"].split() if "=" not in word and not word.startswith("-")] if found else []


def _package_script(facts: ProjectFacts, cwd: str, name: str) -> str:
    """A package's script with those it runs in its turn."""
    scripts = facts.scripts.get(cwd) or {}
    texts: dict[str, str] = {}
    asked = [name]
    while asked and len(texts) < _MOST_SCRIPTS:
        script = asked.pop()
        if script in texts or script not in scripts:
            continue
        texts[script] = scripts[script]
        asked += re.findall(r"\b(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)", scripts[script])
    return "\n".join([*texts, *texts.values()])


def _tests_named(seen: SeenCheck, facts: ProjectFacts) -> frozenset[str]:
    """What the paths of the tests name that a run was given; a run of a whole project has all there are."""
    finding = seen.candidate.finding
    there = [posixpath.join(finding.cwd or "", place) for place in _INTEGRATION_PLACES]
    given = [word for word in (*finding.selectors, *finding.paths) if not word.startswith("-")]
    places = given if finding.scope is not Scope.PROJECT else [*given, *filter(facts.exists, there)]
    return frozenset() if any("unit" in word for word in given) else named_in_manifest("\n".join(places))


def _without_branches(text: str) -> str:
    """What a CMake file says whatever is switched on."""
    kept: list[str] = []
    depth = 0
    for line in _without_comments(text).split("\n"):
        word = line.strip().lower()
        depth += bool(re.match(r"(?:if|function|macro)\s*\(", word))
        if depth == 0:
            kept.append(line)
        depth -= bool(re.match(r"end(?:if|function|macro)\s*\(", word))
    return "\n".join(kept)


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
