"""A session of real providers for the tests: the fixture server over stdio, its log, and the gateways of turns."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from spear.capabilities.answers import CapabilityReply, Decision
from spear.capabilities.capability_gateway import CapabilityGateway, GatewayTurn
from spear.capabilities.providers import CapabilityProviders
from spear.capabilities.registry import Place, ProviderEntry, Registry, Task
from spear.events.names import Mode
from spear.events.stream import Event
from spear.policy.modes import grants
from spear.state.redaction import Redactor

SERVER = Path(__file__).with_name("fixture_server.py")
RAW = Path(__file__).with_name("raw_server.py")


def until(condition, seconds=20.0):
    """Poll with a bound."""
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def provider_entry(extra=1, **keys):
    """The fixture server as a registered provider."""
    read = ("get_issue", *(f"query_{n:02d}" for n in range(extra)))
    command = (sys.executable, str(SERVER), "--tools", str(extra))
    tasks = ("general", "implementation", "mixed")
    values = {
        "id": "tracker",
        "command": command,
        "env": ("FIXTURE_LOG",),
        "scope": "global",
        "tasks": tasks,
        "read": read,
    }
    return ProviderEntry(**{**values, "timeout": 20, **keys})


@dataclass
class Setting:
    """A session of providers, the events of its gateways, and what the operator answers."""

    place: Path
    entries: list[ProviderEntry]
    reply: Decision = Decision.YES
    items: list = field(default_factory=list)
    questions: list = field(default_factory=list)

    def __post_init__(self):
        self.log = self.place / "fixture.log"
        environ = {
            **os.environ,
            "FIXTURE_LOG": str(self.log),
            "SHOULD_NOT_LEAK": "leaked-value",
            "TRACKER_TOKEN": "tok-5e21f0",
        }
        self.redactor = Redactor.of_environment(environ)
        self.providers = CapabilityProviders(Registry(tuple(self.entries)), environ, self.place / "logs")

    def gateway(
        self,
        number=1,
        *,
        mode=Mode.AUTO,
        task=Task.IMPLEMENTATION,
        read_only=False,
        no_network=False,
        cancelled=lambda: False,
    ):
        """A gateway; `mode` may be a function that tells the present one."""
        present = mode if callable(mode) else lambda: mode

        def granted():
            return grants(present(), read_only=read_only, no_network=no_network)

        turn = GatewayTurn(number, Place(self.place, None, task), granted)
        return CapabilityGateway(self.providers, turn, self._confirm, self.items.append, cancelled, self.redactor)

    def _confirm(self, question):
        self.questions.append(question)
        return CapabilityReply(self.reply, "not today")

    def fresh(self):
        """Forget what happened so far."""
        self.items.clear()
        self.questions.clear()
        self.reply = Decision.YES
        self.log.unlink(missing_ok=True)

    def events(self):
        return [item.name.value for item in self.items if isinstance(item, Event)]

    def notices(self):
        return [item.text for item in self.items if not isinstance(item, Event)]

    def heard(self):
        """What the server was started with and called for."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def calls(self):
        return [words[1:] for words in self.heard() if words[0] == "call"]
