"""A request and what is attached to it. Nothing of images is loaded for a request that can name none (spec 8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spear.agent.messages import Image


@dataclass(frozen=True, slots=True)
class Attached:
    """A request whose images are named by `[image N]` in its `text`; `legend` says which file each of them was."""

    text: str
    images: tuple[Image, ...] = ()
    legend: str = ""


def with_images(request: str, directory: Path, keep_in: Path, *, taken_by: str, takes: bool) -> Attached:
    """The request with the images it names, see `spear.cli.pictures.attach`."""
    if "@" not in request:
        return Attached(request)
    from spear.cli.pictures import attach

    return attach(request, directory, keep_in, taken_by=taken_by, takes=takes)
