"""Markdown becomes units: labels of many shapes, lettered clauses, notes, tables of requirements, lines of the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.standards.extraction import extract
from spear.standards.units import Extraction, Force, Kind, Modality

TEXT = """\
---
title: ignored, shall
---
# Bus Specification

Rules are binding and shall be kept.

## A2 Physical layer

### A2.2 Signals

#### A2.2.5 Reset

**Rule A2.2.5-1**: The reset line shall be held low
for 10 ms. It shall not bounce.

Recommendation A2.2.5-2: A device should wait.

Permission A2.2.5-3. A device may sleep.

Observation A2.2.5-4: Devices shall rarely sleep.

Rule A2.2.5-1 applies to all devices. Observation A2.2.5-1 is elsewhere.

**Rule A2.2.5-1**: The second of this name must be told apart.

**Permission 8**

A slave may stretch the clock.

[REQ-002] The master drives the clock.

ACME_Bus_0003: The slave shall acknowledge.

ACME_Bus_0004: The slave may wait.

ACME_Bus_0005: The bus is idle when high.

The sync byte is checked (SWITCH-1). A sender shall count [REQ-7, REQ-8].

## A3 Lists

1. A device shall:
   - power up;
   - report itself, and may blink.
2. A device should not:
   - sleep.

> NOTE 1: A master shall not be assumed.

> [!NOTE]
> Hidden shall.

NOTE

A note on a line of its own shall not count.

```c
int shall;
```

| Id | Text | Why |
|----|------|-----|
| REQ-010 | It shall count to 10. | reasons |
| REQ-011 | It should count to 11. | |

Table 1: Bits of a word

| Bits | Name |
|------|------|
| 31:0 | [VALUE](#x) |

## Annex B (normative) Timing

### B.1 Limits

For example, a clock should be red. The time must be under § A2.2.5, see Table 3, clauses 3 and 4, Rule A2.2.5-1 and Section 4 of RFC 791 (May 2020).

## Annex C (informative) Notes

The device shall never be read.

#### C.1 Beneath

REQ-100: It shall be informative too.
"""


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    path = tmp_path_factory.mktemp("bus") / "bus.md"
    path.write_text(TEXT, encoding="utf-8")
    return extract(path)


ROLES = [
    ("Recommendation A2.2.5-2", Kind.RECOMMENDATION, Force.RECOMMENDATION, Modality.SHOULD),
    ("Permission A2.2.5-3", Kind.PERMISSION, Force.PERMISSION, Modality.MAY),
    ("Observation A2.2.5-4", Kind.OBSERVATION, Force.INFORMATIVE, Modality.SHALL),
    ("Permission 8", Kind.PERMISSION, Force.PERMISSION, Modality.MAY),
    ("REQ-002", Kind.REQUIREMENT, Force.REQUIREMENT, Modality.NONE),
    ("ACME_Bus_0003", Kind.REQUIREMENT, Force.REQUIREMENT, Modality.SHALL),
    ("ACME_Bus_0004", Kind.PERMISSION, Force.PERMISSION, Modality.MAY),
    ("ACME_Bus_0005", Kind.INFORMATIVE, Force.INFORMATIVE, Modality.NONE),
    ("REQ-8", Kind.REQUIREMENT, Force.REQUIREMENT, Modality.SHALL),
    ("REQ-010", Kind.REQUIREMENT, Force.REQUIREMENT, Modality.SHALL),
    ("REQ-011", Kind.REQUIREMENT, Force.REQUIREMENT, Modality.SHOULD),
    ("REQ-100", Kind.INFORMATIVE, Force.INFORMATIVE, Modality.SHALL),
]


@pytest.mark.parametrize(("label", "kind", "force", "modality"), ROLES)
def test_a_label_says_the_kind_and_the_most_it_may_oblige_to(
    bus: Extraction, label: str, kind: Kind, force: Force, modality: Modality
) -> None:
    (unit,) = [unit for unit in bus.units if unit.label == label]
    assert (unit.kind, unit.force_ceiling, unit.modality) == (kind, force, modality)


def test_two_provisions_of_one_label_are_two_and_a_mention_is_none(bus: Extraction) -> None:
    both = [unit for unit in bus.units if unit.label == "Rule A2.2.5-1"]
    assert len(both) == 2 and both[0].provision_key == both[1].provision_key
    assert both[0].instance_id != both[1].instance_id and both[0].unit_id != both[1].unit_id
    mention = next(unit for unit in bus.units if "applies to all" in unit.text)
    assert not mention.label and mention.references == ("Rule A2.2.5-1", "Observation A2.2.5-1")


def test_a_labelled_paragraph_is_whole_and_has_its_lines(bus: Extraction) -> None:
    rule = next(unit for unit in bus.units if unit.label == "Rule A2.2.5-1")
    assert rule.text.endswith("held low for 10 ms. It shall not bounce.")
    first, last = rule.lines
    assert TEXT.splitlines()[first - 1].startswith("**Rule A2.2.5-1**") and last == first + 1


def test_an_unknown_role_that_stands_once_is_no_label(bus: Extraction) -> None:
    assert not any(unit.label.startswith("SWITCH") for unit in bus.units)


def test_clauses_may_be_lettered(bus: Extraction) -> None:
    sections = list(dict.fromkeys(unit.section for unit in bus.units))
    assert sections == ["Bus Specification", "A2", "A2.2", "A2.2.5", "A3", "B", "B.1", "C", "C.1"]
    reset = next(unit for unit in bus.units if unit.section == "A2.2.5")
    assert reset.heading_path == ("A2 Physical layer", "A2.2 Signals", "A2.2.5 Reset")


def test_a_clause_without_text_of_its_own_is_found_by_its_number(bus: Extraction) -> None:
    assert [unit.text for unit in bus.units if unit.section == "A2"] == ["A2 Physical layer"]


def test_text_under_the_title_is_front_matter(bus: Extraction) -> None:
    unit = next(unit for unit in bus.units if "Rules are binding" in unit.text)
    assert (unit.kind, unit.force_ceiling) == (
        Kind.FRONT_MATTER,
        Force.INFORMATIVE,
    ) and bus.title == "Bus Specification"


def test_items_inherit_what_leads_them_in_unless_they_say_otherwise(bus: Extraction) -> None:
    kinds = {unit.text: (unit.kind, unit.modality) for unit in bus.units if unit.section == "A3" and unit.within}
    assert kinds["power up;"] == (Kind.REQUIREMENT, Modality.SHALL)
    assert kinds["report itself, and may blink."] == (Kind.PERMISSION, Modality.MAY)
    assert kinds["sleep."] == (Kind.RECOMMENDATION, Modality.SHOULD_NOT)


@pytest.mark.parametrize(
    "words", ["A master shall not", "Hidden shall", "A note on a line", "int shall", "never be read", "clock should"]
)
def test_notes_code_and_informative_annexes_oblige_nobody(bus: Extraction, words: str) -> None:
    found = [unit for unit in bus.units if words in unit.text]
    assert found and all(unit.force_ceiling is Force.INFORMATIVE for unit in found)


def test_a_table_may_carry_a_requirement_and_has_its_cells_and_label(bus: Extraction) -> None:
    first, second = [unit for unit in bus.units if unit.kind is Kind.TABLE]
    assert first.force_ceiling is second.force_ceiling is Force.REQUIREMENT
    assert second.rows == (("Bits", "Name"), ("31:0", "VALUE")) and second.text == "Bits\tName\n31:0\tVALUE"
    rows = [unit.within for unit in bus.units if unit.label in {"REQ-010", "REQ-011"}]
    assert rows == [first.unit_id, first.unit_id]


def test_references_are_those_within_the_document(bus: Extraction) -> None:
    unit = next(unit for unit in bus.units if "under §" in unit.text)
    assert unit.references == ("§ A2.2.5", "Table 3", "clauses 3 and 4", "Rule A2.2.5-1")


def test_without_numbers_the_last_heading_stands_for_the_clause(tmp_path: Path) -> None:
    path = tmp_path / "plain.md"
    path.write_text("# Protocol\n\nIt must start.\n\n## Messages\n\nClients **must**<br>answer.\n", encoding="utf-8")
    extraction = extract(path)
    assert [(unit.section, unit.kind) for unit in extraction.units] == [
        ("Protocol", "requirement"),
        ("Messages", "requirement"),
    ]
    assert extraction.units[1].text == "Messages\nClients must answer."


def test_the_old_boilerplate_makes_capitals_count_where_the_text_uses_them(tmp_path: Path) -> None:
    path = tmp_path / "old.md"
    path.write_text(
        '## 1 Words\n\nThe key words "MUST" and "MAY" are to be interpreted as described in RFC 2119.\n\n## 2 Use\n\n'
        "It MUST stay. It SHALL NOT go.\n\nThat must be understood.\n",
        encoding="utf-8",
    )
    units = extract(path).units
    assert [unit.modality for unit in units if unit.section == "2"] == [
        Modality.SHALL,
        Modality.SHALL_NOT,
        Modality.NONE,
    ]
    assert next(unit for unit in units if unit.section == "1").modality is Modality.NONE


def test_a_lone_heading_has_the_number_it_prints(tmp_path: Path) -> None:
    path = tmp_path / "one.md"
    path.write_text("# 1 Part\n\nIt shall stop.\n", encoding="utf-8")
    assert [unit.section for unit in extract(path).units] == ["1"]
