"""`select`: what a pass of a turn is shown, what it is not, and why (spec 4.2).

Deterministic: no model, no embedding, no resemblance. Material of this workspace or explicitly generic material is kept
as the table of passes says; when the window is tight the optional parts go by priority. The request, the runtime's
constraints and the packet never go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spear.agent.window import estimate
from spear.context import rules as rule_section
from spear.context import skills as skill_section
from spear.context.identity import WorkspaceIdentity
from spear.context.knowledge import presentation
from spear.context.knowledge.records import Record
from spear.context.passes import Material, ToolFamily, TurnShape, materials, tool_family
from spear.context.project_facts import ProjectFacts, project_lines
from spear.context.rules import RuleBook
from spear.context.skills import SkillChoice, SkillShelf
from spear.context.workspace_knowledge import WorkspaceKnowledge
from spear.errors import StateError
from spear.events.names import EventName
from spear.events.stream import Event
from spear.workspace.projects import Declaration

_DROPPED_LAST_TO_FIRST = (
    Material.PACKET,
    Material.PROJECT,
    Material.RULE,
    Material.KNOWLEDGE,
    Material.CAPABILITY,
    Material.WEB,
    Material.SKILL,
)


@dataclass(frozen=True, slots=True)
class Offer:
    """A part made elsewhere: a capability family, the constraint packet. `text` is what the prompt holds."""

    material: Material
    name: str
    text: str
    reason: str = "applies to this workspace and task"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where material comes from. `roots` are the names of other workspace roots; `offers` are placed as they are;
    `withheld` are offers left out by who makes them, with the reason."""

    rules: RuleBook
    skills: SkillShelf
    knowledge: WorkspaceKnowledge | None = None
    roots: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    withheld: tuple[tuple[Material, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of material: kept (`text` is in the prompt, `tokens` estimated) or rejected (0 tokens). Among pieces of
    one kind the heavier is kept longer."""

    material: Material
    name: str
    reason: str
    tokens: int = 0
    text: str = ""
    weight: int = 0

    def record(self) -> dict[str, Any]:
        """The JSON form of the audit and of `--explain`; the text stays out."""
        return {"kind": self.material.value, "name": self.name, "reason": self.reason, "tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class Selection:
    """What a pass is shown. `sections` are the parts of the system message in order; `events` are to be audited;
    `notices` are for the operator at once."""

    kept: tuple[Item, ...]
    rejected: tuple[Item, ...]
    sections: tuple[str, ...]
    tools: ToolFamily
    events: tuple[Event, ...]
    notices: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """The estimate for all sections."""
        return sum(estimate(section) for section in self.sections)

    def record(self) -> dict[str, Any]:
        """The JSON form, as `--explain` prints it."""
        return {
            "selected": [item.record() for item in self.kept],
            "rejected": [item.record() for item in self.rejected],
            "tools": self.tools.value,
            "tokens": self.tokens,
            "sections": list(self.sections),
        }

    def table(self) -> tuple[str, ...]:
        """The lines of `/context`."""
        lines = [f"✓ {item.material:<10} {item.tokens:>6}  {item.name}: {item.reason}" for item in self.kept]
        lines += [f"✗ {item.material:<10} {'':>6}  {item.name}: {item.reason}" for item in self.rejected]
        return (*lines, f"about {self.tokens} tokens of context; tools: {self.tools}")


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Everything that could be shown, before the budget; `lines` are the knowledge lines by item name."""

    items: list[Item]
    rejected: list[Item]
    events: list[Event]
    notices: list[str]


def select(
    turn: TurnShape,
    workspace: WorkspaceIdentity,
    declared: Declaration | None,
    sources: Sources,
    budget: int,
    number: int = 0,
) -> Selection:
    """Choose what a pass is shown. `declared` is what the operator registered or trusted about the project, `budget`
    the tokens all sections may take, `number` the turn in the events. Raises nothing for knowledge that cannot be
    read: it is left out and the operator is told.
    """
    allowed = materials(turn.stage)
    found = _Gathered([], [], [], [])
    book = sources.rules.choose(turn)
    shelf = sources.skills.choose() if Material.SKILL in allowed else SkillChoice((), ())
    shown: presentation.Presentation | None = None
    lines: dict[str, presentation.Shown] = {}
    if Material.PROJECT in allowed:
        facts = ProjectFacts(workspace, declared, sources.roots)
        text = "\n".join(project_lines(facts))
        found.items.append(Item(Material.PROJECT, workspace.name, "the workspace of the turn", estimate(text), text))
    if Material.RULE in allowed:
        found.items.extend(
            Item(
                Material.RULE,
                rule.name,
                f"holds for this turn ({rule.origin})",
                estimate(rule.text),
                rule.text,
                rule.weight,
            )
            for rule in book.kept
        )
        found.notices.extend(book.notices())
    found.rejected.extend(Item(Material.RULE, name, reason) for name, reason in book.rejected)
    if Material.SKILL in allowed:
        found.items.extend(
            Item(Material.SKILL, skill.name, "in scope", estimate(skill_section.section([skill])), skill.body)
            for skill in shelf.offered
        )
        found.rejected.extend(Item(Material.SKILL, name, reason) for name, reason in shelf.withheld)
    if Material.KNOWLEDGE in allowed and sources.knowledge is not None:
        shown, lines = _knowledge(turn, workspace, sources.knowledge, found)
    for offer in sources.offers:
        item = Item(offer.material, offer.name, offer.reason, estimate(offer.text), offer.text)
        if offer.material in allowed:
            found.items.append(item)
        else:
            found.rejected.append(Item(offer.material, offer.name, f"is not shown in a {turn.stage} pass"))
    found.rejected.extend(Item(material, name, reason) for material, name, reason in sources.withheld)
    found.rejected.extend(
        Item(material, f"all {material} material", f"is not shown in a {turn.stage} pass")
        for material in (Material.PROJECT, Material.SKILL, Material.KNOWLEDGE)
        if material not in allowed
    )
    kept = _within(found, budget)
    sections = _sections(kept, book, shelf.offered, shown, lines)
    return _selection(turn, kept, found, sections, number)


def _knowledge(
    turn: TurnShape, workspace: WorkspaceIdentity, knowledge: WorkspaceKnowledge, found: _Gathered
) -> tuple[presentation.Presentation | None, dict[str, presentation.Shown]]:
    """Gather the active records as items; stale ones are reported."""
    try:
        active, stale = knowledge.current()
    except StateError as error:
        found.rejected.append(Item(Material.KNOWLEDGE, "workspace knowledge", f"cannot be read: {error.message}"))
        found.notices.append(f"workspace knowledge is left out: {error}")
        return None, {}
    for record in stale:
        where = record.source.path if record.source else ""
        found.rejected.append(Item(Material.KNOWLEDGE, record.id, f"is stale: {where} has changed since"))
        found.events.append(Event(EventName.KNOWLEDGE_STALE, {"id": record.id, "path": where}))
    inner = workspace.inner()
    targets = tuple(f"{inner}/{target}" if inner else target for target in turn.targets)
    shown = presentation.present(active, turn.request, (*targets, *turn.symbols))
    lines = {_name(line): line for line in shown.lines}
    found.items.extend(
        Item(Material.KNOWLEDGE, name, line.reason, estimate(line.text), line.text) for name, line in lines.items()
    )
    found.events.extend(Event(EventName.KNOWLEDGE_CONFLICT, _conflict(group)) for group in shown.conflicts)
    return shown, lines


def _name(line: presentation.Shown) -> str:
    return ", ".join(line.ids) or "older records"


def _conflict(group: Sequence[Record]) -> Mapping[str, Any]:
    return {"subject": group[0].subject, "ids": [record.id for record in group]}


def _within(found: _Gathered, budget: int) -> list[Item]:
    """What fits, most important first; the packet and the workspace itself always do."""
    ranked = sorted(found.items, key=lambda item: (_DROPPED_LAST_TO_FIRST.index(item.material), -item.weight))
    spent = 0
    kept: set[int] = set()
    for item in ranked:
        if item.material in (Material.PACKET, Material.PROJECT) or spent + item.tokens <= budget:
            spent += item.tokens
            kept.add(id(item))
            continue
        reason = f"the window is tight: it takes about {item.tokens} tokens, {max(0, budget - spent)} are left"
        found.rejected.append(Item(item.material, item.name, reason))
        found.notices.append(f"{item.material} {item.name} is left out: {reason}")
    return [item for item in found.items if id(item) in kept]


def _sections(
    kept: Sequence[Item],
    book: rule_section.RuleChoice,
    offered: Sequence[skill_section.Skill],
    shown: presentation.Presentation | None,
    lines: Mapping[str, presentation.Shown],
) -> tuple[str, ...]:
    """The texts, one a kind of material, in the order of the table."""
    names = {material: [item.name for item in kept if item.material is material] for material in Material}
    texts = [item.text for item in kept if item.material is Material.PROJECT]
    texts.append(rule_section.section([r for r in book.kept if r.name in names[Material.RULE]], book.over))
    texts.append(skill_section.section([s for s in offered if s.name in names[Material.SKILL]]))
    if shown is not None:
        texts.append(presentation.section(shown, [lines[name] for name in names[Material.KNOWLEDGE]]))
    texts += [item.text for item in kept if item.material in (Material.CAPABILITY, Material.WEB, Material.PACKET)]
    return tuple(text for text in texts if text)


def _selection(
    turn: TurnShape, kept: list[Item], found: _Gathered, sections: tuple[str, ...], number: int
) -> Selection:
    family = tool_family(turn)
    stage = {"pass": turn.stage.value}
    events = [Event(EventName.CONTEXT_SELECTED, {**stage, "items": [item.record() for item in kept]})]
    if found.rejected:
        items = [item.record() for item in found.rejected]
        events.append(Event(EventName.CONTEXT_REJECTED, {**stage, "items": items}))
    events.append(Event(EventName.TOOLSET_SELECTED, {**stage, "family": family.value}))
    known = [item.name for item in kept if item.material is Material.KNOWLEDGE]
    if known:
        events.append(Event(EventName.KNOWLEDGE_SELECTED, {**stage, "ids": known}))
    events += found.events
    numbered = tuple(Event(event.name, event.data, number) for event in events)
    return Selection(tuple(kept), tuple(found.rejected), sections, family, numbered, tuple(found.notices))
