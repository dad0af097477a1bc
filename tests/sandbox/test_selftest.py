"""The start-up self-test and the remedies it names."""

from pathlib import Path

import pytest

from spear.sandbox import selftest
from spear.sandbox.selftest import Preflight, explain, preflight


def fake(tmp_path: Path, body: str) -> str:
    program = tmp_path / "bwrap"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap 0.8.0" && exit 0\n{body}\n')
    program.chmod(0o755)
    return str(program)


def test_this_machine_passes_and_the_answer_is_kept(tmp_path):
    first = preflight(tmp_path)
    assert first.ok, first
    assert first.overlay
    assert sorted(path.name for path in tmp_path.iterdir()) == ["preflight.json"]
    (tmp_path / "preflight.json").chmod(0o600)
    assert preflight(tmp_path) == first
    text = (tmp_path / "preflight.json").read_text()
    (tmp_path / "preflight.json").write_text(text.replace('"limits": "', '"limits": "remembered-'))
    assert preflight(tmp_path).limits.startswith("remembered-")
    assert not preflight(tmp_path, cached=False).limits.startswith("remembered-")
    (tmp_path / "preflight.json").write_text("{")
    assert preflight(tmp_path).ok


def test_the_ubuntu_refusal_is_named_with_the_profile_and_not_kept(tmp_path):
    program = fake(tmp_path, "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    release = tmp_path / "os-release"
    release.write_text('ID=ubuntu\nVERSION_ID="24.04"\n')
    result = preflight(tmp_path, bwrap=program, os_release=release)
    assert not result.ok
    assert "Ubuntu's AppArmor refuses" in result.problem
    assert "/etc/apparmor.d/bwrap" in result.remedy
    assert not (tmp_path / "preflight.json").exists()


def test_loopback_trouble_is_the_same_refusal(tmp_path):
    program = fake(tmp_path, "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1")
    assert "AppArmor" in preflight(tmp_path, bwrap=program).problem


def test_a_bwrap_that_confines_nothing_does_not_pass(tmp_path):
    program = fake(tmp_path, 'while [ "$1" != -- ]; do shift; done; shift; exec "$1" -c "echo done=yes; touch /tmp/x"')
    result = preflight(tmp_path, bwrap=program)
    assert not result.ok


@pytest.mark.parametrize(
    ("identity", "command"),
    [("ID=debian", "apt install"), ("ID=fedora", "dnf install"), ("ID=arch", "pacman -S"), ("ID=alpine", "apk add"),
     ("ID=mint\nID_LIKE='ubuntu debian'", "apt install"), ("ID=unheard", "install the package")],
)  # fmt: skip
def test_a_missing_bubblewrap_names_the_command_of_the_distribution(tmp_path, monkeypatch, identity, command):
    monkeypatch.setattr(selftest, "BWRAP_PATH", str(tmp_path))
    (tmp_path / "os-release").write_text(identity)
    result = preflight(tmp_path, os_release=tmp_path / "os-release")
    assert isinstance(result, Preflight)
    assert command in result.remedy
    assert "not installed" in result.problem


def test_an_unknown_complaint_is_quoted():
    problem, remedy = explain("bwrap: something new\nmore", {})
    assert "something new" in problem
    assert remedy
