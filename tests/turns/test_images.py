"""Images attached by `@file`: whole turns with both providers, refusals that lose nothing, resumption (spec 8.2)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import zlib

import pytest

from tests.models.test_anthropic_backend import block, message
from tests.scripted_model import ModelServer, text

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
WEBP = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////"
    "////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)


def png(width: int, height: int) -> bytes:
    """A black image."""
    rows = zlib.compress((b"\0" + b"\0\0\0" * width) * height)
    parts = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b""))
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def ask(tree, request, *script, flags=("--images",)):
    """One turn; the process and the last user message of its last request."""
    with ModelServer([text(words) for words in script]) as server:
        done = tree.run("-p", request, "--api-base", server.base_url, "--output", "json", *flags)
    users = [m for m in server.requests[-1]["messages"] if m["role"] == "user"] if server.requests else []
    return done, users


def address(data: bytes, kind: str) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(data).decode()}"}}


def test_an_image_goes_along_under_its_number(tree):
    shot = png(30, 20)
    tree.write("shots/a b.png", shot)
    tree.write("b.gif", GIF)
    done, (user,) = ask(tree, 'What differs between @"shots/a b.png" and @b.gif?', "Their size.")
    assert done.returncode == 0, done.stderr
    said, first, second = user["content"]
    assert said["text"].startswith("What differs between [image 1] and [image 2]?")
    assert "[image 1] a b.png, 30×20" in said["text"] and "[image 2] b.gif, 1×1" in said["text"]
    assert (first, second) == (address(shot, "png"), address(GIF, "gif"))
    assert json.loads(done.stdout)["request"] == "What differs between [image 1] and [image 2]?"


@pytest.mark.parametrize(
    ("name", "data", "kind"), [("a.jpeg", JPEG, "jpeg"), ("a.webp", WEBP, "webp"), ("a", GIF, "gif")]
)
def test_its_kind_is_told_by_its_content(tree, name, data, kind):
    tree.write(name, data)
    done, (user,) = ask(tree, f"What is in @{name}, please?", "Nothing.")
    assert done.returncode == 0, done.stderr
    assert user["content"][1] == address(data, kind)


def test_what_is_no_image_stays_text(tree):
    tree.write("a.png", "not an image")
    os.mkfifo(tree.root / "pipe.png")
    request = "Ask dev@example.org about @a.png, @missing.png, @pipe.png and @/dev/zero"
    done, (user,) = ask(tree, request, "Done.", flags=())
    assert done.returncode == 0, done.stderr
    assert user["content"] == request


def test_an_image_narrows_no_write_scope(counter):
    counter.write("shot.png", png(3, 2))
    done = counter.run(
        "-p", "Make src/counter.c as in @shot.png", "--images", "--explain", "--api-base", "http://127.0.0.1:1/v1"
    )
    assert "shot.png" not in json.loads(done.stdout)["scope"]["targets"]


REFUSED = {
    "an endpoint not known to take any": (png(3, 2), (), "--images"),
    "too many bytes": (png(3, 2) + b"\0" * (5 << 20), ("--images",), "smaller"),
    "too many pixels": (png(8001, 1), ("--images",), "8000 pixels"),
    "damaged": (png(3, 2)[:12], ("--images",), "opens elsewhere"),
}


@pytest.mark.parametrize(("data", "flags", "way_out"), REFUSED.values(), ids=REFUSED)
def test_an_image_that_cannot_go_is_named_before_any_request(tree, data, flags, way_out):
    tree.write("shot.png", data)
    done, users = ask(tree, "What is in @shot.png?", "Nothing.", flags=flags)
    assert done.returncode == 2 and not users
    assert "shot.png" in done.stderr and way_out in done.stderr
    assert done.stdout == ""


def test_no_more_than_eight(tree):
    for number in range(9):
        tree.write(f"{number}.gif", GIF)
    done, users = ask(tree, " ".join(f"@{n}.gif" for n in range(9)), "Nothing.")
    assert done.returncode == 2 and not users
    assert "more than 8 images" in done.stderr


def test_a_session_goes_on_with_its_images_as_they_were_attached(tree):
    first = png(30, 20)
    tree.write("shot.png", first)
    ask(tree, "What is in @shot.png?", "Nothing.")
    tree.write("shot.png", png(1, 1))
    _, users = ask(tree, "And now?", "Still nothing.", flags=("-c", "--images"))
    assert users[0]["content"][1] == address(first, "png")
    assert users[1]["content"] == "And now?"
    _, users = ask(tree, "And for a model without eyes?", "Nothing.", flags=("-c",))
    assert users[0]["content"].startswith("What is in [image 1]?")
    (kept,) = tree.state.glob("audit/tool-results/*/*.png")
    assert kept.stat().st_mode & 0o777 == 0o600
    shutil.rmtree(kept.parent)  # as `sessions prune` does
    _, users = ask(tree, "And now?", "Gone.", flags=("-c", "--images"))
    assert "no longer kept" in users[0]["content"][1]["text"]


def test_anthropic_takes_them_without_being_asked(tree):
    shot = png(30, 20)
    tree.write("shot.png", shot)
    said = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Nothing."})
    with ModelServer([message(said)]) as server:
        done = tree.run(
            "-p", "What is in @shot.png?", "--provider", "anthropic", "--api-base", server.base_url, "--model", "claude",
            env={"ANTHROPIC_API_KEY": "sk-ant-of-anthropic"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        picture, words = server.requests[-1]["messages"][0]["content"]
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(shot).decode()}
    assert picture == {"type": "image", "source": source}
    assert words["text"].startswith("What is in [image 1]?") and "cache_control" in words
