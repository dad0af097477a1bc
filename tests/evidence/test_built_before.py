"""Whether what a check ran was built before the source changed, where the builder is not at hand to run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spear.evidence.assess import CommandFacts, assess_command
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode
from spear.evidence.products import NO_PRODUCTS, PassedBuild
from spear.evidence.records import Change
from spear.evidence.source_state import SourceState

FACTS = ProjectFacts(root="/ws", exists=lambda path: path in ("pom.xml", "app.csproj", "meson.build", "Package.swift"))
COMMANDS = [
    ("dotnet test --no-build", "src/App.cs", True),
    ("dotnet test", "src/App.cs", False),
    ("mvn surefire:test", "src/main/java/App.java", True),
    ("mvn test", "src/main/java/App.java", False),
    ("gradle test -x compileJava", "src/main/java/App.java", True),
    ("gradle test -x lint", "src/main/java/App.java", False),
    ("meson test -C build --no-rebuild", "src/app.c", True),
    ("meson test -C build", "src/app.c", False),
    ("swift test --skip-build", "Sources/App.swift", True),
    ("dotnet test --no-build", "README.md", False),
]


@pytest.mark.parametrize(("command", "source", "old"), COMMANDS)
def test_tests_told_to_build_nothing_run_what_is_there(parser, command, source, old):
    before = EpochLedger()
    change = Change(path=source, kind="modified", before_sha256="1", after_sha256="2", delivered=True)
    ledger = before.after((change,))
    products = NO_PRODUCTS.in_state(SourceState.of(ledger, FACTS))
    ended = CommandFacts(0, "")
    record = assess_command(parser.parse(command), ended, FACTS, ledger, ledger, products)
    assert record is not None
    assert (record.results[0].code is CheckCode.BUILT_BEFORE) is old
    built = replace(products, builds=frozenset({PassedBuild("", "", exact=True)}))
    record = assess_command(parser.parse(command), ended, FACTS, ledger, ledger, built)
    assert record is not None and record.results[0].code is CheckCode.EXIT_STATUS
