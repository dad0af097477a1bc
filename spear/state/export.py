"""A conversation for other readers: markdown, JSON lines or one HTML page, redacted, saying what was left out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from enum import StrEnum

from spear.agent.messages import Message, Role
from spear.state.conversation import encode, redact
from spear.state.redaction import Redactor
from spear.state.secret_shapes import MARKER

_RESULT_SHOWN = 4_000
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPEAKERS = {Role.USER: "Operator", Role.ASSISTANT: "Model", Role.TOOL: "Result"}


class ExportForm(StrEnum):
    """The forms of an export."""

    MARKDOWN = "md"
    JSONL = "jsonl"
    HTML = "html"


def export(conversation: Sequence[Message], form: ExportForm, redactor: Redactor, *, title: str) -> str:
    """The conversation in that form.

    The system prompt and private reasoning are not exported, long results are cut (JSON lines keep them whole), and
    secrets are replaced; the text says how much of each.
    """
    shown = [redact(_without_reasoning(m), redactor) for m in conversation if m.role is not Role.SYSTEM]
    omitted = _left_out(conversation, shown, cut=form is not ExportForm.JSONL)
    title = redactor.text(title)
    match form:
        case ExportForm.MARKDOWN:
            return _markdown(shown, title, omitted)
        case ExportForm.JSONL:
            head = {"schema": "spear.conversation/1", "title": title, "left_out": omitted}
            return "".join(f"{json.dumps(line)}\n" for line in (head, *map(encode, shown)))
        case ExportForm.HTML:
            return _html(shown, title, omitted)


def _without_reasoning(message: Message) -> Message:
    return Message(message.role, message.content, message.tool_calls, message.tool_call_id)


def _left_out(conversation: Sequence[Message], shown: Sequence[Message], *, cut: bool) -> list[str]:
    def secrets(messages: Sequence[Message]) -> int:
        return sum(json.dumps(encode(message)).count(MARKER) for message in messages)

    original = [_without_reasoning(message) for message in conversation if message.role is not Role.SYSTEM]
    counts = (
        (sum(m.role is Role.SYSTEM for m in conversation), "system prompt", "system prompts"),
        (sum(bool(m.reasoning) for m in conversation), "private reasoning", "private reasonings"),
        (sum(cut and _is_long(m) for m in shown), "result cut", "results cut"),
        (secrets(shown) - secrets(original), "secret replaced", "secrets replaced"),
    )
    return [f"{count} {one if count == 1 else many}" for count, one, many in counts if count > 0]


def _is_long(message: Message) -> bool:
    return message.role is Role.TOOL and len(message.content) > _RESULT_SHOWN


def _body(message: Message) -> str:
    text = message.content
    if _is_long(message):
        half = _RESULT_SHOWN // 2
        text = f"{text[:half]}\n… {len(text) - _RESULT_SHOWN} characters left out …\n{text[-half:]}"
    return _CONTROLS.sub("", text.encode("utf-8", "replace").decode("utf-8"))


def _calls(message: Message) -> list[str]:
    lines = [f"{call.name} {call.arguments}" for call in message.tool_calls]
    return [_CONTROLS.sub("", line.encode("utf-8", "replace").decode("utf-8")) for line in lines]


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any the text holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _markdown(messages: Sequence[Message], title: str, omitted: Sequence[str]) -> str:
    parts = [f"# {title}", f"Left out: {', '.join(omitted) or 'nothing'}."]
    for message in messages:
        parts.append(f"## {_SPEAKERS[message.role]}")
        if message.content:
            parts.append(_fenced(_body(message)) if message.role is Role.TOOL else _body(message))
        parts += [_fenced(line) for line in _calls(message)]
    return "\n\n".join(parts) + "\n"


def _html(messages: Sequence[Message], title: str, omitted: Sequence[str]) -> str:
    sections = []
    for message in messages:
        blocks = [f"<pre>{html.escape(_body(message))}</pre>"] if message.content else []
        blocks += [f"<pre class=call>{html.escape(line)}</pre>" for line in _calls(message)]
        sections.append(
            f"<section class={message.role.value}><h2>{_SPEAKERS[message.role]}</h2>{''.join(blocks)}</section>"
        )
    style = (
        "body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}"
        "pre{white-space:pre-wrap;overflow-wrap:anywhere}h2{font-size:1rem;margin-bottom:0}"
        ".tool,.call{opacity:.8;border-left:3px solid #888;padding-left:.8rem}"
    )
    return (
        f'<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=color-scheme content="light dark">'
        f"<title>{html.escape(title)}</title><style>{style}</style>\n<h1>{html.escape(title)}</h1>\n"
        f"<p>Left out: {html.escape(', '.join(omitted) or 'nothing')}.</p>\n" + "\n".join(sections) + "\n</html>\n"
    )
