"""A request that names another registered corpus: the operator is told how to go there, no more (spec 4.1)."""

from __future__ import annotations

import re
import shlex

from spear.context.documents import names_in
from spear.context.identity import WorkspaceIdentity
from spear.workspace.projects import Registry

_BEHIND = r"(?:corpus|corpora|project|checkout|tree|repo|repository|projet|dépôt)"


def named_elsewhere(request: str, workspace: WorkspaceIdentity, registry: Registry) -> tuple[str, ...]:
    """One sentence for each other corpus the request names, by its whole name. A name that is also a file or directory
    of this workspace means that one, unless "corpus" or "project" stands beside it.
    """
    here = {name.lower() for name in names_in(workspace.directory)}
    found: list[str] = []
    for project in registry.projects.values():
        if project.name == workspace.name or workspace.directory.is_relative_to(project.root):
            continue
        name = re.escape(project.name)
        called = re.search(
            rf"\b{_BEHIND}\s+[`'\"]?{name}(?![\w-])|(?<![\w-]){name}[`'\"]?\s+{_BEHIND}\b", request, re.I
        )
        plain = re.search(rf"(?<![\w./-]){name}(?![\w/-]|\.\w)", request, re.I)
        if called or (plain and project.name.lower() not in here):
            found.append(
                f"{project.name} is another corpus ({project.root}); this turn works on {workspace.name}. "
                f"To work there: cd {shlex.quote(str(project.root))} && spear-chat"
            )
    return tuple(found)
