"""Which way a file is cut, by the suffix of its name."""

from __future__ import annotations

from pathlib import PurePosixPath

from spear.retrieval.chunking.grammars import Grammars
from spear.retrieval.chunking.passages import Lines, Passage, cut
from spear.retrieval.chunking.python import python_definitions
from spear.retrieval.chunking.sections import markdown_sections, rst_sections

_LANGUAGES = {
    ".c": "c", ".h": "cpp",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".ino": "cpp",
    ".go": "go", ".java": "java", ".rs": "rust",
    ".js": "javascript", ".cjs": "javascript", ".mjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".cts": "typescript", ".mts": "typescript", ".tsx": "tsx",
}  # fmt: skip


class Cutter:
    """Cuts files into passages. Keeps loaded grammars; not for use by two threads."""

    def __init__(self) -> None:
        self.grammars = Grammars()

    def cut(self, path: str, text: str) -> tuple[Passage, ...]:
        """The passages of a file, in order. Any text will do, whatever the name promises."""
        lines = Lines(text)
        suffix = PurePosixPath(path).suffix.lower()
        match suffix:
            case ".py" | ".pyi" | ".pyw":
                return cut(lines, python_definitions(lines))
            case ".md" | ".markdown" | ".mdx":
                return cut(lines, markdown_sections(lines))
            case ".rst":
                return cut(lines, rst_sections(lines))
            case _ if suffix in _LANGUAGES:
                return cut(lines, self.grammars.definitions(_LANGUAGES[suffix], lines))
            case _:
                return cut(lines, ())
