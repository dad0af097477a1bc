"""Which changed sources a tree's build files, scripts and sources leave out, by what they say."""

from __future__ import annotations

import pytest

from spear.evidence.passed_over import passed_over
from spear.shell.syntax import Script

C = "int f(void);\n"
READ = {
    "an object": ({"Makefile": "OBJS = main.o ring.o\n", "ring.c": C}, "make"),
    "an object elsewhere": ({"Makefile": "OBJS = $(B)/main.o $(B)/ring.o\n", "src/ring.c": C}, "make"),
    "a makefile below": (
        {"Makefile": "all:\n\t$(MAKE) -C lib\n", "lib/Makefile": "O = ring.o\n", "lib/ring.c": C},
        "make",
    ),
    "a list taken in": ({"Makefile": "include sources.mk\n", "sources.mk": "S = main.c ring.c\n", "ring.c": C}, "make"),
    "a list of words": ({"Makefile": "M = main ring\nO = $(M:%=src/%.o)\nx: main.o\n", "src/ring.c": C}, "make"),
    "a list with a prefix": ({"Makefile": "S = main.c ring.c\nP = $(addprefix src/,$(S))\n", "src/ring.c": C}, "make"),
    "a list in a text": (
        {"Makefile": "S = $(file < list.txt)\nx: main.o\n", "list.txt": "ring.c\n", "ring.c": C},
        "make",
    ),
    "a test called so": ({"Makefile": "TESTS = main_test ring_test\nx: main.c\n", "ring_test.c": C}, "make"),
    "a system's source": ({"Makefile": "x: main.c src/$(OS).c\n", "src/linux.c": C}, "make"),
    "a suffix put on": ({"Makefile": "x: main.c\n\tfor m in $(M); do cc -c $${m}.c; done\n", "ring.c": C}, "make"),
    "a pattern of two": ({"Makefile": "x: main.c\n\tcc *.[ch]\n", "ring.c": C}, "make"),
    "a directory": (
        {"CMakeLists.txt": "aux_source_directory(src S)\nadd_library(x main.c)\n", "src/ring.c": C},
        "cmake .",
    ),
    "cmake's loop": (
        {"CMakeLists.txt": "foreach(m main ring)\nadd_library(${m} ${m}.c)\nendforeach()\n", "ring.c": C},
        "cmake .",
    ),
    "cmake's glob": ({"CMakeLists.txt": "file(GLOB S *.c)\nadd_library(x main.c ${S})\n", "ring.c": C}, "cmake ."),
    "a directory of CMake's": (
        {
            "CMakeLists.txt": "add_subdirectory(lib)\n",
            "lib/CMakeLists.txt": "add_library(x main.c ring.c)\n",
            "lib/ring.c": C,
        },
        "cmake .",
    ),
    "meson": ({"meson.build": "executable('x', files('src/main.c', 'src/ring.c'))\n", "src/ring.c": C}, "ninja"),
    "automake": ({"Makefile.am": "x_SOURCES = main.c ring.c ring.h\n", "ring.c": C, "ring.h": C}, "make"),
    "bazel": (
        {"BUILD": "cc_library(name = 'x', srcs = glob(['*.c']))\nx = 'main.c'\n", "ring.c": C},
        "bazel build //...",
    ),
    "a script": ({"build.sh": "cc -o app main.c ring.c\n", "ring.c": C}, "sh build.sh"),
    "a script without suffix": (
        {"Makefile": "x: main.c\n", "build-it": "#!/bin/sh\ncc src/*.c\n", "src/ring.c": C},
        "./build-it",
    ),
    "a script that loops": (
        {"build.sh": "for f in main ring; do cc -c $f.c; done\ncc main.o\n", "ring.c": C},
        "sh build.sh",
    ),
    "an extension": ({"setup.py": "Extension('x', ['src/main.c', 'src/ring.c'])\n", "src/ring.c": C}, "pytest"),
    "a test that compiles": (
        {
            "Makefile": "x: main.c\n",
            "test_x.py": "for s in Path('src').glob('*'):\n    run(['cc', '-c', s]) # .c\n",
            "src/ring.c": C,
        },
        "pytest",
    ),
    "the command": ({"Makefile": "x: main.c\n", "ring.c": C}, "cc -c ring.c && make"),
    "the command's pattern": ({"Makefile": "x: main.c\n", "src/ring.c": C}, "cc src/*.c && make"),
    "a rule of make's own": ({"Makefile": "x: main.c\n", "ring.c": C}, "make ring"),
    "taken in": ({"Makefile": "x: main.c\n", "main.c": '#include "ring.c"\n', "ring.c": C}, "make"),
    "a header": ({"Makefile": "x: main.c\n", "main.c": "#include <proj/ring.h>\n", "include/proj/ring.h": C}, "make"),
    "a header by a flag": ({"Makefile": "x: main.c\n\tcc -include src/ring.h main.c\n", "src/ring.h": C}, "make"),
    "a header by a macro": ({"Makefile": "x: main.c\n\tcc -DH='\"ring.h\"' main.c\n", "ring.h": C}, "make"),
    "a table": ({"Makefile": "x: main.c\n", "main.c": '#include "ops.def"\n', "ops.def": "OP(a)\n"}, "make"),
    "a makefile of another name": (
        {"Makefile": "x: main.o\n", "Makefile.unix": "y: ring.o\n", "ring.c": C},
        "make -f Makefile.unix",
    ),
    "rules taken in": (
        {"src/Makefile": "x: main.o\ninclude ../common.rules\n", "common.rules": "y: ring.o\n", "src/ring.c": C},
        "make",
    ),
    "no list": ({"Makefile": "test:\n\tpytest\n", "ring.c": C}, "make test"),
    "a tool that finds them": ({"Package.swift": "let p = 1\n", "Sources/ring.c": C}, "swift build"),
    "what cgo compiles": ({"go.mod": "module x\n", "x.go": 'import "C"\n', "ring.c": C}, "go test ./..."),
    "a module": ({"Cargo.toml": "[package]\n", "src/lib.rs": "pub mod ring;\n", "src/ring.rs": C}, "cargo test"),
    "a module below": (
        {"Cargo.toml": "", "src/lib.rs": "mod a;\n", "src/a/mod.rs": "pub(crate) mod ring;\n", "src/a/ring.rs": C},
        "cargo test",
    ),
    "a directory's module": ({"Cargo.toml": "", "src/lib.rs": "mod ring;\n", "src/ring/mod.rs": C}, "cargo test"),
    "a module at a path": (
        {"Cargo.toml": "", "src/lib.rs": '#[path = "ring.rs"]\nmod other;\n', "src/ring.rs": C},
        "cargo test",
    ),
    "an included module": ({"Cargo.toml": "", "src/lib.rs": 'include!("ring.rs");\n', "src/ring.rs": C}, "cargo test"),
    "a program of Cargo's": ({"Cargo.toml": "", "src/bin/ring.rs": C}, "cargo test"),
    "a program in a directory": ({"Cargo.toml": "", "src/bin/ring/main.rs": C}, "cargo test"),
    "a module of such a program": (
        {"Cargo.toml": "", "src/bin/x/main.rs": "mod ring;\n", "src/bin/x/ring.rs": C},
        "cargo test",
    ),
    "an example": ({"Cargo.toml": "", "examples/ring.rs": C}, "cargo test"),
    "a member's module": (
        {"Cargo.toml": "[workspace]\n", "a/Cargo.toml": "", "a/src/lib.rs": "mod ring;\n", "a/src/ring.rs": C},
        "cargo test",
    ),
    "a source of the manifest's": ({"Cargo.toml": '[[bin]]\npath = "src/ring.rs"\n', "src/ring.rs": C}, "cargo test"),
    "a raw name": ({"Cargo.toml": "", "src/lib.rs": "mod r#match;\n", "src/match.rs": C}, "cargo test"),
}
UNREAD = {
    "not listed": ({"Makefile": "x: main.c other.c\n", "ring.c": C}, "make"),
    "no object": ({"Makefile": "O = main.o\nclean:\n\trm -f *.o\n", "ring.c": C}, "make"),
    "a part of a name": ({"Makefile": "x: main.c spring.c ring_a.c ring-b.o\n", "ring.c": C}, "make"),
    "not in CMake's list": ({"CMakeLists.txt": "add_library(x main.c)\n", "ring.c": C}, "cmake . && make"),
    "not in meson's": ({"meson.build": "executable('x', 'main.c')\n", "ring.c": C}, "ninja test"),
    "a word of a source": ({"Makefile": "x: main.c\n", "main.c": "int ring;\n", "ring.c": C}, "make"),
    "a header nobody includes": ({"Makefile": "x: main.c ring.c\n", "ring.c": C, "ring.h": C}, "make"),
    "no module": ({"Cargo.toml": "", "src/lib.rs": "mod other;\n", "src/ring.rs": C}, "cargo test"),
    "a commented module": ({"Cargo.toml": "", "src/lib.rs": "// mod ring;\n", "src/ring.rs": C}, "cargo test"),
}


def unread(project, tree, command):
    for path, text in tree.items():
        project.setup(path, text)
    script = project.parser.parse(command)
    assert isinstance(script, Script)
    return passed_over(tree, script, project.facts())


@pytest.mark.parametrize(("tree", "command"), READ.values(), ids=READ)
def test_what_may_be_read_is_not_passed_over(project, tree, command):
    assert unread(project, tree, command) == ()


@pytest.mark.parametrize(("tree", "command"), UNREAD.values(), ids=UNREAD)
def test_what_a_tree_leaves_out_is_passed_over(project, tree, command):
    assert unread(project, tree, command) == (list(tree)[-1],)
