"""The six tools of the coding core: their schemas, and the walk of one call through the host."""

from __future__ import annotations

from collections.abc import Callable

from spear.agent.host import Host, ToolRequest, ToolResult
from spear.agent.room import Room
from spear.agent.tools import results
from spear.agent.tools.arguments import coerce
from spear.agent.tools.delete_file import delete_file
from spear.agent.tools.patch import patch
from spear.agent.tools.read_file import read_file
from spear.agent.tools.reads import Reads
from spear.agent.tools.schemas import READ_ONLY, SCHEMAS
from spear.agent.tools.search_files import Searcher
from spear.agent.tools.terminal import terminal
from spear.agent.tools.write_file import write_file

__all__ = ["READ_ONLY", "SCHEMAS", "Toolbox", "coerce"]


class Toolbox:
    """The tools of one conversation: it remembers what was read, and nothing else. `room` bounds their results.

    `visible(call_id)` says whether that earlier call's full result is still in the conversation. Read-only calls may
    come from several threads at once; the others come one at a time.
    """

    def __init__(self, host: Host, visible: Callable[[str], bool], room: Room = Room()) -> None:  # noqa: B008 - a value
        self._host = host
        self._room = room
        self._reads = Reads(visible)
        self._searcher = Searcher(host, budget=room.found)
        self._directory = ""

    def run(self, request: ToolRequest) -> ToolResult:
        """Authorize, then `perform`. Arguments are coerced already; `after_tool` is the caller's."""
        refusal = self._host.authorize(request)
        return results.refused(refusal) if refusal is not None else self.perform(request)

    def perform(self, request: ToolRequest) -> ToolResult:
        """Resolve and do an authorized call. Raises KeyError for a tool that is not one of the six."""
        match request.tool:
            case "read_file":
                return read_file(self._host, self._reads, request, self._room.page)
            case "search_files":
                return self._searcher.search(request)
            case "patch":
                return patch(self._host, self._reads, request)
            case "write_file":
                return write_file(self._host, self._reads, request)
            case "delete_file":
                return delete_file(self._host, self._reads, request)
            case "terminal":
                result, self._directory = terminal(self._host, self._directory, request, self._room.output)
                return result
            case _:
                raise KeyError(request.tool)
