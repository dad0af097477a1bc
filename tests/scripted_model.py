"""A scripted OpenAI-compatible model server on a real socket (standard library only).

A script is a list of steps, one consumed per request; a callable step is given the request body and returns a step:

    text("…")                             a final answer
    calls(("read_file", {"path": "a"}))   one message with tool calls
    raw_calls([{"id", "name", "arguments"}])   calls whose arguments are sent as they are
    chunks([{…}, …])                      a stream of these chunks, verbatim (dicts) or these data lines (bytes)
    status(503, {"Retry-After": "0"})     an HTTP error
    raw(b"…", content_type=…)             any bytes as the body of a 200 reply
    drop(step, after=2) / drop(step, at_byte=40)   the step, broken off after N chunks or N bytes of its body
    stall(step, after=1)                  the step, silent after N chunks until the client goes away

When the script is used up the answer is END_TEXT. `requests`, `raw`, `paths` and `headers` record what was received;
`left` is set once a client goes away during a stall.
"""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

END_TEXT = "Script ended."
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}

Step = dict[str, Any] | Callable[[dict[str, Any]], Any]


def text(content: str, *, finish: str = "stop", usage: Any = None, reasoning: str = "") -> dict[str, Any]:
    return {"content": content, "finish": finish, "usage": usage, "reasoning": reasoning}


def calls(*pairs: tuple[str, Any], content: str | None = None, usage: Any = None) -> dict[str, Any]:
    return raw_calls([{"name": n, "arguments": json.dumps(a)} for n, a in pairs], content=content, usage=usage)


def raw_calls(
    items: list[dict[str, Any]], *, content: str | None = None, finish: str = "tool_calls", usage: Any = None
) -> dict[str, Any]:
    return {"content": content, "calls": items, "finish": finish, "usage": usage}


def chunks(items: list[dict[str, Any] | bytes], *, done: bool = True) -> dict[str, Any]:
    return {"chunks": items, "done": done}


def status(code: int, headers: dict[str, str] | None = None, body: Any = None) -> dict[str, Any]:
    return {"status": code, "headers": headers or {}, "body": body or {"error": {"message": f"status {code}"}}}


def raw(body: bytes, *, content_type: str = "application/json") -> dict[str, Any]:
    return {"raw": body, "content_type": content_type}


def drop(step: dict[str, Any], *, after: int | None = None, at_byte: int | None = None) -> dict[str, Any]:
    return {**step, "drop_after": after, "drop_at": at_byte}


def stall(step: dict[str, Any], *, after: int = 0) -> dict[str, Any]:
    return {**step, "stall_after": after}


def delta(content: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return _chunk([{"index": 0, "delta": content, "finish_reason": finish}])


def _chunk(choices: list[Any], **more: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices, **more}


def sse(items: list[dict[str, Any] | bytes], *, done: bool = True) -> list[bytes]:
    lines = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in items]
    return [b"data: " + line + b"\n\n" for line in [*lines, *([b"[DONE]"] if done else [])]]


class ModelServer:
    """Serves one script, in a thread. `close_delimited` ends replies by closing instead of chunked framing."""

    def __init__(
        self,
        script: list[Step] | tuple[Step, ...] = (),
        *,
        model: str = "scripted",
        context_window: int | None = None,
        delay: float = 0.0,
        models: Any = None,
        close_delimited: bool = False,
    ) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[Any] = set()
        self.left, self.arrived, self.closing = threading.Event(), threading.Event(), threading.Event()
        self.model, self.delay = model, delay
        self.close_delimited = close_delimited
        entry = {"id": model, "object": "model", "max_model_len": context_window}
        self.models = models if models is not None else {"object": "list", "data": [entry]}
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"owner": self})
        self.httpd = _Server(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.httpd.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self.thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self.httpd.shutdown()
        self.httpd.server_close()
        self.thread.join()

    def take(self, path: str, headers: dict[str, str], data: bytes, connection: Any) -> dict[str, Any]:
        body = json.loads(data)
        with self._lock:
            self.paths.append(path)
            self.headers.append(headers)
            self.raw.append(data)
            self.requests.append(body)
            self.connections.add(connection)
            self.arrived.set()
            step = self.script.pop(0) if self.script else text(END_TEXT)
        return step(body) if callable(step) else step

    def body(self, step: dict[str, Any], streaming: bool) -> list[bytes]:
        if "raw" in step:
            return [step["raw"]]
        if "chunks" in step:
            return sse(step["chunks"], done=step["done"])
        return sse(list(self._chunks(step))) if streaming else [json.dumps(self._whole(step)).encode()]

    def _tool_calls(self, step: dict[str, Any]) -> list[dict[str, Any]]:
        count = len(self.requests)
        made = []
        for number, item in enumerate(step.get("calls", ())):
            function = {"name": item["name"], "arguments": item["arguments"]}
            made.append({"id": item.get("id") or f"call_{count}_{number}", "type": "function", "function": function})
        return made

    def _whole(self, step: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": step.get("content")}
        if step.get("reasoning"):
            message["reasoning_content"] = step["reasoning"]
        if step.get("calls"):
            message["tool_calls"] = self._tool_calls(step)
        choice = {"index": 0, "message": message, "finish_reason": step.get("finish", "stop")}
        return {"id": "c", "model": self.model, "choices": [choice], "usage": step.get("usage") or USAGE}

    def _chunks(self, step: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield delta({"role": "assistant", "content": ""})
        if step.get("reasoning"):
            yield delta({"reasoning_content": step["reasoning"]})
        content = step.get("content") or ""
        for start in range(0, len(content), 40):
            yield delta({"content": content[start : start + 40]})
        for index, call in enumerate(self._tool_calls(step)):
            arguments = call["function"]["arguments"]
            head = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
            yield delta({"tool_calls": [head]})
            for start in range(0, len(arguments), 60):
                piece = {"index": index, "function": {"arguments": arguments[start : start + 60]}}
                yield delta({"tool_calls": [piece]})
        yield delta({}, step.get("finish", "stop"))
        yield _chunk([], usage=step.get("usage") or USAGE)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of many scripts."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ModelServer

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        self.owner.paths.append(self.path)
        if isinstance(self.owner.models, int):
            self._reply(self.owner.models, {}, b"{}")
        else:
            self._reply(200, {"Content-Type": "application/json"}, json.dumps(self.owner.models).encode())

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        step = self.owner.take(self.path, dict(self.headers), data, self.client_address)
        time.sleep(self.owner.delay)
        if "status" in step:
            body = step["body"] if isinstance(step["body"], bytes) else json.dumps(step["body"]).encode()
            self._reply(step["status"], {"Content-Type": "application/json", **step["headers"]}, body)
            return
        streaming = bool(self.owner.requests[-1].get("stream"))
        kind = "text/event-stream" if streaming else "application/json"
        try:
            self._send(step, self.owner.body(step, streaming), step.get("content_type", kind))
        except ConnectionError:
            if "stall_after" in step:  # it went away before the silence began
                self.owner.left.set()
            raise

    def _reply(self, code: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _send(self, step: dict[str, Any], pieces: list[bytes], kind: str) -> None:
        framed = not (self.owner.close_delimited or "raw" in step)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header(*(("Transfer-Encoding", "chunked") if framed else ("Connection", "close")))
        self.end_headers()
        room = step.get("drop_at")
        for number, piece in enumerate(pieces):
            if step.get("stall_after") == number:
                self._await_departure()
                return
            if step.get("drop_after") == number:
                self.close_connection = True
                return
            cut = piece if room is None else piece[:room]
            if cut:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(cut), cut) if framed else cut)
            room = None if room is None else room - len(cut)
            if room == 0 and (len(cut) < len(piece) or number + 1 < len(pieces)):
                self.close_connection = True
                return
        if framed:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = not framed

    def _await_departure(self) -> None:
        self.close_connection = True
        while not self.owner.closing.is_set():
            if select.select([self.connection], [], [], 0.02)[0]:
                self.owner.left.set()
                return
