"""From settings to how a model is reached: the key from the environment or a command, never from the command line."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from spear.cli.settings_model import Settings
from spear.errors import ConfigurationError
from spear.models.backend import BackendSettings, Provider

_KEY_SECONDS = 30


def environment_key(settings: Settings, environ: Mapping[str, str]) -> str | None:
    """The key in the variable the settings name, None when it is not set."""
    return environ.get(settings.api_key_env) or None


def backend_settings(settings: Settings, environ: Mapping[str, str]) -> BackendSettings:
    """How to reach the model. Raises ConfigurationError when the key command fails."""
    key = _key_of_command(settings.api_key_cmd) if settings.api_key_cmd else environment_key(settings, environ)
    return BackendSettings(
        api_base=settings.api_base,
        provider=Provider(settings.provider),
        api_key=key,
        model=settings.model or None,
    )


def _key_of_command(command: tuple[str, ...]) -> str:
    shown = command[0]
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=_KEY_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(
            f"api_key_cmd {shown} could not be run: {error}", hint="correct api_key_cmd"
        ) from error
    key = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0 or not key:
        raise ConfigurationError(
            f"api_key_cmd {shown} printed no key (status {done.returncode})", hint="run it by hand to see why"
        )
    return key
