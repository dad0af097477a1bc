"""Sessions of providers that end with the test."""

from __future__ import annotations

import pytest

from tests.capabilities.setting import Setting, provider_entry


@pytest.fixture
def setting(tmp_path):
    made = []

    def make(*entries):
        found = Setting(tmp_path, list(entries) or [provider_entry()])
        made.append(found)
        return found

    yield make
    for each in made:
        each.providers.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    found = Setting(tmp_path_factory.mktemp("tracker"), [provider_entry()])
    yield found
    found.providers.close()


@pytest.fixture
def tracker(running):
    """A session shared by tests that leave its provider as it was."""
    running.fresh()
    return running
