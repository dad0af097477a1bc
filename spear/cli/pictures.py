"""Images an operator attaches to a request, by `@shot.png` in its text (spec 8.2).

Each is copied into the session's kept output at once, so that the turn and its resumption see what was attached and not
what the file has become since.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import imagesize

from spear.agent.messages import Image
from spear.agent.text import describe_binary
from spear.cli.attached import Attached
from spear.errors import UsageError
from spear.state.files import make_private_directory, replace_durably

_LARGEST = 5 * 1024 * 1024
_LONGEST_SIDE = 8000
_MOST = 8
_NAMED = re.compile(
    r"""(?<!\S)@(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<plain>\S+?))(?=[.,;:!?)\]]*(?:\s|$))"""
)
_KINDS = {"PNG image": "png", "JPEG image": "jpeg", "GIF image": "gif", "WebP image": "webp"}
"""What models take, as `describe_binary` names it: the end of a file's name and of its media type."""


def attach(request: str, directory: Path, keep_in: Path, *, taken_by: str, takes: bool) -> Attached:
    """The request with its images: what `@` names is one where the file is, everything else stays text. Paths are
    relative to `directory`; copies are kept in `keep_in`. Raises UsageError for an image that is too large or damaged,
    and where the endpoint (`taken_by`) is not known to take any; StateError when a copy cannot be kept.
    """
    images: list[Image] = []
    legend: list[str] = []

    def add(path: Path, name: str) -> str:
        if not takes:
            raise UsageError(
                f"{name} is an image, and {taken_by} is not known to take any",
                hint="if it does: --images, or images = true for its backend; to name the file alone, leave out the @",
            )
        if len(images) == _MOST:
            raise UsageError(f"more than {_MOST} images are attached", hint="send them in several requests")
        image = _kept(path, name, keep_in)
        images.append(image)
        label = f"[image {len(images)}]"
        legend.append(f"{label} {name}, {image.width}×{image.height}")
        return label

    def named(found: re.Match[str]) -> str:
        name = found["double"] or found["single"] or found["plain"]
        path = directory / Path(name).expanduser()
        return add(path, path.name) if is_picture(path) else found[0]

    return Attached(_NAMED.sub(named, request), tuple(images), "\n".join(legend))


def is_picture(path: Path) -> bool:
    """Whether a file is an image of a kind that models take, by its first bytes."""
    try:
        if not path.is_file():
            return False  # a pipe would be waited for
        with path.open("rb") as stream:
            head = stream.read(12)
    except (OSError, ValueError, RuntimeError):
        return False
    return describe_binary(head) in _KINDS


def size_of(path: Path) -> tuple[int, int]:
    """Width and height in pixels; (-1, -1) when its header cannot be read."""
    try:
        width, height = imagesize.get(str(path))
    except (OSError, ValueError):
        return -1, -1
    return int(width), int(height)


def _kept(path: Path, name: str, keep_in: Path) -> Image:
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _LARGEST else b""
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}", hint="see that it may be read") from error
    if size > _LARGEST:
        raise UsageError(f"{name} is larger than 5 MiB", hint="make it smaller first")
    kind = _KINDS.get(describe_binary(data))
    width, height = size_of(path)
    if kind is None or width < 1 or height < 1:
        raise UsageError(f"{name} is a damaged image", hint="see that it opens elsewhere")
    if max(width, height) > _LONGEST_SIDE:
        raise UsageError(f"{name} is {width}×{height} pixels", hint=f"make it at most {_LONGEST_SIDE} pixels a side")
    make_private_directory(keep_in)
    copy = keep_in / f"{hashlib.sha256(data).hexdigest()}.{kind}"
    if not copy.exists():
        replace_durably(copy, data)
    return Image(str(copy), f"image/{kind}", width, height)
