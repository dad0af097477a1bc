"""Tables of AsciiDoc: cells behind bars, spans and styles before them, as many to a row as there are columns."""

from __future__ import annotations

import re

_CELL = re.compile(r"(?:^|(?<=[\s|]))((?:\d+(?:\.\d+)?|\.\d+)?[+*]?[<^>]?(?:\.[<^>])?[adehlmsv]?)\|")
_COLS = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\]]+))")
_MOST_COLUMNS = 100


def table_rows(lines: list[str], attributes: str, mark: str = "|") -> list[list[str]]:
    """The rows of a table's lines; those of a comma or colon table are cut at that."""
    if mark in ",:":
        return [[cell.strip().strip('"') for cell in line.split(mark)] for line in lines if line.strip()]
    cells: list[tuple[str, str]] = []
    width = _columns(attributes)
    first = True
    for line in lines:
        text = line.replace("!", "|") if mark == "!" else line
        found = _split(text)
        if found and not text.lstrip().startswith("|") and not _CELL.match(text.lstrip()):
            lead = text[: text.index("|")]
            if cells:
                cells[-1] = (cells[-1][0], f"{cells[-1][1]}\n{lead}")
        if not found:
            if text.strip() and cells:
                cells[-1] = (cells[-1][0], f"{cells[-1][1]}\n{text}")
            continue
        if first and not width:
            width = sum(_across(spec) for spec, _ in found)
        first = False
        cells.extend(found)
    return _rows(cells, max(1, min(width, _MOST_COLUMNS)))


def _split(line: str) -> list[tuple[str, str]]:
    """(spec, text) of the cells that begin on a line."""
    marks = list(_CELL.finditer(line.replace("\\|", "\\\0")))
    if not marks:
        return []
    ends = [*(match.start() for match in marks[1:]), len(line)]
    return [
        (match[1], line[match.end() : end].replace("\\|", "|").strip()) for match, end in zip(marks, ends, strict=True)
    ]


def _columns(attributes: str) -> int:
    match = _COLS.search(attributes)
    if match is None:
        return 0
    spec = next(group for group in match.groups() if group is not None)
    return sum(
        int(many[1]) if (many := re.match(r"\s*(\d{1,4})\*", part)) else 1
        for part in re.split(r"[,;]", spec)
        if part.strip() or "," in spec
    )


def _across(spec: str) -> int:
    match = re.match(r"(\d{1,4})(?:\.\d+)?[+*]", spec)
    return min(int(match[1]), _MOST_COLUMNS) if match else 1


def _down(spec: str) -> int:
    match = re.match(r"(?:\d+)?\.(\d{1,4})\+", spec)
    return min(int(match[1]), 1000) if match else 1


def _rows(cells: list[tuple[str, str]], width: int) -> list[list[str]]:
    rows: list[list[str]] = []
    row: list[str] = []
    hanging: dict[int, tuple[int, str]] = {}
    for spec, text in cells:
        while (held := hanging.get(len(row))) is not None and len(row) < width:
            _keep(hanging, len(row), held)
            row.append(held[1])
        for _ in range(_across(spec)):
            if (below := _down(spec) - 1) > 0:
                hanging[len(row)] = (below, text)
            row.append(text)
        while len(row) < width and (held := hanging.get(len(row))) is not None and spec and _down(spec) == 1:
            _keep(hanging, len(row), held)
            row.append(held[1])
        if len(row) >= width:
            rows.append(row[:width])
            row = []
    if any(row):
        rows.append(row + [""] * (width - len(row)))
    return rows


def _keep(hanging: dict[int, tuple[int, str]], column: int, held: tuple[int, str]) -> None:
    if held[0] > 1:
        hanging[column] = (held[0] - 1, held[1])
    else:
        del hanging[column]
