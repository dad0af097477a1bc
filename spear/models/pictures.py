"""Images of a conversation as the base64 text that providers take."""

from __future__ import annotations

import base64
from pathlib import Path

from spear.agent.messages import Image

MISSING = "[an image that was attached here is no longer kept]"


def base64_of(image: Image) -> str | None:
    """The content of a kept image; None when its file is gone: a conversation outlives it, and says so."""
    try:
        return base64.b64encode(Path(image.file).read_bytes()).decode("ascii")
    except OSError:
        return None
