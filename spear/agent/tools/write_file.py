"""The write_file tool: a whole file, in the form the existing one has."""

from __future__ import annotations

from spear.agent.host import Access, Host, Refusal, Resolved, ToolRequest, ToolResult
from spear.agent.text import Decoded, Encoding
from spear.agent.text_endings import to_lf
from spear.agent.tools import edits, results, syntax
from spear.agent.tools.contents import unwritable
from spear.agent.tools.reads import Reads, digest


def write_file(host: Host, reads: Reads, request: ToolRequest) -> ToolResult:
    """Gate, encode as the existing file is, write, report (spec coding-core, write_file)."""
    content = str(request.arguments["content"])
    target = host.resolve(str(request.arguments["path"]), Access.WRITE, request.tool)
    if isinstance(target, Refusal):
        return results.refused(target)
    expected: str | None = None
    form: Decoded | None = None
    if target.exists:
        present = edits.load(host, target)
        if isinstance(present, ToolResult):
            return present
        expected, form = digest(present.raw), present.decoded
        stale = _stale(reads, target, expected)
        if stale is not None:
            return stale
    before = to_lf(form.text) if form is not None else None
    problem = unwritable(content, before or "")
    if not problem:
        problem = syntax.unparsable(target.shown, content.removeprefix("\ufeff"))
    if problem:
        return results.failed(f"{target.shown}: {problem}. Nothing was written.")
    try:
        raw = _encoded(content, form)
    except UnicodeEncodeError:
        return results.failed(
            f"{target.shown}: the content holds a lone surrogate; send it again. Nothing was written."
        )
    written = edits.commit(host, reads, target, raw, expected, request)
    if isinstance(written, ToolResult):
        return written
    reads.complete(target.real, written.sha256)
    if not written.changed:
        return results.ok(f"{target.shown} already has exactly this content; nothing changed.")
    lines = to_lf(content).count("\n") + (0 if not content or content.endswith("\n") else 1)
    verb = "created" if written.created else "replaced"
    text = [f"{verb} {target.shown}: {lines} lines, {written.bytes} bytes"]
    text += [*edits.report(target.shown, before, content.removeprefix("\ufeff")), *edits.durability(written)]
    edited = edits.edited(target.shown, before, to_lf(content.removeprefix("\ufeff")))
    return results.ok("\n".join(text), edited=edited)


def _stale(reads: Reads, target: Resolved, current: str) -> ToolResult | None:
    known = reads.known(target.real)
    if known is None or known == current:
        return None
    return results.refused(
        Refusal("stale", "write_file", target.shown, "the file changed since you read it", "read it again, then write")
    )


def _encoded(content: str, form: Decoded | None) -> bytes:
    """The content in the encoding, with the byte order mark and line endings, of the file it replaces."""
    if form is None:
        return content.encode("utf-8")
    content = content.removeprefix("\ufeff")
    crlf = form.text.count("\r\n") if "\r" in form.text else 0
    if crlf and crlf * 2 >= form.text.count("\n"):
        content = to_lf(content).replace("\n", "\r\n")
    try:
        return form.encode(content)
    except UnicodeEncodeError:
        if form.encoding is not Encoding.LATIN1:
            raise
        return content.encode("utf-8")
