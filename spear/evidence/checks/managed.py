"""Rust, Go, the JVM, .NET, Swift, Zig and the scripting ecosystems whose tools name their own subcommands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spear.evidence.checks.invocation import Finding, Invocation
from spear.evidence.checks.tool import Tool
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, Scope
from spear.evidence.names import names

_LIST = CheckCode.LISTING
_DRY = CheckCode.DRY_RUN
_SKIP = CheckCode.TESTS_SKIPPED_BY_FLAG
_MAVEN = Tool(
    {
        "validate": "i",
        "compile": "b",
        "test-compile": "b",
        "test": "bt",
        "package": "bt",
        "verify": "bt",
        "integration-test": "bt",
    }
    | {"install": "bt", "clean": "c", "checkstyle": "l", "check": "l", "exec": "r", "java": "r", "run": "br"},
    many=True,
    voids={"-v": _LIST, "--version": _LIST, "-h": _LIST},
    valued=names("-f -pl -P -s -T --file --projects -rf"),
    selecting=frozenset({"-pl", "--projects", "-Dtest", "-Dit.test"}),
    drops={
        "-DskipTests": "t",
        "-DskipTests=true": "t",
        "-Dmaven.test.skip=true": "t",
        "-Dmaven.test.skip": "t",
        "-DskipITs": "",
    },
)
_GRADLE = Tool(
    {
        "build": "bt",
        "test": "bt",
        "check": "btl",
        "assemble": "b",
        "classes": "b",
        "testClasses": "b",
        "clean": "c",
        "run": "br",
    }
    | {
        "compileJava": "b",
        "compileKotlin": "b",
        "jar": "b",
        "bootJar": "b",
        "tasks": "i",
        "dependencies": "i",
        "lint": "l",
    }
    | {"ktlintCheck": "l", "detekt": "l", "checkstyleMain": "l", "spotlessCheck": "l", "testDebugUnitTest": "bt"}
    | {"assembleDebug": "b", "assembleRelease": "b", "connectedCheck": "bt", "integrationTest": "bt", "help": "i"},
    many=True,
    voids={"-m": _DRY, "--dry-run": _DRY, "-v": _LIST, "--test-dry-run": _DRY},
    valued=names("-x --exclude-task -p --project-dir --tests -b -c -P -D"),
    selecting=frozenset({"--tests"}),
    directory=frozenset({"-p", "--project-dir"}),
    drops={"-x test": "t", "--exclude-task test": "t", "-x check": "t"},
)
_MIX = {
    "test": "bt",
    "compile": "b",
    "credo": "l",
    "dialyzer": "l",
    "format": "l",
    "run": "br",
    "clean": "c",
    "help": "i",
}
_RSPEC = Tool(
    default="t",
    voids={"-v": _LIST, "--dry-run": _DRY},
    valued=names("-e -t -f -r -o --example --tag --format --require --out --pattern -P"),
    selecting=names("-e -t --example --tag --pattern -P"),
    words_select=True,
)

TOOLS: Mapping[str, Tool] = {
    "cargo": Tool(
        {
            "build": "b",
            "b": "b",
            "check": "b",
            "c": "b",
            "test": "bt",
            "t": "bt",
            "nextest": "bt",
            "run": "br",
            "r": "br",
        }
        | {
            "clippy": "l",
            "fmt": "l",
            "bench": "br",
            "doc": "b",
            "clean": "c",
            "miri": "t",
            "tarpaulin": "bt",
            "rustc": "b",
        }
        | {"tree": "i", "metadata": "i", "xtask": "r", "fix": ""},
        voids={"-V": _LIST},
        valued=names("-p --package --test --bin --example --features --manifest-path --target -j --profile --bench"),
        selecting=names("-p --package --test --bin --lib --bins --doc --tests --example"),
        words_select=True,
        writes=frozenset({"fmt", "fix", "--fix"}),
        keeps=frozenset({"--check"}),
    ),
    "go": Tool(
        {"build": "b", "install": "b", "test": "bt", "run": "br", "vet": "l", "generate": "", "fmt": "l", "clean": "c"}
        | {"list": "i", "env": "i", "version": "i", "doc": "i", "help": "i"},
        voids={"-n": _DRY, "-list": _LIST, "--list": _LIST, "-c": _SKIP, "-h": _LIST},
        valued=names("-run -skip -count -timeout -tags -o -p -bench -cpu -coverprofile -covermode -C -list"),
        selecting=frozenset({"-run", "-skip", "--run"}),
        words_select=True,
        writes=frozenset({"fmt"}),
        directory=frozenset({"-C"}),
    ),
    "gofmt": Tool(writes=frozenset({"-w"})),
    "golangci-lint": Tool({"run": "l"}, writes=frozenset({"--fix"})),
    "staticcheck": Tool(default="l"),
    "gotestsum": Tool(default="bt"),
    "ginkgo": Tool(default="bt", voids={"--dryRun": _DRY}),
    "mvn": _MAVEN,
    "mvnw": _MAVEN,
    "gradle": _GRADLE,
    "gradlew": _GRADLE,
    "ant": Tool(
        {"test": "bt", "compile": "b", "jar": "b", "build": "b", "clean": "c", "run": "br"}, default="b", many=True
    ),
    "sbt": Tool(
        {
            "test": "bt",
            "testOnly": "bt",
            "testQuick": "bt",
            "compile": "b",
            "clean": "c",
            "run": "br",
            "package": "b",
            "*": "",
        },
        many=True,
    ),
    "mill": Tool({"*": "b"}, many=False),
    "lein": Tool({"test": "t", "compile": "b", "run": "r", "check": "l", "uberjar": "b", "clean": "c"}),
    "dotnet": Tool(
        {
            "build": "b",
            "test": "bt",
            "run": "br",
            "publish": "b",
            "clean": "c",
            "format": "l",
            "msbuild": "b",
            "pack": "b",
        },
        voids={"--list-tests": _LIST, "-t": _LIST, "--info": _LIST},
        valued=names("-c --configuration --filter -f --framework -p --project -o --logger -v --verbosity -l"),
        selecting=frozenset({"--filter"}),
        drops={"--no-build": "b"},
        writes=frozenset({"format"}),
        keeps=frozenset({"--verify-no-changes"}),
    ),
    "swift": Tool(
        {"build": "b", "test": "bt", "run": "br", "package": ""},
        voids={"--list-tests": _LIST, "-l": _LIST},
        valued=names("-c --configuration --filter --skip --package-path --product --target"),
        selecting=frozenset({"--filter", "--skip"}),
    ),
    "swiftlint": Tool({"lint": "l", "autocorrect": ""}, default="l", writes=frozenset({"--fix", "autocorrect"})),
    "xcodebuild": Tool(
        {"build": "b", "test": "bt", "clean": "c", "build-for-testing": "b"},
        many=True,
        voids={"-list": _LIST, "-dry-run": _DRY, "-version": _LIST},
        valued=names("-scheme -project -workspace -destination -configuration -sdk -only-testing"),
        selecting=frozenset({"-only-testing"}),
        default="b",
    ),
    "zig": Tool(
        {"build": "b", "test": "bt", "run": "br", "fmt": "l", "build-exe": "b", "build-lib": "b", "ast-check": "l"},
        writes=frozenset({"fmt"}),
        keeps=frozenset({"--check"}),
    ),
    "rake": Tool(
        {"test": "t", "spec": "t", "default": "t", "build": "b", "rubocop": "l", "clean": "c", "*": ""},
        default="t",
        many=True,
        voids={"-T": _LIST, "-n": _DRY, "-P": _LIST, "--tasks": _LIST},
    ),
    "rails": Tool({"test": "t", "spec": "t", "runner": "r", "zeitwerk": "l"}, words_select=True),
    "rspec": _RSPEC,
    "minitest": Tool(default="t", words_select=True),
    "cucumber": Tool(default="t", voids={"-d": _DRY}, words_select=True),
    "rubocop": Tool(
        default="l", writes=frozenset({"-a", "-A", "--autocorrect", "--autocorrect-all", "--auto-correct"})
    ),
    "standardrb": Tool(default="l", writes=frozenset({"--fix"})),
    "mix": Tool(
        _MIX,
        voids={"--stale": _SKIP},
        words_select=True,
        writes=frozenset({"format"}),
        keeps=frozenset({"--check-formatted"}),
    ),
    "rebar3": Tool(
        {"compile": "b", "eunit": "bt", "ct": "bt", "proper": "bt", "dialyzer": "l", "xref": "l", "clean": "c"},
        many=True,
    ),
    "stack": Tool(
        {"build": "b", "test": "bt", "run": "br", "clean": "c", "bench": "br"},
        voids={"--no-run-tests": _SKIP, "--dry-run": _DRY},
        valued=frozenset({"--ta", "--test-arguments"}),
        words_select=True,
    ),
    "cabal": Tool(
        {"build": "b", "test": "bt", "run": "br", "check": "l", "clean": "c", "v2-build": "b", "v2-test": "bt"},
        words_select=True,
    ),
    "hlint": Tool(default="l"),
    "dune": Tool(
        {"build": "b", "test": "bt", "runtest": "bt", "exec": "br", "clean": "c", "fmt": ""},
        writes=frozenset({"fmt", "promote"}),
    ),
    "prove": Tool(
        default="t",
        voids={"-D": _DRY, "--dry": _DRY, "-V": _LIST},
        valued=names("-e -I -j --exec -P"),
        words_select=True,
    ),
    "phpunit": Tool(
        default="t",
        voids={"--list-tests": _LIST, "--list-suites": _LIST, "--list-groups": _LIST},
        valued=names("--filter -c --testsuite --group --configuration"),
        selecting=names("--filter --testsuite --group"),
        words_select=True,
    ),
    "pest": Tool(default="t", words_select=True),
    "artisan": Tool({"test": "t"}),
    "composer": Tool({"test": "t", "lint": "l", "phpstan": "l", "validate": "l", "check": "t"}),
    "phpstan": Tool({"analyse": "l", "analyze": "l"}),
    "psalm": Tool(default="l"),
    "phpcs": Tool(default="l"),
    "php-cs-fixer": Tool({"fix": "l", "check": "l"}, writes=frozenset({"fix"}), keeps=frozenset({"--dry-run"})),
    "busted": Tool(default="t", words_select=True),
    "luacheck": Tool(default="l"),
    "bats": Tool(default="t", voids={"-c": _LIST, "--count": _LIST}, words_select=True),
    "shellspec": Tool(default="t", words_select=True),
    "roundup": Tool(default="t"),
    "just": Tool(
        {"test": "t", "tests": "t", "check": "t", "build": "b", "lint": "l", "run": "r", "clean": "c", "ci": "t"},
        voids={"-n": _DRY, "-l": _LIST, "--summary": _LIST},
        many=True,
    ),
    "task": Tool(
        {"test": "t", "check": "t", "build": "b", "lint": "l", "run": "r", "clean": "c", "ci": "t"},
        voids={"-n": _DRY, "--dry": _DRY, "-l": _LIST},
        many=True,
    ),
    "ktlint": Tool(default="l", writes=frozenset({"-F", "--format"})),
    "verilator": Tool(default="b"),
    "iverilog": Tool(default="b", scope=Scope.LOOSE, words_select=True),
    "terraform": Tool(
        {"validate": "l", "test": "t", "plan": "i", "fmt": "l"}, writes=frozenset({"fmt"}), keeps=frozenset({"-check"})
    ),
    "nix": Tool({"build": "b", "flake": "t"}),
    "nix-build": Tool(default="b"),
    "earthly": Tool({"*": "b"}),
}

HANDING_ON = frozenset({"bundle", "rbenv", "asdf", "mise", "direnv"})


def read_bundle(invocation: Invocation, _facts: ProjectFacts) -> Invocation | None:
    """`bundle exec rspec`, `mise exec -- make`: what they hand on to."""
    args = invocation.args
    if not args or args[0] not in ("exec", "x"):
        return None
    rest = tuple(arg for arg in args[1:] if arg != "--")
    return invocation.of(rest)


def read_stack(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    """`stack exec prog` runs the program; anything else is in the table."""
    handed = read_bundle(invocation, facts)
    return handed if handed is not None else TOOLS["stack"].read(invocation, facts)


def read_cargo(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """`cargo [+toolchain] …`; what stands after `--` is the test binary's, whose `--list` only lists."""
    args = invocation.args
    if args and args[0] is not None and args[0].startswith("+"):
        args = args[1:]
    found = TOOLS["cargo"].read(replace(invocation, args=args), facts)
    handed = args[args.index("--") :] if "--" in args else ()
    return replace(found, void=found.void or _LIST) if found is not None and "--list" in handed else found
