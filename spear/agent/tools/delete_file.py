"""The delete_file tool: one file, or one link (never what it points at)."""

from __future__ import annotations

from spear.agent.host import Access, Host, Refusal, ToolRequest, ToolResult
from spear.agent.tools import results
from spear.agent.tools.reads import Reads


def delete_file(host: Host, reads: Reads, request: ToolRequest) -> ToolResult:
    """Remove it; already absent is a success that says so (spec coding-core, delete_file)."""
    reason = str(request.arguments["reason"])
    target = host.resolve(str(request.arguments["path"]), Access.DELETE, request.tool)
    if isinstance(target, Refusal):
        return results.refused(target)
    if target.is_dir and not target.real.is_symlink():
        return results.failed(
            f"{target.shown} is a directory; delete_file removes one file or link. Remove directories in the terminal"
        )
    try:
        deleted = host.delete(target, reason, request)
    except OSError as error:
        return results.system_error(target.shown, error, "nothing was deleted; check the permissions")
    if isinstance(deleted, Refusal):
        return results.refused(deleted)
    reads.forget(target.real)
    if not deleted.existed:
        return results.ok(f"{target.shown} was already absent; nothing changed.")
    kind = "link (not what it points at)" if deleted.was_link else "file"
    return results.ok(f"deleted the {kind} {target.shown}", changed=True)
