"""What rules make of scripts and data, and which sources CMake finds by patterns."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from spear.evidence.derivation import derived_from, is_globbed
from spear.evidence.facts import ProjectFacts

MAKEFILE = """\
GEN = tools/gen.py
D = one
D = two
TABLES := build/a.c build/b.c
all: build/app
build/first.h: src/first.in
\tpython3 $(GEN) $< > $@
$(TABLES): data/table.csv
\tawk -f tools/table.awk $< > $@
build/%.o: src/%.c
\ttools/cc.sh -c -o $@ $<
$(D)/x.h: data/x.txt
\tcat data/x.txt > $@
src/delivered.c: tools/delivered.py
\tpython3 tools/delivered.py > $@
report:
\tpython3 tools/report.py
build/report.log:
\tpython3 tools/report.py > $@
docs.html: data/doc.txt
\tcp $< $@
run: tools/run.py
\tpython3 -m tools.module
build/m.h:
\tpython3 -m tools.module > $@
.PHONY: all report run
"""
LISTS = """\
set(SCRIPT ${CMAKE_SOURCE_DIR}/tools/gen.py)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/first.h first.c COMMAND python3 ${SCRIPT})
add_custom_command(OUTPUT stamp.txt COMMAND python3 tools/stamp.py DEPENDS "tools/stamp.py")
add_custom_command(TARGET app POST_BUILD COMMAND tools/strip.sh $<TARGET_FILE:app>)
"""


def facts(files: Mapping[str, str], built: frozenset[str] = frozenset()) -> ProjectFacts:
    texts = {f"/ws/{path}": text for path, text in files.items()}
    there = {*files, *built}
    return ProjectFacts(
        root="/ws", read=texts.get, exists=there.__contains__, is_built=built.__contains__, aliases=("/workspace",)
    )


DERIVED = [
    ("tools/gen.py", {"build/first.h"}),
    ("src/first.in", {"build/first.h"}),
    ("tools/table.awk", {"build/a.c", "build/b.c"}),
    ("data/table.csv", {"build/a.c", "build/b.c"}),
    ("tools/cc.sh", {"build/*.o"}),
    ("tools/module.py", {"build/m.h"}),
    ("tools/delivered.py", set()),
    ("tools/report.py", set()),
    ("tools/run.py", set()),
    ("data/doc.txt", set()),
    ("tools/en.py", set()),
]


@pytest.mark.parametrize(("path", "made"), DERIVED)
def test_makefiles_say_what_is_made_of_a_file(path, made):
    files = {"Makefile": MAKEFILE, "src/delivered.c": ""}
    built = frozenset({"build/first.h", "build/a.c", "build/b.c", "build/m.h"})
    assert derived_from(path, facts(files, built)) == made


def test_a_target_of_an_unknown_place_may_be_anywhere():
    assert derived_from("data/x.txt", facts({"Makefile": MAKEFILE})) == {"*/x.h"}


@pytest.mark.parametrize(
    ("path", "made"),
    [("tools/gen.py", {"*/first.h", "*/first.c"}), ("tools/stamp.py", set()), ("tools/strip.sh", set())],
)
def test_custom_commands_say_what_they_write(path, made):
    assert derived_from(path, facts({"CMakeLists.txt": LISTS})) == made


def test_the_build_files_above_a_file_are_asked():
    files = {"lib/Makefile": "out/t.c: gen.py\n\tpython3 gen.py > $@\n"}
    assert derived_from("lib/gen.py", facts(files, frozenset({"lib/out/t.c"}))) == {"lib/out/t.c"}
    assert derived_from("other/gen.py", facts(files, frozenset({"lib/out/t.c"}))) == set()


@pytest.mark.parametrize(
    ("lists", "globbed"),
    [
        ("file(GLOB SRCS src/*.c)", True),
        ("FILE(GLOB_RECURSE SRCS\n  ${CMAKE_SOURCE_DIR}/src/*.c\n  src/*.h)", True),
        ("file(GLOB SRCS CONFIGURE_DEPENDS src/*.c)", False),
        ("file(GLOB SRCS src/*.cpp)", False),
        ("file(GLOB SRCS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.c)", True),
        ("file(GLOB_RECURSE SRCS *.c)", True),
        ("file(GLOB SRCS *.c)", False),
        ("file(GLOB SRCS examples/*.c)", False),
        ("file(GLOB SRCS ${WHERE}/*.c)", True),
        ("add_executable(app src/new.c)", False),
    ],
)
def test_cmake_finds_sources_by_patterns(lists, globbed):
    assert is_globbed("src/new.c", facts({"CMakeLists.txt": lists})) is globbed


def test_a_header_is_found_by_compilers():
    assert not is_globbed("src/new.h", facts({"CMakeLists.txt": "file(GLOB SRCS src/*.h)"}))
