"""`spear-chat knowledge …`: what is known about this workspace (spec 4.3)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from spear.cli.display.filtering import clean
from spear.cli.settings import load, user_config
from spear.cli.workspace import belongs_to
from spear.context.identity import WorkspaceIdentity
from spear.context.knowledge_commands import KnowledgeCommands, Role
from spear.context.workspace_knowledge import knowledge_of
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.workspace.projects import load_registry


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Answer one knowledge command; 0 when it did what was asked. Raises StateError, ConfigurationError."""
    settings = load(parsed, environ, cwd).settings
    registry = load_registry(settings.projects_file, settings.corpus_root)
    project = belongs_to(registry, settings, cwd)
    directory = cwd if project is None or cwd.resolve().is_relative_to(project.root) else project.root
    workspace = WorkspaceIdentity.of(directory, project)
    state = StateDirectory(settings.state_dir)
    commands = KnowledgeCommands(
        knowledge_of(settings.knowledge_db, workspace, settings.operator, Redactor.of_environment(environ)),
        Role.OPERATOR,
        legacy=(state.root, user_config(parsed, environ, cwd).parent),
    )
    words = list(parsed.words)
    if words == ["purge"] and sys.stdin.isatty() and sys.stdout.isatty():
        words.append(input(f"{commands.answer(words).text}\nname: ").strip())
    answer = commands.answer(words)
    stream = sys.stderr if answer.status else sys.stdout
    print(clean(answer.text) if stream.isatty() else answer.text, file=stream)
    return answer.status
