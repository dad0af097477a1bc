"""`/remember never run COMMAND`: a rule that refuses it is offered, and kept as the operator says (spec 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spear.cli.display.filtering import clean
from spear.cli.permission_file import PermissionFile
from spear.cli.repl.ports import Option
from spear.cli.settings import PROJECT_FILE
from spear.errors import UsageError
from spear.policy.denials import rule_words
from spear.policy.permission import Permission, PermissionKind, PermissionScope, unsound
from spear.shell.parse import ShellParser
from spear.state.trust import TrustStore

if TYPE_CHECKING:
    from spear.cli.application import Application
    from spear.cli.repl.ports import CommandIO

_PROJECT = Option("p", f"refuse it in this project from now on (kept in {PROJECT_FILE})", "project")
_SESSION = Option("s", "refuse it in this session only", "session")
_NO = Option("n", "keep nothing", "")


def offer(app: Application, command: str, io: CommandIO) -> str:
    """Ask whether commands that begin with the words of `command` are to be refused, and keep the answer. Raises
    UsageError for what is not one command in plain words, and when the project file cannot take the rule."""
    while True:
        words = _words(command)
        other = Option("e", "other words", "edit", entry="refuse what begins with", prefill=command)
        body = f"It binds in every mode, for commands that begin with: {clean(' '.join(words))}"
        answer = io.choose("Refuse the command by a rule?", (_PROJECT, _SESSION, other, _NO), body)
        match answer.value:
            case "project" | "session":
                return _keep(app, words, PermissionScope(answer.value))
            case "edit":
                command = answer.text.strip()
            case _:
                return "nothing was kept; /recall TEXT records what a model is to be told"


def _words(command: str) -> tuple[str, ...]:
    words = rule_words(ShellParser().parse(command))
    if not words or unsound(Permission(kind=PermissionKind.DENY, words=words)):
        raise UsageError(
            f"a rule names the first words of one command, and `{command}` is not one",
            hint="say it as /remember never run make deploy; /recall TEXT records what a model is to be told",
        )
    return words


def _keep(app: Application, words: tuple[str, ...], scope: PermissionScope) -> str:
    approvals = app.approvals
    approvals.grant(Permission(kind=PermissionKind.DENY, words=words))
    index = next(rule.number - 1 for rule in approvals.store.denials() if rule.permission.words == words)
    rule = approvals.store.permissions[index]
    if scope is PermissionScope.PROJECT and rule.scope is not scope:
        try:
            PermissionFile(app.roots.primary, TrustStore(app.state.trusted)).add(rule)
        except UsageError as error:
            raise UsageError(f"it is refused in this session only: {error.message}", hint=error.hint) from error
        approvals.store = approvals.store.settled(index)
    kept = approvals.store.permissions[index]
    return f"rule {index + 1}: {clean(kept.shown())}; /permissions revoke {index + 1} takes it back"
