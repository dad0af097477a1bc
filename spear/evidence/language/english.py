"""English claims, hedges and counts."""

from __future__ import annotations

import re

from spear.evidence.language.vocabulary import (
    LITERAL_END,
    NUMBER,
    NUMBER_GAP,
    REST_OF_LABEL,
    Vocabulary,
    anywhere,
    words,
)

_BAD = r"(?:errors?|warnings?|issues?|problems?|failures?|complaints?|diagnostics?|regressions?)"
_LINTER = r"(?:lint|linter|linting|mypy|ruff|eslint|clippy|flake8|pylint|pyright|type|typing|style)"
_KIND = (
    r"(?:(?:lint|linter|linting|mypy|ruff|eslint|clippy|type|typing|compiler|new|further|other|remaining|style)\s+)*"
)
_ADVERB = (
    r"(?:\s+(?:now|all|both|still|also|again|fully|just|cleanly|finally|then|consistently|successfully|correctly"
    r"|already))*"
)
_BE = r"(?:is|are|was|were|'s|'re|has been|have been|came back|come back|comes back|stays?|remains?)"
_END = (
    r"(?=\s*(?:$|[.,;:!?)—-]|(?:and|on|with|without|cleanly|again|fine|successfully|correctly|now|too|in|for|from"
    r"|under|as|ok|but|at|out)\b))"
)
_TESTS = (
    r"(?:(?:test|tests|specs?|suite|suites|testsuite|test cases?|⟦test⟧|test_\w+|\w+_tests?|test run"
    r"|checks in the suite)"
    r"(?:\s+(?:suite|suites|cases?|run|files?))?)"
)
_PASS = (
    rf"(?:pass|passes|passed|passing|succeed|succeeds|succeeded|{_BE}{_ADVERB} (?:green|passing|successful|clean"
    rf"|ok|fine)"
    r"|green|ran clean|runs? clean(?:ly)?|ok|complete[sd]? successfully|finish(?:es|ed)? successfully)(?!\w)"
)
_SUCCEED = (
    rf"(?:succeeds?|succeeded|passes|pass|passed|works?|worked|completes?(?: cleanly| successfully)?|finishe[sd]|ok|"
    rf"complete[sd] (?:cleanly|successfully)|{_BE}{_ADVERB} (?:green|clean|successful|ok|fine|passing|good))(?!\w)"
)
_BUILD_NOUN = r"(?:build|builds|compilation|compile|linking|⟦build⟧)"
_SUBJECT = (
    r"(?:it|this|that|everything|program|script|binary|command|tool|server|api|demo|app|application|cli|executable"
    r"|service|endpoint|"
    r"example|examples|daemon|client|game|simulation|main|running \S+|running it|running the \w+|⟦call⟧"
    r"|⟦program⟧|⟦code⟧)"
)
_GAP = r"(?:\s+[\w⟦⟧'/().-]+){0,6}?"
_MEMBER = (
    r"(?:the )?(?:builds?|compilation|(?:unit |integration )?tests?(?: suite)?|test suite|suite|lint|linter|linting"
    r"|type[- ]?checks?|type[- ]checking|ci|docs|⟦build⟧|⟦test⟧|⟦lint⟧)"
)
_MEMBERS = rf"{_MEMBER}(?:(?:\s*,\s*(?:and )?|\s+and\s+|\s*/\s*|\s*\+\s*|\s*&\s*){_MEMBER}){{1,6}}"
_LISTS = (
    rf"(?P<before>{_MEMBERS})\s*[:,]?\s*(?:(?:now|all|both|still|also|again|each|three|of them)\s+)*{_PASS}",
    rf"\b(?:everything|(?:every|each|all)(?: the| of the| \w+)? (?:checks?|steps?|stages?|gates?)|all)\s+"
    rf"(?:now |still )*(?:pass|passes|passed|succeeds?|succeeded|{_BE}{_ADVERB} (?:green|clean|ok|passing))"
    rf"\s*[:(–—-]+\s*(?P<after>{_MEMBERS})",
)
_FILL = (
    r"(?:\s*[:=]|\s+(?:now|then|just|only|exactly|correctly|again|still|back|out|also|always|both|the|a|an|values?"
    r"|numbers?|text|string|line|message|word|result|integer|with|status|code|http|of|is|correct|right|expected))"
    r"{0,4}?\s*"
)
_EXIT_STATUS = (
    r"(?:(?:exits?|exited|exiting|terminates?|quits?)(?:\s+(?:now|again|still|correctly))?(?:\s+with)?(?:\s+an?)?"
    r"(?:\s+(?:exit\s+)?(?:status|code))?(?:\s+of)?|exit (?:status|code)(?:\s+(?:now|is|of))*\s*[:=]?)\s*"
)
ENGLISH = Vocabulary(
    denials=(
        (
            re.compile(
                r"(?P<said>\b(?:pass(?:es|ed)?|succeeds?|succeeded|builds?|compiles?|green))"
                r" as (?:(?:you|we|it|they|i) )?(?:expected|asked|requested|hoped|intended|required|wanted|should)\b"
            ),
            r"\g<said>",
        ),
        (re.compile(r"^\s*as (?:you )?(?:asked|requested|wanted|expected),|,? to (?:make|be) sure(?=,? and\b)"), ""),
        (re.compile(r"\bwhen (?:run|invoked|called|built|compiled) with\b"), "with"),
        (
            re.compile(r"\b(?:there are |with )?no (?:failing tests?|tests? fail(?:ed|ing|s)?|test failures?)\b"),
            "all tests pass",
        ),
        (
            re.compile(
                rf"\bwithout (?:any )?(?:a single )?(?P<kind>{_KIND})(?:{_BAD} (?:or|and|nor) )?(?:any )?{_KIND}"
                rf"warnings?(?: (?:or|and|nor) {_BAD})?"
            ),
            r"cleanly warning-free \g<kind>",
        ),
        (re.compile(rf"\bwithout (?:any )?(?:a single )?{_KIND}{_BAD}(?: or {_BAD})?"), "cleanly"),
        (
            re.compile(rf"\b(?:with |are |is )?(?:no|zero|0) (?P<tools>(?:{_LINTER}\s+)+){_BAD}(?: remain\w*)?"),
            r"\g<tools> lint is clean",
        ),
        (
            re.compile(
                rf"\b(?:with )?(?:no|zero|0) (?P<kind>{_KIND})(?:{_BAD} (?:or|and|nor) )?(?:no )?{_KIND}"
                rf"warnings?(?: (?:or|and|nor) {_BAD})?"
            ),
            r"clean-result warning-free \g<kind>",
        ),
        (re.compile(rf"\b(?:with )?(?:no|zero|0) {_KIND}{_BAD}(?: or {_BAD})?"), "clean-result"),
        (re.compile(r"\b(?:finds?|found|reports?|reported) nothing(?: \w+)?"), "reports clean-result"),
        (
            re.compile(
                r"\bno longer (?:occurs?|appears?|crash(?:es)?|fails?|leaks?|happens?|hangs?|deadlocks?"
                r"|reproduces?|raises?)"
            ),
            "is gone",
        ),
        (
            re.compile(
                r"\b(?:does not|doesn't|don't|do not) (?:crash|leak|hang|reproduce|occur|appear"
                r"|happen)(?: any ?more| any longer)?\b"
            ),
            "is gone",
        ),
        (
            re.compile(
                r"\b(?:no|0|zero) (?:of the )?(?:(?:unit|integration|existing|new) )?tests? (?:is "
                r"|are )?(?:fails?|failing|failed|broken)(?: any ?more| any longer| now)?"
            ),
            "tests pass",
        ),
        (re.compile(r"\b(?:0|no|zero) (?:failed|failing|failures)\b"), "clean-result"),
        (re.compile(r"\bnone of the (?:\w+ )?tests? (?:is |are |has |have )?(?:fail\w*|broken)"), "tests pass"),
        (re.compile(r"\bno longer reproducible\b|\b(?:can|could) no longer be reproduced\b"), "is gone"),
        (re.compile(r"\bnot only\b"), "both"),
    ),
    hedges=anywhere(
        r"\b(?:should|would|could|might|may|ought|shall|will|won't|cannot|can't|can not|unable|unlikely|never"
        r"|not|nor|neither)\b",
        r"\b\w+n't\b",
        r"'ll\b|\bgoing to\b|\bneeds? to\b|\bneeded\b|\bhave to\b|\bhas to\b|\bmust\b|\bremains? to\b|\byet to\b"
        r"|\bstill to\b",
        r"\bfail(?:s|ed|ing)? to\b|\bexpect(?:s|ed)?\b|\bsuppos(?:e|ed)\b|\bintended\b|\bmeant to\b"
        r"|\bdesigned to\b|\bset up to\b",
        r"\bseems?\b|\bappears? to\b|\blooks? like\b|\bapparently\b|\bpresumably\b|\bprobably\b|\blikely\b"
        r"|\bperhaps\b|\bmaybe\b",
        r"\bhopefully\b|\bideally\b|\bin theory\b|\bin principle\b|\btheoretically\b",
        r"\b(?:i|we) (?:think|believe|hope|guess|assume|suspect|expect)\b|\bbelieved\b|\bassum(?:e|es|ed|ing)\b",
        r"\bclaim(?:s|ed)? (?:that|the)\b|\bsays?\b|\bsaid\b|\bclaims?\b|\bclaimed\b|\basks?\b|\basked\b"
        r"|\bstates?\b|\baccording to\b|\bgoal\b|\bmentions\b",
        r"\bhow\b|\bwhether\b|\bmakes? sure\b|\bmaking sure\b|\bensures?\b|\bensuring\b|\bso that\b"
        r"|\bin order to\b|\bto (?:check|verify|confirm|see)\b",
        r"\brequired?\b|\brequires\b|\buntested\b|\bunverified\b|\bunknown\b|\bwithout (?:having )?(?:run|runn"
        r"|test|build|check|verif)\w*",
        r"\bnone of\b|\bnothing (?:was|has been)\b|\bno (?:tests?|checks?|builds?) (?:was|were|has|have|ran|run"
        r"|exist)\w*|\bno way\b|\btry(?:ing)? to\b",
        r"\bonly (?:if|when|after|once)\b|\brather than\b|\binstead of\b|\bthat (?:runs|builds|prints|returns"
        r"|checks)\b",
    ),
    everywhere=anywhere(
        r"^\s*(?:please|run|try|make sure|check|ensure|confirm|consider|verify|rerun|re-run|execute|use|let me"
        r"|let us|let's|see if|do)\b",
        r"^\s*(?:if|when|once|unless|until|after you|assuming|provided|as soon as|whenever|before|to (?:verify"
        r"|check|confirm|see|test|build|run))\b",
        r"\b(?:you|we) (?:can|could|may|might|should|need|must|will|want)\b|^\s*(?:next|then|afterwards"
        r"|finally),? (?:i|we)\b|\bi'd\b|\bi would\b",
        r"\blet me know\b|\b(?:unless|if|assuming|provided that|as long as|depending on|in case|subject to|once"
        r"|until|except)\b",
        r"\bbefore (?:my|the|this|that|your|i|we|any)\b|\bused to\b|\bpreviously\b|\bin the past\b"
        r"|\bused to be\b|\boriginally\b",
        r"\bi (?:think|believe|hope|guess|suppose|assume)\b|\bas far as i\b|\bto my knowledge\b|\bnot sure\b"
        r"|\bprobably\b|\bhopefully\b",
        r"\bwhen (?:the|a|an|it|you|there|no|i|we|given|called|run|\w+ is|\w+ are)\b|\bso far as\b"
        r"|\bi have not (?:checked|confirmed|verified|tested|tried)\b",
    ),
    breaks=re.compile(r";|\s—\s|\s–\s|,?\s+\b(?:but|however|although|though|whereas|yet|while)\b"),
    pieces=re.compile(r",|\s\b(?:and|so|which|because|since)\b"),
    builds=anywhere(
        r"\b(?:build|compilation)(?: (?:was|is|completed))? successful(?:ly)?\b|\bsuccessfully (?:built|compiled)\b",
        rf"(?:^|[\s,:(])(?:builds|compiles|links|builds? and links|compile"
        rf"|build){_END}(?<!a build)(?<!the build)(?<!build)(?<!compile)",
        rf"\b(?:it|this|code|project|everything|sources?|library|program|crate|package|image|firmware|targets?"
        rf"|files?){_ADVERB} (?:builds?|compiles?|links?|compiled|built|linked){_END}",
        rf"{_BUILD_NOUN}(?:\s+(?:step|job|process|and|of the \w+|of \w+|now|still|also)){{0,3}}(?:\s+(?:tests?"
        rf"|lint|⟦test⟧))?{_ADVERB}\s*:?\s+{_SUCCEED}",
        r"\bi(?: have|'ve)? (?:built|compiled|rebuilt)\b[^.;]*\b(?:successfully|cleanly|clean-result|fine|worked)\b",
        r"^\s*(?:built|compiled|rebuilt|builds|compiles)\b[^.;]*\b(?:successfully|cleanly|clean-result|fine)\b",
        r"\bi compiled\b[^.;]*clean-result",
    ),
    tests=anywhere(
        r"\b(?:ran|executed) (?:all )?(?:the |my |our )?(?:⟦test⟧|pytest|ctest|tests?|test suite)[^.;]*"
        r"\bsuccessfully\b",
        r"\bsuccessfully (?:built|compiled) and tested\b",
        rf"{_TESTS}{_GAP}{_ADVERB}\s*:?\s+(?:\d+/\d+\s+)?{_PASS}",
        rf"{_TESTS}(?:\s+results?)?:\s*(?:\d+(?:/\d+)?\s+)?{_PASS}",
        r"\b\d+(?:/\d+)?\s+(?:passed|passing)\b|\btests? (?:passed|passing)\s*[:=]\s*\d+",
        r"\b\d+ (?:unit |integration |new )?tests? (?:passed|pass|ok|succeeded)\b",
        r"⟦test⟧\s+(?:exits?|exited|ends|ended|returns?|returned) (?:with )?(?:exit )?(?:status |code )?0\b",
        r"⟦test⟧\s*(?:→|->|=>|:|=|—)?\s*(?:is\s+)?(?:passes|pass|passed|green|succeeds|succeeded|works|completes"
        r"|ok)\b",
    ),
    lint=anywhere(
        r"(?:\b(?:lint|linter|linters|linting|ruff|mypy|eslint|clippy|flake8|pylint|pyright|black|prettier"
        r"|shellcheck|typecheck(?:er|ing)?)\b|"
        r"\btype[- ]check(?:er|ing|s)?\b|\bformatting\b|⟦lint⟧)(?:\s+[\w⟦⟧]+){0,5}?\s+(?:(?:is|are|comes? back"
        r"|runs?|ran|stays?)\s+(?:now\s+)?"
        r"(?:clean|happy|green|passing|satisfied)|pass|passes|passed|succeeds?|clean|reports? clean-result"
        r"|clean-result|clean(?:ly)?)",
        r"\blint(?:er|ing)?\s*:\s*(?:ok|clean|pass(?:es|ed)?|green)\b",
        r"\b(?:passes|clean under|clean with|clean for) (?:the )?(?:lint|linter|linting|ruff|mypy|eslint|clippy"
        r"|flake8|type[- ]check(?:er|ing|s)?)\b",
    ),
    runs=anywhere(
        rf"\b{_SUBJECT}{_ADVERB}\s+(?:runs?|ran|starts?|started|executes?|executed|prints?|printed|outputs?"
        rf"|returns?|returned|answers?|responds?|exits? with (?:status |code |exit code )?0|launches"
        rf"|boots)\b(?! (?:the|all|every) tests)",
        rf"(?:⟦call⟧|⟦program⟧|⟦code⟧){_ADVERB}\s+(?:runs?|starts?|executes?|prints?|printed|outputs?|returns?"
        rf"|returned|exits? with (?:status |code )?0)\b",
        r"\brunning (?:it|⟦\w+⟧|the \w+)(?:\s+\w+){0,2}\s+(?:prints?|printed|outputs?|gives|shows|returns?)\b",
        r"(?<!build )(?<!compilation )\b(?:works|worked|working|(?:they|both|all|them|flags|options|commands"
        r"|examples) (?:all |now |both )?work)\b(?! on\b| around| through| out\b| by\b| with the\b| tree"
        r"| in progress)(?!ing)",
        r"\bbehaves (?:correctly|as expected|as intended)\b",
        r"\boutput (?:is|was|now)\s+(?:now |also )?(?:correct|right|as expected|identical)\b"
        r"|\boutput (?:now )?matches\b",
        r"\b(?:builds|compiles|links|starts),?(?: \w+)? and (?:then )?(?:runs|prints|outputs|returns)\b",
        rf"⟦test⟧{_ADVERB} (?:passes and (?:it )?)?prints (?:⟦(?:code|quote)⟧|{NUMBER}{LITERAL_END})",
        rf"\b(?:get|post|put|patch|delete) /\S* (?:now )?returns {NUMBER}{LITERAL_END}",
        rf"^\s*(?:the |its |program )*(?:output|result)(?: of (?:\S+ ){{1,3}}?)?\s*(?:is|:|=)\s*(?:now |still )*"
        rf"(?:⟦(?:code|quote|call|program)⟧|{NUMBER}{LITERAL_END})",
        rf"(?:\b|(?=⟦)){_SUBJECT}{_ADVERB}\s+exits? with (?:an? )?(?:exit )?(?:status|code) \d",
        rf"^\s*(?:its |the )?exit (?:status|code)\s*(?:is|:|=)\s*(?:now )?{NUMBER}{LITERAL_END}",
    ),
    printed=(
        rf"\brunning (?:it|⟦\w+⟧|the \w+)(?:\s+\w+){{0,2}}\s+(?:gives|shows|returns){_FILL}",
        rf"\b(?:prints?|outputs?|displays?|emits?|answers?|responds?|replies|shows?|yields?){_FILL}",
        rf"^\s*(?:the |its |program )*(?:output|result)(?: of (?:\S+ ){{1,3}}?)?\s*(?:is|:|=){_FILL}",
    ),
    printed_then=(rf"\b(?:printed|answered|responded|displayed|showed|gave|yielded){_FILL}",),
    returned=(rf"\b(?:returns?|evaluates to){_FILL}",),
    exited=(rf"(?<!\w){_EXIT_STATUS}",),
    ran=anywhere(r"\b(?:ran|running|executed|executing)\b|⟦program⟧"),
    lists=anywhere(*_LISTS),
    rebuilds=anywhere(
        r"\bsurvives? (?:a |the )?(?:full |complete )?clean\b"
        r"|\bclean (?:re)?build(?:s)?(?: from scratch)?\s+(?:also |still |now )?(?:succeeds?|passes|works"
        r"|completes|succeeded|passed|is green)",
        r"\b(?:builds?|compiles?|build (?:succeeds|passes|works))\b[^.;]*\b(?:from (?:a )?(?:clean|scratch"
        r"|fresh)|after (?:a )?(?:full |complete )?(?:clean|⟦clean⟧|make clean))",
        r"\bcleaned (?:and|,? then) (?:rebuilt|built)\b|\brebuil(?:t|ds?) from (?:scratch|clean|a clean)\b"
        r"|\bbuilds from a clean\b",
    ),
    success=anywhere(
        r"\b(?:is|are|was|were|been|'s)\s+(?:now |also |fully |all |finally )?(?:fixed|resolved|solved|gone"
        r"|cured|verified|complete and verified)\b",
        r"^\s*(?:all )?(?:fixed|resolved|solved|verified)\s*[.!:]?\s*$|^\s*(?:now )?(?:fixed|verified)\s*[;!:]",
        r"\b(?:this|that|it|which|change|patch|commit) (?:now )?(?:fixes|resolves|solves|cures) (?:the|this|that"
        r"|your|it|both|all)\b",
        r"\bi(?: have|'ve)? (?:verified|confirmed|validated) (?:the|this|my|that the) (?:fix|change|patch|result"
        r"|behaviou?r|correction|bug)\b",
        r"\bi(?: have|'ve)? tested (?:the|this|my|it)\b[^.;]*\b(?:successfully|cleanly|clean-result)\b"
        r"|\bsuccessfully (?:tested|verified|validated)\b",
        r"\b(?:everything|all checks?|the checks?|checks|all of it|validation|verification|ci) (?:now |still "
        r"|all )*(?:pass|passes|passed|is green|are green|succeeds?|is clean|is ok)\b",
        r"^\s*(?:verified|confirmed|validated) (?:by|with|using|against)\b",
        r"\ball green\b|\bis gone\b",
    ),
    mentions_tests=words("tests?", "suite", "specs?", "⟦test⟧", r"test_\w+", r"\w+_tests?"),
    all_pass=words(
        r"(?:everything|they|they all|all checks?|checks|all of them|it|all|both) (?:now |still |all "
        r"|both )*(?:pass|passes|passed|succeed|succeeds|are green|is green)"
    ),
    whole=anywhere(
        r"\b(?:all|every|each) (?:of )?(?:the |our |its )?(?:\w+ ){0,2}?(?:tests?|specs?)\b",
        r"\b(?:full|whole|entire|complete) (?:\w+ ){0,2}?suite\b|\btests? all pass",
    ),
    numbers=anywhere(
        r"\btests? (?:passed|passing)\s*[:=]\s*(\d+)",
        r"(?<![\w.])(\d+)(?:/\d+)?\s+(?:passed|passing|passes|pass)\b",
        r"(?<![\w.%])(\d+)\s+" + NUMBER_GAP + r"(?:tests?|specs?|checks|examples|test cases)\b",
        r"\b(\d+)/\d+\s+(?:tests|passing|passed|pass|green)\b",
        r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+" + NUMBER_GAP + r"(?:tests|specs"
        r"|checks)\b",
    ),
    kinds_of_member=(
        (re.compile(r"test|suite"), "tests_pass"),
        (re.compile(r"lint|type"), "lint_clean"),
        (re.compile(r"build|compil"), "builds"),
    ),
    checks=anywhere(
        r"(?:(?:all|the|unit|integration|regression|full|whole|project(?:'s)?|existing|new|my|c|python|\d+(?:/\d+)?)\s+)*"
        r"(?:tests?|test suite|test cases?|specs|builds?|compilation|compiles|lint(?:ing|er)?|linters?"
        r"|type[- ]?check(?:s|ing)?|⟦test⟧|⟦build⟧|⟦lint⟧)" + REST_OF_LABEL
    ),
    passes="passes",
    words_of_number={
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
        "ten": 10,
        "eleven": 11,
        "twelve": 12,
    },
)
"""The English vocabulary."""
