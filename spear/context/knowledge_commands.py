"""`spear-chat knowledge …`, `/knowledge …`, `/remember` and `spear-knowledge …` as one function (spec 4.3).

Who asks decides what may be done: a model may propose and look at what is active, the rest is the operator's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.context.knowledge.drafts import INSTRUCTION, Draft
from spear.context.knowledge.records import KnowledgeProblem, Record, State
from spear.context.knowledge.usage import ASKED, USAGE
from spear.context.knowledge.words import DRAFT_OPTIONS, Words, draft, read, split
from spear.context.rules_learned import learn, learned
from spear.context.workspace_knowledge import Recorded, WorkspaceKnowledge
from spear.errors import StateError
from spear.events.names import EventName
from spear.events.stream import Event
from spear.state.files import replace_durably

if TYPE_CHECKING:
    from spear.context.knowledge.given import RecordModel

OPERATOR_COMMANDS = (
    "list", "show", "search", "add", "accept", "amend", "revoke", "check", "export", "import", "purge",
    "migrate-remember",
)  # fmt: skip
_STATES = {"proposed": State.PROPOSED, "active": State.ACTIVE, "stale": State.STALE, "revoked": State.REVOKED}
_USAGE = 2
_MOST_FOR_A_MODEL = 100


class Role(StrEnum):
    """Who asks."""

    OPERATOR = "operator"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says. `status` is an exit status, 0 when it did what was asked; `text` is JSON where `--json` was
    given; `events` are to be audited by a session."""

    text: str
    status: int = 0
    events: tuple[Event, ...] = ()


class KnowledgeCommands:
    """The commands of one workspace for one role. `legacy` are the directories earlier versions kept notes in;
    `skill` gives the text of an offered skill to a model."""

    def __init__(
        self,
        knowledge: WorkspaceKnowledge,
        role: Role,
        *,
        legacy: Sequence[Path] = (),
        skill: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._knowledge = knowledge
        self._role = role
        self._legacy = tuple(legacy)
        self._skill = skill

    def answer(self, words: Sequence[str]) -> Answer:
        """Answer a command line without its name. A database that cannot be used is a StateError to the operator; a
        model is only told to go on, the remedy is not its business.
        """
        try:
            return self._answer(words)
        except StateError:
            if self._role is Role.OPERATOR:
                raise
            return Answer("workspace knowledge is unavailable; go on without it", _USAGE)

    def _answer(self, words: Sequence[str]) -> Answer:
        commands: dict[str, Callable[[Sequence[str]], Answer]] = {
            "list": self._list,
            "show": self._show,
            "search": self._search,
        }
        if self._role is Role.MODEL:
            commands |= {"propose": self._propose, "skill": self._show_skill}
        else:
            commands |= {
                "add": self._add,
                "accept": self._accept,
                "amend": self._amend,
                "revoke": self._revoke,
                "check": self._check,
                "export": self._export,
                "import": self._import,
                "purge": self._purge,
                "migrate-remember": self._migrate,
            }
        name = words[0] if words else "list"
        if name in commands:
            return commands[name](words[1:])
        if name in ASKED and self._role is Role.OPERATOR:
            return Answer(USAGE)
        if name in OPERATOR_COMMANDS:
            return Answer(f"refused: {name} is the operator's; propose what should be recorded", _USAGE)
        return Answer(f"there is no knowledge {name}; there are: {', '.join(commands)}", _USAGE)

    def remember(self, note: str) -> Answer:
        """`/remember NOTE [--source FILE[:LINE] --quote TEXT]`: record a note as it was typed."""
        if "--source" in note or "--quote" in note:
            return self._add(split(note))
        return self._recorded(self._knowledge.add(Draft(note)), "recorded")

    # --- recording --------------------------------------------------------------------------------------------------

    def _add(self, words: Sequence[str]) -> Answer:
        return self._drafted(words, self._knowledge.add, "recorded")

    def _propose(self, words: Sequence[str]) -> Answer:
        return self._drafted(words, self._knowledge.propose, "proposed")

    def _drafted(
        self, words: Sequence[str], record: Callable[[Draft], Recorded | KnowledgeProblem], verb: str
    ) -> Answer:
        said = read(words, DRAFT_OPTIONS, ("json",))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        wanted = draft(said)
        return _problem(wanted) if isinstance(wanted, KnowledgeProblem) else self._recorded(record(wanted), verb, said)

    def _amend(self, words: Sequence[str]) -> Answer:
        said = read(words, DRAFT_OPTIONS, ("json",))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        old = self._knowledge.find(said.rest[0] if said.rest else "")
        if isinstance(old, KnowledgeProblem):
            return _problem(old)
        wanted = draft(Words(said.rest[1:], said.options, said.flags), old)
        if isinstance(wanted, KnowledgeProblem):
            return _problem(wanted)
        return self._recorded(self._knowledge.amend(old.id, wanted), f"amended {old.id} as", said)

    def _recorded(self, done: Recorded | KnowledgeProblem, verb: str, said: Words | None = None) -> Answer:
        if isinstance(done, KnowledgeProblem):
            return _problem(done)
        record = done.record
        events = () if done.known else (_event(record),)
        if said is not None and "json" in said.flags:
            return Answer(_json(record.record()), 0, events)
        lines = [f"{'known already' if done.known else verb}: {record.line()}"]
        if record.state is State.PROPOSED:
            lines.append("it is shown to no turn until the operator accepts it")
        lines += [f"in conflict with {other.id}: {other.statement}" for other in done.against]
        if done.against:
            lines.append("both are shown as a conflict; amend or revoke one, or give it a subject of its own")
        return Answer("\n".join(lines), 0, events)

    # --- deciding ---------------------------------------------------------------------------------------------------

    def _accept(self, words: Sequence[str]) -> Answer:
        said = read(words, (), ("all", "json"))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        ids = said.rest
        if "all" in said.flags:
            ids = tuple(record.id for record in self._knowledge.records() if record.state is State.PROPOSED)
        return self._each(ids, self._knowledge.accept, "active", "accept ID (or --all); list --proposed shows them")

    def _revoke(self, words: Sequence[str]) -> Answer:
        said = read(words, (), ("json",))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        return self._each(said.rest, self._knowledge.revoke, "revoked", "revoke ID; list shows them")

    def _each(
        self, ids: Sequence[str], act: Callable[[str], Recorded | KnowledgeProblem], verb: str, usage: str
    ) -> Answer:
        if not ids:
            return Answer(f"nothing is named: {usage}", _USAGE)
        answers = [self._recorded(act(identity), verb) for identity in ids]
        events = tuple(event for answer in answers for event in answer.events)
        return Answer("\n".join(a.text for a in answers), max(a.status for a in answers), events)

    def _check(self, words: Sequence[str]) -> Answer:
        said = read(words, (), ("json",))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        found = self._knowledge.check()
        events = tuple(map(_event, (*found.stale, *found.restored)))
        if "json" in said.flags:
            document = {
                "stale": [record.record() for record in found.stale],
                "restored": [record.record() for record in found.restored],
                "without_source": found.unbound,
            }
            return Answer(_json(document), 0, events)
        lines = [f"stale now: {record.line()}" for record in found.stale]
        lines += [f"holds again: {record.line()}" for record in found.restored]
        lines.append(
            "what has a source holds" if not found.stale else "accept binds a stale record anew, amend corrects it"
        )
        if found.unbound:
            lines.append(f"{found.unbound} active without a source: nothing can be checked about them")
        return Answer("\n".join(lines), 0, events)

    def _purge(self, words: Sequence[str]) -> Answer:
        name = self._knowledge.workspace.name
        if tuple(words) != (name,):
            count = len(self._knowledge.records())
            how = f"to delete all {count} records of this workspace for good, give its name: knowledge purge {name}"
            return Answer(how if not words else f"this workspace is {name}, not {' '.join(words)}; {how}", _USAGE)
        return Answer(f"{self._knowledge.purge()} records of {name} are deleted")

    # --- looking ----------------------------------------------------------------------------------------------------

    def _visible(self) -> tuple[Record, ...]:
        """What the role may look at: a model sees what is active and holds."""
        return self._knowledge.current()[0] if self._role is Role.MODEL else self._knowledge.records()

    def _list(self, words: Sequence[str]) -> Answer:
        flags = () if self._role is Role.MODEL else (*_STATES, "all")
        said = read(words, ("kind",), (*flags, "json"))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        wanted = {_STATES[flag] for flag in said.flags if flag in _STATES} or {State.ACTIVE}
        everything = self._visible()
        records = [record for record in everything if "all" in said.flags or record.state in wanted]
        if kind := said.options.get("kind", "").lower():
            records = [record for record in records if record.kind == kind]
        if "json" in said.flags:
            return Answer(_json([record.record() for record in records]))
        shown = records[-_MOST_FOR_A_MODEL:] if self._role is Role.MODEL else records
        lines = [record.line() for record in shown] or ["nothing is recorded here"]
        if len(shown) < len(records):
            lines.append(f"and {len(records) - len(shown)} older ones: search TEXT finds them")
        for flag, state in _STATES.items():
            count = sum(1 for record in everything if record.state is state)
            if count and state not in wanted and "all" not in said.flags and state is not State.REVOKED:
                lines.append(f"and {count} {state.value}: list --{flag}")
        return Answer("\n".join(lines))

    def _search(self, words: Sequence[str]) -> Answer:
        said = read(words, (), ("json",))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        if not said.rest:
            return Answer("search needs a TEXT", _USAGE)
        visible = {record.id for record in self._visible()}
        records = [record for record in self._knowledge.search(" ".join(said.rest)) if record.id in visible]
        if "json" in said.flags:
            return Answer(_json([record.record() for record in records]))
        return Answer("\n".join(record.line() for record in records) or "nothing recorded here holds all of that")

    def _show(self, words: Sequence[str]) -> Answer:
        said = read(words, (), ("json",))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        if not said.rest:
            return Answer("show needs an ID", _USAGE)
        record = self._knowledge.find(said.rest[0])
        if isinstance(record, KnowledgeProblem):
            return _problem(record)
        if self._role is Role.MODEL and record.id not in {visible.id for visible in self._visible()}:
            return Answer(f"there is no active record {said.rest[0]} here", _USAGE)
        return Answer(_json(record.record())) if "json" in said.flags else Answer(self._described(record))

    def _described(self, record: Record) -> str:
        rows: list[tuple[str, Any]] = [
            (key, value) for key, value in record.record().items() if value not in ("", [], None)
        ]
        lines = [
            f"{key}: {', '.join(value) if isinstance(value, list) else value}" for key, value in rows if key != "source"
        ]
        if record.source is not None:
            lines.append(f"source: {record.source.shown()} holds {record.source.quote!r}")
        if self._role is Role.OPERATOR:
            lines += [f"{entry.at} {entry.actor}: {entry.action}" for entry in self._knowledge.history(record.id)]
        return "\n".join(lines)

    def _show_skill(self, words: Sequence[str]) -> Answer:
        text = self._skill(" ".join(words))
        return Answer(text) if text is not None else Answer("there is no such skill; the prompt names them", _USAGE)

    # --- files ------------------------------------------------------------------------------------------------------

    # What exchanges files is imported when a file is exchanged: its models are built on import, every start would pay.

    def _export(self, words: Sequence[str]) -> Answer:
        from spear.context.knowledge import exchange

        records = [record for record in self._knowledge.records() if record.state is not State.REVOKED]
        document = exchange.exported(self._knowledge.workspace.name, records)
        if not words:
            return Answer(document.rstrip("\n"))
        file = self._knowledge.workspace.directory / words[0]
        if file.exists():
            return Answer(f"{file} exists; name another file", _USAGE)
        replace_durably(file, document.encode("utf-8", "surrogatepass"))
        return Answer(f"{len(records)} records written to {file}")

    def _import(self, words: Sequence[str]) -> Answer:
        from spear.context.knowledge import exchange

        said = read(words, (), ("proposed", "json"))
        if isinstance(said, KnowledgeProblem):
            return _problem(said)
        if len(said.rest) != 1:
            return Answer("import needs one FILE", _USAGE)
        models = exchange.read_export(self._knowledge.workspace.directory / said.rest[0])
        if isinstance(models, KnowledgeProblem):
            return _problem(models)
        return self._taken(models, proposed="proposed" in said.flags)

    def _migrate(self, words: Sequence[str]) -> Answer:
        from spear.context.knowledge import exchange
        from spear.context.knowledge.given import RecordModel

        place = self._knowledge.workspace
        mine, others = exchange.legacy_files(self._legacy, place.name)
        files = [place.directory / word for word in words] or mine
        if not files:
            there = f"; there are {', '.join(map(str, others))}: name one to take it in" if others else ""
            return Answer(f"there are no memories-{place.name}.md notes{there}", _USAGE if others else 0)
        models: list[RecordModel] = []
        for file in files:
            notes = exchange.legacy_notes(file)
            if isinstance(notes, KnowledgeProblem):
                return _problem(notes)
            models += [RecordModel.model_construct(statement=note, tags=("remembered",)) for note in notes]
        taken = self._taken(models, proposed=True)
        if not taken.events:
            return taken
        return Answer(
            f"{taken.text}\nnothing says where they come from: accept ID (or --all) what still holds",
            taken.status,
            taken.events,
        )

    def _taken(self, models: Sequence[RecordModel], *, proposed: bool) -> Answer:
        done = self._knowledge.take_in(models, proposed=proposed)
        lines = [f"taken in: {record.line()}" for record in done.records]
        lines += [f"left out: {statement[:120]} — {problem.line()}" for statement, problem in done.left_out]
        lines.append(f"{len(done.records)} taken in, {done.known} known already, {len(done.left_out)} left out")
        return Answer("\n".join(lines), 0, tuple(map(_event, done.records)))


def recall(file: Path, text: str) -> Answer:
    """`/recall TEXT` adds a rule for every corpus; without a text it lists those there are."""
    if not text.strip():
        return Answer("\n".join(learned(file)) or "no rules are learned yet: /recall TEXT")
    done = learn(file, text)
    return Answer(done.text, 0 if done.ok else _USAGE)


def _event(record: Record) -> Event:
    names = {
        State.PROPOSED: EventName.KNOWLEDGE_PROPOSED,
        State.ACTIVE: EventName.KNOWLEDGE_ACTIVATED,
        State.STALE: EventName.KNOWLEDGE_STALE,
        State.REVOKED: EventName.KNOWLEDGE_REVOKED,
    }
    data = {
        "id": record.id,
        "kind": record.kind.value,
        "subject": record.subject,
        "provenance": record.provenance.value,
    }
    return Event(names[record.state], data)


def _problem(problem: KnowledgeProblem) -> Answer:
    prefix = "refused: " if problem.code == INSTRUCTION else ""
    return Answer(prefix + problem.line(), _USAGE)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
