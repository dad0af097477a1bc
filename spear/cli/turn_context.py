"""What a session shows its turns beyond the request: rules, skills, knowledge, capabilities (spec 4.2–4.4).

`SessionContext` lasts for the session; `TurnContext` is one turn's selection, and what the host answers itself in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spear.cli.settings_model import Settings
from spear.cli.web_access import search_lacks
from spear.cli.workspace import Workspace
from spear.context.context_selection import Offer, Selection, Sources, select
from spear.context.identity import WorkspaceIdentity
from spear.context.knowledge_commands import KnowledgeCommands, Role
from spear.context.other_corpora import named_elsewhere
from spear.context.passes import Material, Pass, TurnShape
from spear.context.rules import RuleBook, RulePlaces
from spear.context.skills import SkillShelf
from spear.context.workspace_knowledge import knowledge_of
from spear.control.classification import Classification
from spear.events.names import Mode, Path, RequestClass
from spear.events.stream import Live, LiveKind, Sink
from spear.host.confirmation import Choice, Confirm, Question, Subject
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor

if TYPE_CHECKING:
    from spear.agent.host import ToolRequest
    from spear.capabilities.answers import CapabilityQuestion, CapabilityReply
    from spear.capabilities.capability_gateway import CapabilityGateway
    from spear.capabilities.providers import CapabilityProviders
    from spear.host.host_commands import Handler, HostAnswer

_STAGES = {
    Path.CODING_CORE: Pass.CODING_CORE,
    Path.NORMATIVE: Pass.NORMATIVE,
    Path.NORMATIVE_WORKFLOW: Pass.NORMATIVE_WORKFLOW,
    Path.MIXED: Pass.MIXED_PREPASS,
}
Withheld = tuple[Material, str, str]
"""What kind of material is left out, its name, the reason."""

_SHARE = 8
"""One part in eight of the window is for context: the rest is the conversation's."""


class SessionContext:
    """The material within reach of a session. Nothing is opened, read or started before a turn asks for it."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        state: StateDirectory,
        redactor: Redactor,
        environ: Mapping[str, str],
    ) -> None:
        primary = workspace.roots.primary
        configuration = settings.projects_file.parent
        self.identity = WorkspaceIdentity.of(primary, workspace.registered)
        declared = workspace.project.declared if workspace.project else None
        self.declared = declared
        self.rules = RuleBook(
            self.identity,
            RulePlaces(configuration, state.root, state.rules_learned),
            declared.prompt_file if declared else None,
        )
        self.skills = SkillShelf(self.identity, configuration, environ.get("PATH", ""))
        self.knowledge = knowledge_of(settings.knowledge_db, self.identity, settings.operator, redactor)
        self.settings = settings
        self.environ = environ
        self._state = state
        self._redactor = redactor
        self._others = tuple(workspace.roots.others)
        self._registry = workspace.registry
        self._told_ways: set[str] = set()
        self._legacy = (state.root, configuration)
        self._providers: CapabilityProviders | None = None
        self.notices: tuple[str, ...] = ()

    def providers(self) -> CapabilityProviders | None:
        """The external capabilities of the session, None when none is registered. Raises ConfigurationError."""
        if self._providers is None and self.settings.capabilities_file.exists():
            from spear.capabilities.providers import CapabilityProviders
            from spear.capabilities.registry import load

            registry = load(self.settings.capabilities_file)
            self.notices = tuple(problem.line() for problem in registry.problems)
            self._providers = CapabilityProviders(registry, self.environ, self._state.root / "capabilities")
        return self._providers

    def operator_commands(self) -> KnowledgeCommands:
        """`/knowledge` and `/remember`: the operator's own hand."""
        return KnowledgeCommands(self.knowledge, Role.OPERATOR, legacy=self._legacy)

    def open(self, turn: TurnAsk) -> TurnContext:
        """The context of one turn."""
        return TurnContext(self, turn, self._gateway(turn))

    def sources(self, offers: tuple[Offer, ...] = (), withheld: tuple[Withheld, ...] = ()) -> Sources:
        """Where a selection takes its material from."""
        return Sources(self.rules, self.skills, self.knowledge, self._others, offers, withheld)

    def ways_elsewhere(self, request: str) -> tuple[str, ...]:
        """How to go to the other corpora a request names; each is told once a session."""
        found = named_elsewhere(request, self.identity, self._registry)
        new = tuple(sentence for sentence in found if sentence not in self._told_ways)
        self._told_ways.update(new)
        return new

    def close(self) -> None:
        """End the processes of external capabilities."""
        if self._providers is not None:
            self._providers.close()

    def _gateway(self, turn: TurnAsk) -> CapabilityGateway | None:
        providers = self.providers()
        if providers is None or not providers.registry.providers:
            return None
        from spear.capabilities.capability_gateway import CapabilityGateway, GatewayTurn
        from spear.capabilities.registry import Place, Task
        from spear.policy.modes import Grants, grants

        task = Task.GENERAL if turn.scope.request_class is RequestClass.GENERAL else Task.IMPLEMENTATION

        def granted() -> Grants:
            return grants(turn.present_mode(), read_only=turn.scope.read_only, no_network=self.settings.no_network)

        corpus = self.identity.name if self.identity.registered else None
        return CapabilityGateway(
            providers, GatewayTurn(turn.number, Place(self.identity.root, corpus, task), granted),
            lambda question: _asked(question, turn), turn.emit, turn.cancelled, self._redactor,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TurnAsk:
    """The turn a context is opened for. `window` is the context window in tokens; `mode` the one its prompt speaks of,
    `present_mode` the one a call is granted by: the operator may change it while the turn runs."""

    number: int
    scope: Classification
    request: str
    mode: Mode
    window: int
    confirm: Confirm
    emit: Sink
    cancelled: Callable[[], bool]
    present_mode: Callable[[], Mode]


class TurnContext:
    """One turn's material: what its prompt shows, what the host answers, what a first touch adds."""

    def __init__(self, session: SessionContext, turn: TurnAsk, gateway: CapabilityGateway | None) -> None:
        self._session = session
        self._turn = turn
        self._gateway = gateway

    def select(self) -> Selection:
        """Choose what the turn is shown; audited item by item. Starts the providers that apply."""
        scope, turn = self._turn.scope, self._turn
        offers: tuple[Offer, ...] = ()
        withheld: tuple[Withheld, ...] = ()
        if self._gateway is not None:
            text = self._gateway.section()
            offers = (Offer(Material.CAPABILITY, "external capabilities", text),) if text else ()
            withheld = tuple((Material.CAPABILITY, each.provider, each.reason) for each in self._gateway.withheld)
        if turn.scope.path is Path.CODING_CORE:
            offers, withheld = self._web(offers, withheld)
        shape = TurnShape(
            turn.request, scope.request_class, _STAGES[scope.path], scope.read_only, scope.targets, scope.symbols
        )
        return select(
            shape, self._session.identity, self._session.declared, self._session.sources(offers, withheld),
            turn.window // _SHARE, turn.number,
        )  # fmt: skip

    def sections(self) -> tuple[str, ...]:
        """The parts of the system message, in order; what was kept and left out is audited, notices are shown."""
        selection = self.select()
        for event in selection.events:
            self._turn.emit(event)
        elsewhere = self._session.ways_elsewhere(self._turn.request)
        for notice in (*elsewhere, *selection.notices, *self._session.notices):
            self._turn.emit(Live(LiveKind.NOTICE, notice))
        return selection.sections

    def handlers(self) -> dict[str, Handler]:
        """The commands the host answers itself in this turn."""
        found: dict[str, Handler] = {"spear-knowledge": self._knowledge}
        if self._gateway is not None:
            found["spear-capability"] = self._capability
        return found

    def on_touch(self, path: str) -> str:
        """The rules of a directory, the first time the turn reaches it."""
        return self._session.rules.on_touch(path)

    def _web(
        self, offers: tuple[Offer, ...], withheld: tuple[Withheld, ...]
    ) -> tuple[tuple[Offer, ...], tuple[Withheld, ...]]:
        """Add the web tools to what is offered, or why they are not (spec 8.5)."""
        from spear.policy.modes import Capability, grants
        from spear.web.tools import section

        session, turn = self._session, self._turn
        granted = grants(turn.mode, read_only=turn.scope.read_only, no_network=session.settings.no_network)
        if not granted.possible(Capability.NETWORK):
            return offers, (*withheld, (Material.WEB, "web tools", "this turn has no network"))
        searching = not search_lacks(session.settings, session.environ)
        text = section(searching=searching, saving=granted.possible(Capability.WORKSPACE_WRITE))
        return (*offers, Offer(Material.WEB, "web tools", text, "the coding core serves this turn")), withheld

    def _knowledge(self, words: Sequence[str], request: ToolRequest) -> HostAnswer:
        from spear.host.host_commands import HostAnswer

        commands = KnowledgeCommands(self._session.knowledge, Role.MODEL, skill=self._session.skills.body)
        answer = commands.answer(words)
        for event in answer.events:
            self._turn.emit(replace(event, turn=self._turn.number))
        return HostAnswer(answer.text, ok=answer.status == 0)

    def _capability(self, words: Sequence[str], request: ToolRequest) -> HostAnswer:
        from spear.capabilities.answers import AnswerOutcome
        from spear.host.host_commands import HostAnswer

        assert self._gateway is not None  # noqa: S101 - the handler exists only with a gateway
        answer = self._gateway.answer(words)
        return HostAnswer(answer.text, ok=answer.outcome is AnswerOutcome.ANSWERED, refusal=answer.refusal)


def _asked(question: CapabilityQuestion, turn: TurnAsk) -> CapabilityReply:
    """A capability's confirmation, put like any other."""
    from spear.capabilities.answers import CapabilityReply, Decision
    from spear.host.consent import put

    text = f"{question.capability} {question.arguments}"
    asked = Question(Subject.CAPABILITY, "terminal", question.capability, text, question.network)
    reply = put(asked, turn.confirm, turn.emit, turn.number)
    decisions = {Choice.NO: Decision.NO, Choice.NOBODY: Decision.NOBODY}
    return CapabilityReply(decisions.get(reply.choice, Decision.YES), reply.reason)
