"""Stubs for Sphinx's roles and directives: what they hold is kept, what they would do is not done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

_TITLED = re.compile(r"(.+?)\s*<([^<>]+)>\s*", re.S)


class toctree(nodes.General, nodes.Element):
    """The place of a table of contents: `entries` are its lines, `numbered` whether it numbers what it lists."""


class crossref(nodes.Inline, nodes.TextElement):
    """A reference that Sphinx would resolve: `role`, `target`, and `titled` where it says what to show."""


def role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Mapping[str, Any] | None = None,
    content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:  # fmt: skip
    """Any role: its text, and where it points."""
    match = _TITLED.fullmatch(text)
    shown = match[1] if match else text.lstrip("~!")
    target = match[2] if match else text.lstrip("~!")
    node = crossref(rawtext, shown, role=name.lower(), target=" ".join(target.lower().split()), titled=bool(match))
    return [node], []


class _AnyOption(dict[str, Any]):
    """Any option is taken, and its text kept."""

    def __missing__(self, key: str) -> Any:
        return directives.unchanged

    def __bool__(self) -> bool:
        return True


class _Stub(Directive):
    optional_arguments: ClassVar[int] = 100
    final_argument_whitespace: ClassVar[bool] = True
    has_content: ClassVar[bool] = True

    option_spec: ClassVar[Any] = _AnyOption()


class Body(_Stub):
    """A directive whose content is text like any other; its argument stands before it."""

    def run(self) -> list[nodes.Node]:
        """The content, parsed."""
        node = nodes.container(classes=[self.name.replace(":", "-")])
        node.line = self.lineno
        argument = " ".join(self.arguments).strip()
        if argument and ":" in self.name:  # an object's signature, of a domain
            node += nodes.literal_block(argument, argument)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node] if node.children else []


class Literal(_Stub):
    """A directive whose content is kept as it stands."""

    def run(self) -> list[nodes.Node]:
        """The content, perhaps with a caption, as one block."""
        text = "\n".join(self.content)
        block = nodes.literal_block(text, text)
        block.line = self.content_offset + 1
        name = str(self.options.get("name", "")).strip().lower()
        if name:
            block["names"].append(name)
            self.state.document.note_explicit_target(block, block)
        block["caption"] = " ".join(str(self.options.get("caption", "")).split())
        return [block] if text or block["caption"] else []


class Silent(_Stub):
    """A directive that says nothing to a reader."""

    def run(self) -> list[nodes.Node]:
        """Nothing."""
        return []


class Toctree(_Stub):
    """Where other files are read."""

    def run(self) -> list[nodes.Node]:
        """A mark of the place."""
        return [toctree(entries=list(self.content), numbered="numbered" in self.options)]
