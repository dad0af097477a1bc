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
