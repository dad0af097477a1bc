"""`search_internet` and `fetch_url`: judged, asked about, fetched, framed as a stranger's text, recorded (spec 8.5).

    network granted? → listed hosts → the operator, each new host → fetch, every address judged
                     → text, framed; or save_as: the file tools' own road (scope, consent, checkpoint, durable write)

The coding core reaches them by the host command `spear-web`; a runtime with tools of its own, and the operator's hand,
by their names.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spear.agent.host import Access, FileChange, Outcome, Refusal, Resolved, ToolRequest, ToolResult
from spear.agent.tools import coerce
from spear.capabilities.framing import framed, one_line
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.evidence.records import CommandRecord
from spear.host.confirmation import Question, Subject
from spear.host.consent import Consent, refusal_of
from spear.host.files import Files
from spear.host.host_commands import HostAnswer
from spear.host.paths import PathGate, TurnRules
from spear.host.recorder import Recorder
from spear.policy.modes import Capability
from spear.sandbox.proxy import permitted
from spear.web.fetching import Answer, Fetch, Fetcher
from spear.web.location import Location
from spear.web.pages import Pages, pages_of
from spear.web.problem import WebProblem
from spear.web.reading import Document, read
from spear.web.search import Search, SearchResult
from spear.web.tools import COMMAND, FETCH, MOST_RESULTS, SCHEMAS, SEARCH, SHOWN_CHARACTERS, call_of

if TYPE_CHECKING:
    from spear.host.hooks import TurnHooks

_AUDITED_ARGUMENTS = 2000
_KEPT_DOCUMENTS = 4
_PIECE = 1 << 20
_LONGEST_ADDRESS = 300
_OUTCOMES = {"timeout": Outcome.TIMEOUT, "cancelled": Outcome.CANCELLED}


@dataclass(frozen=True, slots=True)
class WebAccess:
    """What a session reaches the web with. `search` is the sentence that says why it cannot search, where it cannot."""

    fetcher: Fetcher
    search: Search | str = "no search endpoint is configured"


@dataclass(frozen=True, slots=True)
class _Read:
    """A document with what it was read from, kept for the rest of the turn so that reading on fetches nothing."""

    answer: Answer
    document: Document


class WebTools:
    """The web tools of one turn."""

    def __init__(
        self,
        access: WebAccess,
        rules: TurnRules,
        gate: PathGate,
        files: Files,
        consent: Consent,
        recorder: Recorder,
        hosts: tuple[str, ...],
        emit: Sink,
        turn: int,
        cancelled: Callable[[], bool],
        hooks: TurnHooks | None = None,
    ) -> None:
        self._access = access
        self._rules = rules
        self._gate = gate
        self._files = files
        self._consent = consent
        self._recorder = recorder
        self._hosts = hosts
        self._emit = emit
        self._turn = turn
        self._cancelled = cancelled
        self._hooks = hooks
        self._documents: dict[tuple[str, str], _Read] = {}

    # --- the two ways in --------------------------------------------------------------------------------------------

    def answer(self, words: Sequence[str], request: ToolRequest) -> HostAnswer:
        """Answer the host command `spear-web`; `words` are those after it."""
        made = call_of(words)
        if isinstance(made, str):
            return HostAnswer(f"error: {made}", ok=False)
        tool, given = made
        result = self._hooked(ToolRequest(request.call_id, tool, given), request)
        draft = self._recorder.draft(request)
        if result.refusal is None:  # what was refused did not run
            script, status = str(request.arguments["command"]), 0 if result.outcome is Outcome.OK else 1
            draft.command = CommandRecord(script=script, argv0s=(COMMAND,), exit_code=status, network="web")
        changes = tuple(FileChange(change.path, change.kind) for change in draft.changes)
        return HostAnswer(result.text, result.outcome is Outcome.OK, result.refusal, changes)

    def _hooked(self, called: ToolRequest, request: ToolRequest) -> ToolResult:
        """A call the model made by a command, between the hooks of the operator's that are about its tool. Where there
        is no network they are not asked about what cannot happen."""
        if self._hooks is None or not self._rules.grants.possible(Capability.NETWORK):
            return self._call(called.tool, called.arguments, request)
        refusal = self._hooks.before(called, by_command=True)
        result = _refused(refusal) if refusal else self._call(called.tool, called.arguments, request)
        self._hooks.after(called, result, by_command=True)
        return result

    def run(self, request: ToolRequest) -> ToolResult:
        """One call by its tool's name."""
        return self._call(request.tool, request.arguments, request)

    def _call(self, tool: str, given: Mapping[str, Any], request: ToolRequest) -> ToolResult:
        """A call with its arguments made to fit, audited with what came of it."""
        arguments = coerce(next(schema for schema in SCHEMAS if schema.name == tool), given)
        if isinstance(arguments, str):
            return _failed(WebProblem("arguments", arguments, ""))
        started = time.monotonic()
        facts: dict[str, Any] = {}
        result = self._search(arguments, request) if tool == SEARCH else self._fetch(arguments, request, facts)
        data = {
            "capability": f"web/{tool}",
            "kind": "write" if arguments.get("save_as") else "read",
            "arguments": json.dumps(arguments)[:_AUDITED_ARGUMENTS],
            "outcome": result.reason or result.outcome.value,
            "duration_s": round(time.monotonic() - started, 3),
            **facts,
        }
        self._emit(Event(EventName.CAPABILITY_CALLED, data, self._turn))
        return result

    # --- searching --------------------------------------------------------------------------------------------------

    def _search(self, arguments: Mapping[str, Any], request: ToolRequest) -> ToolResult:
        query, limit = str(arguments["query"]), int(arguments["limit"])
        search = self._access.search
        if isinstance(search, str):
            remedy = "fetch addresses you know; the operator can set web.search_url, see the page on web tools"
            return _refused(Refusal("no_search", request.tool, SEARCH, search, remedy))
        if not 1 <= limit <= MOST_RESULTS:
            return _failed(WebProblem("arguments", f"limit must be 1 to {MOST_RESULTS}", "call it again"))
        refusal = self._network(request, query) or self._asked(request, query, f"search the internet for: {query}")
        if refusal is not None:
            return _refused(refusal)
        found = search.find(query, limit, self._cancelled)
        if isinstance(found, WebProblem):
            return _failed(found)
        if not found:
            return _ok(f"nothing was found for {one_line(query, 200)!r}")
        return _ok(framed("an internet search", "\n".join(_row(n, each) for n, each in enumerate(found, 1))))

    # --- fetching ---------------------------------------------------------------------------------------------------

    def _fetch(self, arguments: Mapping[str, Any], request: ToolRequest, facts: dict[str, Any]) -> ToolResult:
        url, offset, save_as = str(arguments["url"]), int(arguments["offset"]), str(arguments["save_as"])
        pages = pages_of(str(arguments["pages"]))
        if isinstance(pages, str):
            return _failed(WebProblem("arguments", pages, "call it again"))
        if offset < 0:
            return _failed(WebProblem("arguments", "offset must not be negative", "call it again"))
        if save_as and (offset or pages):
            return _failed(WebProblem("arguments", "save_as takes the whole file", "leave pages and offset out"))
        if save_as:
            return self._save(url, save_as, request, facts)
        kept = self._documents.get((url, str(arguments["pages"]))) if offset else None
        found = kept or self._read(url, pages, request, facts)
        if isinstance(found, ToolResult):
            return found
        self._keep((url, str(arguments["pages"])), found)
        return _ok(_shown(found, offset))

    def _read(self, url: str, pages: Pages | None, request: ToolRequest, facts: dict[str, Any]) -> _Read | ToolResult:
        answer = self._answer(url, request, facts, whole=False)
        if isinstance(answer, ToolResult):
            return answer
        document = read(answer, pages, self._cancelled)
        if isinstance(document, WebProblem):
            return _failed(document, answer.location.url)
        return _Read(answer, document)

    def _save(self, url: str, path: str, request: ToolRequest, facts: dict[str, Any]) -> ToolResult:
        """The bytes into the workspace, on the road of the file tools; the path is judged before a byte is fetched."""
        target = self._gate.resolve(path, Access.WRITE, request.tool)
        if isinstance(target, Refusal):
            return _refused(target)
        if target.is_dir:
            return _failed(WebProblem("directory", f"{target.shown} is a directory", "name a file in it"))
        answer = self._answer(url, request, facts, whole=True)
        if isinstance(answer, ToolResult):
            return answer
        written = self._files.write(target, answer.body, self._present(target), request, self._recorder.draft(request))
        if isinstance(written, Refusal):
            return _refused(written)
        what = f"{written.bytes} bytes of {answer.media or 'no declared type'} from {_short(answer.location.url)}"
        if not written.changed:
            return _ok(f"{target.shown} already holds exactly these {what}; nothing changed.")
        verb = "created" if written.created else "replaced"
        return _ok(f"{verb} {target.shown}: {what}, sha256 {written.sha256}", changed=True)

    def _present(self, target: Resolved) -> str | None:
        """The digest of what is there now, None where nothing is."""
        if not target.exists:
            return None
        digest = hashlib.sha256()
        with self._gate.open_read(target) as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest()

    def _answer(self, url: str, request: ToolRequest, facts: dict[str, Any], *, whole: bool) -> Answer | ToolResult:
        """What the address answers; what was decided about each step on the way goes before what the network says."""
        no_network = self._network(request, url)
        if no_network is not None:
            return _refused(no_network)
        decided: list[Refusal] = []
        agreed: set[str] = set()

        def judge(step: Location) -> WebProblem | None:
            refusal = self._unlisted(step, request)
            if refusal is None and step.host not in agreed:
                refusal = self._asked(request, step.host, f"{FETCH} {step.url}")
                agreed.add(step.host)
            if refusal is None:
                return None
            decided.append(refusal)
            return WebProblem(refusal.code, refusal.reason, refusal.remedy, refused=True)

        fetched = self._access.fetcher.get(Fetch(url, judge, self._cancelled, whole=whole))
        if decided:
            return _refused(decided[0])
        if isinstance(fetched, WebProblem):
            if fetched.refused:
                refusal = Refusal(fetched.code, request.tool, _short(url), fetched.reason, fetched.remedy)
                return _refused(refusal)
            return _failed(fetched, url)
        facts |= {
            "url": fetched.location.url, "address": fetched.address, "media": fetched.media,
            "bytes": len(fetched.body), "sha256": hashlib.sha256(fetched.body).hexdigest(),
        }  # fmt: skip
        return fetched

    # --- decisions --------------------------------------------------------------------------------------------------

    def _network(self, request: ToolRequest, target: str) -> Refusal | None:
        """The refusal of any web tool in a turn without the network."""
        if self._rules.grants.possible(Capability.NETWORK):
            return None
        why, remedy = "this mode has no network", "go on without it; the operator can allow it with --ask or --auto"
        return Refusal("no_network", request.tool, _short(target), why, remedy)

    def _unlisted(self, step: Location, request: ToolRequest) -> Refusal | None:
        """The refusal of a host that `network.allow` does not list, where it lists any."""
        if not self._hosts or permitted(step.host, step.port, self._hosts):
            return None
        why = f"{step.authority} is not among the hosts this session may reach"
        return Refusal("host_not_listed", request.tool, _short(step.url), why, "use a listed host, or go on without it")

    def _asked(self, request: ToolRequest, target: str, text: str) -> Refusal | None:
        """Put the question where the mode asks; None when the call may happen."""
        if not self._consent.needed(Capability.NETWORK):
            return None
        reply = self._consent.put(Question(Subject.WEB, request.tool, _short(target), text, network=True))
        return refusal_of(reply, request.tool, _short(target))

    def _keep(self, key: tuple[str, str], found: _Read) -> None:
        self._documents.pop(key, None)
        self._documents[key] = found
        while len(self._documents) > _KEPT_DOCUMENTS:
            self._documents.pop(next(iter(self._documents)))


def _shown(found: _Read, offset: int) -> str:
    """A window of a document, framed, and where it stands. It ends with a line where one ends near enough."""
    document, answer = found.document, found.answer
    text = document.text
    where = _short(answer.location.url)
    if offset >= len(text):
        what = "no text at all" if not text else f"only {len(text)} characters"
        return f"{where} has {what}; nothing is at offset {offset}" if text else f"{where} has {what}"
    window = text[offset : offset + SHOWN_CHARACTERS]
    if offset + len(window) < len(text) and (at := window.rfind("\n", len(window) // 2)) > 0:
        window = window[: at + 1]
    end = offset + len(window)
    title = f"{one_line(document.title, 200)}\n\n" if document.title and not offset else ""
    facts = [f"characters {offset}-{end} of {len(text)}"]
    if end < len(text):
        facts.append(f"read on with offset {end}")
    if document.pages:
        facts.append(f"pages {document.first}-{document.last} of {document.pages}")
        if document.last < document.pages:
            facts.append(f"more with pages {document.last + 1}-")
    if answer.cut:
        facts.append(f"only the first {len(answer.body)} bytes were taken")
    return f"{framed(where, title + window, SHOWN_CHARACTERS + 300)}\n[{where}: {'; '.join(facts)}]"


def _row(number: int, found: SearchResult) -> str:
    lines = [f"{number}. {one_line(found.title, 200) or '(no title)'}", f"   {one_line(found.url, 500)}"]
    return "\n".join(lines + ([f"   {one_line(found.text, 500)}"] if found.text else []))


def _short(text: str) -> str:
    return one_line(text, _LONGEST_ADDRESS)


def _ok(text: str, *, changed: bool = False) -> ToolResult:
    return ToolResult(text, Outcome.OK, changed=changed)


def _refused(refusal: Refusal) -> ToolResult:
    return ToolResult(refusal.line(), Outcome.REFUSED, refusal, reason=refusal.code)


def _failed(problem: WebProblem, url: str = "") -> ToolResult:
    what = f"{_short(url)}: {problem.reason}" if url else problem.reason
    text = f"error: {one_line(what, 600)}" + (f"; {problem.remedy}" if problem.remedy else "")
    return ToolResult(text, _OUTCOMES.get(problem.code, Outcome.FAILED), reason=problem.code)
