"""HTML as text a model reads well: headings, lists, tables, code and links keep their shape, the rest is plain.

The tree is walked without recursion: how deep it is is the page's choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN = frozenset(
    {"script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "canvas", "audio", "video",
     "select", "datalist", "-comment", "!doctype"}
)  # fmt: skip
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
     "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
     "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr",
     "ul"}
)  # fmt: skip
_APART = frozenset({"p", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "hr"})
_STARTS = {"dd": "  ", "hr": "---"} | {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu"})
_DEEPEST_LIST = 8
_BLANKS = re.compile(r"[ \t\n\r\f\v\xa0]+")


def html_text(data: bytes, base: str) -> dict[str, Any]:
    """The text and the title of a page in UTF-8. Addresses of links are made whole from `base`."""
    tree = LexborHTMLParser(data)
    title = tree.css_first("title")
    root = tree.css_first("body") or tree.root
    text = _Writer(base).write(root) if root is not None else ""
    said = _BLANKS.sub(" ", title.text()).strip() if title is not None else ""
    return {"text": text, "title": said, "pages": 0, "first": 0, "last": 0}


class _Writer:
    """Puts lines together from what a walk passes."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._lines: list[str] = []
        self._line: list[str] = []
        self._lists: list[int | None] = []
        self._prefix = ""
        self._pre = 0
        self._links: list[str] = []

    def write(self, root: LexborNode) -> str:
        """The text below `root`."""
        for node, leaving in _walk(root):
            tag = node.tag or ""
            if tag == "-text":
                self._text(node.text_content or "")
            elif leaving:
                self._leave(tag)
            else:
                self._enter(tag, node)
        self._end_line()
        return "\n".join(self._lines).strip("\n")

    def _text(self, text: str) -> None:
        if self._pre:
            first, *more = text.replace("\r\n", "\n").split("\n")
            self._line.append(first)
            for line in more:
                self._end_line(keep=True)
                self._line.append(line)
            return
        flat = _BLANKS.sub(" ", text)
        if flat == " " and (not self._line or self._line[-1].endswith(" ")):
            return
        self._line.append(flat)

    def _enter(self, tag: str, node: LexborNode) -> None:
        if tag in _BLOCKS:
            self._end_line()
        if tag in _APART and not (tag in _LISTS and self._lists):
            self._blank()
        if tag in _STARTS:
            self._line.append(_STARTS[tag])
        match tag:
            case "br":
                self._end_line(keep=True)
            case "pre":
                self._pre += 1
                self._lines.append("```")
            case "ol" | "ul" | "menu":
                self._lists.append(0 if tag == "ol" else None)
            case "li":
                self._item()
            case _:
                self._enter_inline(tag, node)

    def _enter_inline(self, tag: str, node: LexborNode) -> None:
        match tag:
            case "code" if not self._pre:
                self._line.append("`")
            case "img":
                described = _BLANKS.sub(" ", node.attributes.get("alt") or "").strip()
                self._line.append(f"[image: {described}]" if described else "")
            case "a":
                self._links.append(self._address(node.attributes.get("href") or ""))
            case "td" | "th" if self._line:
                self._line.append(" | ")

    def _leave(self, tag: str) -> None:
        match tag:
            case "pre":
                self._end_line()
                self._pre = max(0, self._pre - 1)
                self._lines.append("```")
            case "code" if not self._pre:
                self._line.append("`")
            case "ol" | "ul" | "menu" if self._lists:
                self._end_line()
                self._lists.pop()
            case "a" if self._links:
                address = self._links.pop()
                if address:
                    self._line.append(f" <{address}>")
        if tag in _BLOCKS:
            self._end_line()
        if tag in _APART and not (tag in _LISTS and self._lists):
            self._blank()

    def _item(self) -> None:
        depth = min(len(self._lists), _DEEPEST_LIST)
        count = self._lists[-1] if self._lists else None
        if count is None:
            mark = "-"
        else:
            self._lists[-1] = count + 1
            mark = f"{count + 1}."
        self._line.append("  " * max(0, depth - 1) + f"{mark} ")

    def _address(self, reference: str) -> str:
        """Where a link leads; "" for one within the page or to something that is no address."""
        reference = reference.strip()
        if not reference or reference.startswith(("#", "javascript:", "data:", "mailto:")):
            return ""
        try:
            whole = urljoin(self._base, reference)
        except ValueError:
            return ""
        return whole if whole.startswith(("http://", "https://")) and len(whole) <= 500 else ""

    def _end_line(self, *, keep: bool = False) -> None:
        """The line is done. An empty one is left out, unless it is the page's own (`keep`)."""
        text = "".join(self._line)
        self._line = []
        text = text.rstrip() if self._pre else _tidy(text)
        if text or (keep and (self._pre or (self._lines and self._lines[-1]))):
            self._lines.append(text)

    def _blank(self) -> None:
        if self._lines and self._lines[-1]:
            self._lines.append("")


def _tidy(text: str) -> str:
    """One line: single blanks within, its indentation (a list's) kept; nothing where only marks are left."""
    body = text.lstrip(" ")
    indent = text[: len(text) - len(body)]
    body = re.sub(r" {2,}", " ", body).rstrip()
    return "" if body in ("", "-", "|", "``") or re.fullmatch(r"#{1,6}|[| ]+", body) else f"{indent}{body}"


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below `root` in reading order: when it is entered, and an element again when it is left."""
    stack: list[tuple[LexborNode, bool]] = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        if (node.tag or "") in _UNSEEN:
            continue
        yield node, leaving
        if leaving or node.tag == "-text":
            continue
        stack.append((node, True))
        child = node.last_child
        while child is not None:
            stack.append((child, False))
            child = child.prev
