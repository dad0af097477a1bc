"""A small PDF writer for tests: text set at places in three fonts, ruled tables, an outline, running heads and feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

FONTS = {"regular": "Helvetica", "bold": "Helvetica-Bold", "mono": "Courier"}
WIDTH, HEIGHT = 612, 792


@dataclass
class PdfPage:
    """What stands on one page, as it is drawn. `y` counts points from the top."""

    parts: list[str] = field(default_factory=list)
    y: float = 72.0

    def text(
        self, text: str, *, size: float = 10, font: str = "regular", x: float = 72, y: float | None = None
    ) -> None:
        """One line; without a place, beneath the last."""
        at = self.y if y is None else y
        number = list(FONTS).index(font) + 1
        safe = (
            text.replace("\\", r"\\")
            .replace("(", r"\(")
            .replace(")", r"\)")
            .encode("latin-1", "replace")
            .decode("latin-1")
        )
        self.parts.append(f"BT /F{number} {size} Tf {x} {HEIGHT - at - size} Td ({safe}) Tj ET")
        if y is None:
            self.y += size * 1.3

    def paragraph(self, *lines: str, gap: float = 8, **how: float) -> None:
        """Lines close beneath each other, and a space after."""
        for line in lines:
            self.text(line, **how)
        self.y += gap

    def heading(self, *lines: str, size: float = 14) -> None:
        """A heading in bold."""
        for line in lines:
            self.text(line, size=size, font="bold")
        self.y += 6

    def table(
        self, rows: Sequence[Sequence[str]], widths: Sequence[float] = (120, 60, 220), y: float | None = None
    ) -> None:
        """A ruled table."""
        if y is not None:
            self.y = y
        top, height = self.y, 20
        edges = [72 + sum(widths[:n]) for n in range(len(widths) + 1)]
        for number, row in enumerate(rows):
            for left, cell in zip(edges, row, strict=False):
                self.text(cell, x=left + 4, y=top + number * height + 5)
        bottom = top + len(rows) * height
        for number in range(len(rows) + 1):
            self._rule(edges[0], top + number * height, edges[-1], top + number * height)
        for edge in edges:
            self._rule(edge, top, edge, bottom)
        self.y = bottom + 12

    def _rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.parts.append(f"0.5 w {x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S")


def pdf(pages: Sequence[PdfPage], outline: Sequence[tuple[str, int]] = (), title: str = "") -> bytes:
    """The bytes of a PDF. `outline` lists (title, page from 1), flat."""
    count, fonts = len(pages), len(FONTS)
    objects: list[bytes] = [b"", b""]
    objects += [f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} >>".encode() for name in FONTS.values()]
    first = len(objects) + 1
    resources = "/Resources << /Font << " + " ".join(f"/F{n + 1} {n + 3} 0 R" for n in range(fonts)) + " >> >>"
    for index, page in enumerate(pages):
        stream = "\n".join(page.parts).encode("latin-1")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] {resources} /Contents {first + 2 * index + 1} 0 R >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    kids = " ".join(f"{first + 2 * index} 0 R" for index in range(count))
    objects[1] = f"<< /Type /Pages /Count {count} /Kids [{kids}] >>".encode()
    root = "<< /Type /Catalog /Pages 2 0 R"
    if outline:
        top = len(objects) + 1
        root += f" /Outlines {top} 0 R"
        objects.append(
            f"<< /Type /Outlines /First {top + 1} 0 R /Last {top + len(outline)} 0 R /Count {len(outline)} >>".encode()
        )
        for index, (name, page_number) in enumerate(outline):
            beside = f" /Next {top + index + 2} 0 R" if index + 1 < len(outline) else ""
            beside += f" /Prev {top + index} 0 R" if index else ""
            safe = name.replace("(", r"\(").replace(")", r"\)")
            objects.append(
                f"<< /Title ({safe}) /Parent {top} 0 R /Dest [{first + 2 * (page_number - 1)} 0 R /XYZ 0 {HEIGHT} 0]{beside} >>".encode()
            )
    objects[0] = f"{root} >>".encode()
    if title:
        objects.append(f"<< /Title ({title}) >>".encode())
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    info = b" /Info %d 0 R" % len(objects) if title else b""
    out += b"trailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, info, start)
    return bytes(out)


def framed(pages: Sequence[PdfPage], head: str) -> Sequence[PdfPage]:
    """The pages with a running head and numbered feet."""
    for number, page in enumerate(pages, 1):
        page.text(head, size=8, y=30)
        page.text(f"Page {number} of {len(pages)}", size=8, x=280, y=760)
    return pages


def link_specification() -> Sequence[PdfPage]:
    """Five pages of an invented link layer: contents, wrapped headings, a table over two pages, lists like headings."""
    contents, scope, frames, table, rest = (PdfPage() for _ in range(5))
    contents.heading("Table of Contents")
    for entry in ("1 Scope", "2 Definitions", "3 Frames", "3.1 Header of frames that carry acknowledgements", "3.2 Timing",
                  "4 Registers", "Annex A (informative) Background", "A.1 History"):  # fmt: skip
        contents.paragraph(f"{entry} {'. ' * (60 - len(entry))} {3 if entry[0] == '3' else 2}", gap=0)
    scope.heading("1 Scope")
    scope.paragraph("This document specifies the TAIL link layer.", "It applies to senders and receivers of frames.")
    scope.heading("2 Definitions")
    scope.paragraph("frame: a sequence of octets between two flags")
    frames.heading("3 Frames")
    frames.paragraph(
        "Every frame shall begin with a flag. A receiver may discard a frame",
        "without one. A sender should not send empty frames.",
    )
    frames.heading("3.1 Header of frames that carry", "acknowledgements")
    frames.paragraph("The header shall be set as follows:", gap=4)
    frames.paragraph("1. Set the version to 2.", gap=4, x=90)
    frames.paragraph("2. Set the length to the number of octets", "that follow.", gap=4, x=90)
    frames.paragraph("3. Clear the reserved bits.", gap=8, x=90)
    frames.paragraph("NOTE: older senders shall be expected to leave the version at 1.")
    frames.paragraph("typedef struct { uint8_t version; } header;", font="mono")  # type: ignore[arg-type]
    frames.paragraph("Table 1. Error codes", gap=4)
    frames.table([("Name", "Value", "Meaning"), ("OK", "0", "no error"), ("BAD", "-1", "damaged frame")], y=640)
    table.table(
        [("Name", "Value", "Meaning"), ("LATE", "-2", "shall be reported"), ("LOST", "-3", "never arrived")], y=60
    )
    table.heading("3.2 Timing")
    table.paragraph(
        "An acknowledgement shall be sent within 40 ms, unless the receiver has", "been told in 3.1 that none is"
    )
    rest.paragraph("wanted. The timer is required to be restarted.")
    rest.heading("4 Registers")
    rest.paragraph("Registers must not be written while the link is down.")
    rest.heading("Annex A (informative)", "Background")
    rest.paragraph("Earlier links shall not be described here.")
    rest.heading("A.1 History")
    rest.paragraph("There was a link before this one.")
    return framed([contents, scope, frames, table, rest], "TAIL Link Layer, Revision 2")
