"""Which commands are which checks: read from syntax and tables, for every family of tools."""

from __future__ import annotations

import pytest

from spear.evidence.checks.candidates import recognise
from spear.evidence.facts import ProjectFacts, read_makefile
from spear.evidence.kinds import CheckCode, CheckKind, Scope
from spear.evidence.tree import has_background, programs

LETTERS = {"b": "build", "t": "test", "l": "lint", "r": "run", "c": "clean", "i": "inspect"}
TREE = {
    "build/test_ring",
    "tests/run.sh",
    "scripts/check",
    "scripts/lint.sh",
    "run_tests.py",
    "manage.py",
    "app/main.py",
    "app/__init__.py",
    "calc.py",
    "src/index.js",
    "gradlew",
    "mvnw",
    "t/basic.t",
    ".venv/bin/pytest",
    "node_modules/.bin/jest",
    "demo",
}
FACTS = ProjectFacts(
    declared={"./ci everything": frozenset({CheckKind.TEST})},
    makefiles={"": read_makefile("all: x\nx:\n\tcc x.c\ntest: x\n\t./x\nhelp:\n\t@echo 'make x | y; z'\n")},
    scripts={
        "": {"test": "jest", "build": "vite build", "lint": "eslint .", "noop": "echo nothing", "typecheck": "tsc"}
    },
    exists=lambda path: path in TREE,
    root="/ws",
)

RECOGNISED = [
    ("make", "b"),
    ("make test", "bt"),
    ("make check-units", "t"),
    ("make lint", "l"),
    ("make clean", "c"),
    ("gmake -j 8 all", "b"),
    ("cmake --build build", "b"),
    ("cmake --build build --target test", "t"),
    ("cmake --build build -t check -- -j4", "t"),
    ("ctest --test-dir build --output-on-failure", "t"),
    ("ninja -C build test", "t"),
    ("ninja", "b"),
    ("meson compile -C build", "b"),
    ("meson test -C build", "bt"),
    ("cargo build --release", "b"),
    ("cargo test", "bt"),
    ("cargo +nightly test", "bt"),
    ("cargo check", "b"),
    ("cargo clippy -- -D warnings", "l"),
    ("cargo fmt --check", "l"),
    ("cargo run -- x", "br"),
    ("cargo nextest run", "bt"),
    ("go build ./...", "b"),
    ("go test ./... -run TestX", "bt"),
    ("go vet ./...", "l"),
    ("npm test", "t"),
    ("npm run build", "b"),
    ("npm run lint -- --quiet", "l"),
    ("npm run typecheck", "l"),
    ("pnpm -r test", "t"),
    ("pnpm build", "b"),
    ("yarn test --ci", "t"),
    ("yarn jest", "t"),
    ("bun test", "t"),
    ("bun run build", "b"),
    ("npx tsc --noEmit", "bl"),
    ("npx --yes vitest run", "t"),
    ("npm exec -- jest", "t"),
    ("vite build", "b"),
    ("node --test", "t"),
    ("node src/index.js", "r"),
    ("node -e \"require('./calc')\"", ""),
    ("node -e \"require('./src/index.js')\"", "r"),
    ("pytest -q", "t"),
    ("pytest tests/test_a.py::test_b -x", "t"),
    ("python -m pytest", "t"),
    ("python3.12 -m unittest discover -s tests", "t"),
    ("coverage run -m pytest", "t"),
    ("python -m coverage run -m unittest", "t"),
    ("tox -e py311", "t"),
    ("nox -s tests", "t"),
    ("hatch test", "t"),
    ("hatch run test:pytest", "t"),
    ("uv run pytest -q", "t"),
    ("uv run --with x python -m pytest", "t"),
    ("poetry run python run_tests.py", "tr"),
    ("pdm run mypy app", "l"),
    ("ruff check .", "l"),
    ("ruff format --check", "l"),
    ("black --check .", "l"),
    ("mypy --strict app", "l"),
    ("python run_tests.py", "tr"),
    ("python manage.py test", "t"),
    ("python -m app.main", "r"),
    ("python -c 'from calc import add; assert add(1, 2) == 3'", "r"),
    ("python - <<'X'\nimport app.main\nX", "r"),
    ("mvn -q verify", "bt"),
    ("./mvnw clean install", "btc"),
    ("mvn -DskipTests package", "b"),
    ("./gradlew build", "bt"),
    ("gradle check", "btl"),
    ("gradle build -x test", "b"),
    ("gradle :app:test", "bt"),
    ("sbt test", "bt"),
    ("dotnet test", "bt"),
    ("dotnet build -c Release", "b"),
    ("swift test", "bt"),
    ("zig build test", "b"),
    ("zig test src/main.zig", "bt"),
    ("bazel test //...", "bt"),
    ("buck2 build //x", "b"),
    ("bitbake core-image-minimal", "b"),
    ("bitbake -c clean zlib", "c"),
    ("scons", "b"),
    ("rake test", "t"),
    ("bundle exec rspec spec/a_spec.rb", "t"),
    ("mix test", "bt"),
    ("mix format --check-formatted", "l"),
    ("rebar3 eunit", "bt"),
    ("stack test", "bt"),
    ("cabal build all", "b"),
    ("dune runtest", "bt"),
    ("prove -r t", "t"),
    ("perl t/basic.t", "r"),
    ("vendor/bin/phpunit", "t"),
    ("./vendor/bin/phpunit --filter X", "t"),
    ("gcc -Wall -o x x.c", "b"),
    ("arm-none-eabi-gcc -c x.c", "b"),
    ("clang-17 x.c", "b"),
    ("rustc x.rs", "b"),
    ("javac A.java", "b"),
    ("./build/test_ring", "tr"),
    ("/ws/build/test_ring", "tr"),
    ("cd build && ./test_ring", "tr"),
    ("tests/run.sh --fast", "tr"),
    ("bash tests/run.sh", "tr"),
    ("sh ./scripts/check", "tr"),
    ("scripts/lint.sh", "lr"),
    ("./demo", "r"),
    (".venv/bin/pytest", "t"),
    ("node_modules/.bin/jest", "t"),
    ("./ci everything", "t"),
    ("env A=1 make test", "bt"),
    ("time make test", "bt"),
    ("timeout 10 make test", "bt"),
    ("nice make test", "bt"),
    ("xvfb-run -a make test", "bt"),
    ("bash -c 'make test'", "bt"),
    ('bash -lc "cd tests && make -C .. test"', "bt"),
    ("make html", "b"),
    ("sphinx-build -W docs out", "b"),
    ("shellcheck x.sh", "l"),
]

NO_CHECK = [
    "echo make test",
    "grep -rn 'cargo test' .",
    "git commit -m 'make test'",
    "docker run x pytest",
    "npm install",
    "pip install pytest",
    "apt-get install make",
    "# make test",
    "cat <<'X'\npytest\nX",
    "which pytest",
    "man make",
    "python -c 'import sys; print(\"pytest\")'",
    "sed -i s/make/test/ x",
    "ssh host make test",
    "cargo fmt",
    "./no/such/test_program",
    "curl https://example.org/test.sh",
    "jest_is_not_here",
    "alias t='make test'",
]

VOID = [
    ("make -n", CheckCode.DRY_RUN),
    ("make --just-print test", CheckCode.DRY_RUN),
    ("make -j4n test", None),
    ("make -nj4 test", CheckCode.DRY_RUN),
    ("make help", CheckCode.PRINTS_HELP),
    ("make -i test", CheckCode.STATUS_LOST),
    ("make test SHELL=/bin/true", CheckCode.DRY_RUN),
    ("make test MAKEFLAGS=-n", CheckCode.DRY_RUN),
    ("pytest --collect-only", CheckCode.LISTING),
    ("pytest --collectonly", CheckCode.LISTING),
    ("PYTEST_ADDOPTS='-q --collectonly' pytest", CheckCode.LISTING),
    ("pytest --co -q", CheckCode.LISTING),
    ("pytest --version", CheckCode.LISTING),
    ("cargo test --no-run", CheckCode.TESTS_SKIPPED_BY_FLAG),
    ("cargo test -- --list", CheckCode.LISTING),
    ("go test -c ./pkg", CheckCode.TESTS_SKIPPED_BY_FLAG),
    ("go test -list . ./...", CheckCode.LISTING),
    ("mvn -DskipTests test", None),
    ("ctest -N", CheckCode.LISTING),
    ("ctest --show-only", CheckCode.LISTING),
    ("jest --listTests", CheckCode.LISTING),
    ("gradle --dry-run test", CheckCode.DRY_RUN),
    ("dotnet test --list-tests", CheckCode.LISTING),
    ("tox --notest", CheckCode.TESTS_SKIPPED_BY_FLAG),
    ("tox -l", CheckCode.LISTING),
    ("bitbake -c compile zlib", CheckCode.SINGLE_TASK),
    ("bitbake -n image", CheckCode.DRY_RUN),
    ("bitbake -ccompile zlib", CheckCode.SINGLE_TASK),
    ("bitbake zlib:do_compile", CheckCode.SINGLE_TASK),
    ("bitbake --runonly=compile zlib", CheckCode.SINGLE_TASK),
    ("bitbake --runall fetch zlib", CheckCode.SINGLE_TASK),
    ("cmake -B build", CheckCode.LISTING),
    ("npm run noop", CheckCode.PRINTS_HELP),
    ("npm run test -- --listTests", CheckCode.LISTING),
    ("phpunit --list-tests", CheckCode.LISTING),
    ("gcc --version", CheckCode.LISTING),
    ("./build/test_ring --list", CheckCode.LISTING),
    ("uv run pytest --collect-only", CheckCode.LISTING),
    ("PYTEST_ADDOPTS=--collect-only pytest", CheckCode.LISTING),
    ("MAKEFLAGS=n make test", CheckCode.DRY_RUN),
]


def read(parser, command):
    return [item for item in recognise(parser.parse(command), FACTS) if item.kinds or item.finding.void]


@pytest.mark.parametrize(("command", "letters"), RECOGNISED)
def test_a_check_is_recognised_for_what_it_is(parser, command, letters):
    found = {kind.value for item in read(parser, command) for kind in item.kinds}
    assert found == {LETTERS[letter] for letter in letters}
    assert all(item.finding.void is None for item in read(parser, command))


@pytest.mark.parametrize("command", NO_CHECK)
def test_what_only_names_a_check_is_none(parser, command):
    assert [item for item in read(parser, command) if item.kinds] == []


@pytest.mark.parametrize(("command", "code"), VOID)
def test_what_runs_nothing_is_void(parser, command, code):
    voids = {item.finding.void for item in read(parser, command)}
    if code is not None:
        assert voids == {code}


def test_skipping_tests_leaves_no_test(parser):
    for command in ("mvn -DskipTests verify", "mvn -Dmaven.test.skip=true install", "gradle build -x test"):
        (item,) = read(parser, command)
        assert item.kinds == {CheckKind.BUILD}


def test_a_selection_is_told_from_the_whole(parser):
    for command in ("pytest -k ring", "pytest tests/test_a.py", "cargo test wrap", "go test -run X", "jest ring"):
        assert read(parser, command)[0].finding.scope is Scope.SELECTION, command
    for command in ("pytest", "pytest -q -x", "cargo test --release", "make test"):
        assert read(parser, command)[0].finding.scope is Scope.PROJECT, command


def test_loose_files_are_told_from_the_project(parser):
    assert read(parser, "cc -Isrc -c -o /tmp/ring.o src/ring.c")[0].finding.scope is Scope.LOOSE


def test_a_makefile_in_another_directory_is_not_this_one(parser):
    (item,) = read(parser, "make -C sub test")
    assert item.finding.cwd == "sub"
    assert item.kinds == {CheckKind.TEST}


def test_a_target_that_prints_is_void_only_by_its_recipe():
    makefile = read_makefile(
        "help:\n\t@grep -h '##' Makefile | sort | awk '{print $$1}'\nb: c\n\t@echo done\nc:\n\tcc c.c\n"
    )
    assert makefile.default == "help"
    assert makefile.prints_only("help")
    assert not makefile.prints_only("b")
    assert makefile.builds("b")
    assert not read_makefile("test:\n\t@grep -q 'return 2' lib.c\n").prints_only("test")
    assert read_makefile("help:\n\t@grep '^##' $(MAKEFILE_LIST)\n").prints_only("help")
    for recipe in ("cat f | grep -q x", "awk '/x/{f=1} END{exit !f}' f", "awk -f check.awk f", "sort -c words.txt",
                   "grep -q x f # of the Makefile", "sed -n 3p f | grep --quiet x"):  # fmt: skip
        assert not read_makefile(f"check:\n\t{recipe}\n").prints_only("check"), recipe
    for recipe in ("@echo 'no tests here; try grep x f'", "grep -c x f; echo done", "grep x f || true", "@sed -n 's/^ ## //p' Makefile",
                   "@awk '/ ## / {print}' $(MAKEFILE_LIST)", "cat f | grep x", "@echo a && echo b", "sort words.txt",
                   "@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sort | awk 'BEGIN {FS = \":.*## \"}; {print}'"):  # fmt: skip
        assert read_makefile(f"check:\n\t{recipe}\n").prints_only("check"), recipe


def test_a_script_names_the_programs_it_starts_and_its_background_jobs(parser):
    script = parser.parse("cd x && env A=1 make test | tail -3; bash -c 'cc x.c' &")
    assert programs(script) == ("cd", "make", "tail", "bash", "cc")
    assert has_background(script)
    assert not has_background(parser.parse("make test && true"))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("demo", {CheckKind.BUILD}),
        ("out/bench", {CheckKind.BUILD}),
        ("build/test_ring", {CheckKind.BUILD}),
        ("test", {CheckKind.BUILD, CheckKind.TEST}),
        ("run", {CheckKind.BUILD, CheckKind.RUN}),
        ("example", {CheckKind.RUN}),
    ],
)
def test_a_target_that_compiles_a_program_of_its_name_does_not_run_it(parser, target, expected):
    makefile = read_makefile(
        "demo: d.c\n\t$(CC) -o $@ $<\nout/bench: b.c\n\tcc -O2 b.c -o $@\ntest: build/test_ring\n\t./build/test_ring\n"
        "run: demo\n\t./demo\nexample:\n\t./demo x\n"
        "build/test_ring: t.c\n\tmkdir -p build\n\tcc -o $(@) t.c\n"
    )
    facts = ProjectFacts(makefiles={"": makefile})
    (found,) = recognise(parser.parse(f"make {target}"), facts)
    assert found.kinds == expected
