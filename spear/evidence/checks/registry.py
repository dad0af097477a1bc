"""From an invocation to what it is: every family's table, and the tools that hand on to another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from spear.evidence.checks import compilers, javascript, managed, native, programs, python
from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.checks.makefiles import read_make
from spear.evidence.checks.tool import Tool
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import Scope
from spear.evidence.names import names

Reader: TypeAlias = Callable[[Invocation, ProjectFacts], Finding | Invocation | None]

TABLE: Mapping[str, Tool] = {**native.TOOLS, **python.TOOLS, **javascript.TOOLS, **managed.TOOLS}
"""Every tool that a row is enough for."""

READERS: Mapping[str, Reader] = {
    **dict.fromkeys(MAKE_NAMES, read_make),
    "cmake": native.read_cmake,
    "ninja": native.read_ninja,
    "samu": native.read_ninja,
    "bitbake": native.read_bitbake,
    "coverage": python.read_coverage,
    **dict.fromkeys(python.RUNNERS, python.read_runner),
    **dict.fromkeys(javascript.MANAGERS, javascript.read_manager),
    **dict.fromkeys(javascript.EXECUTORS, javascript.read_executor),
    "node": javascript.read_node,
    **dict.fromkeys(managed.HANDING_ON, managed.read_bundle),
    "stack": managed.read_stack,
    "cargo": managed.read_cargo,
    **dict.fromkeys(programs.SHELLS | programs.INTERPRETERS - {"node", "bun", "deno"}, programs.read_interpreter),
}
"""Tools whose command line takes more than a row to read."""

LOOKS = names("ls stat file cat size nm readelf objdump od xxd strings ldd sha256sum md5sum cmp test [ find")
"""Programs that look at a result: the look that a claim of a clean rebuild asks for, and nothing more."""

_MAX_HANDED_ON = 8
_SELF_CONTAINED = frozenset({"mvnw", "gradlew", "waf", "idf.py"})


def identify(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """What an invocation is, through every tool that hands on to another; None when it is no check."""
    current: Invocation | None = invocation
    for _ in range(_MAX_HANDED_ON):
        if current is None:
            return None
        found = _once(current, facts)
        if not isinstance(found, Invocation):
            return found
        current = found
    return None


def _once(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    name = invocation.name
    declared = facts.declared.get(" ".join(invocation.text.split()))
    found = _by_name(invocation, facts)
    if declared is None or isinstance(found, Invocation):
        return found
    if found is None:
        return Finding(name, declared, Scope.PROJECT, invocation.known, (), invocation.cwd)
    return replace(found, kinds=found.kinds | declared, scope=Scope.PROJECT)


def _by_name(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    name = invocation.name
    if "/" in invocation.program and name not in _SELF_CONTAINED:
        by_path = programs.read_path(invocation, facts)
        if by_path is not None and not _is_installed_tool(by_path.paths, facts):
            return by_path
    if python.is_interpreter(name):
        return python.read_python(invocation, facts)
    reader = READERS.get(name)
    if reader is not None:
        return reader(invocation, facts)
    tool = TABLE.get(name)
    if tool is not None:
        return tool.read(invocation, facts)
    if compilers.is_compiler(name):
        return compilers.read_compiler(invocation, facts)
    if name in LOOKS and (name == "ls" or any(not word.startswith("-") for word in invocation.known)):
        return Finding(name, kinds("i"), Scope.PROGRAM, invocation.known, (), invocation.cwd)
    return None


def _is_installed_tool(paths: tuple[str, ...], facts: ProjectFacts) -> bool:
    """`.venv/bin/pytest` and `node_modules/.bin/jest` are tools that happen to lie in the tree, and so is what lies in
    an environment of any other name."""
    parts = paths[0].split("/") if paths else []
    if len(parts) > 2 and facts.exists("/".join((*parts[:-2], "pyvenv.cfg"))):
        return True
    return any(part in ("node_modules", "vendor", ".venv", "venv", "env", ".tox", ".nox") for part in parts[:-1])
