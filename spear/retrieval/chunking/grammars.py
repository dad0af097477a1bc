"""Definitions of C, C++, Rust, Go, Java, JavaScript and TypeScript, by their tree-sitter grammars where installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from spear.retrieval.chunking.passages import Definition, Lines

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_GRAMMARS = {
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}

_CONTAINERS = frozenset(
    {
        "class_specifier", "struct_specifier", "union_specifier", "namespace_definition",
        "class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration",
        "record_declaration", "annotation_type_declaration", "internal_module", "module",
        "impl_item", "trait_item", "mod_item",
    }
)  # fmt: skip

_DEFINITIONS = frozenset(
    {
        "function_definition", "type_definition", "enum_specifier", "preproc_function_def", "concept_definition",
        "function_declaration", "method_declaration", "type_declaration", "generator_function_declaration",
        "constructor_declaration", "compact_constructor_declaration", "method_definition", "type_alias_declaration",
        "function_item", "struct_item", "enum_item", "union_item", "macro_definition", "type_item",
    }
)  # fmt: skip

_STARTS_ITS_CHILD = frozenset(
    {
        "export_statement", "template_declaration", "expression_statement", "lexical_declaration",
        "variable_declaration", "ambient_declaration", "declaration", "field_declaration",
    }
)  # fmt: skip

_TRANSPARENT = _STARTS_ITS_CHILD | {
    "linkage_specification", "declaration_list", "field_declaration_list", "class_body", "interface_body", "enum_body",
    "enum_body_declarations", "statement_block", "ERROR",
    "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef",
}  # fmt: skip

_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
_ABOVE = ("//", "/*", "*", "@", "#[")
_DEEPEST = 24


class Grammars:
    """The parsers of this installation, each loaded when a file first asks for it."""

    def __init__(self) -> None:
        self._parsers: dict[str, Parser | None] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """Languages that were met and have no grammar here; their files are cut by lines."""
        return tuple(sorted(name for name, parser in self._parsers.items() if parser is None))

    def definitions(self, language: str, lines: Lines) -> tuple[Definition, ...]:
        """What a source defines; nothing when the grammar of `language` (a key of the table above) is missing."""
        if language not in self._parsers:
            self._parsers[language] = _load(language)
        parser = self._parsers[language]
        if parser is None:
            return ()
        tree = parser.parse(lines.text.encode("utf-8", "replace"))
        return tuple(_with_comment(lines, definition) for definition in _visit(tree.root_node, "", _DEEPEST))


def _load(language: str) -> Parser | None:
    module, function = _GRAMMARS[language]
    try:
        from tree_sitter import Language, Parser

        grammar: Callable[[], object] = getattr(importlib.import_module(module), function)
        return Parser(Language(grammar()))
    except (ImportError, AttributeError, ValueError):  # not installed, or of an ABI this tree-sitter does not read
        return None


def _visit(node: Node, holder: str, depth: int, start: int | None = None) -> Iterator[Definition]:
    """The definitions beneath a node, in order. `start` is the row of a wrapper that belongs to its child."""
    for child in node.named_children:
        kind = child.type
        row = child.start_point[0] if start is None else start
        body = child.child_by_field_name("body") if kind in _CONTAINERS else None
        if body is not None:
            title = _title(holder, child)
            yield _definition(child, row, title, tuple(_visit(body, title, depth - 1)) if depth else ())
        elif kind in _DEFINITIONS or _is_function(child):
            yield _definition(child, row, _title(holder, child))
        elif kind in _TRANSPARENT and depth:
            yield from _visit(child, holder, depth - 1, row if kind in _STARTS_ITS_CHILD else None)


def _definition(node: Node, row: int, title: str, inner: tuple[Definition, ...] = ()) -> Definition:
    end = node.end_point
    last = end[0] if end[1] == 0 and end[0] > row else end[0] + 1
    return Definition(row + 1, last, title, inner)


def _title(holder: str, node: Node) -> str:
    name = _name(node)
    return f"{holder}.{name}" if holder and name else holder or name


def _name(node: Node) -> str:
    """The name a definition gives: its own field, the innermost declarator, the type an implementation is for."""
    here: Node = node
    for _ in range(_DEEPEST):
        if here.type == "qualified_identifier":
            return _words(here)
        named = here.child_by_field_name("name") or here.child_by_field_name("left")
        if named is None and here.type == "impl_item":
            named = here.child_by_field_name("type")
        inner = here.child_by_field_name("declarator")
        if named is not None or inner is None:
            return _words(named or (here if here is not node else _specified(node)))
        here = inner
    return ""


def _specified(node: Node) -> Node | None:
    """The name of a Go type declaration, which lies one level down."""
    names = (child.child_by_field_name("name") for child in node.named_children)
    return next((name for name in names if name is not None), None)


def _words(node: Node | None) -> str:
    return " ".join((node.text or b"").decode("utf-8", "replace").split())[:120] if node else ""


def _is_function(node: Node) -> bool:
    """Whether a variable or an assigned name is a function by its value."""
    if node.type not in ("variable_declarator", "assignment_expression"):
        return False
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    return value is not None and value.type in _FUNCTION_VALUES


def _with_comment(lines: Lines, definition: Definition) -> Definition:
    """The definition with the comment and attributes that stand right above it, its inner ones too."""
    first = definition.first
    while first > 1 and lines.rows[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    inner = tuple(_with_comment(lines, each) for each in definition.inner)
    return Definition(first, definition.last, definition.title, inner)
