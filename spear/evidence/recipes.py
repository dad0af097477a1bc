"""The commands of a build file as text for a shell, its variables filled in (spec 3.3).

A variable nobody has set is empty, as its tool takes it; what a function of the tool's would give is left to the shell
as a variable of unknown value, and the stem of a pattern is a pattern.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spear.evidence.facts import MakeTarget, ProjectFacts, read_makefile

UNKNOWN = "${__unknown}"
_BUILT_IN: Mapping[str, str] = {
    "CC": "cc", "CXX": "c++", "CPP": "cc -E", "LD": "ld", "AR": "ar", "AS": "as", "FC": "f77", "RM": "rm -f",
    "MAKE": "make", "CURDIR": ".", "LEX": "lex", "YACC": "yacc", "TAR": "tar", "PYTHON": "python3",
}  # fmt: skip
_MAKE_ASSIGNS = re.compile(
    r"^(?:export\s+|override\s+)*(?P<name>[\w.-]+)\s*(?P<how>:{0,3}|\+|\?)=(?P<value>.*)$", re.MULTILINE
)
_TARGET_ASSIGNS = re.compile(r"^[^\t\n#=]*[^\s:#=]\s*::?\s*(?:private\s+)?(?P<name>\w+)\s*[:?+]?=", re.MULTILINE)
_FLAGS = re.compile(r"\w*(?:FLAGS|LIBS)")
_MAKE_REFERENCE = re.compile(r"\$(?:\(([^()]*)\)|\{([^{}]*)\}|([^\s({$]))")
_DOES_MORE = re.compile(
    r"\$[({](?:shell|eval|file|guile|call)\b|!=|^\s*(?:define|load|unexport|vpath)\b"
    r"|^[^\t\n#]*(?:\.SHELLFLAGS|\bSHELL|MAKEFILES|\.RECIPEPREFIX|MAKEFLAGS)\s*[:?+]*=",
    re.MULTILINE,
)
"""What makes a makefile do more than its recipes say, or other things."""
_MAKES_RULES = re.compile(r"\$[({](?:eval|foreach|call)\b|\$[({]\$|^\s*define\b", re.MULTILINE)
"""How rules are made of text whose variables nobody can tell by name."""
_NAMED = re.compile(r"\$[({]([\w.-]+)")
_INCLUDES = re.compile(r"^ *(?:-|s)?include\s+(?P<files>[^#\n]+)", re.MULTILINE)
_SETTING = re.compile(
    r"^(?:export|unexport|vpath|VPATH|\.(?!PHONY)[A-Z_]+\s*:"
    r"|[^\t\n#=]*[^\s:#=]\s*::?\s*(?:private\s+)?\w+\s*[:?+]?=).*$",
    re.MULTILINE,
)
"""What holds for all of a makefile, or for a target and what it depends on."""
_OWN_RULES = (
    "$(CC) $(CXX) $(CPP) $(AS) $(FC) $(AR) $(LD) $(LEX) $(YACC) $(CFLAGS) $(CXXFLAGS) $(CPPFLAGS) $(ASFLAGS) $(FFLAGS)"
    " $(ARFLAGS) $(LDFLAGS) $(LDLIBS) $(LOADLIBES) $(LFLAGS) $(YFLAGS) $(TARGET_ARCH) $(TARGET_MACH)"
)
"""What the recipes of make's own rules are put together of."""
_FEW = 2
"""Fewer names say nothing of what a target is made of."""
_NINJA_COMMAND = re.compile(r"^\s+command\s*=\s*(?P<text>.*)$", re.MULTILINE)
_NINJA_TAKES_IN = re.compile(r"^\s*(?:include|subninja)\b", re.MULTILINE)
_NINJA_ASSIGNS = re.compile(r"^\s*(?P<name>[\w.-]+)\s*(?P<how>)=(?P<value>.*)$", re.MULTILINE)
_NINJA_REFERENCE = re.compile(r"\$(?:\{([\w.-]+)\}|([\w-]+))")
_NO_PLAIN_NAME = re.compile(r"[\s:,]")
_DEEPEST = 8
_MOST = 1 << 22
_MOST_TARGETS = 20_000
_MOST_INCLUDED = 20
_PREFIXES = "@-+ \t"


class _Room:
    """What may still be filled in, in characters."""

    def __init__(self) -> None:
        self._left = _MOST

    def takes(self, text: str) -> bool:
        """Whether the text still fits."""
        self._left -= len(text)
        return self._left > 0


class _Variables:
    """Variables of a build file. Beyond 4 MiB in all, nothing more is known."""

    def __init__(self, references: re.Pattern[str], *values: Mapping[str, str], room: _Room | None = None) -> None:
        self._references = references
        self._layers = values
        self._filled: dict[str, str] = {}
        self._room = room or _Room()

    def and_also(self, values: Mapping[str, str]) -> _Variables:
        """These and others, which win, in the same room."""
        return _Variables(self._references, *self._layers, values, room=self._room)

    def fill(self, text: str, depth: int = 0) -> str:
        """Text of the build file as a shell sees it; `$$` is the shell's own `$`."""

        def value(found: re.Match[str]) -> str:
            filled = self._value(next(group for group in found.groups() if group is not None), depth)
            return filled if self._room.takes(filled) else UNKNOWN

        parts = (self._references.sub(value, part) for part in text.split("$$"))
        return "$".join(re.sub(r"\$\([^)]*\)*", UNKNOWN, part) for part in parts)  # functions around what was filled in

    def _value(self, name: str, depth: int) -> str:
        if depth >= _DEEPEST or _NO_PLAIN_NAME.search(name) or UNKNOWN[2:-1] == name:
            return UNKNOWN
        if name not in self._filled:
            value = next((layer[name] for layer in reversed(self._layers) if name in layer), "")
            self._filled[name] = self.fill(value, depth + 1)
        return self._filled[name]


class MakeText:
    """A makefile of known text. `given` are variables of the command line and the environment, which win."""

    def __init__(self, text: str, given: Mapping[str, str]) -> None:
        joined = text.replace("\\\n", " ")
        self.is_plain = _DOES_MORE.search(joined) is None
        """Whether all it does is in its recipes, so that these can be read."""
        self._variables = _Variables(_MAKE_REFERENCE, _BUILT_IN, _assigned(_MAKE_ASSIGNS, joined), given)
        makefile = read_makefile(text)
        self._rules, self._default = makefile.targets, makefile.default
        self._said = "\n".join(line for line in joined.split("\n") if not line.startswith("\t"))
        self._assigned = [(match["name"], match["value"]) for match in _MAKE_ASSIGNS.finditer(joined)]
        self._included = [match["files"] for match in _INCLUDES.finditer(joined)]

    def recipes(self) -> str:
        """The recipes of its explicit and pattern rules, each line in a shell of its own."""
        return "\n".join(f"(\n{line}\n)" for name, rule in self._rules.items() for line in self._lines(name, rule))

    def recipes_of(self, targets: Iterable[str], *, called: bool = False) -> str:
        """The recipes of these targets and of what they depend on, each line in a shell of its own; those of its first
        target where none is named. `called`: of these, and of the phony ones among what they depend on."""
        targets = tuple(targets)
        wanted = self._phony() | set(targets or (self._default,))
        reached = ((name, rule) for name, rule in self._closure(targets).items() if rule is not None)
        found = ((name, rule) for name, rule in reached if not called or name in wanted)
        return "\n".join(f"(\n{line}\n)" for name, rule in found for line in self._lines(name, rule))

    def _phony(self) -> set[str]:
        said = self._rules.get(".PHONY", MakeTarget()).prerequisites
        return {name for each in said for name in self._variables.fill(each).split()}

    def reached(self, targets: Iterable[str]) -> frozenset[str]:
        """These targets and all they depend on, as named; with `UNKNOWN` among them where not all of it is known."""
        return frozenset(self._closure(targets))

    def recipe(self, target: str) -> str:
        """What an explicit rule does to make a target; empty where none does."""
        named = ((name, rule) for names, rule in self._rules.items() for name in self._variables.fill(names).split())
        return "\n".join(line for name, rule in named if name == target for line in self._lines(name, rule))

    def made_with(self, named: re.Pattern[str]) -> Iterator[str]:
        """The targets that files are made of, with `*` for a stem, whose rule has what a pattern finds in its recipe or
        among what it depends on."""
        phony = self._phony()
        for names, rule in self._rules.items():
            before = map(self._variables.fill, rule.prerequisites)
            said = "\n".join((*self._lines(names, rule), *rule.recipe, *self._used_in(rule), *before))
            if rule.recipe and named.search(said) is not None:
                yield from (name for name in self._named(names).split() if name not in phony)

    def _used_in(self, rule: MakeTarget) -> Iterator[str]:
        """The values, as written, of the variables that a recipe uses: commands in them are run with it."""
        used: set[str] = set()
        waiting = list(rule.recipe)
        while waiting:
            new = set(_NAMED.findall(waiting.pop())) - used
            used |= new
            values = [value for name, value in self._assigned if name in new]
            waiting += values
            yield from values

    def way_of_making(self, target: str) -> tuple[frozenset[str], str, str] | None:
        """All that decides how a target is made: what it depends on, the recipes, the settings of make's own rules.
        None where not all of that can be read."""
        reached = self.reached((target,))
        recipes = self.recipes_of((target,))
        if UNKNOWN in reached or UNKNOWN in recipes or not self.is_plain or len(reached) < _FEW:
            return None
        settings = "\n".join(_SETTING.findall(self._said))
        return reached, recipes, f"{self._variables.fill(_OWN_RULES)}\n{settings}"

    def made_of(self, target: str) -> frozenset[str]:
        """As `reached`, of what a target is made anew for: what only has to be there before it makes it no newer."""
        return frozenset(self._closure((target,), order_only=False))

    def _closure(self, targets: Iterable[str], *, order_only: bool = True) -> dict[str, MakeTarget | None]:
        filled = [(name, rule) for names, rule in self._rules.items() for name in self._variables.fill(names).split()]
        rules = dict(filled)
        patterns = [(_pattern(name), rule) for name, rule in filled if "%" in name]
        waiting, found = list(targets) or [self._default], dict[str, MakeTarget | None]()
        while waiting and len(found) < _MOST_TARGETS:
            name = waiting.pop(0)
            if name in found:
                continue
            found[name] = rule = rules.get(name)
            if rule is not None:
                waiting += self._before(rule, order_only=order_only)
            if rule is None or not rule.recipe:
                fitting = ((match, each) for pattern, each in patterns if (match := pattern.fullmatch(name)))
                found_before = (
                    (m, before) for m, each in fitting for before in self._before(each, order_only=order_only)
                )
                waiting += (before.replace("%", m[1]) for m, before in found_before)
        return found

    def _before(self, rule: MakeTarget, *, order_only: bool) -> Iterator[str]:
        filled = (name for each in rule.prerequisites for name in self._filled_in(each))
        yield from (name for name in filled if name != "|") if order_only else itertools.takewhile("|".__ne__, filled)

    def _filled_in(self, name: str) -> list[str]:
        filled = self._variables.fill(name)
        return [UNKNOWN] if UNKNOWN in filled else filled.split()

    def said(self) -> str:
        """What its rules say, as written and with the variables filled in, and what is set of the variables they use:
        what only recipes use decides nothing of what is made when."""
        lines = [line for line in self._said.split("\n") if not _TARGET_ASSIGNS.match(line)]
        if _MAKES_RULES.search(self._said):
            return f"{self._said}\n{self._variables.fill(self._said)}"
        assigned = [(match["name"] if (match := _MAKE_ASSIGNS.match(line)) else None, line) for line in lines]
        said = [line for name, line in assigned if name is None]
        used: set[str] = set()
        while new := set(_NAMED.findall("\n".join(said))) - used:
            used |= new
            said += [line for name, line in assigned if name in new]
        text = "\n".join(said)
        return f"{text}\n{self._variables.fill(text)}"

    def includes(self) -> tuple[str, ...]:
        """The files it includes, as written."""
        return tuple(name for files in self._included for name in self._variables.fill(files).split())

    def with_recipes(self) -> frozenset[str]:
        """The targets its own recipes make."""
        return frozenset(self._variables.fill(name) for name, rule in self._rules.items() if rule.recipe)

    def without_recipes(self) -> frozenset[str]:
        """The targets that make's own rules may make, as patterns."""
        return frozenset(self._named(name) for name, rule in self._rules.items() if not rule.recipe)

    def _named(self, target: str) -> str:
        return self._variables.fill(target).replace("%", "*")

    def _lines(self, target: str, rule: MakeTarget) -> Iterator[str]:
        named, before = self._named(target), [self._named(name) for name in rule.prerequisites]
        automatic = {
            "@": named, "<": before[0] if before else "", "^": " ".join(before), "+": " ".join(before),
            "?": " ".join(before), "*": "*" if "*" in named else named.rpartition(".")[0],
            "@D": named.rpartition("/")[0] or ".", "@F": named.rpartition("/")[2],
        }  # fmt: skip
        here = self._variables.and_also(automatic)
        for line in rule.recipe:
            command = here.fill(line.lstrip(_PREFIXES)).strip()
            if command and not command.startswith("#"):
                yield command


def make_text(text: str, base: str, words: Sequence[str | None], facts: ProjectFacts) -> tuple[str, MakeText]:
    """A makefile with the files it includes by name, and the variables it is given on the command line."""
    given = {name: value for name, equals, value in (word.partition("=") for word in words if word) if equals}
    for name in MakeText(text, given).includes()[:_MOST_INCLUDED]:
        text += "\n" + (facts.read(posixpath.normpath(posixpath.join(base, name))) or "")
    return text, MakeText(text, given)


def _pattern(target: str) -> re.Pattern[str]:
    return re.compile("(.+)".join(map(re.escape, target.split("%", 1))))


def takes_in_unknown(text: str) -> bool:
    """Whether a makefile includes files whose names it makes up, or finds."""
    return any(re.search(r"[$*?\[]", match["files"]) for match in _INCLUDES.finditer(text.replace("\\\n", " ")))


def filled_in(text: str) -> str:
    """Text of makefiles and scripts with the variables they set filled in, quotes left out: `tests/$(KIND)ner`."""
    bare = text.replace("\\\n", " ").replace('"', "").replace("'", "")
    return _Variables(_MAKE_REFERENCE, _assigned(_MAKE_ASSIGNS, bare)).fill(bare)


def _assigned(assignments: re.Pattern[str], text: str) -> dict[str, str]:
    """The variables a text sets, those that are added to with all their pieces. One that is set to different values is
    not known: which of them counts where depends on conditions and order. Flags of compilers name nothing."""
    found: dict[str, str] = {}
    for match in assignments.finditer(text):
        name, value = match["name"], match["value"].split(" #")[0].strip()
        if match["how"] == "+" and name in found:
            found[name] = f"{found[name]} {value}"
        else:
            same = found.get(name, value) == value or _FLAGS.fullmatch(name)
            found[name] = value if same else UNKNOWN
    for match in _TARGET_ASSIGNS.finditer(text) if assignments is _MAKE_ASSIGNS else ():
        if not _FLAGS.fullmatch(match["name"]):
            found[match["name"]] = UNKNOWN
    return found


def ninja_commands(text: str) -> str | None:
    """The commands of a Ninja file's rules, each in a shell of its own; what a build statement gives is a pattern. None
    where it takes in other files."""
    if _NINJA_TAKES_IN.search(text):
        return None
    text = text.replace("$\n", " ")
    values = {**_assigned(_NINJA_ASSIGNS, text), "in": "*", "out": "*"}
    variables = _Variables(_NINJA_REFERENCE, values)
    return "\n".join(f"(\n{variables.fill(match['text'])}\n)" for match in _NINJA_COMMAND.finditer(text))
