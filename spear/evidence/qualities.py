"""The closed list of qualities that only a check which names them can show: leaks, coverage, a platform… (spec 3.4).

A build or a test that passed says nothing of valgrind, of Windows or of mypy. A check *names* a quality when its word,
or a known synonym, stands in the command, in what it printed or in what decides what it runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

WARNINGS = "compiler warnings"
MEMORY = "memory checker"
SANITIZER = "sanitizer"
COVERAGE = "coverage"
SPEED = "benchmark"
CONTINUOUS_INTEGRATION = "continuous integration"
VERSIONS = "several versions of a language"
DOCUMENTATION = "documentation build"
RELEASE = "release build"
INTEGRATION = "integration tests"
PLATFORMS = ("Windows", "macOS", "BSD", "ARM", "RISC-V", "Android", "iOS")
"""Platforms other than the one a turn runs on."""

_START, _END = r"(?<![\w./-])", r"(?![\w-])"


def _word(*alternatives: str) -> re.Pattern[str]:
    return re.compile(f"{_START}(?:{'|'.join(alternatives)}){_END}", re.IGNORECASE)


TOOLS: Mapping[str, str] = {
    **{
        name: re.escape(name)
        for name in (
            "mypy", "ruff", "pylint", "flake8", "pyright", "pytype", "pyflakes", "pycodestyle", "pydocstyle", "isort",
            "bandit", "yapf", "autopep8", "prettier", "stylelint", "biome", "oxlint", "shellcheck",
            "shfmt", "clang-format", "clang-tidy", "cppcheck", "cpplint", "scan-build", "checkpatch", "golangci-lint",
            "staticcheck", "rubocop", "phpstan", "psalm", "phpcs", "checkstyle", "spotbugs", "ktlint", "detekt",
            "swiftlint", "swiftformat", "scalafmt", "hlint", "ormolu", "dialyzer", "luacheck", "stylua", "hadolint",
            "yamllint", "actionlint", "markdownlint", "codespell", "sqlfluff", "tflint", "pre-commit",
        )
    },
    "eslint": r"eslint(?:\.\w+)?",
    "black": r"black",
    "clippy": r"(?:cargo[ -])?clippy",
    "rustfmt": r"rustfmt|cargo fmt",
    "gofmt": r"gofmt|go fmt",
    "go vet": r"go vet",
}  # fmt: skip
"""Linters, formatters and type checkers, each with what it is called on a command line."""

_NAMED: Mapping[str, re.Pattern[str]] = {
    MEMORY: re.compile(
        r"(?<![\w./-])(?:valgrind|memcheck|drmemory|heaptrack|leaksanitizer|lsan)(?![\w-])|detect_leaks=1"
        r"|-fsanitize=\S*(?:leak|address)|^leaks |==\d+== (?:Memcheck|HEAP SUMMARY)",
        re.IGNORECASE | re.MULTILINE,
    ),
    SANITIZER: re.compile(
        r"-fsanitize|-Zsanitizer|\bsanitize\b|\b(?:address|thread|memory|undefinedbehaviou?r|leak|hwaddress)[_ ]?"
        r"sanitizers?\b|(?<![\w./])sanitizers?\b|(?<![\w./])(?:asan|ubsan|tsan|msan|lsan)\b|(?<![\w-])-race\b",
        re.IGNORECASE,
    ),
    COVERAGE: re.compile(
        r"\bcoverage\b|--cov\b|(?<![\w-])cov\b|\bl?gcovr?\b|\blcov\b|\btarpaulin\b|llvm-cov|-cover\b"
        r"|\bnyc\b|\bc8\b|\bjacoco\b|\bkcov\b",
        re.IGNORECASE,
    ),
    SPEED: re.compile(
        r"(?<![a-z])bench(?:es|marks?|marking)?(?![a-z])|\bhyperfine\b|\bcriterion\b|\bperf stat\b|^\s*(?:\S*/)?time "
        r"|\btimeit\b|^real\s+\d+m",
        re.IGNORECASE | re.MULTILINE,
    ),
    CONTINUOUS_INTEGRATION: _word("ci", "continuous[ -]integration", "github[ -]actions", "gitlab[ -]ci", "act"),
    DOCUMENTATION: re.compile(
        r"(?<![\w./-])(?:docs?|documentation|html|sphinx-build|sphinx|mkdocs|mdbook|doxygen|rustdoc|javadoc|typedoc"
        r"|asciidoctor|hugo|latexmk)(?![\w.-]|/\S)",
        re.IGNORECASE,
    ),
    RELEASE: re.compile(
        r"(?<![\w.])(?:release|RelWithDebInfo|MinSizeRel|optimi[sz]ed|production)(?![\w-])(?! notes?)"
        r"|(?<![\w-])-O(?:[23sz]|fast)\b",
        re.IGNORECASE,
    ),
    INTEGRATION: re.compile(
        r"(?<![a-z])(?:integration|e2e|end[-_ ]to[-_ ]end|playwright|cypress)(?![a-z])", re.IGNORECASE
    ),
    "Windows": _word(
        "windows", "win32", "win64", "msvc", "wine(?:64)?", r"x86_64-w64-mingw32\S*", r"i686-w64-mingw32\S*",
        r"GOOS=windows", r"\S*-pc-windows-\w+",
    ),
    "macOS": _word("macos", "mac os", "os ?x", "darwin", "GOOS=darwin", r"\S*-apple-darwin\S*", "osxcross"),
    "BSD": _word("(?:free|open|net)?bsd", r"GOOS=(?:free|open|net)bsd", r"\S*-unknown-(?:free|open|net)bsd\S*"),
    "ARM": _word(
        "arm(?:64|v[678]\\w*|hf|el)?", "aarch64", "GOARCH=arm(?:64)?", r"(?:arm|aarch64)-\S+", r"qemu-(?:arm"
            r"|aarch64)\S*"
    ),
    "RISC-V": _word("risc-?v(?:32|64)?", r"riscv\S+", r"qemu-riscv\S*", "GOARCH=riscv64"),
    "Android": _word("android", r"\S*-linux-android\S*", "GOOS=android"),
    "iOS": _word("ios", "iphoneos", "iphonesimulator", r"\S*-apple-ios\S*"),
    **{name: _word(called) for name, called in TOOLS.items()},
}  # fmt: skip
NAMES = frozenset({WARNINGS, VERSIONS, *_NAMED})
"""Every quality there is."""

_OF_MANIFESTS = frozenset({*TOOLS, MEMORY, SANITIZER, COVERAGE, INTEGRATION})
"""What the text of a manifest names wherever it stands: the rest must be in what a check was told to do."""
_OF_OUTPUTS = _OF_MANIFESTS | {SPEED}


def named_in(text: str) -> frozenset[str]:
    """The qualities that a command, an output or a recipe names."""
    return frozenset(name for name, pattern in _NAMED.items() if pattern.search(text))


def named_in_output(output: str) -> frozenset[str]:
    """The qualities an output names. That a test is called after Windows, or a page after its documentation, says
    nothing of where it ran or what it built: such words count in commands alone."""
    return frozenset(name for name in _OF_OUTPUTS if name in _NAMED and _NAMED[name].search(output))


def named_in_manifest(text: str) -> frozenset[str]:
    """The qualities a file names that decides what a check runs, whichever part of it that was."""
    return named_in(text) & _OF_MANIFESTS


_LEAKS = re.compile(
    r"ERROR SUMMARY: (?!0 errors)\d|(?:definitely|indirectly|possibly) lost: (?!0 bytes)\d"
    r"|SUMMARY: (?:\w+Sanitizer|libFuzzer)|runtime error: |WARNING: DATA RACE"
)


def contradicted(output: str) -> frozenset[str]:
    """The qualities whose checker says in its output that something was found, whatever status it ended with."""
    return frozenset({MEMORY, SANITIZER}) if _LEAKS.search(output) else frozenset()


_WARNED = re.compile(
    r"(?<![\w-])warning(?:\[[^\]\n]*\]|\([^)\n]*\))?(?: [A-Z]+\d+)?: |\[WARN(?:ING)?\]|\bCMake Warning\b"
    r"|\bWARNING in |(?<![\w.])[1-9]\d* warnings? (?:generated|emitted)|generated [1-9]\d* warnings?",
    re.IGNORECASE,
)


def has_warned(output: str) -> bool:
    """Whether a build printed a warning of its compiler. What make itself says of clocks and jobs is none."""
    return any(_WARNED.search(line) and not line.startswith(("make", "gmake")) for line in output.splitlines())
