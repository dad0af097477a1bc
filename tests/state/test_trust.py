"""Trust is given to bytes, not to names."""

from __future__ import annotations

import stat

import pytest

from spear.state.trust import TrustStore


@pytest.fixture
def store(tmp_path):
    return TrustStore(tmp_path / "state" / "trusted.json")


def test_a_file_is_trusted_until_it_changes(store, tmp_path):
    file = tmp_path / "project.toml"
    file.write_text("a")
    assert not store.trusts(file)
    store.trust(file)
    assert TrustStore(store.path).trusts(file)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    file.write_text("b")
    assert not store.trusts(file)
    file.write_text("a")
    assert store.trusts(file)
    store.forget(file)
    assert not store.trusts(file)


def test_the_same_bytes_elsewhere_are_not_trusted(store, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text("a")
    store.trust(tmp_path / "one")
    assert not store.trusts(tmp_path / "two")


def test_a_missing_file_is_never_trusted(store, tmp_path):
    store.trust(tmp_path / "none")
    assert not store.trusts(tmp_path / "none")
    assert store.approved() == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 3}'])
def test_a_damaged_store_trusts_nothing(store, tmp_path, content):
    store.path.parent.mkdir()
    store.path.write_text(content)
    (tmp_path / "x").write_text("a")
    assert not store.trusts(tmp_path / "x")
