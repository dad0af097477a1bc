"""The gateway of one turn: answers `spear-capability list|describe ID|invoke ID '<one JSON object>'` (spec 4.4).

A provider sees a call only when it is admitted for this turn, has been shown to the model as it is declared now, has
arguments valid against its schema, and, for a WRITE, when both the provider's policy and the session's mode allow it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from spear.agent.host import Refusal
from spear.capabilities.answers import (
    Answer,
    AnswerOutcome,
    CapabilityQuestion,
    ConfirmCapability,
    Decision,
)
from spear.capabilities.arguments import ArgumentProblem, checked, decoded
from spear.capabilities.family import COMMAND, Capability, Family, section
from spear.capabilities.framing import RESULT_LIMIT, framed, plain, result_text
from spear.capabilities.mcp_provider import Failure
from spear.capabilities.providers import CapabilityProviders
from spear.capabilities.registry import Place, ProviderEntry, Task, Withheld, WritePolicy
from spear.events.names import EventName
from spear.events.stream import Event, Live, LiveKind, Sink
from spear.policy.modes import Capability as ModeCapability
from spear.policy.modes import Grants
from spear.state.redaction import Redactor

TOOL = "terminal"
_AUDITED_ARGUMENTS = 2000
_USAGE = f"use `{COMMAND} list [WORD]`, `{COMMAND} describe ID` or `{COMMAND} invoke ID '<one JSON object>'`"


@dataclass(frozen=True, slots=True)
class GatewayTurn:
    """The turn a gateway serves: its number, where it happens and for what, and what the mode grants it (spec 2.1):
    asked anew for every call, since the mode may change while the turn runs."""

    number: int
    place: Place
    grants: Callable[[], Grants]


class CapabilityGateway:
    """One turn's way to the providers of a session. Emits the `capability_*` events; starts nothing until asked.

    `redactor` takes the host's own secrets out of what a provider, which may have been given them, hands back.
    """

    def __init__(
        self,
        providers: CapabilityProviders,
        turn: GatewayTurn,
        confirm: ConfirmCapability,
        emit: Sink,
        cancelled: Callable[[], bool] = lambda: False,
        redactor: Redactor | None = None,
    ) -> None:
        self._providers = providers
        self._turn = turn
        self._confirm = confirm
        self._emit = emit
        self._cancelled = cancelled
        self._redactor = redactor or Redactor()
        admitted, withheld = providers.registry.applicable(turn.place)
        self._granted = turn.grants()
        offline = self._granted.requires(ModeCapability.NETWORK) is None
        self._entries = tuple(entry for entry in admitted if not (entry.remote and offline))
        cut_off = (
            Withheld(entry.id, "it needs the network, which this turn does not have")
            for entry in admitted
            if entry.remote and offline
        )
        self.withheld: tuple[Withheld, ...] = (*withheld, *cut_off)
        self._capabilities: dict[str, Capability] = {}
        self._unavailable: dict[str, str] = {}
        self._loaded = False

    def prepare(self) -> None:
        """Begin to start what this turn may use, without waiting."""
        self._providers.start(self._entries)

    def section(self) -> str:
        """The part of the prompt about external capabilities; empty when none applies. Starts the providers."""
        family = self._selected()
        return section(family, [f"{name} ({reason})" for name, reason in self._unavailable.items()])

    def answer(self, words: Sequence[str]) -> Answer:
        """Answer one command; `words` are those after `spear-capability`."""
        self._granted = self._turn.grants()
        match list(words):
            case ["list"] | ["list", _] as found:
                return self._list(found[1] if len(found) == 2 else "")
            case ["describe", identity]:
                return self._describe(identity)
            case ["invoke", identity, arguments]:
                return self._invoke(identity, arguments)
            case ["invoke", identity, *more]:
                what = "several words" if more else "nothing"
                return self._refused(
                    "usage", identity, f"its arguments are {what}", f"quote one JSON object, '{{}}' for none: {_USAGE}"
                )
            case _:
                return self._refused("usage", COMMAND, "the command is not understood", _USAGE)

    # --- the family -------------------------------------------------------------------------------------------------

    def _selected(self) -> Family:
        """The family as it is now; loaded and audited when first asked for in this turn."""
        first = not self._loaded
        self._load(refresh=first)
        family = Family(tuple(each for each in self._capabilities.values() if not self._withholds(each)))
        if first:
            self._loaded = True
            self._announce(family)
        return family

    def _load(self, *, refresh: bool) -> None:
        """What the providers offer now, and which of them are unavailable."""
        for name, found in self._providers.tools(self._entries, self._cancelled, refresh=refresh).items():
            entry = next(each for each in self._entries if each.id == name)
            self._capabilities = {key: each for key, each in self._capabilities.items() if each.provider.id != name}
            if isinstance(found, Failure):
                self._report(entry, found)
                continue
            self._register(entry, len(found))
            self._capabilities |= {each.id: each for each in (Capability.of(entry, tool) for tool in found)}

    def _announce(self, family: Family) -> None:
        """Audit the turn's family. What is shown whole counts as described, as it is declared at this moment."""
        if not self._entries:
            return
        data: dict[str, Any] = {
            "providers": sorted({each.provider.id for each in family.members}),
            "capabilities": len(family.members),
            "tokens": family.tokens(),
            "whole": family.shown_whole,
            "withheld": {each.provider: each.reason for each in self.withheld},
        }
        self._event(EventName.CAPABILITY_FAMILY_SELECTED, data)
        if family.shown_whole:
            self._providers.disclosure.described.update({each.id: each.digest for each in family.members})
        else:
            self._event(EventName.CAPABILITY_INDEX_EXPOSED, {"capabilities": [each.id for each in family.members]})

    def _register(self, entry: ProviderEntry, tools: int) -> None:
        if entry.id not in self._providers.disclosure.registered:
            self._providers.disclosure.registered.add(entry.id)
            data = {
                "provider": entry.id,
                "transport": entry.transport,
                "scope": entry.scope,
                "write": entry.write,
                "tools": tools,
            }
            self._event(EventName.CAPABILITY_REGISTERED, data)

    def _report(self, entry: ProviderEntry, failure: Failure) -> None:
        """Say to the turn that a provider is unavailable, and to the operator, once a session, with where to look."""
        self._unavailable[entry.id] = failure.reason
        told = self._providers.disclosure.reported
        if failure.lasting and entry.id not in told:
            told.add(entry.id)
            self._event(
                EventName.CAPABILITY_FAILED,
                {"provider": entry.id, "code": failure.code.value, "reason": failure.reason},
            )
            said = f'; it last said "{failure.said}"' if failure.said else ""
            where = f" (its output: {self._providers.get(entry).log})" if entry.command else ""
            notice = f"capability provider {entry.id} is unavailable in this session: {failure.reason}{said}{where}"
            self._emit(Live(LiveKind.NOTICE, notice))

    # --- the commands -----------------------------------------------------------------------------------------------

    def _list(self, word: str) -> Answer:
        family = self._selected()
        wanted = [each for each in family.members if word.lower() in f"{each.id} {each.description}".lower()]
        lines = [f"{name} is unavailable: {reason}" for name, reason in self._unavailable.items()]
        if wanted:
            text = Family(tuple(wanted)).text() if family.shown_whole else "\n".join(each.indexed() for each in wanted)
            lines.append(_cut(text))
            if not family.shown_whole:
                lines.append(f"Describe one before you invoke it: {COMMAND} describe ID")
        elif not lines:
            lines.append(
                f"no capability matches {word!r}" if family.members else "no external capability applies to this turn"
            )
        return Answer("\n".join(lines))

    def _describe(self, identity: str) -> Answer:
        found = self._known(identity)
        if isinstance(found, Answer):
            return found
        declaration = found.declaration()
        if len(plain(declaration)) > RESULT_LIMIT:
            return self._refused(
                "undescribable", identity, "its declaration is too long to be shown whole", "go on without it"
            )
        self._providers.disclosure.described[identity] = found.digest
        self._event(EventName.CAPABILITY_DESCRIBED, {"capability": identity, "kind": found.kind})
        return Answer(framed(found.provider.id, declaration))

    def _invoke(self, identity: str, text: str) -> Answer:
        found = self._known(identity)
        if isinstance(found, Answer):
            return found
        if self._providers.disclosure.described.get(identity) != found.digest:
            changed = identity in self._providers.disclosure.described
            why = "its declaration has changed since it was described" if changed else "it has not been described yet"
            return self._refused("not_described", identity, why, f"first run: {COMMAND} describe {identity}")
        arguments = decoded(text)
        problem = arguments if isinstance(arguments, ArgumentProblem) else checked(arguments, found.schema)
        if problem is not None:
            remedy = "go on without it" if problem.declared else f"correct them; see: {COMMAND} describe {identity}"
            return self._refused("invalid_arguments", identity, problem.reason, remedy)
        assert isinstance(arguments, dict)  # noqa: S101 — the problem above is the only other case
        return self._unconfirmed(found, arguments) or self._call(found, arguments)

    def _known(self, identity: str) -> Capability | Answer:
        """The capability by that name as it is declared now, or why it cannot be used."""
        self._selected()
        found = self._capabilities.get(identity)
        if found is not None:
            reason = self._withholds(found)
            return self._refused("not_admitted", identity, reason, "go on without it") if reason else found
        name = identity.partition("/")[0]
        if name in self._unavailable:
            reason = f"{name} is unavailable: {self._unavailable[name]}"
            return Answer(f"{reason}; go on without it", AnswerOutcome.FAILED, "unavailable")
        withheld = next((each.reason for each in self.withheld if each.provider == name), "")
        why = (
            f"its provider does not serve this turn: {withheld}"
            if withheld
            else "there is no such capability in this turn"
        )
        return self._refused("unknown_capability", identity, why, f"see: {COMMAND} list")

    def _withholds(self, capability: Capability) -> str:
        """Why this turn may not use it at all; empty when it may, confirmed or not."""
        if capability.provider.remote and self._granted.requires(ModeCapability.NETWORK) is None:
            return "it needs the network, which this turn does not have"
        if capability.reads:
            return ""
        if self._turn.place.task is Task.GENERAL:
            return "it may write, and a general turn only reads"
        if capability.provider.write_policy is WritePolicy.REFUSE:
            return "it may write, and the operator refuses the writes of this provider"
        if self._granted.requires(ModeCapability.WORKSPACE_WRITE) is None:
            return "it may write, and this turn is read-only"
        return ""

    def _unconfirmed(self, capability: Capability, arguments: Mapping[str, Any]) -> Answer | None:
        """The refusal when a confirmation is needed and not given; None when the call may happen."""
        grants = self._granted
        writes = not capability.reads and (
            capability.provider.write_policy is WritePolicy.CONFIRM
            or grants.requires(ModeCapability.WORKSPACE_WRITE) is True
        )
        network = capability.provider.remote and grants.requires(ModeCapability.NETWORK) is True
        if not writes and not network:
            return None
        shown = json.dumps(arguments, ensure_ascii=False, indent=1)
        reply = self._confirm(CapabilityQuestion(capability.id, shown, not capability.reads, network))
        match reply.decision:
            case Decision.YES:
                return None
            case Decision.NO:
                why = f"the operator said no: {reply.reason}" if reply.reason else "the operator said no"
                return self._refused("not_confirmed", capability.id, why, "do something else, or say what is missing")
            case Decision.NOBODY:
                why = "it needs a confirmation and nobody can be asked"
                return self._refused("nobody_to_ask", capability.id, why, "go on without it, and say so")
        assert_never(reply.decision)

    def _call(self, capability: Capability, arguments: dict[str, Any]) -> Answer:
        started = time.monotonic()
        result = self._providers.get(capability.provider).call(capability.tool, arguments, self._cancelled)
        outcome = result.code.value if isinstance(result, Failure) else "error" if result.get("isError") else "ok"
        self._event(
            EventName.CAPABILITY_CALLED,
            {
                "capability": capability.id,
                "kind": capability.kind,
                "arguments": json.dumps(arguments)[:_AUDITED_ARGUMENTS],
                "outcome": outcome,
                "duration_s": round(time.monotonic() - started, 3),
            },
        )
        if isinstance(result, Failure):
            return self._failed(capability, result)
        text = framed(capability.id, self._redactor.own(result_text(result)))
        return Answer(text) if outcome == "ok" else Answer(text, AnswerOutcome.FAILED, "tool_error")

    def _failed(self, capability: Capability, failure: Failure) -> Answer:
        if failure.lasting:
            self._report(capability.provider, failure)
            gone = f"{capability.provider.id} is unavailable from now on, go on without it"
            text = f"{capability.id} failed: {failure.reason}; {gone}"
        else:
            data = {
                "provider": capability.provider.id,
                "capability": capability.id,
                "code": failure.code.value,
                "reason": failure.reason,
            }
            self._event(EventName.CAPABILITY_FAILED, data)
            text = f"{capability.id} failed: {failure.reason}"
        return Answer(text, AnswerOutcome.FAILED, failure.code.value)

    def _refused(self, code: str, target: str, reason: str, remedy: str) -> Answer:
        refusal = Refusal(code, TOOL, plain(target)[:200], reason, remedy)
        return Answer(refusal.line(), AnswerOutcome.REFUSED, code, refusal)

    def _event(self, name: EventName, data: Mapping[str, Any]) -> None:
        self._emit(Event(name, data, self._turn.number))


def _cut(text: str) -> str:
    """A list that is too long ends at a whole line and says how to see the rest."""
    if len(text) <= RESULT_LIMIT:
        return text
    shown = text[:RESULT_LIMIT].rpartition("\n")[0]
    return f"{shown}\n… {text.count(chr(10)) - shown.count(chr(10))} more; narrow it with: {COMMAND} list WORD"
