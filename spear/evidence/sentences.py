"""The sentences of a Markdown answer with their places; code, quotations and markup are told apart (spec 3.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(?:[-*+]\s+|\d+[.)]\s+)?(?P<fence>`{3,}|~{3,})")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+")
_QUOTE = re.compile(r"^\s*>")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)(?P<inner>.+?)(?<!`)\1(?!`)", re.DOTALL)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”]{1,400}”|«[^»]{1,400}»|‘[^’\n]{1,400}’(?!\w)|(?<![\w'])'[^'\n]{1,400}'(?!\w)"
)
_END = re.compile(r"[.!?…]+(?=[*_)\]\"”»'’]*(?:\s|$))")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|p\.ex|par ex)|\b[A-Z])\.$", re.IGNORECASE)
_TICK = re.compile(r"[✅✔✓☑🟢]")
_MARKS = re.compile(r"[✅✔✓☑🎉🟢]\ufe0f?")
STATUS = re.compile(
    r"\W*(?:[✅✔✓☑🟢]\ufe0f?|pass(?:ed|es|ing)?|ok|green|success(?:ful|fully)?|succeeded|clean|exit (?:code |status )?0"
    r"|réussie?s?|succès|passée?s?|verte?s?|code (?:de retour |retour )?0)\W*",
    re.IGNORECASE,
)
"""A cell of a table, or what follows a colon, that only says that something is well."""
_GIVEN = re.compile(rf"(?P<what>[^:|→]+?) ?(?::|→|=>)(?:{STATUS.pattern})", re.IGNORECASE)
_CLOSERS = "*_)]\"”»'’"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its source text and character offsets in the answer. `end` lies after its closing marks."""

    text: str
    start: int
    end: int


def sentences(answer: str) -> Iterator[Sentence]:
    """Every sentence outside code blocks and block quotations, in order. A table's cells are sentences; one that only
    gives a status is one with the first cell of its row."""
    for start, end, table in _blocks(answer):
        yield from _cells(answer, start, end) if table else _split(answer, start, end)


def _blocks(answer: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, is a table row) of each paragraph, list item, heading or table row that is prose."""
    position, fence, open_at = 0, "", -1
    in_list, after_blank = False, True
    for line in answer.splitlines(keepends=True):
        start, end = position, position + len(line)
        position = end
        body = line.rstrip("\r\n")
        mark = _FENCE.match(body)
        if fence:
            closes = body.strip()
            if closes and set(closes) == {fence[0]} and len(closes) >= len(fence):
                fence = ""
            continue
        indented = body.startswith(("    ", "\t")) and after_blank and not in_list
        prose = not (mark or _QUOTE.match(body) or indented or not body.strip())
        starts_new = not prose or _ITEM.match(body) or _HEADING.match(body) or _TABLE.match(body)
        if open_at >= 0 and starts_new:
            yield open_at, start, False
            open_at = -1
        if mark:
            fence = mark["fence"]
        after_blank = not body.strip() or (indented and after_blank)
        in_list = bool(_ITEM.match(body)) or (in_list and (not body.strip() or body.startswith(" ")))
        if not prose:
            continue
        if _TABLE.match(body):
            yield start, start + len(body), True
        elif _HEADING.match(body):
            yield start, start + len(body), False
        elif open_at < 0:
            item = _ITEM.match(body)
            open_at = start + (item.end() if item else 0)
    if open_at >= 0:
        yield open_at, len(answer), False


def _cells(answer: str, start: int, end: int) -> Iterator[Sentence]:
    row = _masked(answer[start:end])
    if set(row) <= set("|-: \t"):
        return
    offset, label = 0, -1
    for cell in row.split("|"):
        begin, stop = start + offset, start + offset + len(cell)
        offset += len(cell) + 1
        if 0 <= label < begin and STATUS.fullmatch(cell.strip(" \t*_")):
            stop -= len(cell) - len(cell.rstrip())
            yield Sentence(answer[label:stop], label, stop)
            label = start + len(row)  # once is enough
            continue
        if label < 0 and cell.strip():
            label = begin + len(cell) - len(cell.lstrip())
        yield from _split(answer, begin, stop)


def _masked(text: str) -> str:
    """The same text, as long, with the inside of code and quotations blanked so that it ends no sentence."""
    for pattern in (_INLINE_CODE, _QUOTED):
        text = pattern.sub(lambda match: match[0][0] + "x" * (len(match[0]) - 2) + match[0][-1], text)
    return text


def _split(answer: str, start: int, end: int) -> Iterator[Sentence]:
    block = _masked(answer[start:end])
    begin = 0
    for match in _END.finditer(block):
        if _ABBREVIATION.search(block[begin : match.end()]) and match.end() < len(block.rstrip()):
            continue
        stop = match.end()
        while stop < len(block) and block[stop] in _CLOSERS:
            stop += 1
        yield from _sentence(answer, start + begin, start + stop)
        begin = stop
    yield from _sentence(answer, start + begin, end)


def _sentence(answer: str, start: int, end: int) -> Iterator[Sentence]:
    text = answer[start:end]
    stripped = text.strip()
    if not any(character.isalnum() for character in stripped):
        return
    start += len(text) - len(text.lstrip())
    yield Sentence(stripped, start, start + len(stripped))


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence for reading: lower case, on one line, inline code and quotations as tokens, without markup.
    `literals` are what stands behind the tokens of `text`, one each, in order and as written. `ticked` is what has a
    check mark or a status of success, in a row of a table, after a colon or beside it; "" where nothing has.
    """

    text: str
    literals: tuple[str, ...] = ()
    ticked: str = ""


TOKEN = re.compile(r"⟦[a-z]+⟧")
"""What stands for a piece of inline code or a quotation in a sentence for reading."""
_ENDLESS = re.compile(r"[^\s⟦⟧]{200,}")
_TAGGED = re.compile(r"⟦(?P<kind>[a-z]+)#(?P<number>\d+)⟧")


def read(sentence: str) -> Reading:
    """A sentence with its code and quotations set apart."""
    literals: list[str] = []

    def tagged(token: str, literal: str) -> str:
        literals.append(literal)
        return f" {token[:-1]}#{len(literals) - 1}⟧ "

    def code(match: re.Match[str]) -> str:
        token = _token(match["inner"])
        return tagged(token, match["inner"].strip()) if token.startswith("⟦") else f" {token} "

    def quotation(match: re.Match[str]) -> str:
        inner = _TAGGED.sub(lambda tag: literals[int(tag["number"])], match[0][1:-1])
        return tagged("⟦quote⟧", " ".join(inner.split()))

    text = _INLINE_CODE.sub(code, sentence.replace("⟦", "[").replace("⟧", "]"))
    text = _QUOTED.sub(quotation, text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*+|~~|(?<!\w)_{1,3}(?=\w)|(?<=[^\W_])_{1,3}(?!\w)", "", text.replace("’", "'"))
    ticked, text = _ticked(text), _MARKS.sub(" ", text)
    left = tuple(literals[int(tag["number"])] for tag in _TAGGED.finditer(text))
    return Reading(_plain(text), left, _plain(ticked))


def _plain(text: str) -> str:
    """Without words too long to be any: looking through them takes the square of their length."""
    return " ".join(_ENDLESS.sub("…", _TAGGED.sub(lambda tag: f"⟦{tag['kind']}⟧", text)).lower().split())


def _ticked(text: str) -> str:
    """What a text says to be well by a check mark or a status alone."""
    line = " ".join(text.split())
    row = re.split(r" ?\| ?", line.strip(" |"))
    if len(row) > 1:
        return row[0] if STATUS.fullmatch(row[-1]) else ""
    given = _GIVEN.fullmatch(line)
    if given is not None:
        return given["what"]
    return _MARKS.sub(" ", line) if _TICK.search(line) else ""


_TEST_WORDS = re.compile(
    r"(?:^|[\s/:_-])(?:tests?|check|pytest|py\.test|unittest|ctest|jest|vitest|mocha|rspec|phpunit|tox|nox"
    r"|prove)(?:$|[\s./:_-])"
)
_LINT_WORDS = re.compile(
    r"(?:^|[\s/:])(?:lint|ruff|mypy|eslint|clippy|flake8|pylint|pyright|vet|shellcheck|golangci-lint|black"
    r"|prettier|fmt)(?:$|[\s:])"
)
_BUILD_WORDS = re.compile(
    r"^(?:make|cmake|ninja|meson|bazel|tsc|gcc|cc|clang|bitbake)\b|\b(?:build|compile|assemble)\b"
)


def _token(code: str) -> str:
    """What a piece of inline code is, by its first words."""
    text = code.strip().lower()
    if re.fullmatch(r"[\w.:]+\([^()]*\)", text):
        return "⟦call⟧"
    if re.search(r"\b(?:clean|distclean)\b", text):
        return "⟦clean⟧"
    if _LINT_WORDS.search(text):
        return "⟦lint⟧"
    if re.fullmatch(r"\w+|.*[{}=;<>].*", text) and text not in (
        "pytest",
        "ctest",
        "tox",
        "jest",
        "make",
        "tsc",
        "mocha",
        "vitest",
        "nox",
    ):
        return "⟦code⟧" if not text.startswith("test_") else text
    if _TEST_WORDS.search(text) and not re.fullmatch(r"[\w/.-]+\.\w{1,4}|[\w.-]+/", text):
        return "⟦test⟧"
    if _BUILD_WORDS.search(text) and "/" not in text.split()[0]:
        return "⟦build⟧"
    if re.match(r"^\.{0,2}/|^(?:python3?|node|bash|sh|ruby|perl) ", text):
        return "⟦program⟧"
    return "⟦code⟧"
