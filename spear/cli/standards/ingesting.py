"""`standard ingest FILE --id ID --revision REV`: a document becomes a stored standard, or the reasons why not."""

from __future__ import annotations

from collections.abc import Iterator

from spear.cli.exit_status import NOT_SHOWN
from spear.cli.standards.answer import Answer, Desk, kinds
from spear.errors import UsageError
from spear.standards.ingestion import Document, Unusable, ingest
from spear.standards.manifest import Manifest, Origin
from spear.standards.standard_name import StandardName


def ingesting(desk: Desk) -> Answer:
    """Status 3, with the reasons, for a document that did not come out as a standard."""
    asked = desk.asked
    if not asked.id or not asked.revision:
        given = {"--id": asked.id, "--revision": asked.revision}
        lacking = " and ".join(flag for flag, word in given.items() if not word)
        raise UsageError(f"ingest needs {lacking}", hint="standard ingest rfc9293.txt --id RFC9293 --revision 2022")
    document = Document(
        source=desk.path(asked.source), name=StandardName.of(asked.id, asked.revision),
        origin=Origin(asked.origin) if asked.origin else Origin.LICENSED, retain=bool(asked.retain_source),
        profile=desk.path(asked.profile) if asked.profile else None,
    )  # fmt: skip
    done = ingest(desk.store, document, desk.front.progress)
    if isinstance(done, Unusable):
        reasons = [f"{document.source.name} did not come out as a standard; nothing is stored:"]
        return Answer("\n".join([*reasons, *(f"  {reason}" for reason in done.reasons)]), NOT_SHOWN)
    if not done.fresh:
        return Answer("\n".join(_before(done.manifest, desk.front.command)))
    return Answer(_report(done.manifest, desk.front.command))


def _before(manifest: Manifest, command: str) -> Iterator[str]:
    """That nothing was done, and how it can be, where this version would read the document anew."""
    from spear.standards.extraction import EXTRACTOR_VERSION

    yield f"{manifest.name} was ingested before, from these bytes: nothing was done"
    if manifest.extractor_version != EXTRACTOR_VERSION:
        read = f"extractor {manifest.extractor_version} read it, this is {EXTRACTOR_VERSION}"
        yield f"  {read}: to have it read anew, first {command} remove {manifest.name}"


def _report(manifest: Manifest, command: str) -> str:
    pages = f" on {manifest.pages} pages" if manifest.pages is not None else ""
    lines = [
        f"{manifest.name}: {manifest.units} units in {manifest.sections} clauses{pages}",
        f"  {kinds(manifest)}",
        f"  {manifest.origin.value}, {manifest.human_validation.status.value}",
    ]
    lines += [f"  not read: {error}" for error in manifest.errors[:10]]
    if len(manifest.errors) > 10:
        lines.append(f"  and {len(manifest.errors) - 10} more that could not be read: {command} status says them")
    return "\n".join([*lines, f"  bind it: {command} use {manifest.name}"])
