"""Which commands plainly need the network."""

from __future__ import annotations

import pytest

from spear.shell.network import network_intent
from spear.shell.parse import ShellParser
from spear.shell.syntax import Script

PARSER = ShellParser()


def needs(text: str) -> bool:
    tree = PARSER.parse(text)
    assert isinstance(tree, Script)
    return bool(network_intent(tree))


@pytest.mark.parametrize(
    "text",
    [
        "curl https://h/x",
        "wget h/x",
        "git clone https://h/r",
        "git fetch",
        "git pull",
        "git push origin main",
        "pip install x",
        "python3 -m pip install x",
        "npm install",
        "npm ci",
        "cargo fetch",
        "cargo add serde",
        "go get x",
        "apt-get install x",
        "ssh h",
        "rsync a h:b",
        "env FOO=1 curl https://h",
        "sh -c 'curl https://h'",
        "ls && npm ci",
        "echo > /dev/tcp/h/80",
        "npx x",
        "git submodule update --init",
        "go install x@latest",
    ],
)
def test_a_plain_need_is_seen(text):
    assert needs(text)


@pytest.mark.parametrize(
    "text",
    [
        "echo curl https://h",
        "grep wget x",
        "git log",
        "git status",
        "git clone ../r",
        "pip list",
        "pip install -e .",
        "npm test",
        "npm run build",
        "cargo build",
        "cargo test",
        "go build ./...",
        "go install ./...",
        "rsync a b",
        "curl --version",
        "curl http://localhost:8080/x",
        "curl http://127.0.0.1/",
        "make",
        "pip install --no-index x",
        "cargo build --offline",
    ],
)
def test_no_need_is_made_up(text):
    assert not needs(text)
