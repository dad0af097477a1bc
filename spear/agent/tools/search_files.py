"""The search_files tool: pages of matches or files with real totals, and a hint where there is nothing."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from spear.agent.host import Access, Host, Outcome, Refusal, Resolved, ToolRequest, ToolResult
from spear.agent.tools import results
from spear.agent.tools.globs import has_magic, selector
from spear.agent.tools.near_names import joined, near_names
from spear.agent.tools.search_ahead import SILENCE, Ahead
from spear.agent.tools.search_builtin import BuiltIn
from spear.agent.tools.search_engine import BadPattern, Deadline, Engine, Query, Row, SearchFailed, Spot
from spear.agent.tools.search_pages import BUDGET, Page, Pager
from spear.agent.tools.search_ripgrep import Ripgrep

TIMEOUT = 60.0
_PROBE = 10.0
_MOST_ROWS = 500_000
_HINT_PATHS = 5


@dataclass(frozen=True, slots=True)
class _Place:
    """What is searched: the engine's spot, the workspace spelling of its directory, and whether it is hidden itself."""

    spot: Spot
    shown: str


_Counts = list[tuple[str, int]]


class Searcher:
    """Searches of one conversation; `program` is ripgrep's path, None to search without it. After `silence` seconds
    without a match ripgrep begins to look for why there is none; the built-in engine looks for that afterwards. A page
    ends at `budget` characters, BUDGET at most."""

    def __init__(
        self,
        host: Host,
        program: str | None = "",
        timeout: float = TIMEOUT,
        silence: float = SILENCE,
        budget: int = BUDGET,
    ) -> None:
        self._budget = min(budget, BUDGET)
        found = shutil.which("rg") if program == "" else program
        self._host = host
        self._timeout = timeout
        self._silence = silence if found else threading.TIMEOUT_MAX
        self._engine: Engine = Ripgrep(found) if found else BuiltIn()
        self._said = bool(found)

    def search(self, request: ToolRequest) -> ToolResult:
        """One page (spec coding-core, search_files)."""
        arguments = request.arguments
        path = str(arguments.get("path") or ".")
        pattern = str(arguments["pattern"])
        if not pattern:
            return results.failed("pattern is empty; give a regular expression, or a glob with target=files")
        target = self._host.resolve(path, Access.SEARCH, request.tool)
        if isinstance(target, Refusal):
            return results.refused(target)
        if not target.exists:
            near = near_names(self._host, path)
            hint = f"did you mean: {', '.join(near)}" if near else 'search from "."'
            return results.failed(f"{target.shown}: no such directory or file; {hint}")
        place = _place(target)
        deadline = Deadline(self._timeout)
        page = Page(max(int(arguments.get("offset", 0)), 0), max(int(arguments.get("limit", 50)), 1))
        try:
            if arguments.get("target") == "files":
                result = self._files(place, pattern, page, deadline)
            else:
                query = Query(pattern, context=min(max(int(arguments.get("context", 0)), 0), 50))
                mode = str(arguments.get("output_mode", "content"))
                result = self._content(place, query, str(arguments.get("file_glob") or ""), mode, page, deadline)
        except re.error:
            return results.failed("the glob is not valid; write it like *.c or src/**/*.py")
        except SearchFailed as problem:
            return results.failed(f"the search could not be made: {problem}; simplify pattern or file_glob")
        except OSError as error:
            return results.system_error(target.shown, error, "search somewhere else")
        if self._said:
            return result
        self._said = True
        note = "[ripgrep (rg) is not installed: searched with the slower built-in engine; the results are the same]"
        return replace(result, text=f"{result.text}\n{note}")

    def _files(self, place: _Place, pattern: str, page: Page, deadline: Deadline) -> ToolResult:
        wanted = self._filter(place, pattern, bare_word=True)
        paths = self._engine.files(place.spot, False, deadline, _name_glob(pattern))
        base = os.fspath(place.spot.directory)
        # While ripgrep is still looking: what comes after it has ended is waited for.
        found = [(_modified(f"{base}/{path}"), shown) for path in paths if (shown := wanted.judged(path))]
        if not found:
            return results.ok(self._no_files(place, pattern))
        found.sort()
        pager = Pager(page, "file", budget=self._budget)
        for _, shown in found:
            pager.line(shown)
        return _finished(pager, deadline)

    def _content(self, place: _Place, query: Query, glob: str, mode: str, page: Page, deadline: Deadline) -> ToolResult:
        query = replace(query, name_glob=_name_glob(glob))
        try:
            return self._explained(place, query, glob, mode, page, deadline)
        except BadPattern as problem:
            note = f"[not a regular expression ({problem}): searched as literal text]"
            return self._explained(place, replace(query, literal=True), glob, mode, page, deadline, note)

    def _explained(
        self, place: _Place, query: Query, glob: str, mode: str, page: Page, deadline: Deadline, *notes: str
    ) -> ToolResult:
        """The page, or why there is nothing on it."""
        if query.multiline:
            notes = (*notes, "[the pattern has a line break: matched across lines]")
        with self._anywhere(place, query) as anywhere:
            pager = self._paged(place, query, glob, mode, page, deadline, anywhere)
            if pager.total == 0 and not deadline.reached:
                hints = self._hints(place, query, glob, anywhere)
                return results.ok("\n".join([f"no matches for {query.pattern}", *notes, *hints]))
        result = _finished(pager, deadline)
        return replace(result, text="\n".join([result.text, *notes]))

    def _anywhere(self, place: _Place, query: Query) -> Ahead[_Counts]:
        """What matches in any case and in any file: nothing there, nothing to explain."""
        anywhere = replace(query, ignore_case=True, everything=True)

        def search(deadline: Deadline, beside: bool) -> _Counts:
            return list(self._engine.counts(place.spot, anywhere, deadline, ordered=False, beside=beside))

        return Ahead(search, _PROBE, self._silence)

    def _paged(
        self, place: _Place, query: Query, glob: str, mode: str, page: Page, deadline: Deadline, ahead: Ahead[_Counts]
    ) -> Pager:
        wanted = self._filter(place, glob, query.everything)
        if mode == "content":
            pager = Pager(page, "matching line", query.context, self._budget)
            for row in _bounded(ahead.watching(self._engine.rows(place.spot, query, deadline)), pager):
                shown = wanted(row.path)
                if shown and row.is_match and pager.full and not query.multiline:
                    counts = self._engine.counts(place.spot, query, deadline, of_lines=True, ordered=False)
                    pager.settle((seen, count) for path, count in counts if (seen := wanted(path)))
                    return pager
                if shown:
                    pager.row(shown, row)
            return pager
        pager = Pager(page, "file", budget=self._budget)
        for path, count in ahead.watching(self._engine.counts(place.spot, query, deadline)):
            shown = wanted(path)
            if shown:
                pager.line(shown if mode == "files_only" else f"{shown}: {count}", count)
        return pager

    def _filter(self, place: _Place, glob: str, everything: bool = False, *, bare_word: bool = False) -> _Filter:
        return _Filter(self._host, place, glob, everything, bare_word)

    def _hints(self, place: _Place, query: Query, glob: str, anywhere: Ahead[_Counts]) -> Iterator[str]:
        """One hint, the first that finds something: other case, hidden or ignored files, literal text."""
        probes: list[tuple[str, Query]] = []
        shown = self._filter(place, glob, everything=True)
        if any(shown(path) for path, _ in anywhere.result()):
            probes.append(("ignoring case", replace(query, ignore_case=True)))
            probes.append(("in hidden or ignored files", replace(query, everything=True)))
        if not query.literal and re.escape(query.pattern) != query.pattern:
            probes.append(("as literal text (escape the pattern)", replace(query, literal=True)))
        for what, probe in probes:
            counts = self._counted(place, probe, glob)
            if counts:
                paths = ", ".join(list(counts)[:_HINT_PATHS])
                more = f" and {len(counts) - _HINT_PATHS} more files" if len(counts) > _HINT_PATHS else ""
                yield f"[hint: {sum(counts.values())} {what}: {paths}{more}]"
                return

    def _counted(self, place: _Place, query: Query, glob: str) -> dict[str, int]:
        wanted = self._filter(place, glob, query.everything)
        counts = self._engine.counts(place.spot, query, Deadline(_PROBE), ordered=False)
        return dict(sorted((shown, count) for path, count in counts if (shown := wanted(path))))

    def _no_files(self, place: _Place, pattern: str) -> str:
        lowered = pattern.lower()
        for what, everything, same_case in (("ignoring case", False, False), ("hidden or ignored", True, True)):
            wanted = self._filter(place, pattern if same_case else "", everything, bare_word=True)
            folded = selector(lowered, bare_word=True)
            found = [
                shown
                for path in self._engine.files(place.spot, everything, Deadline(_PROBE))
                if (same_case or folded.match(joined(place.shown, path).lower())) and (shown := wanted.judged(path))
            ]
            if found:
                return f"no files match {pattern}\n[hint: {what}: {', '.join(sorted(found)[:_HINT_PATHS])}]"
        return f"no files match {pattern}"


class _Filter:
    """Turns an engine's path into the workspace spelling, or "" for one that must not be shown."""

    def __init__(self, host: Host, place: _Place, glob: str, everything: bool, bare_word: bool) -> None:
        self._host, self._place, self._everything = host, place, everything
        self._negated = glob.startswith("!")
        glob = glob.removeprefix("!")
        self._glob = selector(glob, bare_word=bare_word) if glob else None
        self._seen: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        shown = self._seen.get(path)
        if shown is None:
            shown = self._seen[path] = self.judged(path)
        return shown

    def judged(self, path: str) -> str:
        """The same of a path that is met once."""
        shown = joined(self._place.shown, path)
        if not self._everything and not self._place.spot.file and (path.startswith(".") or "/." in path):
            return ""
        if self._glob is not None and bool(self._glob.match(shown)) == self._negated:
            return ""
        return shown if self._host.readable(shown) else ""


def _place(target: Resolved) -> _Place:
    if target.is_dir:
        return _Place(Spot(target.real), target.shown)
    parent = target.shown.rpartition("/")[0] if "/" in target.shown else "."
    return _Place(Spot(target.real.parent, target.real.name), parent)


def _modified(path: str) -> int:
    """What sorts the newest first; 0 for a file that is gone."""
    try:
        return -os.stat(path, follow_symlinks=False).st_mtime_ns  # noqa: PTH116 (thousands)
    except OSError:
        return 0


def _name_glob(glob: str) -> str:
    """What the name must match for the path to match `glob`, "" where that says nothing."""
    if not glob or glob.startswith("!") or glob.endswith("/") or ("{" in glob and "/" in glob):
        return ""
    name = glob.rpartition("/")[2]
    return "" if name in ("", "**") or not has_magic(glob) else name


def _bounded(rows: Iterable[Row], pager: Pager) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            pager.at_least = True
            return
        yield row


def _finished(pager: Pager, deadline: Deadline) -> ToolResult:
    if deadline.reached:
        pager.at_least = True
        text = pager.text() + "\n[the search ran out of time: these are the results so far; narrow path or file_glob]"
        return ToolResult(text, Outcome.TIMEOUT, reason="search timed out")
    return results.ok(pager.text())
