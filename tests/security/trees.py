"""The tree every case of the security tests starts from. A confined turn may write `src/a.c` and what belongs to it."""

from __future__ import annotations

TARGET = "src/a.c"

MAKEFILE = """\
all: build/app
build/app: src/a.c src/b.c src/a.h
\tmkdir -p build
\t$(CC) -Isrc -o $@ src/a.c src/b.c
test: build/app
\t./build/app
clean:
\trm -rf build/app
.PHONY: all test clean
"""

FILES: dict[str, tuple[str, int]] = {
    "src/a.c": ('#include "a.h"\n\nint main(void)\n{\n    return twice(21) == 42 ? 0 : 1;\n}\n', 0o644),
    "src/a.h": ("int twice(int value);\n", 0o644),
    "src/b.c": ('#include "a.h"\n\nint twice(int value)\n{\n    return 2 * value;\n}\n', 0o644),
    "src/auto.h": ("/* DO NOT EDIT: generated from a.h by tools/gen.sh */\n#define TWICE 2\n", 0o644),
    "src/a.c.back": ("int old;\n", 0o644),
    "build/tmp/gen.c": ("int generated;\n", 0o644),
    "docs/guide.md": ("# Guide\n\nCall twice.\n", 0o644),
    "data/words.txt": ("pear\napple\nfig\n", 0o644),
    "tools/gen.sh": ("#!/bin/sh\necho '#define TWICE 2'\n", 0o755),
    "Makefile": (MAKEFILE, 0o644),
    "README.md": ("A small program.\n", 0o644),
}
