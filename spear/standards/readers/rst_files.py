"""reStructuredText files parsed by docutils: no file but those beneath the document's directory is ever opened, and no
raw markup passes. Sphinx's roles and directives are stubs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.errors import UsageError
from spear.standards.readers.source import beneath, lines_of, require_size

if TYPE_CHECKING:
    from docutils import nodes

SUFFIXES = (".rst", ".txt", ".rest", "")
_ROLE = re.compile(r":([A-Za-z][\w:.+-]{0,60}):`|`:([A-Za-z][\w:.+-]{0,60}):")
_DIRECTIVE = re.compile(r"^\s*\.\.\s+(?:\|[^|\n]+\|\s+)?([A-Za-z][\w:.+-]{0,60})::", re.M)
_USED = re.compile(r"\|(?![\s|])([^|\n`*]{1,60}?)(?<!\s)\|")
_DEFINED = re.compile(r"^\s*\.\.\s+\|([^|\n]+)\|\s+\w+::", re.M)
_LITERAL = frozenset(
    [
        "code-block",
        "sourcecode",
        "literalinclude",
        "productionlist",
        "parsed-literal",
        "graphviz",
        "digraph",
        "graph",
        "tikz",
        "wavedrom",
        "uml",
        "plantuml",
        "mermaid",
        "prompt",
        "highlight",
        "doctest",
        "testcode",
        "testsetup",
        "testoutput",
    ]
)
_SILENT = frozenset(
    [
        "tabularcolumns",
        "index",
        "default-role",
        "role",
        "raw",
        "meta",
        "image-map",
        "highlightlang",
        "currentmodule",
        "module",
    ]
)
_OWN_ROLES = frozenset(("raw", "code", "math"))
_MOST_LINE = 10_000
_MOST_DEPTH = 10
_PROLOG = "rst_prolog"


class Files:
    """The files of one document: its directory bounds what they include, and their sizes together are bounded."""

    def __init__(self, source: Path, errors: list[str]) -> None:
        self.root = source.parent
        self.errors = errors
        self.read: list[Path] = []
        self._size = 0
        self._prolog = self._prolog_of(source.parent)

    def parse(self, path: Path) -> nodes.document:
        """The tree of one file, with what it includes in place."""
        from docutils.core import publish_doctree

        text = self._included("\n".join(self._lines(path)), path, ())
        text = "\n\n".join((text, self._prolog, *self._undefined(f"{text}\n{self._prolog}")))
        _register(text)
        return publish_doctree(text, source_path=str(path), settings_overrides=_SETTINGS)

    def named(self, name: str, path: Path) -> Path | None:
        """The file that a toctree in `path` names; None, and an error told, for one not beneath the directory."""
        base = "" if name.startswith("/") else f"{path.parent.resolve().relative_to(self.root.resolve())}/"
        found = beneath(self.root, f"{base}{name.lstrip('/')}", SUFFIXES)
        if found is None:
            self._tell(f"{path.name} names {name}, which is no file beneath the document's directory")
        return found

    def _tell(self, error: str) -> None:
        if error not in self.errors:
            self.errors.append(error)

    def _lines(self, path: Path) -> list[str]:
        self.read.append(path)
        self._size += path.stat().st_size
        require_size(self._size, "rst", path)
        lines = list(lines_of(path, errors=self.errors))
        if any(len(line) > _MOST_LINE for line in lines):
            raise UsageError(f"{path} has a line of more than {_MOST_LINE} characters", hint="break its lines first")
        return lines

    def _included(self, text: str, path: Path, above: tuple[Path, ...]) -> str:
        """A text with the files that its include directives name in their place, indented as they are; `above` are
        those that include it."""
        if len(above) >= _MOST_DEPTH or ".. include::" not in text:
            return text
        return re.sub(
            r"^([ \t]*)\.\. include::[ \t]*(\S.*)$((?:\n\1[ \t]+:\w.*)*)",
            lambda match: self._include(match, path, above), text, flags=re.M,
        )  # fmt: skip

    def _include(self, match: re.Match[str], path: Path, above: tuple[Path, ...]) -> str:
        if match[2].startswith("<") or (found := self.named(match[2].strip(), path)) is None:
            return ""
        chain = (*above, path.resolve())
        if found in chain:
            self._tell(f"{path.name} includes {match[2].strip()}, which includes it")
            return ""
        inner = self._included("\n".join(self._lines(found)), found, chain)
        options = match[3]
        if ":literal:" in options or ":code:" in options:
            return f"{match[1]}::\n\n" + "\n".join(f"{match[1]}   {line}" for line in inner.splitlines())
        return "\n".join(f"{match[1]}{line}" if line else "" for line in inner.splitlines())

    def _prolog_of(self, directory: Path) -> str:
        """What Sphinx puts before every file: a file of that name, or the text in a conf.py, which is never run."""
        parts: list[str] = []
        own = beneath(directory, _PROLOG, ("", ".rst", ".txt", ".inc"))
        if own is not None:
            parts.extend(self._lines(own))
        conf = beneath(directory, "conf.py", ("",))
        if conf is not None:
            parts.extend(_settings_in("\n".join(self._lines(conf))))
        return "\n".join(parts)

    def _undefined(self, text: str) -> Iterator[str]:
        """Definitions of the substitutions that nothing defines: each stands for its own name."""
        defined = {" ".join(name.split()).lower() for name in _DEFINED.findall(text)}
        for name in sorted(set(_USED.findall(text))):
            if " ".join(name.split()).lower() not in defined and re.fullmatch(r"[\w.+ -]+", name):
                yield f".. |{name}| replace:: {name}"


def _settings_in(text: str) -> Iterator[str]:
    """The prolog, and the version and release as substitutions, as far as they are written out in a conf.py."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(node.value, ast.Constant)
            or not isinstance(node.value.value, str)
        ):
            continue
        for target in node.targets:
            if not isinstance(target, ast.Name):
                continue
            if target.id in {"rst_prolog", "rst_epilog"}:
                yield node.value.value
            elif target.id in {"version", "release"} and node.value.value.strip():
                yield f"\n.. |{target.id}| replace:: {node.value.value.strip()}\n"


_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "docinfo_xform": False,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "input_encoding": "unicode",
    "warning_stream": False,
}


def _register(text: str) -> None:
    """Stubs for the roles and directives that a text uses and docutils does not know."""
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    from spear.standards.readers import rst_stubs

    register: Any = roles.register_local_role
    for name in {first or second for first, second in _ROLE.findall(text)}:
        if name.lower() not in en.roles and name.lower() not in _OWN_ROLES:
            register(name, rst_stubs.role)
    for name in set(_DIRECTIVE.findall(text)) | {"toctree"}:
        if name in _LITERAL:
            directives.register_directive(name, rst_stubs.Literal)
        elif name in _SILENT:
            directives.register_directive(name, rst_stubs.Silent)
        elif name == "toctree":
            directives.register_directive(name, rst_stubs.Toctree)
        elif name.lower() not in en.directives:
            directives.register_directive(name, rst_stubs.Body)


def entries_of(lines: Iterable[str]) -> Iterator[str]:
    """The names that a toctree lists: "name" and "Title <name>", no addresses."""
    for line in lines:
        text = line.strip()
        if match := re.fullmatch(r".*<([^<>]+)>", text):
            text = match[1]
        if text and not text.startswith(":") and "://" not in text and text != "self":
            yield text
