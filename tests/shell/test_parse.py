"""The tree of a script: structure, expansion, directory, wrappers, and what is not analysed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.shell.located import located
from spear.shell.parse import ShellParser, parse
from spear.shell.syntax import (
    AndOr,
    Background,
    Compound,
    CompoundKind,
    Node,
    Pipeline,
    Script,
    Simple,
    SyntaxProblem,
)

PARSER = ShellParser()


def script(text: str) -> Script:
    result = PARSER.parse(text)
    assert isinstance(result, Script), result
    return result


def simples(tree: Script) -> list[Simple]:
    found: list[Simple] = []

    def visit(node: Node) -> None:
        match node:
            case Simple():
                found.append(node)
                for inner in (*node.substitutions, *((node.nested,) if node.nested else ())):
                    found.extend(simples(inner))
            case Pipeline(stages=stages):
                for stage in stages:
                    visit(stage)
            case AndOr(left=left, right=right):
                visit(left)
                visit(right)
            case Background(body=body):
                visit(body)
            case Compound(parts=parts, substitutions=substitutions):
                for inner in (*parts, *substitutions):
                    found.extend(simples(inner))

    for statement in tree.statements:
        visit(statement)
    return found


def argvs(text: str) -> list[list[str | None]]:
    return [[word.value for word in simple.argv] for simple in simples(script(text)) if simple.argv]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("touch a\\ b 'c d' \"e f\"", ["touch", "a b", "c d", "e f"]),
        ("to\\\nuch x", ["touch", "x"]),
        ("touch $'a\\x62\\n'", ["touch", "ab\n"]),
        ("touch {a,b{1,2}}.c", ["touch", "a.c", "b1.c", "b2.c"]),
        ("touch f{1..3}", ["touch", "f1", "f2", "f3"]),
        ("touch {a}", ["touch", "{a}"]),
        ("touch ~/x", ["touch", "/home/sandbox/x"]),
        ("touch '~/x'", ["touch", "~/x"]),
        ("touch $TMPDIR/x", ["touch", "/tmp/x"]),
        ("touch $UNHEARD_OF", ["touch", None]),
        ("touch $(dirname a/b)", ["touch", "a"]),
        ("touch${IFS}x", ["touch", "x"]),
    ],
)
def test_words_are_expanded_where_their_value_is_known(text, expected):
    assert argvs(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("F=src/x; rm $F", ["rm", "src/x"]),
        ("F=a; F+=b; rm $F", ["rm", "ab"]),
        ("F='a b'; rm $F", ["rm", "a", "b"]),
        ("F='a b'; rm \"$F\"", ["rm", "a b"]),
        ("F=a.c; rm ${F%.c}.o ${F##*.}", ["rm", "a.o", "c"]),
        ("export F=a; rm $F", ["rm", "a"]),
        ("c='rm,x'; IFS=,; $c", ["rm", "x"]),
        ("F=a; if cond; then F=b; fi; rm $F", ["rm", None]),
        ("F=a; read F; rm $F", ["rm", None]),
        ("F=a; while x; do F=b; done; rm $F", ["rm", None]),
        ("F=a; (F=b); rm $F", ["rm", "a"]),
        ("F=a; x | F=b; rm $F", ["rm", "a"]),
        ('f() { rm "$1"; }; f q', ["rm", "q"]),
        ("set -- a; rm $1", ["rm", "a"]),
        ("set -- a b; shift; rm $1", ["rm", "b"]),
        ("set -- a b; shift $n; rm $1", ["rm", None]),
        ("set -euo pipefail -- a; rm $1", ["rm", "a"]),
        ("set -- $x; rm $1", ["rm", None]),
        ("set -- a; rm ${2:-b}", ["rm", "b"]),
        ("f() { set -e; rm $1; }; f q", ["rm", "q"]),
        ("f() { while x; do rm $1; shift; done; }; f a b", ["rm", None]),
        ("f() { if x; then shift; fi; rm $1; }; f a b", ["rm", None]),
        ("F=; rm ${F:-a}", ["rm", "a"]),
        ("rm $(mktemp)", ["rm", "/tmp/tmp.XXXXXXXXXX"]),
        ("rm $(mktemp -d)/x", ["rm", "/tmp/tmp.XXXXXXXXXX/x"]),
        ("rm $(mktemp x.XXX)", ["rm", None]),
        ("TMPDIR=$x; rm $(mktemp)", ["rm", None]),
    ],
)
def test_variables_are_followed_and_forgotten_where_they_may_have_changed(text, expected):
    assert [argv for argv in argvs(text) if argv[0] == "rm"][-1] == expected


@pytest.mark.parametrize(
    ("text", "cwd"),
    [
        ("cd src; rm x", "src"),
        ("cd src && rm x", "src"),
        ("cd src || exit 1; rm x", "src"),
        ("cd src; cd ..; rm x", ""),
        ("cd src; cd -; rm x", ""),
        ("(cd src); rm x", ""),
        ("pushd src; popd; rm x", ""),
        ('cd "$PWD/src"; rm x', "src"),
        ("cd $(pwd)/src; rm x", "src"),
        ('cd "$WHERE"; rm x', None),
        ("if a; then cd src; fi; rm x", None),
        ("cd src 2>/dev/null || rm x", ""),
        ("cd src | cat; rm x", ""),
        ("cd /tmp; cd q; rm x", "/tmp/q"),
        ("env -C src rm x", "src"),
        ("[ -d src ] && cd src; rm x", None),
        ("cd ../other; rm x", "../other"),
        ("cd src & rm x", ""),
        ("D=$PWD; cd src; cd $D; rm x", ""),
    ],
)
def test_the_directory_a_command_runs_in_is_followed(text, cwd):
    assert [simple for simple in simples(script(text)) if simple.name == "rm"][-1].cwd == cwd


@pytest.mark.parametrize(
    ("text", "wrappers", "argv"),
    [
        ("env -i A=1 timeout -k 3 5 make all", ("env", "timeout"), ["make", "all"]),
        ("nice -n 5 nohup setsid -w make", ("nice", "nohup", "setsid"), ["make"]),
        ("time -p make", ("time",), ["make"]),
        ("stdbuf -oL make", ("stdbuf",), ["make"]),
        ("command make", ("command",), ["make"]),
        ("command -v make", (), ["command", "-v", "make"]),
        ("xvfb-run -a -s '-screen 0' make", ("xvfb-run",), ["make"]),
        ("exec make", ("exec",), ["make"]),
        ("/usr/bin/env make", ("env",), ["make"]),
        ("flock .lock make", ("flock",), ["make"]),
        ("env", (), ["env"]),
    ],
)
def test_wrappers_are_taken_off(text, wrappers, argv):
    simple = simples(script(text))[0]
    assert simple.wrappers == wrappers
    assert [word.value for word in simple.argv] == argv


@pytest.mark.parametrize(
    "text",
    [
        "sh -c 'rm x'",
        "bash -ec 'rm x' name",
        "eval 'rm x'",
        "eval rm x",
        "sh -c \"sh -c 'rm x'\"",
        "bash <<'E'\nrm x\nE",
        "bash <<< 'rm x'",
        "echo 'rm x' | bash",
        "printf '%s\\n' 'rm x' | sh -s",
        "trap 'rm x' EXIT",
        "env -S 'rm x'",
        "echo x | xargs rm",
        "find . -exec rm x \\;",
        "f() { rm x; }; f",
        "cat <<E\n$(rm x)\nE",
        "echo ${a[$(rm x)]}",
        "echo ${a:-$(rm x)}",
        "(( a[$(rm x)] ))",
        "[[ $(rm x) ]]",
        "diff <(rm x) y",
        "case $(rm x) in *) ;; esac",
        "coproc rm x",
        "time rm x",
        "PAGER='rm x' man ls",
        "flock l -c 'rm x'",
        "for a in $(rm x); do :; done",
        "a[$(rm x)]=1",
    ],
)
def test_a_command_is_found_wherever_it_would_run(text):
    assert ["rm", "x"] in argvs(text)


@pytest.mark.parametrize(
    "text",
    ["echo 'rm x'", "cat <<'E'\n$(rm x)\nE", "# rm x\nls", "bash -n -c 'rm x'", "case a in rm) ;; esac", "echo rm x"],
)
def test_quoted_text_is_no_command(text):
    assert all(argv[0] != "rm" for argv in argvs(text))


def test_pipelines_chains_and_background_keep_their_shape():
    pipeline = script("! a | b |& c").statements[0]
    assert isinstance(pipeline, Pipeline)
    assert pipeline.negated
    assert len(pipeline.stages) == 3
    chain = script("a && b || c").statements[0]
    assert isinstance(chain, AndOr)
    assert isinstance(chain.left, AndOr)
    assert isinstance(script("a & b").statements[0], Background)
    loop = script("for f in a b; do x $f; done").statements[0]
    assert isinstance(loop, Compound)
    assert loop.kind is CompoundKind.LOOP


def test_redirections_are_attributes_of_what_they_are_written_on():
    simple = simples(script("x >a 2>>b <c >|d &>e <>f 2>&1 3>&- >&g"))[0]
    assert [(r.operator, r.target.value) for r in simple.redirects] == [
        (">", "a"),
        (">>", "b"),
        ("<", "c"),
        (">|", "d"),
        ("&>", "e"),
        ("<>", "f"),
        (">&", "g"),
    ]


def test_positions_are_byte_offsets():
    text = "echo é; rm x > y"
    simple = simples(script(text))[1]
    assert text.encode()[simple.start : simple.end] == b"rm x > y"


@pytest.mark.parametrize(
    ("text", "line", "column"), [("echo $((1", 1, 6), ("ls\nif x; then", 2, 7), ("ls |", 1, 4), ("echo 'a", 1, 6)]
)
def test_a_syntax_error_is_reported_with_its_place(text, line, column):
    problem = parse(text)
    assert isinstance(problem, SyntaxProblem)
    assert (problem.line, problem.column) == (line, column)


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\0", "NUL"),
        ("\r", "carriage return"),
        ("\x1b", "escape"),
        ("\u2028", "line separator"),
        ("\u202e", "override"),
        ("\x85", "control"),
        ("\u200f", "right-to-left mark"),
    ],
)
def test_a_character_that_hides_text_is_refused_by_name(character, name):
    problem = PARSER.parse(f"echo 'a{character}b'")
    assert isinstance(problem, SyntaxProblem)
    assert name in problem.message


@pytest.mark.parametrize("text", ["echo 'a\tb'", "echo é ü 漢 👍", "echo 'a\nb'", "touch a\u00a0b"])
def test_ordinary_characters_are_not_refused(text):
    assert isinstance(PARSER.parse(text), Script)


def test_a_script_too_large_to_judge_is_refused():
    assert isinstance(PARSER.parse("echo " + "a" * 70_000), SyntaxProblem)
    assert isinstance(PARSER.parse("true\n" * 600), SyntaxProblem)
    assert isinstance(PARSER.parse("true\n" * 400), Script)


def test_text_that_bash_accepts_and_the_grammar_does_not_is_run_as_unknown():
    tree = script("function f if :; then :; fi")
    assert simples(tree)[0].argv[0].value is None


def test_nesting_without_end_is_bounded():
    recursive = script("f() { f; }; f")
    assert any(simple.argv and simple.argv[0].value is None for simple in simples(recursive))
    assert isinstance(PARSER.parse("$(" * 3000 + ")" * 3000), SyntaxProblem)
    assert (
        len(
            argvs(
                "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do for c in 1 2 3 4 5 6 7 8; do "
                "for d in 1 2 3 4 5 6 7 8; do x $a; done; done; done; done"
            )
        )
        < 10_000
    )


def test_one_text_is_parsed_once():
    parser = ShellParser(kept=1)
    first = parser.parse("ls a")
    assert parser.parse("ls a") is first
    parser.parse("ls b")
    assert parser.parse("ls a") is not first


SHELLISH = st.text(st.sampled_from(list("abc xyz$(){}[]<>|&;'\"\\`#!*?~=\n\t/-0123,.%@+:^")), max_size=60)


@settings(max_examples=150, deadline=None)
@given(st.one_of(SHELLISH, st.text(max_size=40)))
def test_any_text_is_a_script_or_a_problem(text):
    assert isinstance(PARSER.parse(text), Script | SyntaxProblem)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rm $1 $2 ${3:-c}", ["rm", "a", None, "c"]),
        ("rm $0 ${BASH_SOURCE[0]}", ["rm", "own.sh", "own.sh"]),
        ('rm "$@"', ["rm", "a", None]),
    ],
)
def test_a_script_sees_its_arguments(text, expected):
    tree = PARSER.parse(text, ("own.sh", "a", None))
    assert isinstance(tree, Script)
    assert [word.value for word in simples(tree)[0].argv] == expected
    assert PARSER.parse(text) != tree


def test_where_it_starts_is_filled_in():
    for text, expected in {
        'make -C "$PWD" all': ["make", "-C", "/src", "all"],
        'cd a; ROOT=$(cd .. && pwd); rm "$ROOT/x"': ["rm", "/src/x"],
        'rm "$(cd "$(dirname "$0")/.." >/dev/null; pwd -P)/x"': ["rm", "/src/x"],
    }.items():
        tree = PARSER.parse(text, ("tools/own.sh",))
        assert isinstance(tree, Script)
        assert [word.value for word in simples(located(tree, "/src"))[-1].argv if word] == expected or expected in [
            [word.value for word in simple.argv] for simple in simples(located(tree, "/src"))
        ]


@given(st.text(alphabet="abc $()'\"=;&|\n{}*\\", max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_script_that_does_not_say_where_it_starts_stays_as_it_is(text):
    tree = PARSER.parse(text)
    if isinstance(tree, Script):
        assert located(tree, "/src") is tree


def test_values_that_grow_without_end_are_not_known():
    assert argvs("a=x\n" + "a=$a$a\n" * 60 + "rm $a")[-1] == ["rm", None]
    assert argvs(f"a={'x' * 60_000}\nrm " + "$a " * 100)[-1][-1] is None


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("npx -c 'rm x'", ["rm", "x"]),
        ("npx --call='rm x' -p y", ["rm", "x"]),
        ("npm exec -c 'rm x'", ["rm", "x"]),
        ("npm -w a x --call 'rm x'", ["rm", "x"]),
        ("pnpm exec -c 'rm x'", ["rm", "x"]),
        ("npm run -c x", None),
        ("npx jest -c x.js", None),
    ],
)
def test_what_package_managers_hand_to_a_shell_is_read(text, carried):
    assert (argvs(text)[1:] or [None])[0] == carried
