"""Where tools of every family write, and where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.shell.destinations import Effects, effects
from spear.shell.parse import ShellParser
from spear.shell.syntax import Script

PARSER = ShellParser()


def read(text: str) -> Effects:
    tree = PARSER.parse(text)
    assert isinstance(tree, Script), tree
    return effects(tree)


def written(text: str) -> set[str | None]:
    found: set[str | None] = set()
    for destination in read(text).destinations:
        below = [f"{destination.path}/{name}" for name in destination.into] if destination.directory else []
        found.update(
            below
            or [destination.path + "/**" if destination.tree and destination.path is not None else destination.path]
        )
    return found


WRITES = [
    # redirections of every form
    ("x > a", {"a"}),
    ("x >> a", {"a"}),
    ("x >| a", {"a"}),
    ("x &> a", {"a"}),
    ("x &>> a", {"a"}),
    ("x >& a", {"a"}),
    ("x <> a", {"a"}),
    ("x 2> a", {"a"}),
    ("x {fd}> a", {"a"}),
    ("> a", {"a"}),
    ("exec 3> a", {"a"}),
    ("{ x; } > a", {"a"}),
    ("while x; do y; done > a", {"a"}),
    ("if x; then y; fi > a", {"a"}),
    ("cd d; (x) > a", {"d/a"}),
    ("[ 1 > a ]", {"a"}),
    ("x > 'a b'", {"a b"}),
    ("x > $'\\x61'", {"a"}),
    ("x > d/../a", {"a"}),
    ("x > ./a", {"a"}),
    ("x > /proc/self/cwd/a", {"a"}),
    ("x > $PWD/a", {"a"}),
    ("cd d; x > $OLDPWD/a", {"a"}),
    ("! x > a", {"a"}),
    ("x > a &", {"a"}),
    # copying
    ("cp a b", {"b"}),
    ("cp a b d/", {"d/a", "d/b"}),
    ("cp -t d a", {"d/a"}),
    ("cp --target-directory=d a", {"d/a"}),
    ("cp -a s d", {"d/**"}),
    ("mv a b", {"b", "a/**"}),
    ("install -m 644 a b", {"b"}),
    ("install -d d e", {"d", "e"}),
    ("install -Dt d a", {"d/a"}),
    ("ln -s t l", {"l"}),
    ("ln -s d/t", {"t"}),
    ("ln a b", {"b", "a"}),
    ("rsync -a s/ d", {"d/**"}),
    ("rsync a h:b", set()),
    ("rsync -an s d", set()),
    ("scp h:x a", {"a"}),
    ("scp a h:x", set()),
    # files
    ("rm a", {"a"}),
    ("rm -r d", {"d/**"}),
    ("rm -- -a", {"-a"}),
    ("rmdir d", {"d"}),
    ("unlink a", {"a"}),
    ("shred -n 3 a", {"a"}),
    ("touch -r x a", {"a"}),
    ("mkdir -m 700 d", {"d"}),
    ("truncate -s 0 a", {"a"}),
    ("x | tee -a a b", {"a", "b"}),
    ("dd if=x of=a", {"a"}),
    ("dd if=x", set()),
    ("split -b 2 x p", {"p*"}),
    ("csplit -f p x 1", {"p*"}),
    ("chmod 600 a", {"a"}),
    ("chmod -x a", {"a"}),
    ("chown u:g a", {"a"}),
    ("sort -o a x", {"a"}),
    ("sort -oa x", {"a"}),
    ("uniq x a", {"a"}),
    ("uniq x", set()),
    ("mktemp -p d", {"d/tmp.*"}),
    ("mktemp", set()),
    ("find d -delete", {"d/**/*"}),
    ("find d -name 'a*' -delete", {"d/**/a*"}),
    ("find d -mtime 1 -delete", {None}),
    ("find . -fprintf a x", {"a"}),
    ("find d -name b -exec rm {} +", {"d/**/b"}),
    ("find d -name b -exec sh -c 'echo > \"$1\"' _ {} \\;", {"d/**/b"}),
    ("echo a | xargs rm", {"a"}),
    ("printf 'a\\nb\\n' | xargs rm", {"a", "b"}),
    ("cat l | xargs rm", {None}),
    ("ls a | xargs -I{} cp {} b", {"b"}),
    ("openssl rand -out a 8", {"a"}),
    ("iconv -o a x", {"a"}),
    ("xxd -r x a", {"a"}),
    ("flock a true", {"a"}),
    ("strace -o a true", {"a"}),
    ("script -c true a", {"a"}),
    # editors
    ("sed -i s/x/y/ a", {"a"}),
    ("sed -ni.bak p a", {"a", "a.bak"}),
    ("sed --in-pl s/x/y/ a b", {"a", "b"}),
    ("sed -i -e s/x/y/ a", {"a"}),
    ("sed -n '1w a' x", {"a"}),
    ("sed 's/x/y/w a' x", {"a"}),
    ("sed '1e touch a' x", {"a"}),
    ("sed 's/w/e/' x", set()),
    ("sed 's|w a|e|;y/we/ab/' x", set()),
    ("sed -e '/w/d' -e 's/[/w]x/y/' x", set()),
    ("sed '1i w a' x", set()),
    ("perl -pi -e 's/x/y/' a", {"a"}),
    ("perl -e 'unlink q(a)'", {"a"}),
    ('perl -e \'open(F, ">", "a")\'', {"a"}),
    ("ruby -e 'File.write(\"a\", 1)'", {"a"}),
    ("node -e \"require('fs').writeFileSync('a','x')\"", {"a"}),
    ("awk '{print > \"a\"}' x", {"a"}),
    ("awk 'BEGIN{system(\"touch a\")}'", {"a"}),
    ("awk '$1 > 3' x", set()),
    ("awk '{print ($1 > 2)}' x", set()),
    ("awk '{print | \"tee a\"}' x", {"a"}),
    ("gawk -i inplace '1' a", {"a"}),
    ("patch a < p", {"a"}),
    ("patch -p1 <<'E'\n--- a/f\n+++ b/f\n@@ -1 +1 @@\nE", {"f"}),
    ("patch -p1 < p", {None}),
    ("patch --dry-run -p1 < p", set()),
    ("ed -s a <<< w", {"a"}),
    ("clang-format -i a", {"a/**"}),
    ("clang-format a", set()),
    ("black --check .", set()),
    ("gofmt -w a", {"a/**"}),
    ("prettier --write a", {"a/**"}),
    # python
    ("python3 -c \"open('a','w')\"", {"a"}),
    ("python3 -c \"p='a'; open(p, mode='a')\"", {"a"}),
    ("python3 -c \"open('a')\"", set()),
    ("python3 -c \"from pathlib import Path; Path('d')/'x'; (Path('d')/'a').write_text('')\"", {"d/a"}),
    ("python3 -c \"import os; os.remove('a')\"", {"a"}),
    ("python3 -c \"from os import remove as r; r('a')\"", {"a"}),
    ("python3 -c \"import shutil; shutil.move('a','b')\"", {"a/**", "b"}),
    ("python3 - <<'E'\nopen('a', 'w')\nE", {"a"}),
    ("python3 -c \"import os; os.system('touch a')\"", {"a"}),
    ("python3 -c \"import subprocess as s; s.run(['rm','a'])\"", {"a"}),
    ("python3 -c 'print(1 > 0)'", set()),
    ("python3 -c \"'a'.replace('x', 'y')\"", set()),
    ("python3 t.py", set()),
    # git
    ("git checkout -- a", {"a/**"}),
    ("git checkout a.c", {"a.c/**"}),
    ("git checkout main", {"/**"}),
    ("git checkout -b x", set()),
    ("git restore a", {"a/**"}),
    ("git restore --staged a", set()),
    ("git reset --hard", {"/**"}),
    ("git reset a", set()),
    ("git clean -fd", {"/**"}),
    ("git clean -n", set()),
    ("git stash", {"/**"}),
    ("git stash push -m wip", {"/**"}),
    ("git stash push --pathspec-from-file=list", {"/**"}),
    ("git stash push -m wip src/a.c", {"src/a.c/**"}),
    ("git stash push -m wip -- src/a.c", {"src/a.c/**"}),
    ("git stash pop", {"/**"}),
    ("git stash list", set()),
    ("git rm a", {"a/**"}),
    ("git rm --cached a", set()),
    ("git mv a b", {"a/**", "b"}),
    ("git apply p", {None}),
    ("git apply --check p", set()),
    ("git diff --output=a", {"a"}),
    ("git -C d archive -o a HEAD", {"d/a"}),
    ("git format-patch -o d -1", {"d/**"}),
    ("git -c alias.x='!touch a' x", {"a"}),
    ("git -c core.pager='touch a' log", {"a"}),
    ("git config a.b c", {".git/config"}),
    ("git config --get a.b", set()),
    ("git config a.b", set()),
    ("git clone u/r.git", {"r/**"}),
    ("git add -A", set()),
    ("git bisect run touch a", {"/**", "a"}),
    ("git submodule foreach 'touch a'", {"a"}),
    ("git worktree add d", {"d/**"}),
    # archives and downloads
    ("tar xf t -C d", {"d/**"}),
    ("tar -xf t", {"/**"}),
    ("tar czf a d", {"a"}),
    ("tar tf t", set()),
    ("tar xOf t", set()),
    ("tar cf - d", set()),
    ("tar cf x d --checkpoint-action=exec='touch a'", {"x", "a"}),
    ("unzip t -d d", {"d/**"}),
    ("unzip -l t", set()),
    ("zip a x", {"a"}),
    ("gzip a", {"a.gz", "a"}),
    ("gzip -k a", {"a.gz"}),
    ("gunzip a.gz", {"a", "a.gz"}),
    ("gzip -c a", set()),
    ("cpio -id", {"/**"}),
    ("ar rcs a x", {"a"}),
    ("curl -o a u", {"a"}),
    ("curl -O http://h/d/a", {"a"}),
    ("curl -so - u", set()),
    ("curl u", set()),
    ("wget -O a u", {"a"}),
    ("wget http://h/a?x", {"a"}),
    ("wget -qO- u", set()),
    ("wget -P d http://h/a", {"d/a"}),
    # compilers
    ("gcc -c d/a.c", {"a.o"}),
    ("gcc a.c", {"a.out"}),
    ("gcc -o x a.c", {"x"}),
    ("gcc -ox a.c", {"x"}),
    ("gcc -fsyntax-only a.c", set()),
    ("gcc -Wall -Werror -O2 -Iinc a.c -o x", {"x"}),
    ("ld -o x a.o", {"x"}),
    # wrappers and indirection
    ("env touch a", {"a"}),
    ("nice -n 5 touch a", {"a"}),
    ("timeout 5 touch a", {"a"}),
    ("eval 'touch a'", {"a"}),
    ("sh -c 'touch \"$0\"' a", {None}),
    ("sh -c 'touch \"$1\"' _ a", {"a"}),
    ("bash <<< 'touch a'", {"a"}),
    ("c=touch; $c a", {"a"}),
    ("/usr/bin/tou?h a", {"a"}),
    ("trap 'rm a' EXIT", {"a"}),
    ('f() { rm "$1"; }; f a', {None, "a"}),
    ("busybox touch a", {"a"}),
    ("env -C d touch a", {"d/a"}),
    ("for f in a b; do rm $f; done", {"a", "b"}),
    ("x | tee >(cat > a)", {"a"}),
    ("cd $x; touch a", {None}),
    ('touch "$x"', {None}),
    ("time touch a", {"a"}),
    ("coproc touch a", {"a"}),
]


@pytest.mark.parametrize(("text", "expected"), WRITES)
def test_destinations_are_read(text, expected):
    assert written(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "grep 'a > b' x",
        "echo 'x > y'",
        'echo "x > y"',
        "echo x \\> y",
        "[[ a > b ]]",
        "(( 1 > 0 ))",
        "echo $((2>1))",
        "let 'x = 1 > 0'",
        "cat <<'E'\na > b\nE",
        "cat <<E\na > b\nE",
        "# x > y\nls",
        "x 2>&1",
        "x >&2",
        "x 3>&-",
        "x > /dev/null",
        "x > /dev/stderr",
        "x 2> /dev/fd/2",
        "echo '$(touch a)'",
        'echo "use sed -i or tee b"',
        "case 'a>b' in *'>'*) ;; esac",
        "git log --format='%h > %s'",
        "jq '.a > 1' f",
        "test -f a",
        "x < a",
        "x <<< 'a > b'",
        "diff <(a) <(b)",
        "x | tee /dev/null",
    ],
)
def test_what_is_no_destination_is_not_read_as_one(text):
    assert read(text).destinations == ()


@pytest.mark.parametrize(
    "text",
    [
        "make",
        "./x",
        "python3 t.py",
        "sh x.sh",
        "source x",
        "$x y",
        "tar xf t -I prog",
        "rg --pre p x",
        "sed -f s x",
        "awk -f s x",
        "npm test",
        "cat x | sh",
        "/tmp/ls",
        "LD_PRELOAD=x ls",
        "x='a[$(b)]'",
    ],
)
def test_programs_that_run_code_are_opaque(text):
    assert read(text).opaque


@pytest.mark.parametrize(
    "text",
    [
        "ls | head",
        "git status",
        "grep x y",
        "sed -n 1p x",
        "awk '{print $1}' x",
        "find . -name x",
        "sh -c 'ls'",
        "f() { ls; }; f",
        "bash -n x",
        "xargs grep x < y",
        "PAGER=cat git log",
        "[ a ]",
    ],
)
def test_readers_are_read_whole(text):
    assert read(text) == Effects((), ())


QUOTABLE = st.text(
    st.characters(blacklist_categories=["Cc", "Cs", "Cf", "Zl", "Zp", "Cn", "Co"], blacklist_characters="'"),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(QUOTABLE)
def test_quoted_text_never_yields_a_destination(text):
    assert read(f"echo '> {text} > x'").destinations == ()
    assert read(f"grep -e 'a > {text}' f").destinations == ()


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.sampled_from(list("abc/._-é")), min_size=1, max_size=12).filter(
        lambda t: not t.startswith(("-", "/dev", "/proc")) and t.strip("./")
    )
)
def test_every_quoting_of_a_name_is_the_same_destination(name):
    plain = written(f"x > '{name}'")
    assert plain == written(f'x > "{name}"') == written(f"F='{name}'; x > $F") == written(f"sh -c 'x > {name}'")
    assert plain == written("x > " + "".join("\\" + character for character in name))
