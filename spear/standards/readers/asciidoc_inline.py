"""AsciiDoc's markup within a line: text without it, and the stretches of text that carry an identity of their own."""

from __future__ import annotations

import re

_INDEX = re.compile(r"\(\(\((?:[^()]|\([^()]*\))*\)\)\)")
_SHOWN_INDEX = re.compile(r"\(\(([^()]+)\)\)")
_XREF = re.compile(r"<<([^<>,]+)(?:,\s*([^<>]*))?>>")
_ANCHOR = re.compile(r"\[\[[^\[\]]*\]\]")
_URL = re.compile(r"\b(?:link:|(?=https?://|ftp://|mailto:))([^\s\[\]]+)\[([^\]]*)\]")
_MACRO = re.compile(r"(?<![\w:])(?<!//)([a-z][a-z0-9]*):(:?)([^\s\[\]:]*)\[((?:[^\]\\]|\\.)*)\]")
_SHOW_TEXT = frozenset(
    [
        "xref",
        "link",
        "kbd",
        "btn",
        "pass",
        "stem",
        "latexmath",
        "asciimath",
        "footnote",
        "footnoteref",
        "icon",
        "anchor",
        "bibanchor",
        "indexterm2",
    ]
)
_SHOW_NOTHING = frozenset(("image", "video", "audio", "indexterm", "toc", "anchor", "bibanchor"))
_SPAN = re.compile(r"\[([^\[\]]*)\]##?((?:[^#]|(?<=\w)#(?=\w))+?)##?(?!\w)")
_STRONG = tuple(
    re.compile(
        rf"(?<![\w{re.escape(mark)}]){re.escape(mark)}(?=\S)((?:(?!{re.escape(mark)}).)*?\S){re.escape(mark)}(?![\w{re.escape(mark)}])"
    )
    for mark in ("*", "_", "`", "+", "#")
)
_DOUBLE = re.compile(r"(\*\*|__|``|\+\+)(?=\S)(.+?)(?<=\S)\1")
_SUPER = re.compile(r"\^([^\s^]{1,40})\^")
_SUB = re.compile(r"(?<!~)~([^\s~]{1,40})~(?!~)")
_BREAK = re.compile(r"\s\+$", re.M)
_MOST = 50_000
"""Characters of a text beyond which its markup stands as it is."""
_START, _END = "\ue800", "\ue801"


def plain(text: str) -> str:
    """A text without its markup, its white space as it was."""
    return marked(text)[0]


def marked(text: str) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """A text without its markup, and (identity, start, end) of the stretches that have one: "[#name]#text#"."""
    names: list[str] = []
    if len(text) > _MOST:
        return text, ()

    def span(match: re.Match[str]) -> str:
        identity = re.match(r"#([^\s.,%]+)", match[1])
        if identity is None:
            return match[2]
        names.append(identity[1])
        return f"{_START}{match[2]}{_END}"

    text = text.replace(_START, "").replace(_END, "")
    text = _BREAK.sub("", text)
    text = _SHOWN_INDEX.sub(r"\1", _INDEX.sub("", text))
    text = _ANCHOR.sub("", text)
    text = _XREF.sub(lambda match: match[2] or match[1].split("#")[-1], text)
    text = _URL.sub(lambda match: match[2].strip("^") or match[1], text)
    text = _MACRO.sub(_macro, text)
    text = _SPAN.sub(span, text)
    text = _DOUBLE.sub(r"\2", text)
    for pattern in _STRONG:
        text = pattern.sub(r"\1", text)
    text = _SUB.sub(r"\1", _SUPER.sub(r"^\1", text))
    return _placed(text.replace("\\", ""), names)


def _macro(match: re.Match[str]) -> str:
    name, target, inside = match[1], match[3], match[4]
    if name in _SHOW_NOTHING:
        return ""
    if name in _SHOW_TEXT:
        return inside or target
    if target.startswith("//"):
        return match[0]
    return " ".join(part for part in (target, inside) if part)


def _placed(text: str, names: list[str]) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """The text without the marks of the stretches, white space single, and where they stand then."""
    out: list[str] = []
    length, begun, waiting = 0, 0, iter(names)
    places: list[tuple[str, int, int]] = []
    for part in re.split(f"([{_START}{_END}])", text):
        if part == _START:
            begun = length
        elif part == _END:
            places.append((next(waiting, ""), begun, length))
        else:
            out.append(part)
            length += len(part)
    return "".join(out), tuple(place for place in places if place[0])
