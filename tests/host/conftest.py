"""Workbenches: an empty one, and one with a small C project under git."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spear.sandbox.selftest import Preflight, preflight
from tests.host_bench import Workbench

RING_C = """\
#include "ring.h"

int ring_next(int index, int size)
{
    return index + 1 >= size ? 0 : index + 1;
}
"""
RING_H = "#ifndef RING_H\n#define RING_H\nint ring_next(int index, int size);\n#endif\n"
TEST_C = """\
#include <stdio.h>
#include "ring.h"

int main(void)
{
    puts("ok");
    return ring_next(3, 4) != 0;
}
"""
MAKEFILE = """\
all: build/test_ring
build/test_ring: src/ring.c src/ring.h tests/test_ring.c
\tmkdir -p build
\tcc -Wall -Isrc -o $@ src/ring.c tests/test_ring.c
test: build/test_ring
\t./build/test_ring
clean:
\trm -rf build
.PHONY: all test clean
"""


@pytest.fixture(scope="session")
def probe(tmp_path_factory) -> Callable[[], Preflight]:
    """The start-up self-test, run for real once."""
    state: Path = tmp_path_factory.mktemp("preflight")
    return lambda: preflight(state)


@pytest.fixture
def bench(tmp_path, probe) -> Iterator[Workbench]:
    made = Workbench(tmp_path, probe)
    yield made
    made.close()


@pytest.fixture
def ring(bench) -> Workbench:
    bench.put("src/ring.c", RING_C)
    bench.put("src/ring.h", RING_H)
    bench.put("src/ring_arm.c", RING_C.replace("ring_next", "ring_arm_next"))
    bench.put("tests/test_ring.c", TEST_C)
    bench.put("Makefile", MAKEFILE)
    bench.put(".gitignore", "build/\n")
    bench.repository()
    return bench
