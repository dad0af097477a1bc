"""The calls of one message as steps: one call at a time, or consecutive reads side by side (spec: coding core,
loop 2). A read after an edit waits for the edit; results come in call order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait

from spear.agent.calls import Call
from spear.agent.host import Outcome, ToolRequest, ToolResult

MAX_THREADS = 8
CANCELLED = ToolResult("not run: the turn was interrupted", Outcome.CANCELLED, reason="cancelled")
_POLL_SECONDS = 0.05


def steps(calls: Sequence[Call], read_only: Collection[str]) -> Iterator[list[Call]]:
    """Consecutive runnable read-only calls together, every other call alone, in order."""
    reads: list[Call] = []
    for call in calls:
        if call.problem is None and call.request.tool in read_only:
            reads.append(call)
            continue
        if reads:
            yield reads
            reads = []
        yield [call]
    if reads:
        yield reads


def run_all(
    requests: Sequence[ToolRequest], run: Callable[[ToolRequest], ToolResult], cancelled: Callable[[], bool]
) -> list[ToolResult]:
    """Results in the order of the requests. Several run in up to eight threads; once `cancelled`, those that have not
    started yet do not. An exception of one is raised when all that had started have ended."""
    if len(requests) < 2:
        return [run(request) for request in requests]
    with ThreadPoolExecutor(min(MAX_THREADS, len(requests))) as pool:
        futures = [pool.submit(run, request) for request in requests]
        pending: set[Future[ToolResult]] = set(futures)
        while pending:
            done, pending = wait(pending, _POLL_SECONDS, FIRST_EXCEPTION)
            if cancelled() or any(not f.cancelled() and f.exception() for f in done):
                for future in pending:
                    future.cancel()
    return [_result(future) for future in futures]


def _result(future: Future[ToolResult]) -> ToolResult:
    try:
        return future.result()
    except CancelledError:
        return CANCELLED
