"""Profiles: what a document's roles and sections mean where its front matter differs from convention (spec 5.1)."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spear.errors import UsageError
from spear.standards.units import Kind


class Profile(BaseModel):
    """A short TOML file beside a document.

    `roles` maps the role a label prints ("Clause", "SWS") to a kind; `informative` and `definitions` name sections by
    number or title; `capitals` says whether only capitalised modal words count, whatever the document says itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: dict[str, Kind] = Field(default_factory=dict, max_length=200)
    informative: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    capitals: bool | None = None


def load_profile(path: Path) -> Profile:
    """The profile of a file. UsageError, with the key and what it may be, for one that cannot be read."""
    try:
        return Profile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(
            f"cannot read the profile {path}: {error.strerror}", hint="name a profile that exists"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the profile {path} is no TOML: {error}", hint="mend that line") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"the profile {path}: {where}: {first['msg']}",
            hint=f"a profile has {', '.join(Profile.model_fields)}",
        ) from error
