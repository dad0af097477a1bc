"""Shell text of this turn's own that a command follows: a script, recipes, scripts of a package (spec 3.3).

What it does is read as if it had been typed. What other programs of the turn's do is told by what their text says.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.checks.programs import SHELLS
from spear.evidence.facts import ProjectFacts
from spear.evidence.recipes import MakeText, ninja_commands
from spear.evidence.setting import is_scratch
from spear.shell.located import located
from spear.shell.options import read_options
from spear.shell.syntax import Environment, Script, Simple, SyntaxProblem
from spear.shell.words import is_pattern

_SHELLS = SHELLS - {"fish"}  # whose language is another
_TOP = re.compile(r"\"?\$\(git rev-parse --show-toplevel(?: 2>\s*/dev/null)?\)\"?")
_SHEBANG = re.compile(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?:\S*/)?(?P<name>\w+)(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Followed:
    """A script a command follows, and the absolute directory it starts in. `source` tells it from others: its file and
    arguments. `makes` are absolute paths and patterns of what its tool makes beside, by rules of its own.
    `recipes`: its statements are lines of recipes, and make ends at the first that fails."""

    script: Script
    directory: str
    source: tuple[str | None, ...]
    makes: tuple[str, ...] = ()
    recipes: bool = False


def own_script(simple: Simple, base: str, environment: Environment, facts: ProjectFacts) -> Followed | None:
    """The shell script of this turn's that a command runs (`sh own.sh`, `./own.sh`, `. ./own.sh`) from the absolute
    directory `base` with these variables; None where it runs none, or one that cannot be read."""
    is_told = simple.name in _SHELLS | {"source", "."}
    words = simple.argv
    if is_told:
        words = read_options(words[1:], "-o -O +o +O --rcfile --init-file", stop_early=True).operands
    program = words[0].value if words else None
    if program is None or not (is_told or "/" in program):
        return None
    file = posixpath.normpath(posixpath.join(base, program))
    shown = facts.shown(file) or ""
    followed = is_scratch(file, facts) or facts.made_here(shown) or facts.told_here(shown)
    text = facts.read(file) if followed and not facts.changed_now(shown) else None  # it may have been another then
    if text is None or not is_for_a_shell(text):
        return None
    given = (None if word.glob else word.value for word in words[1:])
    return parsed(text, base, facts, (file, *given), environment)


def is_for_a_shell(text: str) -> bool:
    """Whether the text of a script is one a shell reads: it names no other interpreter."""
    if "\0" in text or not text.startswith("#!"):
        return "\0" not in text
    found = _SHEBANG.match(text)
    return found is not None and found["name"] in _SHELLS


def parsed(
    text: str, directory: str, facts: ProjectFacts, source: tuple[str | None, ...] = (), environment: Environment = None
) -> Followed | None:
    """Shell text as it runs from an absolute directory; `source` are its file and arguments. None where it cannot be
    read."""
    text = _TOP.sub(lambda _: f'"{facts.root}"' if facts.exists(".git") else "$(false)", text)
    script = facts.parse(text, source or None, environment)
    return None if isinstance(script, SyntaxProblem) else Followed(located(script, directory), directory, source)


def own_recipes(
    tool: str, files: Collection[str], simple: Simple, base: str, variables: Mapping[str, str], facts: ProjectFacts
) -> tuple[Followed, ...] | None:
    """What a build tool runs of the files of this turn's, absolute, that it was given, from the absolute directory it
    works in; None where one of them cannot be read as commands."""
    words = [word.value for word in simple.argv[1:] if word.value]
    given = {**variables, **{name: value for name, equals, value in (w.partition("=") for w in words) if equals}}
    found: list[Followed] = []
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        text = None if facts.changed_now(facts.shown(file) or "") else facts.read(file)
        if text is None or len(found) > _MOST_FILES:
            return None
        makes: tuple[str, ...] = ()
        commands: str | None
        if tool in MAKE_NAMES:
            make = MakeText(text, given)
            names = make.includes()
            if not make.is_plain or any(is_pattern(name) or "$" in name for name in names):
                return None
            included = (posixpath.normpath(posixpath.join(base, name)) for name in names)
            waiting += [file for file in included if facts.made_here(facts.shown(file) or "")]
            without = {name for name in words if "=" not in name and name not in make.with_recipes()}
            makes = tuple(posixpath.join(base, name) for name in sorted({*make.without_recipes(), *without}))
            commands = make.recipes()
        elif tool == "ninja":
            commands = ninja_commands(text)
        else:
            commands = package_scripts(text, tool.removeprefix("package script "), [word.raw for word in simple.argv])
        followed = None if commands is None else parsed(commands, base, facts)
        if followed is None:
            return None
        found.append(replace(followed, source=(file, tool, *sorted(words)), makes=makes))
    return tuple(found)


_MOST_FILES = 20


def package_scripts(text: str, name: str, words: Sequence[str]) -> str | None:
    """What `npm run NAME -- ARGUMENTS` runs: the script with its arguments, and what stands before and after it. None
    where that cannot be read."""
    try:
        scripts = json.loads(text).get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(scripts, dict):
        return None
    given = words[words.index(name) + 1 :] if name in words else ()
    arguments = " ".join(word for word in given if word != "--")
    bodies = [(scripts.get(f"pre{name}"), ""), (scripts.get(name), arguments), (scripts.get(f"post{name}"), "")]
    return "\n".join(f"{body} {after}" for body, after in bodies if isinstance(body, str))
