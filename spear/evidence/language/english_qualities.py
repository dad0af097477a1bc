"""English claims of qualities that need a check of their own."""

from __future__ import annotations

import re

from spear.evidence.language.quality_words import QualityWords, compiled, listed
from spear.evidence.qualities import (
    CONTINUOUS_INTEGRATION,
    COVERAGE,
    DOCUMENTATION,
    INTEGRATION,
    MEMORY,
    RELEASE,
    SANITIZER,
    SPEED,
    TOOLS,
    WARNINGS,
)

_ADVERB = r"(?:\s+(?:now|all|both|still|also|again|fully|completely|just|finally|then|too|each|already))*"
_BE = r"(?:is|are|was|were|'s|'re|has been|have been|came back|comes? back|stays?|remains?|runs?|ran)"
_NOTHING = (
    r"(?:clean-result|nothing|no (?:\w+ ){0,2}?(?:leaks?|errors?|issues?|problems?|findings?|violations?|complaints?"
    r"|differences|races?|diffs?|hits?))"
)
_SUCCEEDS = (
    r"pass(?:es|ed|ing)?(?!\s+(?:the|a|an|it|them|this|that|these|those|its|through|⟦\w+⟧)\b)"
    r"|succeed(?:s|ed)?|success(?:ful)?"
)
_GOOD = (
    rf"(?:{_BE}{_ADVERB}\s+(?:clean(?:ly)?|green|happy|passing|satisfied|silent|quiet|ok|okay|fine|successful|good"
    rf"|clear|through|{_NOTHING}|leak-free|warning-free)|{_SUCCEEDS}|ok|green|clean(?:ly)?|complete[sd]? (?:cleanly"
    rf"|successfully)|(?:reports?|reported|finds?|found|shows?|showed|gives?|gave|detects?|detected|sees?|saw|raises?"
    rf"|prints?|flags?|emits?|has|have|had|says?){_ADVERB}\s+{_NOTHING}|{_NOTHING}|accepts? (?:it|everything|all)"
    r"|(?:does|do)(?: not|n't) complain)(?![\w-])"
)
_WORKS = rf"(?:{_GOOD}|works?|worked|working|runs? fine)(?![\w-])"
_BUILT = rf"(?:{_WORKS}|(?:builds?|compiles?|links|built|compiled|renders?|generates?){_ADVERB}(?!\s+(?:the|a|an)\b))"
_GAP = r"(?:\s+(?!(?:and|so|which|because|since|but|that|to|if|or|not|no|for passing)\b)[\w'()/.:=⟦⟧-]+){0,5}?"
_BACK = (
    rf"(?:{_SUCCEEDS}|{_BE}{_ADVERB}\s+(?:clean|green|happy|passing|ok|fine|leak-free)|clean|green|works?"
    rf"|runs? (?:clean(?:ly)?"
    r"|fine)|ran clean(?:ly)?|cleanly|clean-result|successfully|builds?|compiles?|succeeds?|verified|validated)"
)
_NEAR = r"(?:\s+(?!(?:and|so|which|because|since|but|that|if|or)\b)[\w'()/.:=⟦⟧-]+){0,4}?"

_TOOLS = {
    name: {
        "black": r"(?:black(?='s|\s+(?:check|formatter|is (?:clean|happy|satisfied)|passes|reports?))|⟦black⟧)",
        "clippy": r"(?:cargo )?clippy",
        "rustfmt": r"rustfmt|cargo fmt",
        "gofmt": r"gofmt|go fmt",
        "biome": r"biome(?= (?:is|check|reports|passes|lint))",
        "psalm": r"psalm(?= (?:is|reports|passes|finds|has|and|,))",
    }.get(name, re.escape(name).replace(r"\-", "-"))
    for name in TOOLS
}
_CHECKERS = {
    **_TOOLS,
    MEMORY: r"valgrind|memcheck|leak ?sanitizer|lsan|heaptrack|dr\.? ?memory|(?:the )?leak check(?:er)?",
    SANITIZER: (
        r"(?:(?:address|thread|memory|undefined(?: behaviou?r)?|leak)[ -]?)?sanitizers?(?: build| run| tests?)?"
        r"|(?:asan|ubsan|tsan|msan)(?: build| run| tests?)?|race detector|-fsanitize(?:=[\w,]+)?"
    ),
    CONTINUOUS_INTEGRATION: (
        r"ci(?: (?:pipelines?|builds?|jobs?|runs?|checks?|workflows?|matrix))?|continuous integration|github actions"
        r"|gitlab (?:ci|pipelines?)|(?:github|ci) workflows?"
    ),
    INTEGRATION: r"(?:integration|end[ -]to[ -]end|e2e)(?:[ -]tests?|[ -]test)?(?: suites?| tests?| specs?)",
    DOCUMENTATION: r"(?:docs?|documentation|sphinx|mkdocs|doxygen|rustdoc|javadoc|manual) builds?",
    RELEASE: (
        r"(?:release|optimi[sz]ed|production)[ -](?:builds?|binary|binaries|mode|profile|configuration|variant"
        r"|target)"
        r"|--release|-o[23s]"
    ),
}
_DOCS = r"(?<![\w./-])(?:docs|documentation|manual|api docs|(?:html|user) manual|sphinx docs|book)"
_LIST = listed(_CHECKERS, "and|and then|or|as well as", r"the |both |all |all of the |our |its ")
_UNIT = r"(?:ms|milliseconds?|µs|μs|us|microseconds?|ns|nanoseconds?|s|secs?|seconds?|minutes?)"
_FIGURE = r"(?P<figure>\d[\d,]*(?:\.\d+)?)"
_COUNTED = r"(?:\d+(?:[.,]\d+)?|two|three|four|five|six|seven|eight|nine|ten|several|many)"
_HOLD = (
    r"(?:\s+(?:now|about|around|only|just|roughly|at|of|to|is|was|stands|stays|remains|reached|reaches|up|rose|went|increased|a"
    r"|the|total|overall|line|branch|statement|test|code|:|=|~)){0,6}?\s*[:=~]?\s*"
)
_PLATFORM = {
    "Windows": r"windows(?! (?:line|paths?|newlines?|separators?|style|drives?|formats?|registry|of"
    r"|size)\b)(?:\s?\d+)?|win32|win64|msvc",
    "macOS": r"mac ?os|mac os x|os ?x|darwin|macs?",
    "BSD": r"(?:free|open|net)?bsd",
    "ARM": r"arm(?:64|v\d\w*|hf)?|aarch64|apple silicon|(?:a )?raspberry pi",
    "RISC-V": r"risc-?v\w*",
    "Android": r"android",
    "iOS": r"ios",
}
_OTHER = r"(?:linux|unix|x86(?:[-_]64)?|amd64|ubuntu|debian|fedora|alpine)"
_ANY_PLATFORM = rf"(?:(?:{'|'.join(_PLATFORM.values())})(?!\w))"
_PLATFORMS = (
    rf"(?P<list>(?:{_OTHER}(?:,| and|,? or)\s+)*{_ANY_PLATFORM}(?:(?:\s*,\s*(?:and )?|\s+(?:and|or"
    rf"|as well as)\s+)(?:the )?(?:{_ANY_PLATFORM}|{_OTHER}))*)"
)
_ABLE = (
    rf"(?:works?|worked|working|runs?|ran|builds?|compiles?|compiled|tested|verified|validated|succeeds?|ok|fine"
    rf"|links"
    rf"|green|{_SUCCEEDS})"
)
_LANGUAGE = (
    r"(?:python|cpython|node(?:\.?js)?|go|rust|java|jdk|ruby|php|gcc|clang|llvm|django|rails|postgres(?:ql)?"
    r"|c\+\+|kotlin|scala|elixir|perl)"
)
_VERSION = r"v?\d+(?:\.\d+)*\+?"
_VERSIONS = (
    rf"{_LANGUAGE}(?: versions?)? (?P<first>{_VERSION})"
    rf"(?P<more>(?:\s*(?:,\s*(?:and )?|\s+(?:to|through|up to|until|and|as well as)\s+"
    rf"|\s?[-–]\s?)(?:{_LANGUAGE} )?{_VERSION})+)"
)

ENGLISH_QUALITIES = QualityWords(
    called=compiled({**_CHECKERS, **_PLATFORM}),
    lists=(
        re.compile(rf"{_LIST}(?:'s? (?:\w+))?{_GAP}\s*:?\s+(?:it )?{_WORKS}"),
        re.compile(rf"(?<![\w./-]){_BACK}{_NEAR}\s+(?:under|with|in|on|by|for|according to|using)\s+{_LIST}(?!-)"),
        re.compile(rf"{_LIST} and passes (?:its|the|their) checks?"),
    ),
    said=(
        (WARNINGS, re.compile(
            r"^(?=.*(?<![\w-])(?:compilers?|gcc|clang|g\+\+|rustc|msvc|javac|cc|-w\w+|builds?|compiles?|compiled|built"
            r"|compilation|⟦build⟧)(?![\w-])).*\bwarning-free\b")),
        (WARNINGS, re.compile(r"(?:compiler|build|gcc|clang) warnings? (?:is|are) (?:now |all )*gone")),
        (MEMORY, re.compile(
            r"\b(?:no|zero|0) (?:\w+ )?(?:memory )?leaks?\b(?!(?: \w+)? (?:check|detect|test|in the (?:docs|readme)))"
            r"|\bleak-free\b|\bno memory errors?\b|\ball heap blocks (?:were|are) freed\b|\b(?:0|no"
            r"|zero) bytes (?:were |are )?lost\b")),
        (COVERAGE, re.compile(
            rf"\bcoverage(?: of (?:\S+ ){{1,3}}?| for (?:\S+ ){{1,3}}?)?{_HOLD}(?:from \d[\d.,]* ?% to"
            rf" )?{_FIGURE} ?(?:%|percent)")),
        (COVERAGE, re.compile(
            rf"{_FIGURE} ?(?:%|percent)(?: of)?(?: the)?(?: lines?| branch(?:es)?| test| statements?| code| total"
            rf"| is| are)* (?:coverage|covered)\b")),
        (COVERAGE, re.compile(
            rf"\b(?:tests?|suite) (?:now )?covers? {_FIGURE} ?(?:%|percent)")),
        (SPEED, re.compile(
            rf"\b(?:{_COUNTED}(?: times|x|×|-?fold)|\d+(?:[.,]\d+)?\s?[x×]|twice|thrice"
            rf"|half)(?: as)? (?:as )?(?:fast|quick|faster|quicker"
            r"|speed|speed-?up)\b")),
        (SPEED, re.compile(r"\d ?(?:%|percent) (?:faster|quicker|less time|speed-?up|more throughput)\b")),
        (SPEED, re.compile(r"\bspeed-?up of (?:about |around )?\d|\bhalves the (?:run ?time|time)\b"
            r"|\btakes half the time\b")),
        (SPEED, re.compile(
            rf"\bbench(?:mark)?s?\b(?:\s+[\w'-]+){{0,4}}?\s+(?:takes?|took|runs? in|ran in|finishe[sd] in|shows?"
            rf"|reports?|measures?|gives?|is|at"
            rf"|down to|now)(?: now| about| only| around| just| at)*:?\s+{_FIGURE} ?(?:{_UNIT}|ops|req"
            rf"|[kmg]?i?b/s|\w+/s)(?!\w)")),
        (SPEED, re.compile(
            rf"\b(?:it|this|program|parsing|startup|start-up|import|query|lookup|sorting|run|loop|the call|call)"
            rf" (?:now |only |then )*(?:takes|took|runs in|ran in|finishes in|completes in|starts in|is down to"
            rf"|down to)"
            rf"(?: now| about| only| around| just)*\s+{_FIGURE} ?{_UNIT}(?!\w)(?! (?:to time|of sleep|by default))")),
        (SPEED, re.compile(
            r"\b(?:handles?|processes|serves?|reaches|does|manages|sustains)(?: now| about| around| up to| over"
            r"| some)*\s+"
            r"(?P<figure>\d[\d,]*) (?:\w+ )?(?:requests|ops|operations|queries|messages|rows|records|items|events"
            r"|lines)"
            r"(?: per |/)(?:s|sec|second)\b")),
        (DOCUMENTATION, re.compile(
            rf"{_DOCS}{_ADVERB} (?:builds?|renders?|generates?|compiles?|built){_ADVERB}(?=\s*(?:$|[.,:!)]"
            rf"|cleanly|fine|successfully"
            r"|correctly|clean-result|and |as |with ))")),
        (RELEASE, re.compile(
            r"(?:release|optimi[sz]ed|production)[ -](?:build|binary|mode|profile|configuration|variant"
            r"|target)(?: of \S+| itself)?"
            rf"{_ADVERB} (?:builds?|compiles?|links){_ADVERB}(?=\s*(?:$|[.,:!)]|cleanly|fine|successfully|and ))")),
        (RELEASE, re.compile(
            rf"\b(?:builds?|compiles?|{_SUCCEEDS}|works?|succeeds?)(?: \w+){{0,2}}? (?:in|with|under|as|for) (?:the "
            rf"|a |both debug and |debug and )?(?:release"
            r"|optimi[sz]ed|optimi[sz]ations?|production(?= (?:mode|build)))(?: (?:mode|builds?|profile"
            r"|configuration|enabled|on))?(?=\s*(?:$|[.,:!)]|too|and |as well|again))")),
    ),
    platforms=(
        re.compile(rf"\b(?<!to ){_ABLE}(?:\s+(?!(?:and|but|so|which|that|because|only)\b)[\w'(),-]+){{0,5}}?\s+(?:on"
            rf"|under|for)\s+(?:the |both |a )?{_PLATFORMS}"),
        re.compile(rf"(?<![\w./-])(?P<list>{_ANY_PLATFORM}(?:(?:,| and|,? or) {_ANY_PLATFORM})*)(?: (?:builds?"
            rf"|tests?|port|version|jobs?|binary|target)){{1,2}}{_ADVERB}\s*:?\s+{_BUILT}"),
    ),
    versions=(
        re.compile(rf"\b(?<!to ){_ABLE}(?:\s+(?!(?:and|but|so|which|that|because)\b)[\w'(),-]+){{0,5}}?\s+"
            rf"(?:on|under|for|with|against|in)\s+(?:the |both |all of )?{_VERSIONS}"),
        re.compile(rf"(?:supported|tested|green|verified) (?:on|with|under) {_VERSIONS}"),
    ),
    no_figure=re.compile(
        r"\b(?:threshold|minimum|target|goal|fail[_-]under|at least|budget|time-?out|limit|deadline|interval|default"
        r"|requires?|required|before|earlier|formerly|previously)\b"
    ),
    no_place=re.compile(
        r"\b(?:workflow|job|matrix|runner|branch|code path|#ifdef|pipeline|step) (?:that |which )?(?:only |now "
        r"|also )*"
        r"(?:runs?|works?|builds?|tests?)\b"
        r"|\bonly (?:runs|works|builds|compiles|available|supported) (?:on|under|for|with)\b"
        r"|\b(?:on|under|for) (?:windows|macos|linux) only\b"
    ),
)  # fmt: skip
"""The English words."""
