"""Blocks that belong together: sentences that run on after what they display, tables with their captions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from spear.standards.readers.blocks import Block, BlockKind

_MOST_DISPLAYED = 2


def rejoined(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, with "… must be at most:", "X - 20" and "where X is …" as the one paragraph that they are."""
    held: list[Block] = []
    for block in blocks:
        if held:
            if len(held) > 1 and _resumes(held[0], block):
                yield _merged([*held, block])
                held = []
                continue
            if len(held) <= _MOST_DISPLAYED and _displayed(held[0], block):
                held.append(block)
                continue
            yield from held
            held = []
        if block.kind is BlockKind.PARAGRAPH and block.text.rstrip().endswith(":"):
            held = [block]
        else:
            yield block
    yield from held


def _displayed(lead: Block, block: Block) -> bool:
    if block.kind is BlockKind.CODE:
        return len(block.text) < 1000
    return block.kind is BlockKind.PARAGRAPH and block.level > lead.level and len(block.text) < 300


def _resumes(lead: Block, block: Block) -> bool:
    return block.kind is BlockKind.PARAGRAPH and block.level <= lead.level and block.text[:1].islower()


def _merged(blocks: list[Block]) -> Block:
    text = "\n".join(block.text for block in blocks)
    return replace(blocks[0], text=text, lines=(blocks[0].lines[0], blocks[-1].lines[1]))


_DRAWN = frozenset({BlockKind.TABLE, BlockKind.CODE})


def captioned(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, tables and figures with the text of their captions.

    Whether captions stand above or below is decided once per document and for tables and figures apart.
    """
    above = {kind: _captions_above(blocks, kind) for kind in _DRAWN}
    for place, block in enumerate(blocks):
        beside = place - 1 if above.get(block.kind) else place + 1
        if block.kind in _DRAWN and not block.caption and 0 <= beside < len(blocks):
            neighbour = blocks[beside]
            if neighbour.kind is BlockKind.CAPTION:
                block = replace(block, caption=neighbour.text)
        yield block


def _captions_above(blocks: Sequence[Block], kind: BlockKind) -> bool:
    """Whether more blocks of a kind have a caption before them than after."""
    balance = 0
    for first, second in pairwise(blocks):
        if first.kind is BlockKind.CAPTION and second.kind is kind:
            balance += 1
        elif first.kind is kind and second.kind is BlockKind.CAPTION:
            balance -= 1
    return balance > 0
