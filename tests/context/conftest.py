"""A workspace on disk, the operator's directories beside it, and the parts of context built on them."""

from pathlib import Path

import pytest

from spear.context.identity import WorkspaceIdentity
from spear.context.passes import Pass, TurnShape
from spear.context.rules import RuleBook, RulePlaces
from spear.context.workspace_knowledge import knowledge_of
from spear.events.names import RequestClass
from spear.state.redaction import Redactor
from spear.workspace.projects import Declaration, Project


class Tree:
    """A tree with the directories an operator keeps configuration and state in."""

    def __init__(self, tmp: Path) -> None:
        self.root = tmp / "ws"
        self.config = tmp / "config"
        self.state = tmp / "state"
        for directory in (self.root, self.config, self.state):
            directory.mkdir()

    def write(self, path: str, text: str) -> Path:
        """A file of the tree, or of `config/…`, `state/…`."""
        top, _, rest = path.partition("/")
        file = self.root / path
        if rest and top in ("config", "state"):
            file = (self.config if top == "config" else self.state) / rest
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def workspace(self, name: str | None = None, inner: str = "") -> WorkspaceIdentity:
        """The tree as a workspace; registered when it has a name."""
        project = Project(name, self.root.resolve(), Declaration()) if name else None
        return WorkspaceIdentity.of(self.root / inner, project)

    def book(self, name: str | None = None, inner: str = "", prompt_file: str | None = None) -> RuleBook:
        """The rules of the workspace."""
        places = RulePlaces(self.config, self.state, self.state / "rules-learned.md")
        return RuleBook(self.workspace(name, inner), places, prompt_file)

    def knowledge(self, name: str | None = None, environ: dict[str, str] | None = None, busy_s: float = 10.0):
        """The knowledge of the workspace."""
        redactor = Redactor.of_environment(environ or {})
        return knowledge_of(self.state / "knowledge.sqlite3", self.workspace(name), "alice", redactor, busy_s)


def turn(
    request="Fix ring_next() in src/ring.c",
    request_class=RequestClass.IMPLEMENTATION,
    stage=Pass.CODING_CORE,
    targets=("src/ring.c",),
    **rest,
):
    """A turn of the coding core about one file."""
    return TurnShape(request, request_class, stage, targets=targets, **rest)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.fixture
def shape():
    return turn
