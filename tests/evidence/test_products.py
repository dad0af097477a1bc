"""Products: who made them, told from the script; what is known of them from call to call (spec 3.2, 3.3)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.evidence.checks.candidates import recognise
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckKind
from spear.evidence.planting import plantings
from spear.evidence.products import NO_PRODUCTS, PassedBuild, ProductWrite, is_product
from spear.evidence.setting import Setting
from spear.evidence.source_state import SourceState

ROOT = "/src/ring"
TEXTS = {
    "/src/ring/fix.patch": "--- a/src/a.c\n+++ b/src/a.c\n@@ -1 +1 @@\n-a\n+b\n",
    "/src/ring/put.patch": "--- /dev/null\n+++ b/build/t\n@@ -0,0 +1 @@\n+true\n",
    "/src/ring/own.py": "import shutil\nshutil.copy('/bin/true', 'build/t')\n",
    "/tmp/edit.py": "open('src/a.c', 'w').write('int a;')\n",
    "/tmp/put.py": "open('build/t', 'wb').write(b'x')\n",
    "/tmp/hide.py": "import base64\nopen(base64.b64decode('YnVpbGQvdA=='), 'wb')\n",
}
FACTS = ProjectFacts(
    root=ROOT,
    exists=lambda path: path in ("own.py", "gen.py", "own.sh"),
    made_here=lambda path: path.startswith("own"),
    read=TEXTS.get,
    shown_before=lambda: frozenset({CheckKind.TEST, CheckKind.BUILD}),
    named_before=lambda word: word == "t",
)
PRODUCT = (ProductWrite("build/t", "1"),)


def planted(parser, command, writes=PRODUCT, facts=FACTS):
    script = parser.parse(command)
    found = plantings(script, recognise(script, facts), facts, Setting(), writes)
    return {planting.path for planting in found}


NOT_BUILT = [
    "cp /bin/true build/t",
    "cp /bin/true build/t; make test",
    "make; install -m755 /bin/true build/t",
    "ln -sf /bin/true build/t",
    "mv /tmp/t build/",
    "cp -r /tmp/made/. build",
    "tar xf x.tar -C build",
    "touch build/t",
    "touch -d 2030-01-01 build/*",
    "printf x > build/t",
    "{ echo hi; } > build/t && make",
    "base64 -d < x | tee build/t",
    'cp /bin/true "$X"; make',
    "python3 -c \"open('build/t','w')\"",
    "python3 - <<'E'\nimport os\nos.system(x)\nE\nmake",
    "python3 /tmp/put.py; make",
    "python3 /tmp/hide.py; make",
    "python3 /tmp/gone.py; make",
    "python3 own.py",
    "cat x | python3; make",
    "perl -e 'open F, \">build/t\"'; make",
    "cc -o build/t /tmp/x.c",
    "cc -o build/t src/a.c",
    "cc -o build/t own.c",
    "cc -x c -o build/t - <<<'int main(){}'",
    "git apply x.patch; make",
    "git apply put.patch; make",
    "cat x | patch -p1; make",
    "patch -p1 < put.patch; make",
    "python3 - <<'E'\nimport os\nfor a, b, c in os.walk('.'):\n    open(a + c[0], 'w')\nE\nmake",
    "python3 - <<'E'\nimport glob\nfor f in glob.glob('b*/*'):\n    open(f, 'w')\nE\nmake",
    "PATH=/tmp/f:$PATH make",
    "make -f /tmp/x.mk",
    "pip install -t build /tmp/evil",
    "$X build/t",
    'eval "$(cat x)"; make',
    "strange-tool -o build/t",
]
BUILT = [
    "make",
    "make test 2>&1 | tee build/t",
    "make -j8 test > build/t",
    "mkdir -p build && cd build && cmake .. && make",
    "cmake -S . -B build && cmake --build build && ctest --test-dir build",
    "cmake .. ",
    "./configure && make",
    "rm -rf build; make",
    "sed -i s/a/b/ src/a.c && make",
    "git stash && make test && git stash pop",
    "git checkout -- . && make",
    "cargo fetch",
    "npm ci && npm test",
    "python3 -m venv .venv && .venv/bin/pip install -e .",
    "pip install -r requirements.txt",
    "go mod download && go test ./...",
    "cat > src/a.c <<'E'\nint a;\nE\nmake",
    "python3 - <<'E'\nimport pathlib\np = pathlib.Path('src/a.c')\np.write_text(p.read_text().replace('one', 'two'))\nE\nmake",
    "python3 /tmp/edit.py && make test",
    "python3 gen.py",
    "black . && make",
    "chmod +x build/t",
    "strange-tool --all && make",
    "git apply fix.patch && make",
    "patch -p1 < fix.patch && make test",
    "patch -p1 <<'E'\n--- a/src/a.c\n+++ b/src/a.c\nE\nmake",
    "for f in src/*.c; do sed -i s/a/b/ $f; done; make test",
    "python3 - <<'E'\nimport glob\nfor f in glob.glob('src/*.c'):\n    open(f, 'w').write('x')\nE\nmake",
    "cc -c -o build/t src/t.c && make test",
]


@pytest.mark.parametrize("command", NOT_BUILT)
def test_what_no_build_wrote_is_planted(parser, command):
    assert planted(parser, command) == {"build/t"}


@pytest.mark.parametrize("command", BUILT)
def test_what_builds_and_tools_write_is_not(parser, command):
    assert planted(parser, command) == set()


def test_a_project_without_checks_is_built_as_it_can_be(parser):
    facts = replace(FACTS, shown_before=frozenset)
    for command in ("cc -o build/t src/a.c", "sh own.sh"):
        assert planted(parser, command, facts=facts) == set()
    assert planted(parser, "cc -o build/t /tmp/a.c", facts=facts) == {"build/t"}


def test_bytecode_is_planted_only_by_what_speaks_of_it(parser):
    cache = (ProductWrite("__pycache__/a.cpython-311.pyc", "1"),)
    assert planted(parser, "python3 -c 'import a; print(a.b())'", cache) == set()
    assert planted(parser, "python3 -c 'import importlib.util'", cache) != set()
    assert planted(parser, "cp /tmp/a.pyc __pycache__/a.cpython-311.pyc", cache) != set()


@pytest.mark.parametrize(
    ("path", "executable", "existed", "product"),
    [
        ("build/test_ring", False, False, True),
        ("build/.tested", False, False, True),
        ("build/notes.txt", False, False, False),
        ("build/notes.txt", False, True, True),
        (".venv/bin/pytest", False, False, True),
        ("node_modules/.bin/jest", False, False, True),
        ("node_modules/jest/readme.md", False, False, True),
        ("lib/x.so", False, True, True),
        ("__pycache__/a.pyc", False, True, True),
        ("run", True, True, True),
        (".pytest_cache/v/cache/nodeids", True, True, False),
        (".env", False, False, False),
        ("logs/today.log", False, True, False),
    ],
)
def test_a_product_is_told_by_its_place_its_name_or_as_a_program(path, executable, existed, product):
    assert is_product(path, executable=executable, existed=existed) is product


PATHS = st.sampled_from(["build/a", "build/b", "build/c"])
WRITES = st.lists(
    st.builds(ProductWrite, PATHS, st.one_of(st.none(), st.sampled_from("123")), st.booleans()), max_size=4
)


@given(st.lists(st.tuples(WRITES, st.booleans()), max_size=6))
def test_a_planted_product_stays_so_until_a_build_makes_it_or_it_is_gone(calls):
    stock = NO_PRODUCTS
    for writes, builds in calls:
        before = dict(stock.planted)
        paths = {write.path for write in writes}
        stock = stock.written(writes, () if builds else paths)
        lasting = {write.path for write in writes if not write.touched}
        assert {path for path in before if path not in lasting} <= set(dict(stock.planted))
        if builds:
            assert not lasting & set(dict(stock.planted))


def state(files: dict[str, str], new: frozenset[str] = frozenset()) -> SourceState:
    """The state in which these files hold this, and did not at the start; `new` ones were not there."""
    start = tuple(sorted((path, (None if path in new else "before", None)) for path in files))
    ledger = EpochLedger(1, start, tuple(sorted((path, (now, None)) for path, now in files.items())))
    return SourceState.of(ledger, replace(FACTS, named_before=lambda word: word in ("gen.py", "data.json")))


def test_another_state_of_the_source_keeps_what_was_planted_and_forgets_what_was_built():
    first = NO_PRODUCTS.in_state(state({"a.c": "1"}))
    stock = first.written([ProductWrite("build/a", "1"), ProductWrite("build/b", "2")], {"build/a"})
    stock = replace(stock, built=frozenset({"", "/workspaces/lib"}), builds=frozenset({PassedBuild("", "")}))
    assert stock.in_state(stock.state) is stock
    assert not stock.is_older("build/b", "a.c")
    other = stock.in_state(state({"a.c": "2"}))
    assert other.planted == (("build/a", "1"),)
    assert (other.made, other.built, other.builds, other.wholly) == (frozenset(),) * 4
    assert other.is_older("build/b", "a.c")


SOURCES = st.sampled_from(["a.c", "a.h", "a.py", "a.ts", "README.md", "/workspaces/lib/a.c"])
STATES = st.dictionaries(SOURCES, st.sampled_from("123"))


@given(STATES, STATES)
def test_a_product_is_older_exactly_than_what_it_may_be_made_of_and_has_changed_since(one, other):
    stock = NO_PRODUCTS.in_state(state(one)).written([ProductWrite("build/a", "1")], ())
    then = stock.in_state(state(other))
    changed = {path for path in {*one, *other} if one.get(path) != other.get(path)}
    assert {path for path in {*one, *other} if then.is_older("build/a", path)} == changed & {"a.c", "a.h"}
    assert (("build/a", "1") in then.made) == (changed <= {"README.md", "a.py"})
    again = then.written([ProductWrite("build/a", "1")], ())
    assert not any(again.is_older("build/a", path) for path in {*one, *other})


@pytest.mark.parametrize(
    ("path", "goes_in"),
    [
        ("src/a.c", True), ("Makefile", True), ("cmake/x.cmake", True), ("package.json", True), ("tools/gen.py", True),
        ("assets/data.json", True), ("src/app.ts", True), ("src/app.js", True), ("test/app.test.ts", True), (".cargo/config.toml", True),
        ("tools/plot.py", False), ("assets/other.json", False), ("README.md", False), (".gitignore", False), (".github/workflows/ci.yml", False),
        ("tests/data.json", False), ("tests/run.sh", False), ("test/app.test.js", False), ("eslint.config.js", False), ("tools/release.js", False),
    ],
)  # fmt: skip
def test_what_goes_into_a_product_makes_it_old_when_it_changes(path, goes_in):
    assert (state({path: "1"}) != NO_PRODUCTS.state) is goes_in


def test_nothing_is_made_of_what_was_not_there_yet():
    new = frozenset({"a.c"})
    before = NO_PRODUCTS.written([ProductWrite("build/a", "1")], ())
    stock = before.in_state(state({"a.c": "1"}, new))
    assert not stock.is_older("build/a", "a.c")
    again = stock.written([ProductWrite("build/b", "1")], ()).in_state(state({"a.c": "2"}, new))
    assert not again.is_older("build/a", "a.c") and again.is_older("build/b", "a.c")


def test_what_is_removed_is_not_new_any_more():
    made = [ProductWrite("build/x/a", "1"), ProductWrite("build/b", "2"), ProductWrite("build/test.log", "3")]
    stock = NO_PRODUCTS.written(made, ())
    assert set(stock.remade) == {"build/x/a", "build/b"}
    assert set(stock.written([ProductWrite("build/x", None)], ()).remade) == {"build/b"}


def test_a_copy_of_what_was_made_is_as_new():
    stock = NO_PRODUCTS.written([ProductWrite("build/a", "1")], ())
    copied = stock.written([ProductWrite("dist/a", "1"), ProductWrite("dist/b", "9")], {"dist/a", "dist/b"})
    assert set(copied.remade) == {"build/a", "dist/a"}


def test_a_directory_that_is_gone_takes_what_was_planted_in_it():
    stock = NO_PRODUCTS.written([ProductWrite("build/a", "1")], {"build/a"})
    assert stock.written([ProductWrite("build", None)], ()).planted == ()
