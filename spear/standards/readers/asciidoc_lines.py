"""Lines of an AsciiDoc document: includes beneath its directory in place, conditions and comments settled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spear.standards.readers.source import Progress, beneath, lines_of, require_size

_INCLUDE = re.compile(r"include::([^\[\]\s]+)\[[^\]]*\]\s*")
_CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\[\]]*)\[(.*)\]\s*")
_ATTRIBUTE = re.compile(r":(!?)([A-Za-z0-9_][\w-]*)(!?):(?:\s+(.*))?")
_REFERENCE = re.compile(r"(?<!\\)\{([A-Za-z0-9_][\w-]*)\}")
_TEXTS = (".adoc", ".asciidoc", ".asc", ".txt", ".inc", "")
_INTRINSIC = {
    "nbsp": " ", "zwsp": "", "wj": "", "apos": "'", "quot": '"', "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
    "deg": "°", "plus": "+", "brvbar": "¦", "vbar": "|", "amp": "&", "lt": "<", "gt": ">", "startsb": "[", "endsb": "]",
    "caret": "^", "asterisk": "*", "tilde": "~", "backslash": "\\", "backtick": "`", "two-colons": "::",
    "two-semicolons": ";;",
    "times": "×", "ge": "≥", "le": "≤", "ne": "≠", "empty": "", "blank": "", "sp": " ", "cpp": "C++",
}  # fmt: skip
_MOST_DEPTH = 16
_MOST_FILES = 5000
_MOST_EXPANSION = 20_000
_MOST_VALUE = 1000


@dataclass(slots=True)
class Lines:
    """The lines of one document with where each stands. `attributes` holds what is set up to the line read last."""

    source: Path
    errors: list[str]
    progress: Progress | None = None
    attributes: dict[str, str] = field(default_factory=lambda: dict(_INTRINSIC))
    files: list[Path] = field(default_factory=list)
    """Every file that was read, as often as it was."""
    _size: int = 0
    _skipping: list[bool] = field(default_factory=list)
    """The conditions that are open, and whether each leaves out its text."""

    def read(self) -> Iterator[tuple[int, str]]:
        """(number in its file, text) of each line that is text of the document."""
        yield from self._of(self.source, ())

    def expanded(self, text: str) -> str:
        """A text with the attributes that are set in place of their names; an unknown one stands as it is."""
        if "{" not in text:
            return text
        whole = _REFERENCE.sub(lambda match: self.attributes.get(match[1].lower(), match[0]), text)
        return whole if len(whole) <= max(_MOST_EXPANSION, 2 * len(text)) else text

    def _of(self, path: Path, above: tuple[Path, ...]) -> Iterator[tuple[int, str]]:
        """The lines of a file; `above` are those that include it, each the next."""
        self.files.append(path)
        self._size += path.stat().st_size
        require_size(self._size, "asciidoc", self.source)
        commented = ""
        for number, line in enumerate(lines_of(path, None if above else self.progress, self.errors), 1):
            bare = line.rstrip()
            if commented:
                commented = "" if bare == commented else commented
            elif bare.startswith("////") and not bare.strip("/"):
                commented = bare
            elif condition := _CONDITION.fullmatch(bare):
                if (inside := self._condition(*condition.groups())) is not None and not any(self._skipping):
                    yield number, inside
            elif any(self._skipping) or (bare.startswith("//") and not bare.startswith("///")):
                continue
            elif include := _INCLUDE.fullmatch(bare):
                yield from self._include(self.expanded(include[1]), path, above)
            elif attribute := _ATTRIBUTE.fullmatch(bare):
                self._set(attribute)
                yield number, ""
            else:
                yield number, bare

    def _include(self, name: str, path: Path, above: tuple[Path, ...]) -> Iterator[tuple[int, str]]:
        """The lines of an included document; what is no text of the document (code, drawings) is left out."""
        if Path(name).suffix.lower() not in _TEXTS:
            return
        directory = path.parent.resolve()
        root = self.source.parent.resolve()
        found = (
            beneath(root, f"{directory.relative_to(root)}/{name}", ("",)) if directory.is_relative_to(root) else None
        )
        chain = (*above, path.resolve())
        if found is None:
            error = f"{path.name} includes {name}, which is no file beneath the document's directory"
        elif found in chain:
            error = f"{path.name} includes {name}, which includes it"
        elif len(chain) > _MOST_DEPTH or len(self.files) >= _MOST_FILES:
            error = f"{path.name} includes {name}: too many files, or too deep"
        else:
            yield from self._of(found, chain)
            return
        if error not in self.errors:
            self.errors.append(error)

    def _condition(self, kind: str, names: str, inside: str) -> str | None:
        """Opens or closes a condition; the text of one that stands on a line of its own."""
        if kind == "endif":
            if self._skipping:
                self._skipping.pop()
            return None
        wanted = re.split(r"[,+]", names)
        there = any(name.strip().lower() in self.attributes for name in wanted)
        skip = (kind == "ifdef" and not there) or (kind == "ifndef" and there)
        if inside and kind != "ifeval":
            return None if skip else inside
        self._skipping.append(skip)
        return None

    def _set(self, attribute: re.Match[str]) -> None:
        name = attribute[2].lower()
        if attribute[1] or attribute[3]:
            self.attributes.pop(name, None)
        elif len(self.attributes) < 10_000:
            self.attributes[name] = self.expanded(attribute[4] or "").strip()[:_MOST_VALUE]
