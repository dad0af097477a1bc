"""A small standard of our own: labels, a table of fields, one of values, a label that is printed twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.standards.binding import Bindings
from spear.standards.ingestion import Document, Ingested, ingest
from spear.standards.manifest import Origin
from spear.standards.standard_name import StandardName
from spear.standards.store import StandardStore, StoredStandard

TEXT = """\
# Lamp Bus Specification

Revision 2. Made up for tests.

## 1 Scope

This document defines how lamps on a bus are dimmed.

## 2 Frames

### 2.1 Layout

**Rule 2.1-1**: A frame shall begin with the octet 0x5A.

**Rule 2.1-2**: A lamp shall discard a frame that is longer than 64 octets.

**Recommendation 2.1-3**: A controller should send a frame every 500 ms.

### 2.2 Control word

Table 1 gives the layout of the control word.

| Bits | Name | Meaning |
|------|------|---------|
| 15:8 | LEVEL | brightness, 0 is dark |
| 7:1 | reserved | shall be zero |
| 0 | LATCH | keeps the level at power loss |

## 3 Timing

**Rule 3-1**: A lamp shall answer a poll within 20 ms.

**Permission 3-2**: A lamp may stay silent after a broadcast.

| Timer | Limit (ms) |
|-------|------------|
| poll | 20 |
| silence | 0x64 |
| settle | about 5 |

### 3.1 Recovery

**Rule 3.1-1**: A lamp shall not blink while it recovers.

## 4 Errors

**Rule 4-1**: A lamp shall report an overheated driver.

**Rule 4-1**: A lamp shall report a broken filament.
"""
NAME = StandardName("LAMP-BUS", "2")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "lamp-bus.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> StandardStore:
    return StandardStore(tmp_path / "state" / "standards")


@pytest.fixture
def stored(store: StandardStore, document: Path) -> StoredStandard:
    done = ingest(store, Document(document, NAME, Origin.PUBLIC), lambda *_: None)
    assert isinstance(done, Ingested)
    return store.stored(NAME)


@pytest.fixture
def bindings(store: StandardStore) -> Bindings:
    return Bindings(store)
