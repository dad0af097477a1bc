"""What stands around a check and can let something else pass for it: PATH, aliases, variables, a place (spec 3.3).

A pass under any of these shows nothing; a failure still counts. What is read is what the session had exported and what
the script itself says. A program changed inside an installed environment cannot be told this way.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from spear.evidence.checks.candidates import CheckCandidate
from spear.evidence.checks.programs import SHELLS
from spear.evidence.diverting import (
    is_set_at_home,
    is_told_otherwise,
    made_idle,
    replaces_code,
    shadows_runner,
    stands_for_a_command,
)
from spear.evidence.facts import Makefile, ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind
from spear.evidence.names import names
from spear.evidence.tree import Enclosing, Leaf, leaves
from spear.shell.syntax import Compound, CompoundKind, Environment, Script, Simple

_SCRATCH = ("/tmp", "/var/tmp", "/dev", "/proc", "/run", "/home/sandbox")  # noqa: S108 - as commands see them
HOME = "/home/sandbox"
"""The home directory of commands, as they see it."""

_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\}|/home/sandbox)(?:/|$)")
_TOOL_DIRECTORIES = names("node_modules vendor .venv venv env .tox .nox .direnv")
_EXPORTING = names("export declare typeset readonly local")
_SETS = _EXPORTING | names("read mapfile readarray printf eval getopts")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a command started from: the directory (workspace-relative, absolute outside), the exported variables, and
    the directory it ended in, None where it is not known. `unsure` are variables that commands around it may have set.
    """

    start: str = ""
    environment: Mapping[str, str] | None = None
    ended: str | None = None
    unsure: frozenset[str] = frozenset()

    def variables(self) -> Environment:
        """All that a script which is started now may find set."""
        known: dict[str, str | None] = {**(self.environment or {}), **dict.fromkeys(self.unsure)}
        return tuple(sorted(known.items()))

    def around(self, script: Script) -> Setting:
        """The setting of what a script starts."""
        assigned = {name for leaf in leaves(script) for name, _ in leaf.simple.assignments}
        told = (
            word.value or "" for leaf in leaves(script) if leaf.simple.name in _SETS for word in leaf.simple.argv[1:]
        )
        return replace(self, unsure=self.unsure | assigned | {word.partition("=")[0] for word in told})


def doubt(script: Script, candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> CheckCode | None:
    """Why a pass of this check says nothing of the workspace, None where it does."""
    around = list(leaves(script))
    if _is_elsewhere(candidate, facts, setting, around) or _reads_elsewhere(candidate, facts):
        return CheckCode.ELSEWHERE
    if any(facts.leads_out(path) for path in _places(candidate, facts, setting)):
        return CheckCode.ELSEWHERE
    if CheckKind.TEST in candidate.kinds and _leaves_tests_out(candidate, around, setting):
        return CheckCode.TESTS_SKIPPED_BY_FLAG
    tool = candidate.simple.name or ""
    stands_in = (
        is_given_another(script, candidate, facts, setting)
        or any(_renames(leaf.simple, tool, facts, setting) for leaf in around)
        or any(_answers_for_all(node) for node in script.statements)
        or any(
            _diverts(name, value, tool, facts, setting, around)
            for name, value in _variables(candidate, around, setting)
        )
    )
    return CheckCode.NOT_ITSELF if stands_in else None


# --- where ------------------------------------------------------------------------------------------------------------


def _is_elsewhere(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting, around: list[Leaf]) -> bool:
    where = _directory(candidate, facts, setting, around)
    if where is None or facts.place(where, "") is not None or facts.other_root(where) is not None or not facts.root:
        return False
    if candidate.finding.paths or candidate.simple.name in ("cmake", "ctest", "meson"):
        return False
    configured = any(_configures(leaf.simple, where, facts, setting) for leaf in around)
    return not (configured or facts.builds_here(where) or _built_from(where, facts))


def other_root(script: Script, candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> str:
    """The shown name of the other root a check works in, "" for the primary one."""
    if not facts.other_roots:
        return ""
    where = _directory(candidate, facts, setting, list(leaves(script)))
    if where is None and candidate.finding.cwd is not None:
        where = posixpath.normpath(posixpath.join(facts.root, candidate.finding.cwd))
    return "" if where is None else facts.other_root(where) or _built_from(where, facts)


def _built_from(directory: str, facts: ProjectFacts) -> str:
    """The shown name of the other root that a build directory outside of it was set up from, "" for none."""
    roots = sorted(set(facts.other_roots.values()))
    return next((root for root in roots if (there := facts.elsewhere(root)) and there.builds_here(directory)), "")


def _places(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> set[str]:
    """The places of the workspace a check works in and is decided by."""
    finding = candidate.finding
    where = facts.place(candidate.simple.cwd or ".", setting.start)
    found = {finding.cwd or "", where or "", *finding.paths, *finding.decided_by}
    return {path for path in found if path and not path.startswith("/")}


def _directory(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting, around: list[Leaf]) -> str | None:
    """The absolute directory a check works in; None when it cannot be known, or is known to be the workspace's."""
    if candidate.finding.cwd is not None and not candidate.finding.cwd.startswith("/"):
        return None
    cwd = candidate.simple.cwd
    if cwd is None:
        inside = next((leaf.inside for leaf in around if leaf.path == candidate.path), ())
        return setting.ended if not any(kind is Enclosing.HANDED_ON for kind, _ in inside) else None
    where = posixpath.normpath(posixpath.join(facts.root, setting.start, cwd))
    if facts.place(where, "") is None:
        return where
    moved = _told_directory([word.value or "" for word in candidate.simple.argv[1:]])
    return None if not moved else posixpath.normpath(posixpath.join(where, moved))


_DIRECTORIES = ("-C", "--directory", "--prefix", "--test-dir", "--build", "--cwd", "--project-dir", "--manifest-path")


def _told_directory(words: list[str]) -> str:
    """The directory a tool is told to work in, "" for none: `make -C lib`, `ctest --test-dir=lib/build`."""
    for word, following in pairwise([*words, ""]):
        name, given, value = word.partition("=")
        if name in _DIRECTORIES:
            told = value if given else following
            return posixpath.dirname(told) if name == "--manifest-path" else told
        if word.startswith("-C") and not word.startswith("--"):
            return word[2:]
    return ""


def _configures(simple: Simple, where: str, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether this sets up that build directory from the workspace: `cmake ..`, `meson setup`, `../configure`."""
    if simple.name not in ("cmake", "meson", "configure", "qmake") or not simple.argv:
        return False
    base = posixpath.join(facts.root, setting.start, simple.cwd or "")
    named = [posixpath.normpath(posixpath.join(base, word.value)) for word in simple.argv if word.value]
    return posixpath.normpath(base) in (where, facts.root) and any(facts.place(path, "") is not None for path in named)


_FILES = names(
    "-f --file --makefile -c --config --config-file --rootdir --rootDir --confcutdir --manifest-path --noxfile"
)
_FILES_OF = names("make gmake pytest py.test tox nox jest vitest mocha cargo unittest python python3")


def _reads_elsewhere(candidate: CheckCandidate, facts: ProjectFacts) -> bool:
    """Whether what decides is a file of the scratch directories: `make -f /tmp/x`, `pytest /tmp/test_x.py`."""
    if candidate.simple.name not in _FILES_OF or not candidate.kinds & {CheckKind.TEST, CheckKind.BUILD}:
        return False
    previous = ""
    for word in candidate.simple.argv[1:]:
        name, _, value = (word.value or "").partition("=")
        given = value if name in _FILES else (word.value or "")
        named = name in _FILES or previous in _FILES or not previous.startswith("-")
        if previous in _FILES and (word.value is None or given == "-"):
            return True  # what it reads, nobody can
        if named and not given.startswith("-") and is_scratch(given, facts):
            return True
        previous = word.value or ""
    return False


def is_scratch(path: str, facts: ProjectFacts) -> bool:
    """Whether an absolute path lies where anything may be put without a trace in the workspace."""
    path = posixpath.normpath(path)
    if not path.startswith("/") or facts.shown(path) is not None:
        return False
    return any(path == place or path.startswith(f"{place}/") for place in _SCRATCH)


def is_scratch_itself(path: str) -> bool:
    """Whether a path is one of the scratch directories, which everybody works in."""
    return path in _SCRATCH


# --- under which name -------------------------------------------------------------------------------------------------


def _renames(simple: Simple, tool: str, facts: ProjectFacts, setting: Setting) -> bool:
    words = [word.value for word in simple.argv[1:]]
    match simple.name:
        case "alias":
            return any(word is None or word.partition("=")[0] == tool for word in words)
        case "hash":
            return "-p" in words and tool in words
        case None:
            return _is_computed(simple)
        case "eval":
            return _is_unread(simple) and not _prints_settings(simple)
        case "enable":
            return bool({"-f", tool} & set(words))
        case "source" | ".":
            place = posixpath.join(facts.root, setting.start, simple.cwd or "", words[0]) if words and words[0] else ""
            if words and "/" not in (words[0] or "/") and not facts.exists(facts.place(place, "") or ""):
                return True  # looked up on the PATH
            if place and _holds_tools(posixpath.dirname(place), facts, setting):
                return False
            return not place or is_scratch(place, facts) or facts.made_here(facts.place(place, "") or "")
        case name if name in SHELLS:
            return simple.nested is not None and _reads_startup_file(simple, facts, setting)
        case _:
            return False


def _is_computed(simple: Simple) -> bool:
    """Whether the command word is what another command prints, so that it may be `eval` or `alias` too."""
    inner = [leaf.simple.name for script in simple.substitutions for leaf in leaves(script)]
    return (
        bool(simple.argv)
        and ("$(" in simple.argv[0].raw or "`" in simple.argv[0].raw)
        and not (
            set(inner) <= {"which", "command", "type", "pwd", "dirname", "basename", "realpath", "readlink", "git"}
        )
    )


def _is_unread(simple: Simple) -> bool:
    """Whether a command that hands on a script hands on one, or a part of one, that cannot be read."""
    inner = leaves(simple.nested) if simple.nested is not None else ()
    return simple.nested is None or any(leaf.simple.argv and leaf.simple.argv[0].value is None for leaf in inner)


_STARTUP: Mapping[str, tuple[str, ...]] = {
    "l": (".bash_profile", ".bash_login", ".profile", ".zprofile", ".zlogin", ".kshrc"),
    "i": (".bashrc", ".zshrc", ".kshrc", ".config/fish/config.fish"),
}


def _reads_startup_file(shell: Simple, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a shell first reads a file that a command can have put there: `bash --rcfile x -ic`, `bash -lc`."""
    words = [word.value or "" for word in shell.argv[1:]]
    if any(word in ("--rcfile", "--init-file") for word in words):
        return True
    flags = {letter for word in words if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]}
    flags |= {"l"} if "--login" in words else set()
    told = {name for name, _ in shell.assignments} | set(setting.environment or {})
    if "i" in flags and "ENV" in told:
        return True
    return facts.at_home(".zshenv") or any(facts.at_home(name) for flag in flags for name in _STARTUP.get(flag, ()))


_PRINTS_SETTINGS = names(
    "opam pyenv rbenv nodenv goenv jenv plenv direnv conda mamba micromamba pixi brew fnm mise rtx asdf ssh-agent"
    " gpg-agent luarocks dircolors dbus-launch poetry hatch pdm nix guix spack module modulecmd docker-machine minikube"
    " starship zoxide keychain register-python-argcomplete tset resize cargo go rustup"
)
"""Tools whose output shells are told to evaluate."""


def _prints_settings(simple: Simple) -> bool:
    """Whether what is evaluated is what tools say of their own setting: `eval "$(opam env)"`. Of any other text nobody
    can say what it defines."""
    inner = [leaf.simple for script in simple.substitutions for leaf in leaves(script)]
    unknown = [word for word in simple.argv[1:] if word.value is None]
    read = sum(word.raw.count("$(") + word.raw.count("`") // 2 for word in unknown)
    bare = any(re.search(r"\$(?!\()", word.raw) for word in unknown)
    return bool(inner) and not bare and read == len(inner) and all(part.name in _PRINTS_SETTINGS for part in inner)


def _answers_for_all(node: object) -> bool:
    """A handler that gives any unknown command its status."""
    return isinstance(node, Compound) and node.kind is CompoundKind.FUNCTION and node.name == "command_not_found_handle"


# --- by its own words -----------------------------------------------------------------------------------------------


_SKIPS = re.compile(
    r"(?:\w+_)?(?:SKIP|NO|DISABLE|WITHOUT)_?(?:UNIT_?|ALL_?)?TESTS?|TESTS?_(?:SKIP|DISABLED)", re.IGNORECASE
)
_OFF = frozenset({"", "0", "no", "off", "false", "n"})


def _leaves_tests_out(candidate: CheckCandidate, around: list[Leaf], setting: Setting) -> bool:
    """`SKIP_TESTS=1 make test`, `make test SKIP_TESTS=1`: the project's own way to leave its tests out."""
    given = (word.value.partition("=")[::2] for word in candidate.simple.argv[1:] if word.value and "=" in word.value)
    said = (*_variables(candidate, around, setting), *given)
    return any(_SKIPS.fullmatch(name) is not None and value.lower() not in _OFF for name, value in said)


def is_given_another(script: Script, candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether its own words, a variable its makefile runs, a module or a setting give the tool another program."""
    around = list(leaves(script))
    tool, cwd = candidate.finding.tool, candidate.finding.cwd
    words = [word.value for word in candidate.simple.argv[1:]]

    def strange(path: str) -> bool:
        named = "" if cwd is None else facts.shown(posixpath.join(facts.root, cwd, path))
        return is_scratch(path, facts) or facts.made_here(named or facts.place(path, cwd) or "")

    said = list(_variables(candidate, around, setting))
    entries = [entry for name, value in said if name == "PYTHONPATH" for entry in value.split(":")]
    said_to = {tool, candidate.simple.name or ""}
    if any(is_told_otherwise(name, words, strange) for name in said_to) or shadows_runner(tool, cwd, facts, entries):
        return True
    if is_set_at_home(tool, facts, HOME) or _without_assertions(candidate, words):
        return True
    if any(name == "PYTEST_ADDOPTS" and is_told_otherwise("pytest", value.split(), strange) for name, value in said):
        return True
    if tool != "make":
        return False
    makefile = facts.makefiles.get(cwd, Makefile()) if cwd is not None else Makefile()
    given = [
        (name, value)
        for word in words
        if word and (name := word.partition("=")[0]) and (value := word.partition("=")[2])
    ]
    return any(
        stands_for_a_command(makefile, name, value, strange) or replaces_code(name, value) or name == ".SHELLFLAGS"
        for name, value in (*said, *given)
    )


def found_variables(script: Script, candidate: CheckCandidate, setting: Setting) -> tuple[tuple[str, str], ...]:
    """Every variable a check may see, with its value as exported or as written."""
    return tuple(_variables(candidate, list(leaves(script)), setting))


def sourced(script: Script) -> tuple[str, ...]:
    """What a script reads into its own shell, by name: `. .venv/bin/activate`."""
    told = (
        leaf.simple.argv[1].value
        for leaf in leaves(script)
        if leaf.simple.name in (".", "source") and len(leaf.simple.argv) > 1
    )
    return tuple(word for word in told if word)


_NARROWS = re.compile(r"(?:^|\s)(?:-k|-m|--deselect|--ignore(?:-glob)?|--lf|--ff|--last-failed|-run|--run)\b|::")
_TELLS_TESTS = names("PYTEST_ADDOPTS GOFLAGS TESTS CTEST_OPTIONS TESTSUITEFLAGS")


def leaves_some_out(script: Script, candidate: CheckCandidate, setting: Setting) -> bool:
    """Whether a variable picks some of the tests there are: `PYTEST_ADDOPTS='-k fast'`, `make check TESTS=a`."""
    words = (word.value.partition("=")[::2] for word in candidate.simple.argv[1:] if word.value and "=" in word.value)
    said = (*found_variables(script, candidate, setting), *words)
    return any(name == "TESTS" or _NARROWS.search(value) for name, value in said if name in _TELLS_TESTS and value)


def _without_assertions(candidate: CheckCandidate, words: list[str | None]) -> bool:
    """`python -O` runs tests whose assertions are left out."""
    is_python = (candidate.simple.name or "").startswith(("python", "pypy"))
    first = next((index for index, word in enumerate(words) if word is None or not word.startswith("-")), len(words))
    return is_python and any(word is not None and re.fullmatch(r"-O+", word) for word in words[:first])


# --- with which variables ---------------------------------------------------------------------------------------------


def _variables(candidate: CheckCandidate, around: list[Leaf], setting: Setting) -> Iterator[tuple[str, str]]:
    """Every variable the check may see, as exported or as written (unexpanded)."""
    yield from (setting.environment or {}).items()
    for leaf in around:
        enclosing = candidate.path[: len(leaf.path)] == leaf.path
        if enclosing or not leaf.simple.argv or leaf.simple.name in _EXPORTING:
            yield from assigned(leaf.simple)


def assigned(simple: Simple) -> Iterator[tuple[str, str]]:
    """What a command sets, as written."""
    for name, word in simple.assignments:
        if word is not None:
            raw = word.value if word.value is not None else word.raw
            yield name, raw.replace('"', "").replace("'", "").removeprefix(f"{name}=")


_CODE_PATHS = names(
    "PYTHONPATH PYTHONUSERBASE PYTHONHOME PERL5LIB RUBYLIB NODE_PATH CLASSPATH GOPATH CARGO_HOME LD_LIBRARY_PATH"
    " COMPILER_PATH LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH CPATH"
)
_LOADS = re.compile(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b")
_ALWAYS = re.compile(
    r"LD_PRELOAD|LD_AUDIT|BASH_ENV|BASH_FUNC_.*|PYTEST_PLUGINS|PYTHONOPTIMIZE|TOX_OVERRIDE|PERL5OPT|RUBYOPT|MAKEFILES|CARGO_TARGET_\w+_RUNNER|npm_config_(?:script_shell|ignore_scripts|dry_run)",
    re.IGNORECASE,
)


def _diverts(name: str, value: str, tool: str, facts: ProjectFacts, setting: Setting, around: list[Leaf]) -> bool:
    """Whether a variable of this value can make the tool another, or keep it from its work."""
    if not value:
        return False
    if name == "PATH":
        return _leads_away(value, tool, facts, setting, around)
    if name in _CODE_PATHS:
        return any(is_scratch(entry, facts) or _holds_own_headers(name, entry, facts) for entry in value.split(":"))
    if name == "NODE_OPTIONS":
        return _LOADS.search(value) is not None
    if name in ("MAKEFLAGS", "GNUMAKEFLAGS"):
        return tool in ("make", "gmake") and any(
            set(flag.lstrip("-")) & set("nqti") for flag in value.split() if "=" not in flag and flag[:2] != "--"
        )
    return made_idle(name, value) or replaces_code(name, value) or _ALWAYS.fullmatch(name) is not None


def _holds_own_headers(name: str, entry: str, facts: ProjectFacts) -> bool:
    """Whether a directory that compilers are pointed to by a variable holds what this turn wrote."""
    place = facts.place(entry, "") if name.endswith(("INCLUDE_PATH", "CPATH", "COMPILER_PATH")) and entry else None
    return place is not None and facts.made_matching(posixpath.join(place, "*"))


_RUN_BY_BUILDS = names("cc gcc c++ g++ clang clang++ ld as ar sh bash env test cmp diff grep")
"""What builds and tests run without naming where it lies."""


def _leads_away(path: str, tool: str, facts: ProjectFacts, setting: Setting, around: list[Leaf]) -> bool:
    """Whether a PATH looks first where a command can have put a program of any name."""
    entries = path.split(":")
    own = next((i for i, entry in enumerate(entries) if entry in ("$PATH", "${PATH}")), len(entries))
    for entry in entries[:own]:
        if (home := _HOME.match(entry)) is not None:
            below = entry[home.end() :]
            found = any(facts.at_home(posixpath.join(below, name)) for name in (tool, *_RUN_BY_BUILDS))
            if "$" in below or found or _touches_home(around):
                return True
        elif entry not in facts.usual_path and not _holds_tools(entry, facts, setting):
            return True
    return any(not entry or is_scratch(entry, facts) for entry in entries[own + 1 :])


def _touches_home(around: list[Leaf]) -> bool:
    """Whether the script itself works on the home directory, where it may have put a program and removed it."""
    words = (word for leaf in around if leaf.simple.name not in _EXPORTING for word in leaf.simple.argv)
    return any(_HOME.match(word.raw.strip("\"'")) for word in words)


def _holds_tools(entry: str, facts: ProjectFacts, setting: Setting) -> bool:
    entry = entry.replace("${PWD}", ".").replace("$PWD", ".").replace("$(pwd)", ".")
    if not entry or "$" in entry or "`" in entry or entry.startswith("~"):
        return False
    place = facts.place(entry, None if setting.start.startswith("/") else setting.start)
    if place is None:
        return entry.startswith("/") and not is_scratch(entry, facts)
    return bool(set(place.split("/")) & _TOOL_DIRECTORIES) or facts.exists(
        posixpath.join(posixpath.dirname(place), "pyvenv.cfg")
    )
