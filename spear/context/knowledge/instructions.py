"""Telling an instruction from knowledge, in English and French, by its grammar alone (spec 4.3).

Knowledge says how things are ("the index wraps at size"); an instruction says what somebody is to do ("always run make
test first") and belongs into a rule, where the operator sees it and it binds. An invariant of the code ("the lock must
be held") is knowledge.
"""

from __future__ import annotations

import re

from spear.context.knowledge.vocabulary import ALSO_NOUNS, DETERMINERS, VERBS

_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|can|may|might|will|would|must|should|cannot|isn't|aren't|doesn't|don't|"
    r"takes?|needs?|lives?|goes|uses|runs|means?|holds?|contains?|returns?|writes|reads|comes?|happens?|starts|ends|"
    r"belongs?|depends?|equals?|fails|passes|produces?|wraps|gives|makes|prints|sends)\b"
)
_LEAD = re.compile(
    r"\A(?:please|kindly|note that|remember that|note:|important:|rule:|s'il (?:te|vous) plaît|merci de)[, ]+|"
    r"\A(?:before|after|when|whenever|if|unless|once|while|for|in|on|as|to|with|avant|après|quand|lorsque|si|pour|dans)"
    r"\b[^,;:]{1,80}, +",
)
_ALWAYS = re.compile(r"\A(?:you )?(?:always|never|only|also|just|first|then|and|so|ever)\b[, ]*")
_DIRECT = re.compile(
    r"\A(?:do not|don't|do n't|dont|never ever|make sure|be sure|be careful|take care|remember to|don’t|let's|let us|"
    r"no need to|feel free|from now on|under no circumstances|at all costs|it is (?:important|necessary|essential|"
    r"forbidden|mandatory|required|crucial|vital) (?:to|that)|there (?:must|should) be no)\b"
)
_ADDRESSED = re.compile(
    r"\b(?:you|we|i|one|everyone|everybody|nobody|no one|contributors?|developers?|"
    r"the (?:agent|assistant|model|ai|bot|user))"
    r"(?: always| never| also)? (?:must|should|shall|need to|needs to|have to|has to|ought|are to|is to|may not|"
    r"mustn't|shouldn't|cannot|can't|are not allowed|is not allowed|want you)\b"
)
_PASSIVE = re.compile(
    r"\b(?:must|should|shall|needs? to|has to|have to|ought to)(?: always| never| not| only| first)* be "
    r"(?:run|executed|committed|formatted|reviewed|tested|rebased|pushed|asked|updated|written|added|avoided|kept|documented|approved|"
    r"ignored|followed|signed|squashed|edited|changed|modified|touched|deployed|merged)\b"
)
_INJECTED = re.compile(
    r"\b(?:ignore|disregard|forget|override|oublie[zr]?|ignore[zr]?)\b.{0,40}\b(?:instructions?|rules?|prompts?|consignes?|"
    r"règles?)\b|\bsystem prompt\b|\byou are now\b"
)
_FRENCH_DIRECT = re.compile(
    r"\A(?:veuillez|veillez|assure[zr]?[ -]|assurez-vous|assure-toi|n'oublie[zrs]?|pense[zrs]? (?:à|a)\b|prière de|"
    r"interdiction|"
    r"il (?:ne )?(?:faut|convient de|est (?:interdit|obligatoire|impératif) de)(?: pas| jamais| toujours)? "
    r"(?:\w+(?:er|ir|re|oir)\b|que\b|toujours\b|jamais\b)|ne (?:pas|jamais|plus) \w|"
    r"n(?:e |')[^.]{1,30}? (?:pas|jamais|plus)\b|"
    r"(?:toujours|jamais) (?:\w+(?:er|ir|re|oir|ez)\b|(?:ne )?pas\b))"
)
_FRENCH_ADDRESSED = re.compile(
    r"\b(?:on (?:ne )?doit|tu (?:ne )?dois|vous (?:ne )?devez|nous (?:ne )?devons|"
    r"il (?:ne )?faut (?:pas |jamais |toujours )?"
    r"(?:lancer|exécuter|utiliser|éviter|vérifier|faire|ajouter|commiter|écrire|modifier|supprimer|relancer|tester))\b"
)
_FRENCH_VERB = re.compile(
    r"\A(?:lance|exécute|utilise|évite|vérifie|ajoute|écris|modifie|supprime|relance|teste|préfère|garde|laisse|appelle|demande)"
    r"(?:r|z|s)?(?: |-(?:le|la|les)\b)|\A(?:faire|faites|écrire|écrivez|commitez|commiter) "
)
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
_RUN = "(?:run|execute|launch|invoke)"
_LANCER = "(?:lancer|exécuter|executer)"
_LANCEZ = "(?:lance|exécute|execute)(?:z|r|s)?"
_NO = "(?:jamais|pas|plus)"
_COMMAND = re.compile(
    r"\A(?:(?:please|rule:|s'il (?:te|vous) pla[iî]t,?|merci de)\s+)?(?:"
    rf"(?:(?:you|we)\s+(?:must|should|shall)\s+)?never(?:\s+ever)?\s+{_RUN}|"
    rf"(?:do\s+not|don't|(?:you|we)\s+(?:(?:must|should|shall)\s+not|mustn't|shouldn't))\s+(?:ever\s+)?{_RUN}|"
    rf"(?:(?:il\s+)?(?:ne\s+)?faut\s+|ne\s+)?{_NO}\s+{_LANCER}|"
    rf"(?:(?:tu|vous|on|nous)\s+)?ne\s+(?:dois|devez|doit|devons)\s+{_NO}\s+{_LANCER}|"
    rf"(?:ne\s+|n'){_LANCEZ}\s+{_NO}|(?:interdiction|interdit|défense)\s+(?:de\s+|d'){_LANCER}"
    r")(?:\s+the\s+command|\s+la\s+commande)?\s*:?\s+(?P<command>\S.*)",
    re.I,
)
_QUOTED = re.compile(r"`+\s*([^`]+?)\s*`+|\"([^\"]+)\"\Z|'([^']+)'\Z|«\s*([^»]+?)\s*»")
_END = re.compile(r"(?:(?<=[^\s.!,;])[.!,;]+|\s+!)\Z")


def is_instruction(text: str) -> bool:
    """Whether some sentence of `text` tells somebody what to do."""
    return any(_orders(sentence.strip().casefold()) for sentence in _SENTENCES.split(text) if sentence.strip())


def forbidden_command(text: str) -> str:
    """The command of "never run make deploy", "" when its first sentence forbids none: what a policy can refuse."""
    match = _COMMAND.match(_SENTENCES.split(text.strip(), maxsplit=1)[0].replace("’", "'"))
    if match is None:
        return ""
    command: str = _END.sub("", match["command"])
    quoted = _QUOTED.match(command)
    if quoted:
        return str(next(filter(None, quoted.groups())))
    return "" if command.split()[0].casefold() in DETERMINERS else command  # "never run the tests twice"


def _orders(sentence: str) -> bool:
    sentence = sentence.lstrip("-*#> \"'`(").replace("’", "'")
    if _INJECTED.search(sentence) or _ADDRESSED.search(sentence) or _PASSIVE.search(sentence):
        return True
    if _FRENCH_ADDRESSED.search(sentence):
        return True
    for start in (sentence, _LEAD.sub("", sentence, count=1)):
        if _DIRECT.match(start) or _FRENCH_DIRECT.match(start) or _FRENCH_VERB.match(start):
            return True
        bare = _ALWAYS.sub("", start)
        if _imperative(bare, urged=bare != start):
            return True
    return False


def _imperative(sentence: str, *, urged: bool) -> bool:
    """Whether the sentence begins with a verb that orders. `urged` is behind "always" or "never", where nothing but a
    verb can stand."""
    words = sentence.split()
    if not words or words[0].strip(",:") not in VERBS:
        return False
    if urged:
        return True
    rest = words[1:]
    verb = words[0]
    if verb not in ALSO_NOUNS:
        return not (rest and _FINITE.fullmatch(rest[0]))
    if verb in ("make", "go") and rest and rest[0].strip(",") not in DETERMINERS:
        return False  # the programs of that name
    if rest and rest[0].strip("`,") in DETERMINERS:
        return True
    return not _FINITE.search(" ".join(rest[:5])) and not (rest and rest[0] in ("of", "for", "by", "in"))
