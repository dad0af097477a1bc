"""What a makefile knows of dependencies, and which files take a header in."""

from __future__ import annotations

import pytest

from spear.evidence.dependencies import Knowledge, includers
from spear.evidence.recipes import UNKNOWN, MakeText

ALL = """\
OBJS = build/ring.o build/main.o
all: build/app
build/app: $(OBJS)
\tcc -o $@ $^
build/%.o: src/%.c
\tcc -c -o $@ $<
test: build/test
\t./build/test
build/test: tests/test.c src/ring.h
\tcc -o $@ tests/test.c hidden.c
check:
\t./build/test
"""


def knowledge(text: str, place: str = "") -> Knowledge:
    return Knowledge(text, MakeText(text, {}), place)


@pytest.mark.parametrize(
    ("targets", "reached"),
    [
        ((), {"build/app", "build/ring.o", "src/ring.c"}),
        (("test",), {"build/test", "tests/test.c", "src/ring.h"}),
        (("check",), set()),
    ],
)
def test_a_target_reaches_what_it_depends_on(targets, reached):
    found = knowledge(ALL)
    everything = {"build/app", "build/ring.o", "src/ring.c", "build/test", "tests/test.c", "src/ring.h"}
    assert {path for path in everything if found.reaches(path, targets)} == reached


def test_paths_are_those_of_the_directory_make_works_in():
    found = knowledge("all: ../build/app x\n", "sub")
    assert found.reaches("build/app", ()) and found.reaches("sub/x", ()) and not found.reaches("x", ())


def test_what_cannot_be_read_may_be_reached():
    found = knowledge("all: $(shell ls) b\n")
    assert found.may_reach("build/app", ()) and not found.reaches("build/app", ())
    assert not knowledge(ALL).may_reach("build/app", ("check",))
    assert UNKNOWN in MakeText("all: $(patsubst %.c,%.o,$(SRCS))\n", {}).reached(())


KNOWN = [
    ("src/ring.h", ALL),
    ("src/ring.c", ALL),
    ("tests/test.c", ALL),
    ("src/a.h", "HDRS := $(wildcard src/*.h)\nx: $(HDRS)\n\tcc x.c\n"),
    ("src/sub/a.h", "%.o: src/%.h\n\tcc x.c\n"),
    ("src/a.h", "HDRS := $(wildcard $(DIRS)/*.h)\nx: $(HDRS)\n\tcc x.c\n"),
    ("src/a.h", "HDRS := $(wildcard *.h)\nVPATH = src\nx: $(HDRS)\n\tcc x.c\n"),
    ("a.h", "%.o: %.c %.h\n\tcc -c $<\n"),
    ("a.h", "x: x.c\n\tcc -MMD -o x x.c\n-include x.d\n"),
    ("a.h", "CFLAGS += -MD -MP\nx: x.c\n"),
    ("a.h", "depend:\n\tmakedepend $(SRCS)\n"),
    ("a.h", "include $(OBJS:.o=.d)\n"),
    ("a.c", "x: a.o b.o\n"),
    ("a.c", ".c.o:\n\tcc -c $<\n"),
    ("a.c", "SRCS = a.c \\\n b.c\nx: $(SRCS)\n"),
    ("b.c", "SRCS = a.c \\\n b.c\nx: $(SRCS)\n"),
]
UNKNOWN_TO_IT = [
    ("config.mk", "include config.mk\nall: app\n"),
    ("a.h", "HDRS := $(wildcard include/*.h)\nx: $(HDRS)\n\tcc x.c\n"),
    ("lib/a.c", "build/%.o: src/%.c\n\tcc -c $<\n"),
    ("Makefile", "all: app\n%.o: %.c\n\tcc $(CFLAGS) -c $<\n% : other\n"),
    ("hidden.c", ALL.replace("build/%.o: src/%.c", "build/x.o: src/x.c")),
    ("src/other.h", ALL),
    ("a.h", "x: x.c\n\tcc -include a.h x.c\n"),
    ("a.h", "x: data.h\n"),
    ("a.h", "x: a.h.in\n"),
    ("a.h", "x: x.c\n\tcc -M-all x.c\n"),
    ("a.c", "x: data.c a.cpp\n"),
]


@pytest.mark.parametrize(("source", "text"), KNOWN)
def test_a_source_is_known_by_name_by_pattern_by_its_object_or_by_the_compiler(source, text):
    assert knowledge(text).knows(source)


@pytest.mark.parametrize(("source", "text"), UNKNOWN_TO_IT)
def test_a_source_only_recipes_name_is_not_known(source, text):
    assert not knowledge(text).knows(source)


@pytest.mark.parametrize(
    ("source", "text", "passes_over"),
    [
        ("src/win32.c", "x: a.c\n\tcc a.c b.c\n", True),
        ("b.c", "x: a.c\n\tcc a.c b.c\n", False),
        ("b.c", "x: a.c\n\tcc *.c\n", False),
        ("b.c", "x: a.c\n\tcc src/*\n", False),
        ("b.c", "x: a.c\n\t$(MAKE) -C sub\n", False),
        ("b.c", "S = $(shell find .)\nx: a.c\n", False),
        ("b.c", "x: a.c\ninclude more.mk\n", False),
        ("a.h", "x: a.c\n\tcc a.c\n", True),
        ("a.h", "x: a.c\n\tcc -include a.h a.c\n", False),
    ],
)
def test_a_makefile_passes_over_what_it_neither_names_nor_may_find(source, text, passes_over):
    assert knowledge(text).passes_over(source) is passes_over


def test_files_take_a_header_in_themselves_and_by_others():
    texts = [
        ("src/a.c", '#include "ring.h"\n'),
        ("src/b.c", "  #  include <lib/more.h>\n"),
        ("src/more.h", '#include "ring.h"\n#include "more.h"\n'),
        ("src/c.c", '/* ring.h */\n#include "other.h"\n'),
        ("src/d.S", '.include "ring.h"\n'),
    ]
    assert includers("include/ring.h", texts) == {"src/a.c", "src/b.c", "src/more.h", "src/d.S"}
    assert includers("nobody.h", texts) == frozenset()
