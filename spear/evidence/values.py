"""The literal values an answer names, and whether they stand in what was printed, tested or written (spec 3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a value is said to be."""

    PRINTED = "printed"
    RETURNED = "returned"
    EXIT_STATUS = "exit_status"
    FIGURE = "figure"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Value:
    """One value as the answer writes it, its code marks or quotation marks taken off."""

    text: str
    role: Role


_NUMBER = re.compile(r"[-+−]?(?:0[xX][0-9a-fA-F]+|\d[\d_]*(?:[.,]\d+)*)")
_STRING_ESCAPE = re.compile(r"\\[nrt]")
_QUOTES = "\"'`“”«»‘’"
_SPELLED_BY_THE_LANGUAGE = frozenset({"true", "false", "[]", "{}", "()", '""', "''", "set()"})
"""Values any comparison or loop may have: no file need spell them."""


def is_literal(text: str) -> bool:
    """Whether a value can be looked for: not a truth value or an empty collection, which stand nowhere."""
    return bool(text.strip()) and text.strip().lower() not in _SPELLED_BY_THE_LANGUAGE


def stands_in_output(value: Value, output: str) -> bool:
    """Whether an output holds a value: a number as a whole token, a text with its white space as one blank."""
    text = value.text.strip()
    match value.role:
        case Role.FIGURE:
            return _is_measured(text, output)
        case Role.VERSION:
            return _is_version(text, output)
        case _:
            return _holds_number(text, output) if _NUMBER.fullmatch(text) else _flat(text) in _flat(output)


def stands_in_source(value: Value, source: str) -> bool:
    """Whether a test or a source states a value: as in an output, but white space and the kind of quotation marks do
    not matter, and a number may carry the suffix of its type."""
    text = value.text.strip()
    if _NUMBER.fullmatch(text):
        return _holds_number(text, source)
    return _bare(text) in _bare(source)


def _holds_number(text: str, inside: str) -> bool:
    written = text.replace("−", "-").lstrip("+")
    forms = {written, written.replace("_", ""), re.sub(r",(?=\d{3}(?!\d))", "", written)}
    if re.fullmatch(r"-?\d+,\d+", written):
        forms.add(written.replace(",", "."))
    return any(re.search(_number_token(form), inside) for form in forms)


def _number_token(form: str) -> str:
    """A pattern for a number that is no part of another one."""
    before = r"(?<![\w.])" + ("" if form.startswith("-") else r"(?<!-)")
    if re.fullmatch(r"-?\d{3}", form):
        before += r"(?<!\d,)"
    return rf"{before}{re.escape(form)}(?!\.?\d|,\d{{3}}(?!\d))(?:[uUlLfF]{{1,3}}|[iu](?:8|16|32|64|size))?(?!\w)"


_PROGRESS = re.compile(r"\[\s*\d+%\]|\[\d+/\d+\]")
_TIME = re.compile(r"[a-zµμ]$", re.IGNORECASE)


def _is_measured(text: str, output: str) -> bool:
    """Whether a figure was measured: an output has it, or more of its digits, or names it in the next unit of time."""
    output = _PROGRESS.sub(" ", output)
    figure = _number_of(text)
    digits = len(found[1]) if (found := re.search(r"[.,](\d+)", text)) else 0
    numbers = (float(number.replace(",", "")) for number in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", output))
    seconds = (float(number) for number in re.findall(r"\dm(\d+\.\d+)s", output))
    scales = (1.0, 1e3, 1e-3) if _TIME.search(text) else (1.0,)
    return any(round(number * scale, digits) == figure for number in (*numbers, *seconds) for scale in scales)


def _number_of(text: str) -> float:
    found = re.search(r"\d+(?:[.,]\d+)?", text)
    return float(found[0].replace(",", ".")) if found else float("nan")


def _is_version(text: str, output: str) -> bool:
    together = re.escape(text.replace(".", ""))
    return re.search(rf"(?<![\d.]){re.escape(text)}(?!\d)|\bpy{together}\b|\bcp{together}\b", output) is not None


def _flat(text: str) -> str:
    return " ".join(_STRING_ESCAPE.sub(" ", text).split()).strip(_QUOTES).strip()


def _bare(text: str) -> str:
    spaceless = "".join(_STRING_ESCAPE.sub("", text).split())
    return re.sub(f"[{_QUOTES}]", "'", spaceless.strip(_QUOTES))
