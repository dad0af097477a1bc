"""What rules make of a script or of data, as makefiles and CMake's files say (spec 3.2).

A generator that a recipe names and its rule does not depend on is not run again: what it made before stays.
"""

from __future__ import annotations

import fnmatch
import itertools
import posixpath
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from spear.evidence.checks.deciding import MAKEFILES
from spear.evidence.facts import ProjectFacts
from spear.evidence.families import SOURCES, Family, family_of_source, is_header, may_be_native
from spear.evidence.names import names
from spear.evidence.recipes import UNKNOWN, make_text
from spear.evidence.roots import root_of, within_root

_CUSTOM_COMMAND = re.compile(r"add_custom_command\s*\(\s*OUTPUT\s(?P<said>(?:[^()]|\([^()]*\))*)\)", re.IGNORECASE)
_GLOB = re.compile(
    r"\bfile\s*\(\s*GLOB(?P<recurse>_RECURSE)?\s(?P<said>(?:(?!CONFIGURE_DEPENDS)[^()])*)\)", re.IGNORECASE
)
_READS = re.compile(r"\b(?:file\s*\(\s*(?:READ|STRINGS)|execute_process\s*\()\s*(?P<said>[^()]*)\)", re.IGNORECASE)
_PLACE = re.compile(r"^\$\{(?:CMAKE|PROJECT|CMAKE_CURRENT)_SOURCE_DIR\}/")
_SET = re.compile(r"\bset\s*\(\s*(?P<name>\w+)\s+(?P<value>[^()]*)\)", re.IGNORECASE)
_SCRIPTS = names(".py .sh .bash .pl .rb .lua .tcl .awk .js .mjs .cjs .php .m4 .sed")
_RUNS_SCRIPT = re.compile(r"\.(?:py|sh|bash|pl|rb|lua|tcl|awk|m?js|cjs|php|m4|sed)\b|\bpython[\d.]* -m\b")
_FINDS_FILES = re.compile(r"\b(?:glob|iglob|rglob|walk|iterdir|scandir|listdir|readdir\w*|find|for \w+ in)\b|\bls ")
_NEVER = re.compile(r"(?!)")
_MOST_SCRIPTS = 2_000
_MOST_TAKERS = 20
_KEYWORD = re.compile(r"\s(?:COMMAND|DEPENDS|MAIN_DEPENDENCY|WORKING_DIRECTORY|BYPRODUCTS|COMMENT|VERBATIM|ARGS)\b")


def derived_from(path: str, facts: ProjectFacts) -> frozenset[str]:
    """What rules make of a file that no compiler reads, by its recorded name: sources and programs, relative to its
    root, with `*` for what cannot be read. A file counts for the scripts that read, import or run it, and for a rule
    that names its directory. What is delivered is made by nobody but its author."""
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    if there is None or family_of_source(path) is not None:
        return frozenset()
    inside = within_root(path)
    made = _made_of(inside, there)
    if made or not any(_is_product(product, there) for product in _made_of_what(_RUNS_SCRIPT, inside, there)):
        return made
    directory = posixpath.basename(posixpath.dirname(inside))
    named = re.compile(rf"(?<![\w.-]){re.escape(directory)}/?(?![\w./-])") if directory else _NEVER
    found = _made_of_what(named, inside, there)
    found |= {product for script in _takers(inside, there) for product in _made_of(script, there)}
    return frozenset(product for product in found if _is_product(product, there))


def _made_of(inside: str, facts: ProjectFacts) -> frozenset[str]:
    """What rules make of a file they name."""
    found = _made_of_what(_called(inside), inside, facts)
    return frozenset(made for made in found if _is_product(made, facts))


def _made_of_what(named: re.Pattern[str], inside: str, facts: ProjectFacts) -> set[str]:
    """What the build files above a file make with what a pattern finds."""
    return {made for above in PurePosixPath(inside).parents for made in _made_with(named, str(above), facts)}


def _called(inside: str) -> re.Pattern[str]:
    """How a file is spoken of: by its name, or as a module."""
    path = PurePosixPath(inside)
    module = ".".join(path.with_suffix("").parts) if path.suffix == ".py" else path.name
    return re.compile(rf"(?<![\w.-])(?:{re.escape(path.name)}|{re.escape(module)})(?![\w.-])")


def _takers(inside: str, facts: ProjectFacts) -> Iterator[str]:
    """The scripts of a tree that take a file in, and those that take these in, some twenty at most."""
    texts = dict(itertools.islice(facts.texts(_SCRIPTS), _MOST_SCRIPTS))
    waiting, seen = [inside], {inside}
    while waiting and len(seen) < _MOST_TAKERS:
        taken = waiting.pop()
        new = [script for script, text in texts.items() if script not in seen and _takes_in(text, taken)]
        seen.update(new)
        waiting += new
        yield from new


def _takes_in(text: str, taken: str) -> bool:
    """Whether a script names a file, imports it, or finds files of its kind."""
    path = PurePosixPath(taken)
    imported = rf"^\s*(?:import|from)\s[^#\n]*\b{re.escape(path.stem)}\b" if path.suffix == ".py" else "(?!)"
    if _called(taken).search(text) or re.search(imported, text, re.MULTILINE):
        return True
    kind = rf"\*{re.escape(path.suffix)}(?!\w)|[\"']{re.escape(path.suffix)}[\"']" if path.suffix else "(?!)"
    return _FINDS_FILES.search(text) is not None and re.search(kind, text) is not None


def is_globbed(path: str, facts: ProjectFacts) -> bool:
    """Whether CMake finds a source, by its recorded name, by a pattern, and so only when it is set up anew. A header is
    found by compilers."""
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    inside = PurePosixPath(within_root(path))
    if there is None or is_header(path):
        return False
    for above in inside.parents:
        lists = there.read(posixpath.normpath(posixpath.join(there.root, above, "CMakeLists.txt"))) or ""
        file = inside.relative_to(above)
        if any(_stands_for(match, file) for match in _GLOB.finditer(lists)):
            return True
    return False


def is_read_at_set_up(path: str, facts: ProjectFacts) -> bool:
    """Whether CMake reads a file, by its recorded name, when it sets a build up, and does not look at it again."""
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    inside = PurePosixPath(within_root(path))
    if there is None:
        return False
    for above in inside.parents:
        lists = there.read(posixpath.normpath(posixpath.join(there.root, above, "CMakeLists.txt"))) or ""
        if "CMAKE_CONFIGURE_DEPENDS" not in lists and any(
            _called(str(inside)).search(match["said"]) for match in _READS.finditer(lists)
        ):
            return True
    return False


def _stands_for(glob: re.Match[str], file: PurePosixPath) -> bool:
    """Whether a `file(GLOB …)` finds a file, relative to its directory."""
    recursive = glob["recurse"] is not None
    for word in glob["said"].split():
        directory, name = posixpath.split(_PLACE.sub("", word.strip("\"'")))
        if not fnmatch.fnmatchcase(file.name, name):
            continue
        here = str(file.parent)
        known = posixpath.normpath(directory or ".")
        if "$" in known or here == known or (recursive and (known == "." or here.startswith(f"{known}/"))):
            return True
    return False


def _made_with(named: re.Pattern[str], directory: str, facts: ProjectFacts) -> Iterator[str]:
    """What the build files of a directory of the tree make with what a pattern names."""
    base = posixpath.normpath(posixpath.join(facts.root, directory))
    makefile = next(filter(None, (facts.read(posixpath.join(base, name)) for name in MAKEFILES)), None)
    if makefile is not None:
        _, make = make_text(makefile, base, (), facts)
        for target in make.made_with(named):
            yield posixpath.normpath(posixpath.join(directory, target.replace(UNKNOWN, "*")))
    for output in _outputs(named, facts.read(posixpath.join(base, "CMakeLists.txt")) or ""):
        yield f"*/{output}"


def _outputs(named: re.Pattern[str], lists: str) -> Iterator[str]:
    """The base names of what custom commands of a CMakeLists.txt write with what a pattern names."""
    variables = {match["name"] for match in _SET.finditer(lists) if named.search(match["value"])}
    for command in _CUSTOM_COMMAND.finditer(lists):
        outputs = _KEYWORD.split(command["said"], maxsplit=1)[0]
        rest = command["said"][len(outputs) :]
        if named.search(rest) or any(f"${{{name}}}" in rest for name in variables):
            yield from (posixpath.basename(word.strip("\"'")) for word in outputs.split() if not word.endswith("}"))


def _is_product(path: str, facts: ProjectFacts) -> bool:
    """Whether what a rule makes is a source or a program that lies among products, once it is there."""
    name = PurePosixPath(path)
    if "*" in path:
        return name.name != "*" and (name.suffix in SOURCES[Family.RULES] or may_be_native(path))
    if facts.exists(path) and not facts.is_built(path):
        return False
    return name.suffix in SOURCES[Family.RULES] or facts.is_built(path)
