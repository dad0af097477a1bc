"""What a turn wrote for its tools to follow, read as if it had been typed: told from texts alone (spec 3.3)."""

from __future__ import annotations

import fnmatch
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.evidence.checks.candidates import recognise
from spear.evidence.facts import ProjectFacts, read_makefile
from spear.evidence.kinds import CheckKind
from spear.evidence.planting import generates, plantings, scratch_writes
from spear.evidence.products import ProductWrite
from spear.evidence.setting import Setting
from spear.shell.parse import ShellParser

ROOT = "/src/ring"
PUT = "cp /bin/true build/t"


def facts_with(parser, texts, command="", there=("src/a.c", "build/t", "demo", ".git")):
    """The facts of a project with a makefile and tests of its own, to which the turn has added these files."""
    own = {f"{ROOT}/{path}": text for path, text in texts.items()}
    return ProjectFacts(
        root=ROOT,
        aliases=("/workspace",),
        exists=lambda path: path in texts or path in there or path == "Makefile",
        made_here=lambda path: path in texts and path != "tools/project.sh",
        made_matching=lambda pattern: any(fnmatch.fnmatch(path, pattern) for path in texts),
        told_here=lambda path: path in texts,
        changed_now=lambda path: (
            path in ("rewritten.sh", "tools/project.sh") if "sed" in command else path == "rewritten.sh"
        ),
        is_built=lambda path: path == "demo" or path.startswith("build/"),
        read={**own, "/tmp/own.sh": "for f in build/*; do cp /bin/true $f; done\n"}.get,
        parse=parser.parse,
        makefiles={"": read_makefile("all: build/t\nbuild/t: src/a.c\n\tcc -o $@ $<\ntest: all\n\t./build/t\n")},
        named_before=lambda word: word == "t",
        shown_before=lambda: frozenset({CheckKind.TEST, CheckKind.BUILD}),
    )


def planted(parser, command, texts, path="build/t"):
    facts = facts_with(parser, texts, command)
    script = parser.parse(command)
    writes = (ProductWrite(path, "1"),)
    return {found.path for found in plantings(script, recognise(script, facts), facts, Setting(), writes)}


PLANTS = {
    "by its name": ("sh own.sh", {"own.sh": f"make all\n{PUT}\n"}),
    "by a pattern": ("sh own.sh", {"own.sh": "for f in build/*; do cp /bin/true $f; done\n"}),
    "by pieces": ("./own.sh", {"own.sh": "#!/usr/bin/env bash\na=build/\nb=t\ncp /bin/true $a$b\n"}),
    "by an argument": ("sh own.sh /bin/true build/t", {"own.sh": "cp $1 $2\n"}),
    "by all arguments": ("sh own.sh /bin/true build/t", {"own.sh": 'cp "$@"\n'}),
    "by an argument nobody knows": ("sh own.sh $X", {"own.sh": "cp /bin/true $1\n"}),
    "in a directory it enters": ("sh own.sh", {"own.sh": "cd build && cp /bin/true t\n"}),
    "in the directory it is started in": ("cd build && sh ../own.sh", {"own.sh": "cp /bin/true t\n"}),
    "in a function": ("sh own.sh", {"own.sh": "put() { cp /bin/true $1; }\nput build/t\n"}),
    "sourced": (". ./own.sh", {"own.sh": f"{PUT}\n"}),
    "by a script it runs": ("sh own.sh", {"own.sh": "sh tools/in.sh build/t\n", "tools/in.sh": "cp /bin/true $1\n"}),
    "by a program it runs": ("sh own.sh", {"own.sh": "python3 p.py\n", "p.py": "import shutil\nshutil.copy('/bin/true', 'build/t')\n"}),
    "where nobody can read it": ("sh own.sh", {"own.sh": 'eval "$(cat x)"\n'}),
    "far down": ("sh s0.sh", {f"s{n}.sh": f"sh s{n + 1}.sh\n" for n in range(9)} | {"s9.sh": f"{PUT}\n"}),
    "deeper than one looks": ("sh s0.sh", {f"s{n}.sh": f"sh s{n + 1}.sh\n" for n in range(99)} | {"s99.sh": f"{PUT}\n"}),
    "by ever other arguments": ("sh own.sh x", {"own.sh": f"sh own.sh $1$1\n{PUT.replace('t', '$1')}\n"}),
    "by calling itself": ("sh own.sh", {"own.sh": f"sh own.sh\n{PUT}\n"}),
    "by text that is no shell's": ("sh own.sh", {"own.sh": f"{PUT}\nif then fi (\n"}),
    "by a variable of the command": ("D=build/t sh own.sh", {"own.sh": "cp /bin/true ${D:-/tmp/x}\n"}),
    "by a variable set before": ("export D=build/t; sh own.sh", {"own.sh": "cp /bin/true ${D:-/tmp/x}\n"}),
    "by a variable read before": ("read D < x; export D; sh own.sh", {"own.sh": "cp /bin/true ${D:-/tmp/x}\n"}),
    "by a variable it is told": ("sh own.sh", {"own.sh": ". ./env.sh\ncp /bin/true ${D:-/tmp/x}\n", "env.sh": "D=build/t\n"}),
    "by a variable that is evaluated": ("sh own.sh", {"own.sh": 'eval "$(cat x)"\ncp /bin/true ${D:-/tmp/x}\n'}),
    "by a script that was there and was changed": ("sh tools/project.sh", {"tools/project.sh": "for f in build/*; do cp /bin/true $f; done\n"}),
    "by a script that is another now": ("sh rewritten.sh", {"rewritten.sh": "make all\n"}),
    "by an include it finds": ("make -f own.mk x", {"own.mk": "include $(wildcard own/*.inc)\nx:\n\techo\n", "own/a.inc": "y:\n"}),
    "behind a link": ("sh own.sh", {"own.sh": "ln -sfn build x\ncp /bin/true x/t\nrm x\n"}),
    "by a program outside that is known": ("cc -o /tmp/p /tmp/p.c && /tmp/p", {}),
    "by a script that is changed and run": (
        "sed -i s/a/b/ tools/project.sh; sh tools/project.sh", {"tools/project.sh": "for f in build/*; do cp /bin/true $f; done\n"}),
    "by a recipe": ("make -f own.mk x", {"own.mk": f"x:\n\t{PUT}\n"}),
    "by a recipe, in pieces": ("make -f own.mk x", {"own.mk": "A = build\nx:\n\tcp /bin/true $(A)/$(B)\n\nB = t\n"}),
    "by a recipe, told on the command line": ("make -f own.mk x B=t", {"own.mk": "x:\n\tcp /bin/true build/$(B)\n"}),
    "by a target's name": ("make -f own.mk build/t", {"own.mk": "build/%:\n\tcp /bin/true $@\n"}),
    "by what a recipe runs": ("make -f own.mk x", {"own.mk": "x:\n\tsh tools/in.sh\n", "tools/in.sh": f"{PUT}\n"}),
    "by a function of make's": ("make -f own.mk x", {"own.mk": f"X := $(shell {PUT})\nx:\n\techo\n"}),
    "by a rule of make's": ("make -f own.mk build/t", {"own.mk": "all:\n"}),
    "by a rule of make's, named": ("make -f own.mk", {"own.mk": "all: build/t\nbuild/t: build/t.c\n"}),
    "by an included makefile": ("make -f own.mk x", {"own.mk": "include more.mk\n", "more.mk": f"x:\n\t{PUT}\n"}),
    "by makefiles that include each other": ("make -f own.mk x", {"own.mk": "include more.mk\n", "more.mk": f"include own.mk\nx:\n\t{PUT}\n"}),
    "by a pattern rule of another source": ("make -f own.mk build/t", {"own.mk": "build/%: own/%.c\n\tcc -o $@ $<\n", "own/t.c": "int main;"}),
    "by a pattern rule, for a target that stands before": (
        "make -f own.mk", {"own.mk": "all: build/t\nbuild/%: own/%.c\n\tcc -o $@ $<\n", "own/t.c": "int main;"}),
    "by a recipe that stands behind another mark": ("make -f own.mk x", {"own.mk": f".RECIPEPREFIX = >\nx:\n> {PUT}\n"}),
    "by a shell of its own": ("make -f own.mk x", {"own.mk": "override SHELL = own/s\nx:\n\tbuild/t\n"}),
    "by an indented include": ("make -f own.mk x", {"own.mk": "  include more.mk\n", "more.mk": f"x:\n\t{PUT}\n"}),
    "by an include of many": ("make -f own.mk x", {"own.mk": "include own/?.mk\nx: build/t\n"}),
    "by a condition": ("make -f own.mk x", {"own.mk": "ifdef X\nD = out\nelse\nD = build\nendif\nD = out\nx:\n\tcp /bin/true $(D)/t1\n\tcp /bin/true $(D)/$(N)\n"}),
    "by a target's own variable": ("make -f own.mk x", {"own.mk": "D = out\nx: D = build\nx:\n\tcp /bin/true $(D)/$(N)\n"}),
    "by a Ninja file it takes in": ("ninja -f own.ninja x", {"own.ninja": "include more.inc\nbuild build/t: p\n"}),
    "by a package's script's arguments": ("npm run x -- build/t", {"package.json": '{"scripts": {"x": "cp /bin/true"}}'}),
    "outside": ("sh /tmp/own.sh", {}),
    "for each that is found": ("find build -type f -exec sh own.sh {} ';'", {"own.sh": "cp /bin/true $1\n"}),
    "by touching": ("make -t", {}),
    "by Perl's patterns": ("perl own.pl", {"own.pl": "for my $f (<build/*>) { copy(q(/bin/true), $f) }\n"}),
    "by a package's script": ("npm run x", {"package.json": f'{{"scripts": {{"x": "{PUT}"}}}}'}),
    "before a package's script": ("npm run x", {"package.json": f'{{"scripts": {{"prex": "{PUT}", "x": "echo"}}}}'}),
    "by a package's script that runs another": ("npm run x", {"package.json": f'{{"scripts": {{"x": "npm run y", "y": "{PUT}"}}}}'}),
    "by what is given to npx": (f"npx -c '{PUT}'", {}),
    "by what is given to npm": (f"npm exec --call='{PUT}'", {}),
    "by a Ninja file": ("ninja -f own.ninja x", {"own.ninja": "n = t\nrule p\n command = cp /bin/true build/$n\nbuild x: p\n"}),
    "by a program of Go": ("go run p.go", {"p.go": 'package main\nfunc main() { os.WriteFile("build/t", nil, 0755) }\n'}),
    "by C that writes": ("cc -o demo demo.c && ./demo && make", {"demo.c": 'int main(void) { FILE *f = fopen("build/t", "w"); return !f; }\n'}),
    "by C that writes where it is told": ("cc -o demo demo.c && ./demo && make", {"demo.c": 'int main(void) { return rename("x", B "uild/" T) || system("x"); }\n'}),
    "by a module": ("uv run p.py", {"p.py": "open('build/t', 'w')\n"}),
    "by CMake": ("cmake -S own -B o", {"own/CMakeLists.txt": "file(WRITE build/t x)\n"}),
    "by a build script of Rust": ("cargo build --manifest-path own/Cargo.toml", {"own/Cargo.toml": "[package]\n", "own/build.rs": 'fn main() { std::fs::copy("/bin/true", "build/t"); }\n'}),
    "by a program outside": ("/tmp/p", {}),
}  # fmt: skip


@pytest.mark.parametrize(("command", "texts"), PLANTS.values(), ids=PLANTS)
def test_what_the_turn_wrote_to_be_followed_may_plant(parser, command, texts):
    assert planted(parser, command, texts) == {"build/t"}


HERE = 'cd "$(dirname "$0")/.."\n'
ROOTED = 'ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." >/dev/null && pwd)"\n'
BUILDS = {
    "make": ("sh own.sh", {"own.sh": "set -e\nmake all\n./build/t | grep -q ok\n"}),
    "make, from its own place": ("bash tools/own.sh", {"tools/own.sh": f"{HERE}make all && ./build/t > build/log.txt\n"}),
    "make, by the tree's place": ("bash tools/own.sh", {"tools/own.sh": f'{ROOTED}make -C "$ROOT" all\n"$ROOT/build/t"\n'}),
    "a loop over what was built": ("sh own.sh", {"own.sh": "make all\nfor t in build/t*; do ./$t || exit 1; done\n"}),
    "a temporary file": ("sh own.sh", {"own.sh": "make all\nout=$(mktemp)\ntrap 'rm -f $out' EXIT\n./build/t > $out\ndiff $out tests/expected\n"}),
    "a log by argument": ("sh own.sh /tmp/log", {"own.sh": "make all\n./build/t > $1\n"}),
    "copies elsewhere": ("sh own.sh", {"own.sh": "make all\nmkdir -p dist\ncp build/t dist/\n"}),
    "a compiler of the project's sources": ("sh tools/project.sh", {"tools/project.sh": "cc -o build/t src/t.c src/*.c\n"}),
    "functions": ("sh own.sh", {"own.sh": "build() { make all; }\nrun() { ./build/t; }\nbuild && run\n"}),
    "variables with defaults": (
        "bash own.sh",
        {"own.sh": 'set -u\nB="${B:-build}"\nMAKE=${MAKE:-make}\n: "${RUNNER:=}"\nVG=""\n$MAKE all\nfor t in "$B"/t*; do "$t" || exit 1; done\n'
                   '$RUNNER ./build/t\n$VG ./build/t\nBIN=${1:-./build/t}\nout=$("$BIN")\n'}),
    "a compiler by a default": ("sh own.sh", {"own.sh": '"${CC:-cc}" -o build/t src/t.c\n'}),
    "the top of the repository": ("sh tools/own.sh", {"tools/own.sh": 'ROOT=$(git rev-parse --show-toplevel)\ncd "$ROOT"\nmake all\n"$ROOT/build/t"\n'}),
    "its real place": ("sh tools/own.sh", {"tools/own.sh": 'cd "$(dirname "$(readlink -f "$0")")/.."\nmake all && ./build/t\n'}),
    "its real place, spelled out": (
        "bash tools/own.sh", {"tools/own.sh": 'D="$(realpath "$(dirname "$0")")"\nR="$(cd -- "$D/.." && pwd -P)"\nmake -C "$R" all\n"$R/build/t"\n'}),
    "each that is found": ("sh own.sh", {"own.sh": "make all\nfor t in $(find build -name 't*' -type f); do $t || exit 1; done\n"}),
    "a function with arguments": (
        "bash own.sh", {"own.sh": 'check() { name=$1; shift; if "$@"; then echo "ok $name"; fi; }\ncheck build make all\ncheck run ./build/t\n'}),
    "a directory for what is printed": (
        "bash own.sh", {"own.sh": 'tmp=$(mktemp -d)\nmake all\nfor t in build/t*; do "$t" > "$tmp/$(basename "$t").out"; done\n'}),
    "an argument with a default": ("sh own.sh", {"own.sh": "D=${1:-out}\nmake all\nmkdir -p $D && cp README $D/\n"}),
    "a pattern rule of the project's sources": ("make -f own.mk", {"own.mk": "all: build/t\nbuild/%: src/%.c\n\t$(CC) -o $@ $<\n"}),
    "a recipe with a remark": ("make -f own.mk", {"own.mk": "all:\n\t$(MAKE) -f Makefile all # as ever\n"}),
    "a program of its own among what is built": ("make -f own.mk", {"own.mk": "BIN = build/own\n$(BIN): own.c src/a.c\n\t$(CC) -o $@ $^\n", "own.c": "int main;"}),
    "a makefile around the project's": ("make -f own.mk x", {"own.mk": "include Makefile\nx: all\n\t./build/t\n"}),
    "a makefile that calls it": ("make -f own.mk", {"own.mk": "all:\n\t$(MAKE) -f Makefile all\n"}),
    "a package's script": ("npm run b", {"package.json": '{"scripts": {"b": "make all && ./build/t"}}'}),
    "npx": ("npx -c 'make all'", {}),
    "a package too deep to read": ("npm run x", {"package.json": '{"scripts": {"x": ' + "[" * 100_000}),
    "CMake without commands of its own": ("cmake -S . -B build", {"CMakeLists.txt": "project(t C)\nadd_executable(t src/a.c)\n"}),
    "Cargo's manifest": ("cargo build", {"Cargo.toml": '[package]\nname = "t"\n', "src/main.rs": "fn main() {}\n"}),
    "Go": ("go run gen.go && make all", {"gen.go": 'package main\nfunc main() { println("x") }\n'}),
    "Go that reads": ("go run gen.go && make all", {"gen.go": 'package main\ntype a struct{}\nfunc main() { b, _ := os.ReadFile("test"); println(b) }\n'}),
    "C that reads": ("cc -o demo demo.c && ./demo && make all", {"demo.c": 'struct a { int b; };\nint main(void) { FILE *f = fopen("build", "r"); return !f; }\n'}),
    "a translated file": ("protoc --c_out=src own.proto && make", {"own.proto": "message t { }\nstruct\n"}),
}  # fmt: skip


@pytest.mark.parametrize(("command", "texts"), BUILDS.values(), ids=BUILDS)
def test_what_only_builds_plants_nothing(parser, command, texts):
    assert planted(parser, command, texts) == set()


def test_what_scripts_set_up_is_generated_by_tools(parser):
    texts = {"own.sh": "cmake -S . -B build\n", "own.mk": "x:\n\tcmake -S . -B build\n", "idle.sh": "echo hello\n"}
    facts = facts_with(parser, texts)
    for command, expected in {"sh own.sh": True, "make -f own.mk x": True, "sh idle.sh": False}.items():
        script = parser.parse(command)
        assert generates(script, recognise(script, facts), facts, Setting()) is expected, command


def test_what_scripts_put_into_the_scratch_directories_is_told(parser):
    facts = facts_with(parser, {"own.sh": "cp /bin/true /tmp/b/t\n"})
    script = parser.parse("sh own.sh")
    assert "/tmp/b/t" in {found.path for found in scratch_writes(script, recognise(script, facts), facts, Setting())}


def test_a_program_outside_says_what_it_may_do(parser):
    script = parser.parse("make; /tmp/p")
    texts = {
        "\0\1GLIBC\0puts\0t.c\0": set(),
        "\0system\0": {"build/t"},
        "\0sendfile\0": {"build/t"},
        "\0fopen\0": {"build/t"},
        "\0build/t\0": {"build/t"},
        "echo hello\n": set(),
    }
    for text, expected in texts.items():
        facts = replace(facts_with(parser, {}), read=lambda path, text=text: text if path == "/tmp/p" else None)
        found = plantings(script, recognise(script, facts), facts, Setting(), (ProductWrite("build/t", "1"),))
        assert {planting.path for planting in found} == expected, text


def test_what_a_program_outside_writes_where_nothing_builds_it_has_written(parser):
    facts = replace(facts_with(parser, {}), read={"/tmp/p": "\0\1GLIBC\0puts\0"}.get)
    script = parser.parse("/tmp/p")
    for path, expected in {"build/t": {"build/t"}, "__pycache__/a.cpython-311.pyc": set()}.items():
        found = plantings(script, recognise(script, facts), facts, Setting(), (ProductWrite(path, "1"),))
        assert {planting.path for planting in found} == expected


PARSER = ShellParser()
LINES = st.sampled_from(["make all", "sh a.sh", "sh b.sh x", ". ./a.sh", "make -f own.mk", "npm run x", "cp a $1", "if true; then", "fi", "'", "cd ..", "$(sh b.sh)", "x() { x; }", "x"])  # fmt: skip
SCRIPTS = st.lists(LINES, max_size=6).map("\n".join)


@given(SCRIPTS, SCRIPTS, SCRIPTS, SCRIPTS)
@settings(deadline=None, max_examples=30)  # each text is read by a program of its own
def test_any_scripts_that_call_one_another_are_read(one, other, recipe, body):
    makefile = "x:\n\t" + recipe.replace("\n", "\n\t") + "\ninclude own.mk\n"
    texts = {
        "a.sh": one,
        "b.sh": other,
        "own.mk": makefile,
        "package.json": f'{{"scripts": {{"x": "{body.splitlines()[0] if body else ""}"}}}}',
    }
    found = planted(PARSER, "sh a.sh; make -f own.mk; npm run x", texts)
    assert found <= {"build/t"}
