"""Values in the cells of a table: numbers with their units, and ranges of bits (spec 5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KNOWN_UNITS = """
s sec second seconds ms millisecond milliseconds us µs μs microsecond microseconds ns nanosecond nanoseconds ps
min minute minutes h hour hours d day days bit bits byte bytes octet octets word words nibble nibbles B kB KB MB GB
TB KiB MiB GiB TiB Hz kHz MHz GHz V mV kV µV A mA µA nA W mW kW Ω kΩ MΩ ohm ohms F pF nF µF H mH °C K C % ppm
bit/s kbit/s Mbit/s Gbit/s bps kbps Mbps Gbps baud Bd m mm cm µm nm km in g kg mg N Pa kPa MPa bar dB dBm dBi rad
mrad deg ° rpm cycles cycle ticks tick symbols symbol frames frame packets packet entries entry pixels pixel
"""
_LONGEST = 80
"""Characters of a cell that may be a value; a longer one is prose."""
_UNITS = frozenset(_KNOWN_UNITS.split())
_NUMBER = r"[-+−]?(?:0[xX][0-9A-Fa-f_]+|0[bB][01_]+|\d+(?:[  ,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_VALUE = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>[^\s\d].*)?")
_HEADER_UNIT = re.compile(r"[(\[]\s*(?P<unit>[^()\[\]]+?)\s*[)\]]\s*$|,\s*(?P<bare>\S+)\s*$")
_BITS = re.compile(
    r"[\[(]?\s*(?:bits?\s*)?(?P<high>\d{1,4})(?:\s*(?::|\.\.\.?|[-–—]|to)\s*(?P<low>\d{1,4}))?\s*[\])]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A number as it is printed, its worth, and its unit ("" where none is printed)."""

    number: int | float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Bits:
    """A range of bits, both ends belonging to it."""

    high: int
    low: int

    @property
    def width(self) -> int:
        """How many bits there are."""
        return self.high - self.low + 1


def value(cell: str, header: str = "") -> Value | None:
    """The number a cell holds and nothing else, with its own unit or the one its column names; None for any other."""
    match = _VALUE.fullmatch(cell.strip()) if len(cell) <= _LONGEST else None
    if match is None:
        return None
    unit = (match["unit"] or "").strip()
    if unit and unit not in _UNITS:
        return None
    return Value(_number(match["number"]), unit or unit_of(header))


def unit_of(header: str) -> str:
    """The unit a column's header names: `Delay (ms)`, `Size [bytes]`, `Delay, ms`."""
    match = _HEADER_UNIT.search(header[-_LONGEST:])
    unit = (match["unit"] or match["bare"]) if match else ""
    return unit if unit in _UNITS else ""


def bits(cell: str) -> Bits | None:
    """The range of bits a cell names (`31:24`, `[7..0]`, `5`), whichever end is printed first; None for any other."""
    match = _BITS.fullmatch(cell.strip()) if len(cell) <= _LONGEST else None
    if match is None:
        return None
    ends = (int(match["high"]), int(match["low"] or match["high"]))
    return Bits(max(ends), min(ends))


def _number(text: str) -> int | float:
    plain = re.sub(r"[  ,_]", "", text).replace("−", "-").lower()
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain.removeprefix("+"))
    if digits.startswith(("0x", "0b")):
        return sign * int(digits, 0)
    return sign * (float(digits) if any(mark in digits for mark in ".e") else int(digits))
