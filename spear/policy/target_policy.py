"""Targets no tool may change: credentials, git internals, files run later, generated and kept copies (spec 2.2, 2.4).

Judged on the path as written and as resolved, for every tool and every destination of a command alike.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from enum import StrEnum

from spear.agent.host import Refusal
from spear.policy.patterns import inside, is_pattern, matches, normal

HEAD_LINES = 40
"""How many leading lines of a file may declare that it is generated."""


class TargetCode(StrEnum):
    """Codes of this module's refusals."""

    CREDENTIALS = "credentials"
    GIT_INTERNALS = "git_internals"
    RUN_LATER = "run_later"
    GENERATED = "generated"
    SNAPSHOT = "snapshot"
    PROTECTED = "protected"
    THIRD_PARTY = "third_party"


_CREDENTIAL_DIRECTORIES = frozenset({".ssh", ".gnupg", ".aws", ".kube", ".azure", ".password-store"})
_CREDENTIAL_PATHS = re.compile(r"/\.(?:docker/config\.json|config/(?:gcloud|gh|hub)|cargo/credentials(?:\.toml)?)/")
_CREDENTIAL_NAMES = frozenset({".netrc", "_netrc", ".git-credentials", ".pypirc", ".pgpass", "shadow", "gshadow"})
_PRIVATE_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519|xmss|ecdsa_sk|ed25519_sk)")
_TOKEN = re.compile(rb"_authToken|_auth\s*=|_password", re.IGNORECASE)

_RUN_LATER_NAMES = frozenset(
    {".envrc", ".mcp.json", ".direnvrc", "lefthook.yml", ".lefthook.yml", ".autoenv", ".pre-commit-config.yaml"}
)
_RUN_LATER_DIRECTORIES = frozenset(
    {".husky", ".spear", ".direnv", ".claude", ".codex", ".cursor", ".idea", ".lefthook"}
)
_RUN_LATER_PATHS = (
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".devcontainer",
    ".config/direnv",
)

_VENDORED = frozenset({"u-boot", "atf", "arm-trusted-firmware", "qemu"})
_THIRD_PARTY = frozenset({"third_party", "third-party", "vendor", "node_modules"})
_SNAPSHOT_SUFFIXES = (".back", ".pristine")
_SNAPSHOT_TREE = re.compile(r".*[A-Za-z_-]\.0")

_MARKER = re.compile(
    r"do\s+not\s+(?:modify|edit|change|touch|alter)|don'?t\s+(?:modify|edit)|@generated|auto(?:matically)?[-\s]?generated"
    r"|machine[-\s]generated|generated\s+(?:automatically|file|code|by\s+\S+)|code\s+generated\s+by|ne\s+pas\s+(?:modifier|éditer)",
    re.IGNORECASE,
)
_STRONG = re.compile(r"DO\s+NOT\s+(?:MODIFY|EDIT)|@generated")
_COMMENT = re.compile(
    r"\s*(?:#(?!(?:define|include|if|elif|error|warning|pragma|undef)\b)|//|/\*|\*|--|;|%|<!--|\{-|\(\*|!|'|\"\"\"|'''|REM\b|dnl\b|\.\.\s|=begin|\|)",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"(?:generated\s+(?:automatically\s+)?(?:from|by\s+\S+\s+from|using)|\bsource(?:\s+file)?\s*:|\bfrom|\bedit)\s+[`'\"<]*"
    r"(?P<path>[\w./+-]*\w\.[A-Za-z]\w{0,7}|[\w.-]+(?:/[\w.-]+)+)",
    re.IGNORECASE,
)


def judge(
    written: str,
    resolved: str,
    head: bytes | None = None,
    *,
    declared: Iterable[str] = (),
    named: frozenset[str] = frozenset(),
    creating: bool = False,
    tool: str = "write_file",
) -> Refusal | None:
    """Why `written` may not be changed, None when this module has no objection.

    Paths are workspace-relative; `head` is the beginning of the existing file; `declared` are the project's own
    protected paths or globs; `named` are the paths the request names; `creating` says that the file does not exist.
    """
    paths = tuple(dict.fromkeys((normal(written), normal(resolved))))
    for path in paths:
        refusal = (
            credentials(path, head, tool=tool)
            or _internals(path, tool)
            or _run_later(path, named, tool)
            or _by_place(path, named, tuple(declared), tool)
        )
        if refusal is not None:
            return refusal
    return None if creating or head is None else _by_header(paths[-1], head, tool)


def credentials(path: str, head: bytes | None = None, *, tool: str = "read_file") -> Refusal | None:
    """Why `path` may be neither read nor written: it belongs to a credential store."""
    parts = path.split("/")
    name = parts[-1]
    secret = (
        bool(_CREDENTIAL_DIRECTORIES.intersection(parts))
        or name in _CREDENTIAL_NAMES
        or bool(_PRIVATE_KEY.fullmatch(name))
        or bool(_CREDENTIAL_PATHS.search(f"/{path}/"))
        or (name in (".npmrc", ".yarnrc.yml") and head is not None and bool(_TOKEN.search(head)))
    )
    if not secret:
        return None
    return Refusal(
        TargetCode.CREDENTIALS,
        tool,
        path,
        "it belongs to a credential store, which no turn reads or writes",
        "work without it; the operator can supply what is needed another way",
    )


def _internals(path: str, tool: str) -> Refusal | None:
    if ".git" not in path.split("/"):
        return None
    return Refusal(
        TargetCode.GIT_INTERNALS,
        tool,
        path,
        "git's own files are written by git alone; hooks and config would run outside the sandbox",
        "use git subcommands in the terminal, and `git -c key=value` for a setting of one command",
    )


def _run_later(path: str, named: frozenset[str], tool: str) -> Refusal | None:
    parts = path.split("/")
    later = (
        parts[-1] in _RUN_LATER_NAMES
        or bool(_RUN_LATER_DIRECTORIES.intersection(parts))
        or any(f"/{path}/".find(f"/{place}/") >= 0 for place in _RUN_LATER_PATHS)
    )
    if not later or _is_named(path, named):
        return None
    return Refusal(
        TargetCode.RUN_LATER,
        tool,
        path,
        "other programs execute it on the operator's behalf after the turn",
        "leave it, and tell the operator what it should contain; a request that names it allows it",
    )


def _by_place(path: str, named: frozenset[str], declared: tuple[str, ...], tool: str) -> Refusal | None:
    parts = path.split("/")
    if "generated" in parts[:-1] or f"/{path}".find("/build/tmp/") >= 0:
        return Refusal(
            TargetCode.GENERATED,
            tool,
            path,
            "the build produces it and would overwrite the change",
            "change the source it is made from, with patch or write_file, and rebuild",
        )
    if parts[-1].endswith(_SNAPSHOT_SUFFIXES) or any(_SNAPSHOT_TREE.fullmatch(part) for part in parts[:-1]):
        return Refusal(
            TargetCode.SNAPSHOT, tool, path, "it is a snapshot kept for comparison", "change the live file instead"
        )
    rule = next((item for item in declared if _declares(normal(item), path)), None)
    if rule is not None:
        return Refusal(
            TargetCode.PROTECTED,
            tool,
            path,
            f"the project declares {rule} protected",
            "change the project's own sources",
        )
    foreign = next((part for part in parts if part in _VENDORED | _THIRD_PARTY), None)
    if foreign is None or len(parts) == 1 or _is_named(path, named):
        return None
    return Refusal(
        TargetCode.THIRD_PARTY,
        tool,
        path,
        f"{foreign} is third-party code, and the request does not name it",
        "change the project's own sources, or ask the operator to name this file",
    )


def _by_header(path: str, head: bytes, tool: str) -> Refusal | None:
    text = head.decode("utf-8", "replace")
    lines = text.splitlines()[:HEAD_LINES]
    marked = next((line for line in lines if _is_marker(line)), None)
    if marked is None:
        return None
    source = _SOURCE.search("\n".join(lines))
    where = source["path"] if source else ""
    remedy = (
        f"change {where} with patch and regenerate" if where else "change what it is generated from, and regenerate"
    )
    quoted = " ".join(marked.split())[:80]
    return Refusal(TargetCode.GENERATED, tool, path, f"its header says so: {quoted}", remedy)


def _is_marker(line: str) -> bool:
    """A header's words count in a comment; the unmistakable spellings count on a line of their own as well."""
    if _COMMENT.match(line):
        return bool(_MARKER.search(line))
    bare = line.strip()
    return bool(_STRONG.search(bare)) and not re.search(r"[\"'`({=]", bare)


def _declares(item: str, path: str) -> bool:
    return inside(path, item) or (is_pattern(item) and (matches(path, item) or matches(posixpath.basename(path), item)))


def _is_named(path: str, named: frozenset[str]) -> bool:
    return any(inside(path, normal(item)) for item in named if normal(item))
