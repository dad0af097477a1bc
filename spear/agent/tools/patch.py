"""The patch tool: quoted text replaced in place, every other byte left as it was."""

from __future__ import annotations

from typing import assert_never

from spear.agent.host import Access, Host, Refusal, Resolved, ToolRequest, ToolResult
from spear.agent.matching import NoEdit, Reason, Strategy, plan
from spear.agent.text_endings import LfView, to_lf
from spear.agent.tools import edits, results
from spear.agent.tools.contents import unwritable
from spear.agent.tools.hidden_text import unhidden
from spear.agent.tools.near_names import near_names
from spear.agent.tools.reads import Reads, digest


def patch(host: Host, reads: Reads, request: ToolRequest) -> ToolResult:
    """Match, splice, write, show the diff (spec coding-core, patch)."""
    path = str(request.arguments["path"])
    target = host.resolve(path, Access.WRITE, request.tool)
    if isinstance(target, Refusal):
        return results.refused(target)
    if not target.exists:
        near = near_names(host, path)
        hint = f"did you mean: {', '.join(near)}" if near else "create it with write_file"
        return results.failed(f"{target.shown}: no such file; {hint}")
    present = edits.load(host, target)
    if isinstance(present, ToolResult):
        return present
    return _edited(host, reads, request, target, present)


def _edited(host: Host, reads: Reads, request: ToolRequest, target: Resolved, present: edits.Present) -> ToolResult:
    arguments = request.arguments
    old, new = str(arguments["old_string"]), str(arguments["new_string"])
    decoded = present.decoded
    if decoded is None:
        return results.failed(f"{target.shown} is a binary file; patch edits text only")
    view = LfView(decoded.text)
    old, new = unhidden(view.lf, to_lf(old), to_lf(new))
    found = plan(view.lf, old, new, replace_all=bool(arguments.get("replace_all", False)))
    if isinstance(found, NoEdit):
        return _no_edit(target.shown, found)
    problem = unwritable("\n".join(splice.text for splice in found.splices), view.lf)
    if problem:
        return results.failed(f"{target.shown}: {problem}. Nothing changed.")
    after = view.apply(found.splices)
    try:
        content = decoded.encode(after)
    except UnicodeEncodeError as error:
        return results.failed(
            f"{target.shown} is {decoded.encoding.value}, which has no {error.object[error.start]!a}; use only "
            "characters the file's encoding has. Nothing changed."
        )
    before_sha = digest(present.raw)
    written = edits.commit(host, reads, target, content, before_sha, request)
    if isinstance(written, ToolResult):
        return written
    if reads.known(target.real) == before_sha:
        reads.complete(target.real, written.sha256)
    if not written.changed:
        return results.ok(f"{target.shown}: the edit leaves the file as it is; nothing changed.")
    lines = [edits.diff(target.shown, view.lf, to_lf(after)), *edits.report(target.shown, view.lf, to_lf(after))]
    if found.strategy is not Strategy.EXACT:
        lines.append(f"[matched by {found.strategy.value}: check the diff]")
    if len(found.splices) > 1:
        lines.append(f"[{len(found.splices)} replacements]")
    edited = edits.edited(target.shown, view.lf, to_lf(after))
    return results.ok("\n".join([*lines, *edits.durability(written)]), edited=edited)


def _no_edit(shown: str, found: NoEdit) -> ToolResult:
    match found.reason:
        case Reason.ALREADY_APPLIED:
            return results.ok(f"{shown}: {found.message}")
        case Reason.EMPTY | Reason.IDENTICAL | Reason.AMBIGUOUS | Reason.NOT_FOUND | Reason.ESCAPED:
            return results.failed(f"{shown}: {found.message}")
        case _:
            assert_never(found.reason)
