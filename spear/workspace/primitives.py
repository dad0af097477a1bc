"""The three primitives under the tools, with a contract of their own: read, replace, exec (spec 3.7).

Arguments in, a JSON object out. What a model can do something about (a bad argument, a missing file, a stale digest, a
full disk) is a result; a cancellation or a failure of the host is one `ExecutionError` that says whether the state is
known and whether the call may be repeated. Constructed without touching the disk or starting a process.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from spear.workspace.beneath import Beneath
from spear.workspace.durable import DurableWriter, WriteCode, WriteProblem
from spear.workspace.execution import Captured, execute
from spear.workspace.roots import Location, PathProblem, Roots
from spear.workspace.tree_state import open_regular

PAGE_LIMIT = 64 * 1024
"""Bytes one read returns at most."""
CONTENT_LIMIT = 16 << 20
"""Bytes one replace takes at most."""
TIMEOUT_LIMIT_S = 600
"""Seconds one exec may take at most."""

_MESSAGE_LIMIT = 300
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ALLOWED_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM")


class Certainty(StrEnum):
    """Whether the state after a failed call is known."""

    DEFINITIVE = "definitive"
    UNCERTAIN = "uncertain"


class ExecutionError(Exception):
    """A call that gave no result. `definitive` means that nothing happened; the cause is chained."""

    def __init__(self, call_id: str, message: str, certainty: Certainty, *, retry_allowed: bool) -> None:
        bounded = " ".join(message.split())[:_MESSAGE_LIMIT]
        retry = "may be retried" if retry_allowed else "must not be retried"
        super().__init__(f"call {call_id}: {bounded} (state {certainty.value}; {retry})")
        self.call_id = call_id
        self.message = bounded
        self.certainty = certainty
        self.retry_allowed = retry_allowed


@dataclass(frozen=True, slots=True)
class PrimitiveDefinition:
    """A primitive as offered. `effect` is read_only or mutating, `replay` safe, idempotent or unsafe."""

    name: str
    schema: Mapping[str, Any]
    effect: str
    replay: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 of schema, effect and replay: a changed contract is noticed by a resumed session."""
        contract = {"name": self.name, "schema": self.schema, "effect": self.effect, "replay": self.replay}
        canonical = json.dumps(contract, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def _object(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_PATH = {"type": "string", "description": "path relative to the root"}
READ = PrimitiveDefinition(
    "read",
    _object(
        ["path"],
        path=_PATH,
        offset={"type": "integer", "minimum": 0},
        limit={"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT},
    ),
    "read_only",
    "safe",
)
REPLACE = PrimitiveDefinition(
    "replace",
    _object(
        ["path", "content"],
        path=_PATH,
        content={"type": "string", "maxLength": CONTENT_LIMIT},
        create={"type": "boolean", "const": True},
        expected_sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
    ),
    "mutating",
    "idempotent",
)
EXEC = PrimitiveDefinition(
    "exec",
    _object(
        ["argv"],
        argv={"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1024},
        workdir=_PATH,
        timeout={"type": "integer", "minimum": 1, "maximum": TIMEOUT_LIMIT_S},
    ),
    "mutating",
    "unsafe",
)
DEFINITIONS = (READ, REPLACE, EXEC)
"""The primitives, in the order they are documented."""

Result = dict[str, Any]
Cancelled = Callable[[], bool]


def _never() -> bool:
    return False


class Primitives:
    """The primitives of one root. `host_environment` is filtered through `allowed_variables`; `wrapper` is the argv
    that confines an exec.
    """

    def __init__(
        self,
        root: Path,
        *,
        host_environment: Mapping[str, str] | None = None,
        allowed_variables: Sequence[str] = _ALLOWED_VARIABLES,
        wrapper: Sequence[str] = (),
        output_limit: int = 50_000,
        writer: DurableWriter | None = None,
    ) -> None:
        self._root = root
        self._environment = {k: v for k, v in (host_environment or {}).items() if k in allowed_variables}
        self._wrapper = tuple(wrapper)
        self._output_limit = output_limit
        self._writer = writer or DurableWriter()
        self._guard = threading.Lock()
        self._started: set[str] = set()

    def read(self, call_id: str, arguments: Mapping[str, Any], cancelled: Cancelled = _never) -> Result:
        """One page of a file: `text`, or `base64` where the bytes are not text; `sha256` when it is the whole file."""
        problem = _invalid(READ, arguments)
        if problem is not None:
            return problem
        _stop_if(cancelled, call_id)
        found = self._location(arguments["path"])
        if not isinstance(found, Location):
            return found
        offset, limit = arguments.get("offset", 0), arguments.get("limit", PAGE_LIMIT)
        try:
            with Beneath(found.root) as tree:
                fd = open_regular(tree, found.relative)
                if fd is None:
                    code = "is_directory" if found.is_dir else "not_a_file" if found.exists else "not_found"
                    return _failure(code, f"{found.shown} is not a file that can be read")
                try:
                    total = os.fstat(fd).st_size
                    page = os.pread(fd, limit, offset)
                finally:
                    os.close(fd)
        except OSError as error:
            return _failure("io_error", f"{found.shown}: {error.strerror}")
        result: Result = {"ok": True, "path": found.shown, "offset": offset, "bytes": len(page), "total_bytes": total}
        result["eof"] = offset + len(page) >= total
        result |= _encoded(page)
        if offset == 0 and len(page) == total:
            result["sha256"] = hashlib.sha256(page).hexdigest()
        return result

    def replace(self, call_id: str, arguments: Mapping[str, Any], cancelled: Cancelled = _never) -> Result:
        """Create a file, or replace the one whose digest is given. A commit that succeeded wins over a cancellation;
        a repeat reports the state and has no second effect.
        """
        problem = _invalid(REPLACE, arguments)
        if problem is not None:
            return problem
        if ("create" in arguments) == ("expected_sha256" in arguments):
            return _failure("invalid_arguments", "give either `create: true` or `expected_sha256`")
        found = self._location(arguments["path"])
        if not isinstance(found, Location):
            return found
        try:
            content = arguments["content"].encode("utf-8")
        except UnicodeEncodeError:
            return _failure("invalid_arguments", "`content` holds half a character")
        expected = arguments.get("expected_sha256")
        try:
            done = self._writer.write(
                found.root, found.relative, content, expected, shown=found.shown, cancelled=cancelled
            )
        except Exception as error:  # whatever fails here fails around a commit that may have happened
            message = f"replace of {found.shown} failed in the host: {type(error).__name__}"
            raise ExecutionError(call_id, message, Certainty.UNCERTAIN, retry_allowed=True) from error
        if isinstance(done, WriteProblem):
            if done.code is WriteCode.CANCELLED:
                raise ExecutionError(call_id, done.text, Certainty.DEFINITIVE, retry_allowed=True)
            code = "already_exists" if done.code is WriteCode.EXISTS else done.code.value
            detail = {"current_sha256": done.current} if done.current else {}
            return _failure(code, f"{found.shown}: {done.text}; {done.remedy}") | {"path": found.shown} | detail
        result = done.result
        return {
            "ok": True,
            "path": result.path,
            "bytes": result.bytes,
            "sha256": result.sha256,
            "created": result.created,
            "changed": result.changed,
            "committed": result.committed,
            "durable": result.durable,
            "temporary_cleaned": True,
        }

    def exec(self, call_id: str, arguments: Mapping[str, Any], cancelled: Cancelled = _never) -> Result:
        """Run a discrete argv. Once started under a call id it is never started again under it."""
        problem = _invalid(EXEC, arguments)
        if problem is not None:
            return problem
        argv, workdir = arguments["argv"], arguments.get("workdir", ".")
        if not argv[0] or any("\0" in word for word in argv):
            return _failure("invalid_arguments", "`argv` needs a program, and words without NUL")
        try:
            with Beneath(self._root) as tree:
                directory = tree.open(workdir, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return _failure("bad_workdir", f"{workdir} is not a directory beneath the root reached without links")
        try:
            _stop_if(cancelled, call_id)
            self._start_once(call_id)
            return self._run(call_id, argv, directory, arguments.get("timeout", 180), cancelled)
        finally:
            os.close(directory)

    def _start_once(self, call_id: str) -> None:
        with self._guard:
            if call_id in self._started:
                message = "this call was started before and is never replayed"
                raise ExecutionError(call_id, message, Certainty.UNCERTAIN, retry_allowed=False)
            self._started.add(call_id)

    def _run(self, call_id: str, argv: Sequence[str], directory: int, timeout: int, cancelled: Cancelled) -> Result:
        try:
            done = execute(
                argv,
                directory,
                self._environment,
                timeout_s=timeout,
                output_limit=self._output_limit,
                cancelled=cancelled,
                wrapper=self._wrapper,
            )
        except OSError as error:
            with self._guard:
                self._started.discard(call_id)
            return _failure("cannot_start", f"{argv[0]}: {(error.strerror or str(error)).lower()}")
        except Exception as error:  # the process ran: what it did is unknown, whatever failed in us
            message = f"exec failed in the host: {type(error).__name__}"
            raise ExecutionError(call_id, message, Certainty.UNCERTAIN, retry_allowed=False) from error
        if done.stopped == "cancelled":
            raise ExecutionError(call_id, "cancelled while it ran", Certainty.UNCERTAIN, retry_allowed=False)
        return {
            "ok": True,
            "outcome": done.outcome.value,
            "code": done.code,
            "timed_out": done.stopped == "timeout",
            "stdout": _stream(done.stdout),
            "stderr": _stream(done.stderr),
            "managed_cleanup_completed": done.cleaned,
        }

    def _location(self, path: str) -> Location | Result:
        found = Roots(self._root).resolve(path)
        if isinstance(found, PathProblem):
            return _failure(found.code.value, f"{found.text}; {found.remedy}")
        return found


def _stop_if(cancelled: Cancelled, call_id: str) -> None:
    if cancelled():
        raise ExecutionError(call_id, "cancelled before it began", Certainty.DEFINITIVE, retry_allowed=True)


def _failure(code: str, message: str) -> Result:
    return {"ok": False, "code": code, "message": message[:_MESSAGE_LIMIT]}


def _encoded(data: bytes) -> Result:
    """As text where that is exact and does not swell in JSON, else as base64."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}
    if len(json.dumps(text, ensure_ascii=False)) > 2 * len(text) + 16:
        return {"base64": base64.b64encode(data).decode("ascii")}
    return {"text": text}


def _stream(captured: Captured) -> Result:
    return {
        **_encoded(bytes(captured.data)),
        "captured_bytes": len(captured.data),
        "observed_bytes": captured.observed,
        "truncated": captured.truncated,
    }


def _invalid(definition: PrimitiveDefinition, arguments: Mapping[str, Any]) -> Result | None:
    """The first argument that does not satisfy the schema, in words; None when all do."""
    properties = definition.schema["properties"]
    for name in definition.schema["required"]:
        if name not in arguments:
            return _failure("invalid_arguments", f"`{name}` is missing")
    for name, value in arguments.items():
        rule = properties.get(name)
        if rule is None:
            return _failure("invalid_arguments", f"`{name}` is not an argument of {definition.name}")
        if not _fits(rule, value):
            return _failure("invalid_arguments", f"`{name}` must be {json.dumps(rule)}")
    return None


def _fits(rule: Mapping[str, Any], value: Any) -> bool:
    match rule["type"]:
        case "string":
            pattern = rule.get("pattern")
            return (
                isinstance(value, str)
                and len(value) <= rule.get("maxLength", len(value))
                and (pattern is None or bool(_SHA256.fullmatch(value)))
            )
        case "integer":
            low, high = rule.get("minimum", value), rule.get("maximum", value)
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case "boolean":
            return value is True
        case _:
            strings = isinstance(value, list) and all(isinstance(item, str) for item in value)
            return strings and rule["minItems"] <= len(value) <= rule["maxItems"]
