"""Labels: the identities that a document prints at its provisions, and what the role of each means (spec 5.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spear.standards.units import Kind

ROLES: Mapping[str, Kind] = {
    **dict.fromkeys(("rule", "requirement", "req", "must", "shall", "mandate", "reqt", "constraint"), Kind.REQUIREMENT),
    **dict.fromkeys(("recommendation", "rec", "shld", "should", "suggestion", "advice", "recm"), Kind.RECOMMENDATION),
    **dict.fromkeys(("permission", "may", "perm", "per", "option", "opt"), Kind.PERMISSION),
    **dict.fromkeys(("observation", "obs", "remark", "comment"), Kind.OBSERVATION),
    **dict.fromkeys(("definition", "def"), Kind.DEFINITION),
}
"""What a role means by convention; a profile may say otherwise."""

_ORDINAL = r"[A-Z]?\d+(?:[.\-–_]\d+)*[a-z]?"
_SEPARATOR = r"(?:\s*[:–—]|\.(?=\s|$)|\s*\]|\s*\))"
_WORD_LABEL = re.compile(rf"\[?(?P<role>[A-Za-z]{{3,20}})\s+(?P<ordinal>{_ORDINAL})(?P<end>{_SEPARATOR})?(?:\s+|$)")
_CODE = r"[A-Z][A-Za-z0-9]*(?:[-_.][A-Za-z][A-Za-z0-9]*){0,5}"
_CODE_LABEL = re.compile(
    rf"(?P<open>[\[(])?(?P<role>{_CODE}?)(?P<dash>[-_ ]?)(?P<ordinal>{_ORDINAL})(?P<end>{_SEPARATOR})?(?:\s+|$)"
)
_INLINE = re.compile(
    rf"[(\[](?P<role>{_CODE}?)[-_](?P<ordinal>{_ORDINAL})(?=[)\]\s,;:])(?P<rest>[^()\[\]]{{0,300}}|[^)]{{0,300}})[)\]]"
)
_MORE = re.compile(rf"^(?:\s*(?:,|;|and|&)\s*)(?P<role>{_CODE}?)[-_](?P<ordinal>{_ORDINAL})(?=$|[\s,;])")
_MODAL_NEXT = re.compile(r"(?:shall|must|should|may|can|is|are|applies|and|or)\b", re.I)
_NOT_CODES = frozenset(
    [
        "RFC",
        "ISO",
        "IEC",
        "IEEE",
        "UTF",
        "SHA",
        "MD",
        "AES",
        "RSA",
        "ITU",
        "EN",
        "IEC",
        "BCP",
        "STD",
        "ASCII",
        "CRC",
        "USB",
        "X",
        "HTTP",
        "IPV",
        "TABLE",
        "FIGURE",
        "PAGE",
        "SECTION",
    ]
)
_MARK = re.compile(r"(?P<role>[A-Za-z]{2,20})[:_-](?P<name>\S{1,200})")
_NORMATIVE = frozenset(("norm", "normative"))
"""Roles of text that is normative without saying of what kind."""
_MOST = 300
"""Characters in which a label stands."""
_LEAST = 3
"""How often an unknown role must stand before what looks like provisions to be believed one."""


@dataclass(frozen=True, slots=True)
class Label:
    """A printed identity: what a citation prints, its ordinal, and the kind its role stands for (None: by the verb).
    `start` and `end` are where it stands in its text."""

    text: str
    ordinal: str
    kind: Kind | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Labels:
    """How one document labels its provisions: the roles it uses, with the kinds they stand for."""

    roles: Mapping[str, Kind] = field(default_factory=lambda: dict(ROLES))
    used: frozenset[str] = frozenset()
    """Roles, in lower case, that are no convention but recur before this document's provisions."""

    def leading(self, text: str) -> Label | None:
        """The label that a paragraph begins with: "Rule 3.1-1: …", "[REQ-12] …", "SYS_REQ_7 The …"."""
        text = text[:_MOST]
        if (word := _WORD_LABEL.match(text)) and word["role"].lower() in self.roles and word["role"][0].isupper():
            follows = text[word.end() :]
            if word["end"] or not follows or (follows[0].isupper() and not _MODAL_NEXT.match(follows)):
                return self._label(f"{word['role']} {word['ordinal']}", word["role"], word["ordinal"], 0, word.end())
        code = _CODE_LABEL.match(text)
        if code is None or not self._known(code["role"]):
            return None
        follows = text[code.end() :]
        closed = code["end"] or not follows or (follows[0].isupper() and not _MODAL_NEXT.match(follows))
        if not closed or (code["dash"] == " "):
            return None
        return self._label(
            f"{code['role']}{code['dash']}{code['ordinal']}", code["role"], code["ordinal"], 0, code.end()
        )

    def inline(self, sentence: str) -> list[Label]:
        """The labels in brackets within a sentence: "(MUST-5)", "(MUST-4 -- note …)", "[REQ-7, REQ-8]"."""
        found: list[Label] = []
        for match in _INLINE.finditer(sentence):
            if not self._known(match["role"]):
                continue
            dash = sentence[match.end("role")]
            found.append(
                self._label(f"{match['role']}{dash}{match['ordinal']}", match["role"], match["ordinal"], *match.span())
            )
            rest = match["rest"]
            while more := _MORE.match(rest):
                if self._known(more["role"]):
                    name = f"{more['role']}{rest[more.end('role')]}{more['ordinal']}"
                    found.append(self._label(name, more["role"], more["ordinal"], *match.span()))
                rest = rest[more.end() :]
        return found

    def mark(self, identity: str) -> Label | None:
        """The label that an identity in the source stands for ("norm:reset_value"), where its first part is a role."""
        match = _MARK.fullmatch(identity)
        if match is None or (match["role"].lower() not in _NORMATIVE and match["role"].lower() not in self.roles):
            return None
        return self._label(identity, match["role"], match["name"], 0, 0)

    def _known(self, role: str) -> bool:
        return self.kind(role) is not None or role.lower() in self.used

    def kind(self, role: str) -> Kind | None:
        """What a role stands for: the whole of it, else its last or first part ("SYS-REQ"); None where unknown."""
        lowered = role.lower()
        if lowered in self.roles:
            return self.roles[lowered]
        parts = re.split(r"[-_.]", lowered)
        if len(parts) > 1:
            for part in (parts[-1], parts[0]):
                if part in self.roles:
                    return self.roles[part]
        return None

    def _label(self, text: str, role: str, ordinal: str, start: int, end: int) -> Label:
        return Label(text, ordinal, self.kind(role), start, end)


def labels_of(texts: Iterable[str], declared: Mapping[str, Kind]) -> Labels:
    """The labels of a document: those of convention, those a profile declares, and unknown ones that recur.

    An unknown role counts when at least three different ordinals of it stand at the beginning of paragraphs, closed by
    a colon or in brackets.
    """
    seen: Counter[str] = Counter()
    ordinals: set[tuple[str, str]] = set()
    for text in texts:
        match = _CODE_LABEL.match(text)
        if (
            match is None
            or not match["end"]
            or match["end"] == "."
            or match["dash"] == " "
            or match["role"].upper() in _NOT_CODES
        ):
            continue
        if match["end"].strip() in {")", "]"} and not match["open"]:
            continue
        key = (match["role"].lower(), match["ordinal"])
        if key not in ordinals and len(ordinals) < 100_000:
            ordinals.add(key)
            seen[key[0]] += 1
    roles = {**ROLES, **{name.lower(): kind for name, kind in declared.items()}}
    return Labels(roles, frozenset(role for role, count in seen.items() if count >= _LEAST and role not in roles))
