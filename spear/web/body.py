"""A body as it arrives: counted on the wire and unpacked under a bound, so that no bomb unfolds (spec 8.5)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from spear.web.problem import WebProblem, WebStop

ENCODINGS = "gzip, deflate"
"""What a server is told that it may pack a body with."""

_PIECE = 64 * 1024
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Body:
    """`data` has at most the bytes that were asked for; `cut` says that there was more."""

    data: bytes
    cut: bool


def collected(pieces: Iterable[bytes], encoding: str, limit: int) -> Body:
    """The unpacked body, its first `limit` bytes at most; no more than that comes off the wire or out of the packing.

    Raises WebStop for a packing nobody asked for, and for one that is damaged.
    """
    unpack = _unpacker(encoding)
    data = bytearray()
    received = 0
    for piece in pieces:
        received += len(piece)
        for part in unpack(piece, limit + 1 - len(data)):
            data += part
            if len(data) > limit:
                return Body(bytes(data[:limit]), cut=True)
        if received > limit:
            return Body(bytes(data), cut=True)
    return Body(bytes(data), cut=not unpack.ended)


class _Plain:
    ended = True

    def __call__(self, piece: bytes, room: int) -> Iterable[bytes]:
        yield piece[: max(0, room)]


class _Packed:
    """Unpacks gzip (of several members, too) and deflate, wrapped or raw; never more than was asked for at once.

    Where a stream may begin, two bytes tell which it is; until both are there they are held.
    """

    def __init__(self, encoding: str) -> None:
        self._gzip = encoding != "deflate"
        self._stream: zlib._Decompress | None = None
        self._held = b""

    @property
    def ended(self) -> bool:
        """Whether what was unpacked is whole."""
        return self._stream.eof if self._stream is not None else not self._held

    def __call__(self, piece: bytes, room: int) -> Iterable[bytes]:
        left = piece
        while room > 0:
            most = min(room, _PIECE)
            part, left = self._step(left, most)
            room -= len(part)
            yield part
            if not left and len(part) < most:  # a full part may have more behind it that needs no more input
                return

    def _step(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        """One bounded step: what came out, what is still to be unpacked."""
        if self._stream is None or self._stream.eof:
            data, self._held = self._held + data, b""
            if len(data) < len(_GZIP):
                self._held = data
                return b"", b""
            if self._stream is not None and not (self._gzip and data.startswith(_GZIP)):
                return b"", b""  # what follows the end is nobody's text
            self._stream = self._begun(data)
        try:
            part = self._stream.decompress(data, most)
        except zlib.error as error:
            raise WebStop(WebProblem("damaged", "its body is damaged: it cannot be unpacked")) from error
        return part, self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail

    def _begun(self, data: bytes) -> zlib._Decompress:
        if self._gzip:
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        wrapped = data[0] & 0x0F == zlib.DEFLATED and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)  # what some servers call deflate


def _unpacker(encoding: str) -> _Packed | _Plain:
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip" | "deflate" as known:
            return _Packed(known)
        case other:
            raise WebStop(WebProblem("packing", f"its body is packed as {other[:40]!r}, which was not asked for"))
