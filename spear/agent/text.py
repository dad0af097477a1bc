"""What the bytes of a file are as text: encoding, byte order mark, or a description of a binary.

A file is UTF-8, or UTF-16 with a byte order mark, or else, when it holds no control bytes, Latin-1. Anything else is
binary. Decoding is only ever used for an edit when encoding it again gives the very same bytes.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import StrEnum


class Encoding(StrEnum):
    """How a file's bytes are read; values are Python codec names."""

    UTF8 = "utf-8"
    UTF16_LE = "utf-16-le"
    UTF16_BE = "utf-16-be"
    LATIN1 = "latin-1"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text file: `bom` is the mark's own bytes, which `text` does not contain."""

    text: str
    encoding: Encoding
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """The bytes with `text` as content. Raises UnicodeEncodeError where the encoding lacks a character."""
        return self.bom + text.encode(self.encoding.value)


BOMS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, Encoding.UTF8),
    (codecs.BOM_UTF16_LE, Encoding.UTF16_LE),
    (codecs.BOM_UTF16_BE, Encoding.UTF16_BE),
)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"II*\x00", "TIFF image"),
    (b"MM\x00*", "TIFF image"),
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "ELF object or executable"),
    (b"MZ", "Windows executable"),
    (b"\xfe\xed\xfa", "Mach-O executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O executable"),
    (b"\x00asm", "WebAssembly module"),
    (b"!<arch>\n", "static library archive"),
    (b"PK\x03\x04", "ZIP archive (or office document, jar, wheel)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"7z\xbc\xaf'\x1c", "7-zip archive"),
    (b"Rar!", "RAR archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\xd0\xcf\x11\xe0", "legacy office document"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"\x00\x01\x00\x00\x00", "TrueType font"),
    (b"OTTO", "OpenType font"),
    (b"wOF", "web font"),
    (b"\xd0\r\xfe\xed", "flattened device tree"),
    (b"GGUF", "GGUF model"),
    (b"\x93NUMPY", "NumPy array"),
)
_TAR = slice(257, 262)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\v\b\x1b")


def bom_of(head: bytes) -> tuple[bytes, Encoding] | None:
    """The byte order mark a file starts with and what it announces, None without one."""
    for mark, encoding in BOMS:
        if head.startswith(mark):
            return mark, encoding
    return None


def describe_binary(head: bytes) -> str:
    """What kind of binary a file is, from its first bytes."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head[_TAR] == b"ustar":
        return "tar archive"
    if head.startswith(b"RIFF"):
        return {b"WAVE": "WAV audio", b"WEBP": "WebP image", b"AVI ": "AVI video"}.get(head[8:12], "RIFF data")
    if head[4:8] == b"ftyp":
        return "MP4 or HEIF media"
    return "unknown type"


def has_magic(head: bytes) -> bool:
    """Whether the first bytes are those of a format that no text file starts with by accident."""
    return any(head.startswith(magic) for magic, _ in _MAGIC if len(magic) > 3) or describe_binary(head) in (
        "tar archive",
        "JPEG image",
        "gzip data",
    )


def latin1_text(block: bytes) -> bool:
    """Whether bytes that are not UTF-8 can be text in Latin-1 (or its Windows superset, whose quotes and dashes are
    control codes in Latin-1): no C0 control byte, and C1 bytes only among plain text."""
    seen = set(block)
    if any((byte < 0x20 and byte not in _TEXT_CONTROLS) or byte == 0x7F for byte in seen):
        return False
    if not any(0x80 <= byte <= 0x9F for byte in seen):
        return True
    plain = len(block) - len(block.translate(None, bytes(range(0x20, 0x7F)) + b"\t\n\r"))
    return plain * 4 >= len(block) * 3


def decode(raw: bytes) -> Decoded | None:
    """The text of a whole file, None when it is binary."""
    marked = bom_of(raw)
    if marked is not None:
        mark, encoding = marked
        try:
            found = Decoded(raw[len(mark) :].decode(encoding.value), encoding, mark)
        except UnicodeDecodeError:
            return None if encoding is not Encoding.UTF8 else _unmarked(raw)
        return found
    return _unmarked(raw)


def _unmarked(raw: bytes) -> Decoded | None:
    if b"\0" in raw:
        return None
    try:
        return Decoded(raw.decode("utf-8"), Encoding.UTF8)
    except UnicodeDecodeError:
        if has_magic(raw) or not latin1_text(raw):
            return None
        return Decoded(raw.decode("latin-1"), Encoding.LATIN1)
