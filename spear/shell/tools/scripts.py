"""perl, ruby, node, php, lua one-liners: in-place edits, and the writes that can be read from their text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from spear.shell.options import read_options
from spear.shell.tools.call import Call, Reading, Table, Tool, Write, WriteKind, literal

_QUOTED = (
    r"""(?:q[qw]?\((?P<a>[^()$@]*)\)|q[qw]?\{(?P<b>[^{}$@]*)\}|"(?P<c>[^"$@#]*)"|'(?P<d>[^']*)'|`(?P<e>[^`$]*)`)"""
)


def _call(names: str, kind: WriteKind) -> tuple[re.Pattern[str], WriteKind]:
    return re.compile(rf"\b(?:{names})\s*\(?\s*{_QUOTED}"), kind


@dataclass(frozen=True, slots=True)
class Language:
    """How one interpreter is given a program, and what in it writes or runs a shell.

    Only a literal in the place of the file name counts; everything else stays unseen.
    """

    inline: tuple[str, ...]
    valued: str
    optional: str
    writes: tuple[tuple[re.Pattern[str], WriteKind], ...]
    commands: re.Pattern[str] | None = None
    in_place: bool = False


_PERL_OPEN = re.compile(
    rf"\bopen\s*\(?\s*[^,;]+,\s*(?:[\"']\s*(?:>>?|\+<|\+>)[^\"']*[\"']\s*,\s*{_QUOTED}"
    r"|[\"']\s*(?:>>?|\+<|\+>)\s*(?P<f>[^\"'&|$]+)[\"'])"
)
_RUBY_OPEN = re.compile(rf"\b(?:File\.(?:open|new)|open)\s*\(?\s*{_QUOTED}\s*,\s*[\"'][wa+r]*[wa+][^\"']*[\"']")
_PHP_OPEN = re.compile(rf"\bfopen\s*\(\s*{_QUOTED}\s*,\s*[\"'][waxc]")
_LUA_OPEN = re.compile(rf"\bio\.open\s*\(\s*{_QUOTED}\s*,\s*[\"'][wa]")
_SYSTEM = re.compile(rf"\b(?:system|exec|shell_exec|execSync|execute|popen)\s*\(?\s*{_QUOTED}")

LANGUAGES: Mapping[str, Language] = {
    "perl": Language(
        ("-e", "-E"),
        "-e -E -I -m -M -F",
        "-i -l -0 -C -x -D",
        (
            (_PERL_OPEN, WriteKind.WRITE),
            _call("unlink|rmdir", WriteKind.DELETE),
            _call("mkdir", WriteKind.MKDIR),
            _call("truncate", WriteKind.TRUNCATE),
        ),
        _SYSTEM,
        in_place=True,
    ),
    "ruby": Language(
        ("-e",),
        "-e -I -r -C -E -F",
        "-i -l -0 -x -W -T",
        (
            (_RUBY_OPEN, WriteKind.WRITE),
            _call(r"(?:File|IO)\.(?:write|binwrite)", WriteKind.WRITE),
            _call(r"File\.(?:delete|unlink)|FileUtils\.rm(?:_rf|_f)?|Dir\.rmdir", WriteKind.DELETE),
            _call(r"FileUtils\.touch", WriteKind.CREATE),
            _call(r"(?:Dir\.mkdir|FileUtils\.mkdir(?:_p)?)", WriteKind.MKDIR),
            _call(r"File\.truncate", WriteKind.TRUNCATE),
        ),
        _SYSTEM,
        in_place=True,
    ),
    "node": Language(
        ("-e", "--eval", "-p", "--print"),
        "-e --eval -p --print -r --require --import",
        "",
        (
            _call(
                r"(?:\w+\.)?(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|truncateSync|"
                r"Deno\.writeTextFile|Bun\.write)",
                WriteKind.WRITE,
            ),
            _call(r"(?:\w+\.)?(?:unlink|unlinkSync|rm|rmSync|rmdir|rmdirSync)", WriteKind.DELETE),
            _call(r"(?:\w+\.)?(?:mkdir|mkdirSync)", WriteKind.MKDIR),
        ),
        re.compile(rf"\b(?:execSync|exec)\s*\(\s*{_QUOTED}"),
    ),
    "php": Language(
        ("-r",),
        "-r -d -c -f -B -R -F -E",
        "",
        (
            (_PHP_OPEN, WriteKind.WRITE),
            _call("file_put_contents|touch", WriteKind.WRITE),
            _call("unlink|rmdir", WriteKind.DELETE),
        ),
        _SYSTEM,
    ),
    "lua": Language(
        ("-e",),
        "-e -l",
        "",
        ((_LUA_OPEN, WriteKind.WRITE), _call(r"os\.remove", WriteKind.DELETE)),
        re.compile(rf"\bos\.execute\s*\(\s*{_QUOTED}"),
    ),
}
ALIASES: Mapping[str, str] = {"nodejs": "node", "bun": "node", "luajit": "lua"}


def language_of(name: str) -> Language | None:
    """The interpreter a program name stands for, version suffixes ignored."""
    return LANGUAGES.get(ALIASES.get(bare_name(name), bare_name(name)))


def bare_name(name: str) -> str:
    """`perl5.36` without its version."""
    return re.sub(r"[-0-9.]+$", "", name)


def inline_source(call: Call, language: Language) -> str | None:
    """The program text on the command line or in a here-document read from standard input."""
    options = read_options(call.words, language.valued, language.optional, stop_early=True)
    texts = [word.value for word in options.values(*language.inline)]
    known = [text for text in texts if text]
    if known:
        return "\n".join(known)
    if options.operands and options.operands[0].value != "-":
        return None
    return call.heredoc


def inline_commands(call: Call) -> tuple[str, ...]:
    """Shell commands the program is seen to run."""
    language = language_of(call.name)
    source = None if language is None else inline_source(call, language)
    if language is None or source is None or language.commands is None:
        return ()
    return tuple(_quoted(match) for match in language.commands.finditer(source))


def _quoted(match: re.Match[str]) -> str:
    return next((text for text in match.groups() if text is not None), "")


def _reader(language: Language) -> Tool:
    def read(call: Call) -> Reading:
        writes: list[Write] = []
        source = inline_source(call, language)
        for expression, kind in language.writes if source else ():
            writes.extend(Write(literal(_quoted(match)), kind) for match in expression.finditer(source or ""))
        options = read_options(call.words, language.valued, language.optional, stop_early=True)
        if language.in_place and options.has("-i"):
            files = options.operands if options.has(*language.inline) else options.operands[1:]
            writes.extend(Write(word, WriteKind.EDIT) for word in files)
        return Reading(tuple(writes), opaque=True)

    return read


TABLE: Table = {name: _reader(language) for name, language in LANGUAGES.items()} | {
    alias: _reader(LANGUAGES[name]) for alias, name in ALIASES.items()
}
