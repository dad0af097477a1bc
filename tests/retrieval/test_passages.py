"""Cutting texts: every line is found once, definitions and sections stay whole, whatever the text is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spear
from spear.retrieval.chunking.files import Cutter
from spear.retrieval.chunking.passages import PASSAGE_CHARACTERS, Definition, Lines, cut
from spear.retrieval.chunking.python import python_definitions
from spear.retrieval.chunking.sections import markdown_sections, rst_sections

LINE = st.one_of(
    st.sampled_from(
        ["", "  ", "class A:", "    def f(self):", "        '''", '"""', "# note", "def g():", "    return 1", "}",
         "@x", "int f(void) {", "struct s {", "## Part", "=====", "Title", "```", "fn a() {", "export class B {",
         "x" * 5000, ")"]
    ),
    st.text(max_size=30),
)  # fmt: skip
TEXT = st.lists(LINE, max_size=130).map("\n".join)
NAME = st.sampled_from(
    ["a.py", "a.md", "a.rst", "a.c", "a.h", "a.rs", "a.go", "a.java", "a.ts", "a.tsx", "a.js", "a.txt", "a"]
)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(NAME, TEXT)
def test_any_text_is_cut_without_losing_or_repeating_anything(name, text):
    passages = Cutter().cut(name, text)
    assert squeezed("".join(p.text for p in passages)) == squeezed(text)
    rows = text.split("\n")
    for passage in passages:
        assert len(passage.text) <= PASSAGE_CHARACTERS
        assert passage.text in "\n".join(rows[passage.first_line - 1 : passage.last_line])


@given(TEXT, st.lists(st.builds(Definition, st.integers(-3, 140), st.integers(-3, 140), st.just("t"))))
def test_definitions_of_a_wrong_parser_lose_nothing(text, definitions):
    assert squeezed("".join(p.text for p in cut(Lines(text), definitions))) == squeezed(text)


def wanted(text: str) -> set[tuple[str, int, int]]:
    """Qualified name, first line and last line of every function and class, by Python's own parser."""
    found = set()

    def visit(body, before):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                found.add((before + node.name, first, node.end_lineno))
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{before}{node.name}.")

    visit(ast.parse(text).body, "")
    return found


def scanned(text: str) -> set[tuple[str, int, int]]:
    rows = text.split("\n")
    found = set()

    def visit(definitions):
        for each in definitions:
            first, last = each.first, each.last
            while rows[first - 1].lstrip().startswith("#"):
                first += 1
            while not rows[last - 1].strip() or rows[last - 1].lstrip().startswith("#"):
                last -= 1
            found.add((each.title, first, last))
            visit(each.inner)

    visit(python_definitions(Lines(text)))
    return found


def test_the_scan_of_python_agrees_with_its_parser_on_this_project():
    for source in Path(spear.__file__).parent.rglob("*.py"):
        text = source.read_text()
        assert scanned(text) >= wanted(text), source


@pytest.mark.parametrize(
    "text",
    [
        'def f():\n    """\ndef not_this():\n    """\n    return 1\n\nx = 1\n',
        "def f(\n    a,\n) -> int:\n    return a\n\ny = 2\n",
        'q = \'"""\'\ndef f():\n    return 1\n',
        '# a """ in a comment\ndef f():\n    return 1\n',
        "@cache(\n    size=1,\n)\n@other\ndef f():\n    pass\n",
        "class A:\n\tdef f(self):\n\t\tpass\n\n\tasync def g(self):\n\t\tpass\nclass B: pass\n",
        'class A:\n    """Doc \\""" more."""\n    class C:\n        def f(self): ...\n    def g(self): ...\n',
        'def f():\n    x = """\\\\"""\n    return x\ndef g(): pass\n',
    ],
)
def test_the_scan_of_python_agrees_with_its_parser_on_traps(text):
    assert scanned(text) == wanted(text)


HOSTILE = {
    "comments.py": "#'''" * 300_000,
    "strings.py": "[" + '\'"""\',' * 200_000,
    "escapes.py": "'''" + "\\" * 1_000_000 + "'''" * 3,
    "openings.py": "\\'''" * 300_000,
    "remarks.py": "#\n" * 300_000 + "def f(): pass\n",
    "nested.py": "".join(" " * (n % 25) + "class a:\n" for n in range(50_000)),
    "braces.js": "{" * 500_000,
    "classes.ts": "class A { m() { class B {" * 20_000,
    "line.txt": "x" * 2_000_000,
    "blank.txt": " \n" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_text_made_to_be_slow_is_cut_all_the_same(name):
    assert squeezed("".join(p.text for p in Cutter().cut(name, HOSTILE[name]))) == squeezed(HOSTILE[name])


def titles(name: str, text: str) -> dict[str, tuple[int, int]]:
    return {p.title: (p.first_line, p.last_line) for p in Cutter().cut(name, text) if p.title}


def test_a_long_class_becomes_its_methods_and_what_is_before_them():
    text = "class A:\n    x = 1\n\n" + "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(10))
    found = titles("a.py", text)
    assert found["A"] == (1, 2)
    assert found["A.m0"] == (4, 5)
    assert found["A.m9"] == (31, 32)


def test_a_short_class_stays_whole():
    assert titles("a.py", "class A:\n    def f(self):\n        pass\n") == {"A": (1, 3)}


def test_the_comment_above_a_definition_belongs_to_it():
    assert titles("a.py", "import x\nimport y\nimport z\n\n# why\ndef f():\n    pass\n")["f"] == (5, 7)
    assert titles("a.c", "int a;\nint b;\nint c;\n\n/* why */\nint f(void)\n{\n}\n")["f"] == (5, 8)


def test_a_function_longer_than_a_passage_is_cut_at_blank_lines_under_its_name():
    body = "".join(f"    a{n} = {n}\n" + ("\n" if n % 30 == 29 else "") for n in range(200))
    passages = Cutter().cut("a.py", f"def f():\n{body}")
    assert len(passages) > 2
    assert {p.title for p in passages} == {"f"}
    assert all(not p.text.startswith("\n") and not p.text.endswith("\n") for p in passages)


@pytest.mark.parametrize(("length", "passages"), [(PASSAGE_CHARACTERS, 1), (PASSAGE_CHARACTERS + 1, 2)])
def test_a_passage_is_as_long_as_it_may_be(length, passages):
    text = "def f():\n" + "    a = 1\n" * 30
    text += "    " + "x" * (length - len(text) - 4)
    assert len(Cutter().cut("a.py", text)) == passages


SAMPLES = {
    "a.c": ("#ifdef X\nint *f(int a)\n{\n  return 0;\n}\n#endif\n\n\n\nstruct s {\n  int a;\n};\n", "f 2-6, s 10-12"),
    "a.cpp": (
        "template <class T>\nT id(T a) {\n  return a;\n}\n\n\n\nint n::C::k() {\n  return 1;\n}\n",
        "id 1-4, n::C::k 8-10",
    ),
    "a.rs": (
        "#[test]\nfn works() {\n}\n\n\n\nimpl Shape for Ring {\n  fn area(&self) {}\n}\n",
        "works 1-3, Ring 7-9",
    ),
    "a.go": (
        "package p\n\nimport x\nimport y\n\n// Why.\nfunc (s *S) Run() {\n}\n\n\n\ntype S struct {\n}\n",
        "Run 6-8, S 12-13",
    ),
    "A.java": ("package p;\n\nimport a;\nimport b;\n\n@X\npublic class A {\n  int f() { return 1; }\n}\n", "A 6-9"),
    "a.js": (
        "export function f() {\n  return 1\n}\n\n\n\nconst g = (a) => {\n  return a\n}\n\n\n\n"
        "module.exports.h = function () {\n}\n",
        "f 1-3, g 7-9, module.exports.h 13-14",
    ),
    "a.ts": (
        "export interface I {\n  a: string\n}\n\n\n\nnamespace N {\n  export function q() {}\n}\n",
        "I 1-3, N 7-9",
    ),
    "a.tsx": ("export const View = () => {\n  return <p>x</p>\n}\n", "View 1-3"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_definitions_are_found_in_every_language(name):
    text, expected = SAMPLES[name]
    found = titles(name, text)
    assert ", ".join(f"{title} {first}-{last}" for title, (first, last) in found.items()) == expected


def test_methods_carry_the_name_of_what_holds_them():
    text = "package p;\nclass A {\n" + "".join(f"  int f{n}() {{\n    return {n};\n  }}\n\n" for n in range(9)) + "}\n"
    assert titles("A.java", text)["A.f3"] == (15, 17)


def test_sections_are_titled_by_their_path():
    text = "Intro\n\n# A\n\ntext\n\n## B\n\n```\n# not a title\n```\n\nOther\n-----\nx\n# C #\n"
    found = [(d.title, d.first, d.last) for d in markdown_sections(Lines(text))]
    assert found == [("A", 3, 6), ("A > B", 7, 12), ("A > Other", 13, 15), ("C", 16, 17)]


def test_titles_of_rst_are_as_deep_as_their_adornment_is_late():
    text = "=====\nTop\n=====\n\na\n\nPart\n----\n\nb\n\nSmall\n~~~~~\n\nNext\n----\n\n==== ====\n a    b\n==== ====\n"
    found = [(d.title, d.first) for d in rst_sections(Lines(text))]
    assert found == [("Top", 1), ("Top > Part", 7), ("Top > Part > Small", 12), ("Top > Next", 15)]
