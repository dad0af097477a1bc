"""French claims of qualities that need a check of their own."""

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

_ADVERB = (
    r"(?:\s+(?:tous|toutes|maintenant|toujours|bien|aussi|désormais|également|enfin|encore|correctement|à nouveau))*"
)
_SUCCEEDS = (
    r"(?:passe(?:nt)?|réussi(?:t|ssent|e|es|s)?|a réussi|ont réussi|est passée?|sont passée?s)(?!\s+(?:le|la|les"
    r"|un|une|des)\b)"
)
_GOOD = (
    rf"(?:(?:est|sont|reste|restent){_ADVERB} (?:verte?s?|au vert|propres?|contente?s?|satisfaite?s?|bonne?s?|ok"
    rf"|réussie?s?"
    rf"|silencieu(?:x|se))|{_SUCCEEDS}|ok|résultat-propre|proprement|fuite-nulle|(?:signale|trouve|rapporte"
    rf"|montre)(?:nt)? fuite-nulle)(?!\w)"
)
_WORKS = rf"(?:{_GOOD}|(?:fonctionne|marche)(?:nt)?(?!\w))"
_BUILT = r"(?:(?:se )?(?:compile|construit|construisent|génère|génèrent)(?:nt)?)"
_GAP = r"(?:\s+(?!(?:et|donc|car|qui|mais|ou|pour|ne)\b)[\w'()/.:=⟦⟧-]+){0,5}?"
_TOOLS = {
    name: {
        "black": r"(?:black(?= (?:est|passe))|⟦black⟧)",
        "clippy": r"(?:cargo )?clippy",
        "rustfmt": r"rustfmt|cargo fmt",
        "gofmt": r"gofmt|go fmt",
    }.get(name, re.escape(name).replace(r"\-", "-"))
    for name in TOOLS
}
_CHECKERS = {
    **_TOOLS,
    MEMORY: r"valgrind|memcheck",
    SANITIZER: r"sanitizers?|(?:asan|ubsan|tsan|msan)|assainisseurs?|-fsanitize(?:=[\w,]+)?",
    CONTINUOUS_INTEGRATION: r"(?:l'|la |notre )?(?:ci|intégration continue)|github actions|pipeline (?:de )?(?:ci"
    r"|gitlab)",
    INTEGRATION: r"tests? d'intégration|tests? de bout en bout|tests? (?:e2e|end[- ]to[- ]end)",
    RELEASE: (
        r"(?:build|compilation|version|binaire|mode|profil|construction) (?:de |en |en mode )?(?:release"
        r"|optimisée?|production)"
        r"|--release|-o[23s]"
    ),
    DOCUMENTATION: r"(?:compilation|construction|génération|build) de la (?:documentation|doc)",
}
_LIST = listed(_CHECKERS, "et|ou|ainsi que", r"le |la |les |l'|tous les |toutes les ")
_UNIT = r"(?:ms|millisecondes?|µs|μs|us|microsecondes?|ns|nanosecondes?|s|secondes?|minutes?)"
_FIGURE = r"(?P<figure>\d[\d ]*(?:[.,]\d+)?)"
_PLATFORM = {
    "Windows": r"windows(?:\s?\d+)?|win32",
    "macOS": r"mac ?os|os ?x|macs?",
    "BSD": r"(?:free|open|net)?bsd",
    "ARM": r"arm(?:64)?|aarch64|(?:un )?raspberry pi",
    "RISC-V": r"risc-?v",
    "Android": r"android",
    "iOS": r"ios",
}
_OTHER = r"(?:linux|unix|ubuntu|debian)"
_ANY_PLATFORM = rf"(?:(?:{'|'.join(_PLATFORM.values())})(?!\w))"
_ABLE = (
    rf"(?:fonctionne(?:nt)?|marche(?:nt)?|tourne(?:nt)?|compile(?:nt)?|{_SUCCEEDS}|testée?s?|vérifiée?s?"
    rf"|s'exécute(?:nt)?)"
)
_LANGUAGE = r"(?:python|node(?:\.?js)?|go|rust|java|ruby|php|gcc|clang|django|perl)"
_VERSION = r"\d+(?:\.\d+)*"

FRENCH_QUALITIES = QualityWords(
    called=compiled({**_CHECKERS, **_PLATFORM}),
    lists=(
        re.compile(rf"{_LIST}{_GAP}\s*:?\s+{_WORKS}"),
        re.compile(rf"{_LIST}{_GAP}\s+{_BUILT}(?=\s*(?:$|[.,:!]|proprement|bien|aussi|correctement|et ))"),
        re.compile(rf"(?<!\w)(?:{_SUCCEEDS}|propre|vert|fonctionne(?:nt)?|marche(?:nt)?)(?:\s+(?!(?:et|donc|car|qui"
            rf"|mais|ou)\b)[\w'-]+){{0,3}}?\s+(?:sous|avec|selon|dans|sur|en|d'après)\s+{_LIST}"),
    ),
    said=(
        (WARNINGS, re.compile(r"^(?=.*(?:compilateur|compilation|compile|build|gcc|clang"
            r"|⟦build⟧)).*\balerte-nulle\b")),
        (MEMORY, re.compile(r"\bfuite-nulle\b")),
        (COVERAGE, re.compile(rf"\bcouverture(?: (?:de|des|du) (?:\w+ )?(?:code|tests?|branches"
            rf"|lignes))?(?:\s+(?:est|atteint|maintenant|désormais|passe|monte|de|à|:|totale"
            rf"|environ)){{0,5}}?\s*:?\s*{_FIGURE} ?(?:%|pour ?cent)")),
        (COVERAGE, re.compile(rf"\b{_FIGURE} ?(?:%|pour ?cent) (?:de couverture|du code est couvert"
            rf"|des lignes (?:sont )?couvertes)")),
        (SPEED, re.compile(r"\b(?:\d+(?:[.,]\d+)?|deux|trois|quatre|cinq|dix) fois plus (?:rapides?|vite)\b"
            r"|\d ?(?:%|pour ?cent) plus (?:rapides?|vite)\b")),
        (SPEED, re.compile(rf"\b(?:banc d'essai|benchmarks?|mesure)(?:\s+[\w'-]+){{0,3}}?\s+(?:prend|dure|donne"
            rf"|indique|mesure|tourne en)(?: maintenant| environ)?\s+{_FIGURE} ?{_UNIT}(?!\w)")),
        (DOCUMENTATION, re.compile(r"\b(?:documentation|doc) (?:se (?:construit|compile|génère)"
            r"|compile)(?=\s*(?:$|[.,:!]|proprement|bien|aussi|correctement|maintenant|et ))")),
        (RELEASE, re.compile(rf"\b(?:compile|{_SUCCEEDS}|fonctionne)(?: \w+)? en (?:mode )?(?:release|optimisé"
            rf"|production)\b")),
    ),
    platforms=(
        re.compile(rf"\b{_ABLE}(?:\s+(?!(?:et|mais|donc|qui|car)\b)[\w'(),-]+){{0,4}}?\s+(?:sous"
            rf"|sur)\s+(?P<list>(?:{_OTHER}(?:,| et)\s+)*{_ANY_PLATFORM}(?:(?:\s*,\s*|\s+(?:et"
            rf"|ou)\s+)(?:{_ANY_PLATFORM}|{_OTHER}))*)(?! (?:uniquement|seulement))"),
    ),
    versions=(
        re.compile(
            rf"\b{_ABLE}(?:\s+[\w'-]+){{0,3}}?\s+(?:avec|sous|sur)\s+{_LANGUAGE}(?: versions?)? (?P<first>{_VERSION})"
            rf"(?P<more>(?:\s*(?:,\s*(?:et )?|\s+(?:à|jusqu'à|et)\s+|\s?[-–]\s?)(?:{_LANGUAGE} )?{_VERSION})+)"
        ),
    ),
    no_figure=re.compile(r"\b(?:seuil|minimum|objectif|au moins|délai|limite|avant|auparavant|par défaut|exige)\b"),
    no_place=re.compile(r"\b(?:workflow|branche|matrice|étape) (?:qui )?(?:tourne|fonctionne|compile|teste)\b"
        r"|\b(?:que|seulement|uniquement) (?:sous|sur)\b"),
)  # fmt: skip
"""The French words."""
