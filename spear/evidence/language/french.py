"""French claims, hedges and counts."""

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

_BAD = r"(?:erreurs?|avertissements?|problèmes?|échecs?|défauts?|alertes?)"
_ADVERB = (
    r"(?:\s+(?:tous|toutes|maintenant|toujours|bien|aussi|désormais|à nouveau|de nouveau|enfin|encore|correctement"
    r"|désormais))*"
)
_GREEN = (
    r"(?:(?:est|sont|reste|restent)\s+(?:bien |tous |toutes |maintenant )*(?:verte?s?|au vert|réussie?s?|propre"
    r"|bonne?s?|ok))"
)
_PASS = (
    rf"(?:passe|passent|réussit|réussissent|a réussi|ont réussi|réussie?s?|est passée?|sont passée?s|{_GREEN})(?!\w)"
)
_TESTS = r"(?:tests?|suite de tests|suite|⟦test⟧|test_\w+)"
_GAP = r"(?:\s+[\w⟦⟧'’]+){0,4}?"
_SUBJECT = (
    r"(?:il|elle|cela|ça|programme|script|binaire|commande|outil|serveur|démo|application|exécutable|service|tout"
    r"|l'exécution|⟦call⟧|⟦program⟧|⟦code⟧)"
)
_OF_TOOL = r"(?:(?:de |du |d')(?:compilation|compilateur|compiler|gcc|clang|build))"
_TELLS = r"(?:(?:signale|trouve|rapporte|relève|détecte|montre|affiche|imprime)(?:nt)?|dit|disent)"
_FILL = (
    r"(?:\s*[:=]|\s+(?:maintenant|bien|désormais|exactement|seulement|encore|toujours|aussi|la|le|les|un|une|valeurs?"
    r"|nombre|texte|chaîne|ligne|message|mot|résultat|entier|avec|par|code|statut|http|de|est|correcte?ment))"
    r"{0,4}?\s*"
)
_MEMBER = (
    r"(?:(?:le |la |les |l')?(?:compilation|build|construction|tests?(?: unitaires)?|suite(?: de tests)?|lint"
    r"|linter|typage"
    r"|⟦build⟧|⟦test⟧|⟦lint⟧))"
)
_MEMBERS = rf"{_MEMBER}(?:(?:\s*,\s*(?:et )?|\s+et\s+|\s*/\s*|\s*\+\s*){_MEMBER}){{1,6}}"
_LISTS = (
    rf"(?P<before>{_MEMBERS})\s*[:,]?\s*(?:(?:maintenant|tous|toutes|bien|toujours|aussi)\s+)*{_PASS}",
    rf"\b(?:tout|tous|toutes?|chaque|toutes les vérifications|chaque vérification"
    rf"|tous les contrôles)(?: les)?(?: \w+)?"
    rf"\s+{_PASS}\s*[:(]+\s*(?P<after>{_MEMBERS})",
)
FRENCH = Vocabulary(
    denials=(
        (
            re.compile(rf"\bsans (?:aucun |aucune )?(?:erreur (?:ni|ou) )?avertissements?(?P<kind> {_OF_TOOL})?"),
            r"proprement alerte-nulle \g<kind>",
        ),
        (re.compile(rf"\bsans (?:aucun |aucune )?{_BAD}"), "proprement"),
        (
            re.compile(rf"\b(?:il )?n'y a (?:plus )?(?:aucun |pas d')avertissements?(?P<kind> {_OF_TOOL})?"),
            r"résultat-propre alerte-nulle \g<kind>",
        ),
        (
            re.compile(r"\b(?:il )?n'y a (?:plus )?(?:aucune|pas de) fuites?(?: (?:de )?mémoire)?"),
            "résultat-propre fuite-nulle",
        ),
        (
            re.compile(rf"\bne {_TELLS} (?:plus )?(?:aucune|pas de) fuites?(?: (?:de )?mémoire)?"),
            "résultat-propre fuite-nulle",
        ),
        (
            re.compile(rf"\bne {_TELLS} (?:plus )?(?:aucun |pas d')avertissements?(?P<kind> {_OF_TOOL})?"),
            r"résultat-propre alerte-nulle \g<kind>",
        ),
        (re.compile(rf"\bne {_TELLS} (?:plus )?rien"), "résultat-propre"),
        (
            re.compile(
                rf"\b(?:aucun|zéro|0) avertissements?(?P<kind> {_OF_TOOL})?(?! (?:de |du )?(?:lint|linter|typage"
                rf"|style"
                r"|mypy|ruff))(?: n[e'’]\s*\w+)?"
            ),
            r"résultat-propre alerte-nulle \g<kind>",
        ),
        (re.compile(r"\b(?:aucune|zéro|0) fuites?(?: (?:de )?mémoire)?(?: n[e'’]\s*\w+)?"), "fuite-nulle"),
        (
            re.compile(
                r"\bne (?:signale|trouve|rapporte|relève|détecte)(?:nt)? (?:plus )?(?:aucune?|pas d[e'])\s*(?:\w+)"
            ),
            "résultat-propre",
        ),
        (
            re.compile(rf"\b(?:aucune?|zéro|0) {_BAD} (?:de |du )?(?P<tool>lint|linter|typage|style|mypy|ruff)\b"),
            r"\g<tool> le lint est propre",
        ),
        (re.compile(rf"\b(?:aucune?|zéro|0) {_BAD}(?: (?:de )?lint)?(?: n[e'’]\s*\w+)?"), "résultat-propre"),
        (re.compile(r"\baucun (?:des )?tests? n[e'’]\s*(?:échoue|est en échec)(?: plus)?"), "les tests passent"),
        (re.compile(r"\bn[e'’]\s*(?:échoue|échouent|plante|plantent|fuit|apparaît|se produit) plus\b"), "a disparu"),
    ),
    hedges=anywhere(
        r"\bn[e'’]\s?\w+|\bpas\b|\bjamais\b|\baucune?\b|\brien\b|\bsans\b",
        r"\b(?:devrait|devraient|devra|devront|pourrait|pourraient|doit|doivent|peut|peuvent|semble|semblent"
        r"|paraît)\b",
        r"\b\w+(?:erait|eraient|irait|iraient|era|eront|irai|erai|erons)\b|\b(?:vais|va|vont|allons) \w+er\b"
        r"|\b(?:vais|vont|allons)\b",
        r"\bpeut-être\b|\bprobablement\b|\bsans doute\b|\bnormalement\b|\bthéoriquement\b|\ben principe\b"
        r"|\ben théorie\b|\bespér\w+",
        r"\bje (?:pense|crois|suppose|présume)\b|\bil est possible\b|\bpossible que\b|\bil (?:me )?semble\b"
        r"|\bil reste à\b|\breste à\b",
        r"\b(?:dit|disent|affirme|prétend|demande|indique) que\b|\bselon\b|\bà vérifier\b|\bafin (?:de|que)\b"
        r"|\bpour que\b|\bpour vérifier\b",
        r"\bau lieu de\b|\bplutôt que\b|\bfaut\b|\bfaudra\b|\bcensée?s?\b|\bsupposée?s?\b|\bobjectif\b",
    ),
    everywhere=anywhere(
        r"^\s*(?:veuillez|lancez|lance|vérifiez|exécutez|essayez|assurez|relancez|compilez|testez|merci de"
        r"|pensez|n'hésitez|confirmez)\b",
        r"^\s*(?:si|quand|lorsque|lorsqu'|une fois|dès que|tant que|avant|pour (?:vérifier|tester|lancer)"
        r"|à moins|en supposant|est-ce que)\b",
        r"\b(?:si|sauf si|à moins que|à condition|en supposant|lorsque|quand|une fois que|avant (?:ma|la|le|de"
        r"|que|cette)|auparavant|peut-être)\b",
        r"\bvous (?:pouvez|devez|pourriez|devriez)\b|\bje (?:pense|crois)\b|\bensuite\b|\bpassaient\b"
        r"|\bcompilait\b|\bpassait\b",
    ),
    breaks=re.compile(r"\s*;|\s—\s|\s–\s|,?\s+\b(?:mais|cependant|toutefois|pourtant|bien que|tandis que)\b"),
    pieces=re.compile(r",|\s\b(?:et|donc|car|parce que|qui)\b"),
    builds=anywhere(
        r"\b(?:compile|compilent|se construit|se construisent|se compile)(?=\s*(?:$|[.,;:!]|et\b|sans\b"
        r"|proprement|bien|maintenant|de nouveau|à nouveau|correctement|toujours|avec\b|sur\b))",
        rf"\b(?:compilation|build|construction)\b{_GAP}{_ADVERB}\s*:?\s+{_PASS}",
        rf"⟦build⟧{_ADVERB}\s+{_PASS}",
        r"\bj'ai (?:compilé|construit)\b[^.;]*\b(?:proprement|succès|résultat-propre)\b",
    ),
    tests=anywhere(
        rf"\b{_TESTS}{_GAP}{_ADVERB}\s*:?\s+{_PASS}",
        rf"⟦test⟧{_ADVERB}\s+{_PASS}",
        r"\b\d+ tests? (?:réussis?|passent|passés?|ok)\b|\b\d+ réussis?\b",
    ),
    lint=anywhere(
        r"(?:\b(?:lint|linter|linteur|ruff|mypy|eslint|clippy|flake8|pylint|typage|vérificateur de types)\b"
        r"|⟦lint⟧)(?:\s+\w+){0,4}?\s+"
        r"(?:(?:est|sont) (?:propres?|au vert|verte?s?|contente?s?)|passe|passent|résultat-propre)",
    ),
    runs=anywhere(
        rf"\b{_SUBJECT}{_ADVERB}\s+(?:s'exécute|tourne|démarre|affiche|imprime|renvoie|retourne|répond|se lance"
        rf"|se termine avec (?:le (?:code|statut) )?0)\b",
        rf"(?:⟦call⟧|⟦program⟧|⟦code⟧){_ADVERB}\s+(?:s'exécute|tourne|démarre|affiche|renvoie|retourne)\b",
        r"\b(?:fonctionne|fonctionnent|marche|marchent)\b(?! sur\b)",
        r"\bsortie est (?:maintenant )?(?:correcte|bonne|identique)\b",
        rf"^\s*(?:la )?(?:sortie|résultat)\s*(?:est|vaut|:|=)\s*(?:maintenant |toujours )*"
        rf"(?:⟦(?:code|quote|call|program)⟧|{NUMBER}{LITERAL_END})",
        rf"(?:\b|(?=⟦)){_SUBJECT}{_ADVERB}\s+(?:se termine|quitte|sort) (?:avec|par) (?:le |un )?(?:code"
        rf"|statut)(?: de (?:sortie|retour))? \d",
    ),
    printed=(
        rf"\b(?:affiche(?:nt)?|imprime(?:nt)?|répond(?:ent)?|écrit sur la sortie|montre){_FILL}",
        rf"^\s*(?:la )?(?:sortie|résultat)\s*(?:est|vaut|:|=){_FILL}",
    ),
    printed_then=(rf"\b(?:a affiché|a imprimé|a répondu){_FILL}",),
    returned=(rf"\b(?:renvoie|renvoient|retourne|retournent|vaut){_FILL}",),
    exited=(
        r"\b(?:se termine|quitte|sort)(?: maintenant| bien)? (?:avec|par) (?:le |un )?(?:code|statut)"
        r"(?: de (?:sortie|retour))?(?: de)? ",
        r"\b(?:code|statut) de (?:sortie|retour)\s*(?:est|:|=)?\s*",
    ),
    ran=anywhere(r"\b(?:lancé|exécuté|l'exécution)\b|⟦program⟧"),
    lists=anywhere(*_LISTS),
    kinds_of_member=(
        (re.compile(r"test|suite"), "tests_pass"),
        (re.compile(r"lint|typage"), "lint_clean"),
        (re.compile(r"build|compil|construction"), "builds"),
    ),
    checks=anywhere(
        r"(?:(?:tous les|les|la|le|\d+(?:/\d+)?)\s+|l')*"
        r"(?:tests?(?: unitaires?| d'intégration)?|suite de tests|compilation|construction|build|lint|typage"
        r"|analyse statique)" + REST_OF_LABEL
    ),
    passes="passe",
    rebuilds=anywhere(
        r"\b(?:se (?:re)?construit|compile|se recompile|recompile)\b[^.;]*\b(?:à partir de zéro|de zéro"
        r"|après (?:un |⟦clean⟧|make clean|nettoyage))",
        r"\b(?:reconstruction|recompilation)\b[^.;]*\b(?:réussit|passe|a réussi)\b|\bnettoyé (?:et"
        r"|puis) (?:reconstruit|recompilé)\b",
    ),
    success=anywhere(
        r"\b(?:est|sont|a été|ont été|c'est|c’est)\s+(?:maintenant |bien |désormais |enfin )?(?:corrigée?s?"
        r"|résolue?s?|réparée?s?|vérifiée?s?|réglée?s?)\b",
        r"^\s*(?:corrigée?|résolue?|réparée?|vérifiée?)\s*[.!:]?\s*$",
        r"\b(?:a|ont) (?:bien )?disparu\b|\bj'ai (?:vérifié|validé|confirmé) (?:la|le|cette|ma"
        r"|que la) (?:correction|correctif|changement|modification)\b",
        r"\b(?:toutes les vérifications|les vérifications|tout|la vérification|tous les contrôles) (?:passent"
        r"|passe|réussissent|réussit|est vert|sont vertes)\b",
    ),
    mentions_tests=words("tests?", "suite", "⟦test⟧", r"test_\w+"),
    all_pass=words(r"(?:ils|elles|tout|tous) (?:passent|passe|réussissent|réussit)(?: tous| toutes)?"),
    whole=anywhere(
        r"\btous les (?:\w+ )?tests\b|\bchaque test\b",
        r"\b(?:toute la suite|suite (?:de tests )?(?:complète|entière))\b|\btests? passent tous\b",
    ),
    numbers=anywhere(
        r"(?<![\w.%])(\d+)\s+" + NUMBER_GAP + r"tests?\b",
        r"(?<![\w.])(\d+)(?:/\d+)?\s+(?:réussis?|passent|passés?)\b",
        r"\b(deux|trois|quatre|cinq|six|sept|huit|neuf|dix)\s+" + NUMBER_GAP + r"tests\b",
    ),
    words_of_number={
        "deux": 2,
        "trois": 3,
        "quatre": 4,
        "cinq": 5,
        "six": 6,
        "sept": 7,
        "huit": 8,
        "neuf": 9,
        "dix": 10,
    },
)
"""The French vocabulary."""
