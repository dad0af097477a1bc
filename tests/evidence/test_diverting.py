"""What gives a tool another program: its words, variables, shadowing modules, settings at home, links that lead out."""

from __future__ import annotations

import pytest

from spear.evidence.assess import CommandFacts, assess_command
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts, read_makefile
from spear.evidence.kinds import CheckKind, CheckStatus

MAKEFILE = "test: build/t\n\t@$(RUN) ./build/t $(ARGS)\ncheck:\n\tcd x && ${PY} t.py\n"
FACTS = ProjectFacts(
    root="/src/ring",
    makefiles={"": read_makefile(MAKEFILE)},
    scripts={"": {"test": "jest"}},
    exists=lambda path: path in ("t.test.js", "fake.js", "t.py", "out/run.sh", "Makefile"),
    made_here=lambda path: path in ("fake.js", "evil.py", "own/pytest.py", "tools/fakecc", "sub/unittest/__init__.py"),
    leads_out=lambda path: path.split("/")[0] == "out",
)

OTHERWISE = [
    "go test -exec true ./...",
    "go test -exec=true ./...",
    "go test -overlay /tmp/o.json ./...",
    "GOFLAGS=-toolexec=/tmp/x go test ./...",
    "cargo test --config 'target.x.runner=\"true\"'",
    "npm test --script-shell=/bin/true",
    "npm test --script-shell /bin/true",
    "tox run --override=testenv.commands=true",
    "TOX_OVERRIDE=testenv.commands=true tox",
    "meson test --wrapper=true",
    "prove --exec 'echo 1..1' t",
    "node -r ./fake.js t.test.js",
    "node --import=/tmp/x.mjs --test",
    "npx mocha --require ./fake.js",
    "pytest -p evil",
    "python3 -m pytest -p evil",
    "PYTEST_ADDOPTS='-p evil' pytest",
    "python3 -O -m unittest",
    "PYTHONOPTIMIZE=1 python3 -m unittest",
    "PYTHONPATH=own pytest",
    "cd sub && python3 -m unittest",
    "make test RUN=true",
    "RUN=: make test",
    "export RUN=true; make test",
    "make test RUN=/tmp/x",
    "make check PY=tools/fakecc",
    "make test .SHELLFLAGS=-n",
    "make --eval 'test: ; true' test",
    "make test CFLAGS='-Dstep(a,b)=0'",
    "CFLAGS='-include /tmp/x.h' make test",
    "CPPFLAGS=-DNDEBUG make test",
    "LDFLAGS=-Wl,--wrap=step make test",
    "make -f - test",
    "SKIP_TESTS=1 make test",
    "make test NO_TEST=y",
    "export MYPROJECT_SKIP_UNIT_TESTS=true; make check",
    "make -f <(echo x) test",
    "make -C out test",
    "cd out && make test",
    "sh out/run.sh",
]
ITSELF = [
    "go test -race -count=1 ./...",
    "GOFLAGS=-mod=vendor go test ./...",
    "cargo test --release",
    "npm test -- --coverage",
    "tox -e py311",
    "node -r dotenv/config t.test.js",
    "node --import tsx --test",
    "npx mocha --require ts-node/register",
    "pytest -p no:cacheprovider",
    "pytest -p xdist -n 2",
    "PYTEST_ADDOPTS=-q pytest",
    "python3 -m unittest -v",
    "python3 -X dev -m pytest -O x",
    "PYTHONPATH=src pytest",
    "make test ARGS=true",
    "make test RUN='valgrind -q'",
    "make test CFLAGS='-O2 -DFOO=1'",
    "CFLAGS=-g make test",
    "make -j4 test V=1",
    "SKIP_TESTS=0 make test",
    "make test SKIP_SLOW=1",
]


def judged(parser, command, facts=FACTS):
    ledger = EpochLedger()
    check = assess_command(parser.parse(command), CommandFacts(0, ""), facts, ledger, ledger)
    return {result.status for result in check.results if result.kinds != (CheckKind.INSPECT,)}


@pytest.mark.parametrize("command", OTHERWISE)
def test_a_tool_that_was_given_another_program_shows_nothing(parser, command):
    assert judged(parser, command) == {CheckStatus.INCONCLUSIVE}


@pytest.mark.parametrize("command", ITSELF)
def test_ordinary_words_take_nothing_from_a_pass(parser, command):
    assert judged(parser, command) == {CheckStatus.PASSED}


AT_HOME = [
    ("npm test", ".npmrc", "script-shell=/bin/true\n", "registry=https://x\n"),
    ("cargo test", ".cargo/config.toml", "[target.x]\nrunner = 'true'\n", "[net]\noffline = true\n"),
    ("go test ./...", ".config/go/env", "GOFLAGS=-exec=true\n", "GOFLAGS=-mod=mod\n"),
    ("mvn test", ".m2/settings.xml", "<skipTests>true</skipTests>", "<offline>true</offline>"),
]


@pytest.mark.parametrize(("command", "path", "diverting", "ordinary"), AT_HOME)
def test_settings_a_command_left_at_home_count_by_what_they_say(parser, command, path, diverting, ordinary):
    for text, status in ((diverting, CheckStatus.INCONCLUSIVE), (ordinary, CheckStatus.PASSED)):
        facts = ProjectFacts(
            root="/src/ring",
            scripts={"": {"test": "jest"}},
            at_home=lambda name: name == path,
            read={f"/home/sandbox/{path}": text}.get,
        )
        assert judged(parser, command, facts) == {status}


def test_a_module_python_loads_from_home_before_all_others_stands_for_everything(parser):
    path = ".local/lib/python3.11/site-packages/usercustomize.py"
    facts = ProjectFacts(root="/src/ring", at_home=lambda name: name == path)
    assert judged(parser, "python3 -m pytest", facts) == {CheckStatus.INCONCLUSIVE}
