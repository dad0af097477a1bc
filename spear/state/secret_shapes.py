"""What secrets look like in text: names that promise one, shapes that are one, and what only looks like one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

MARKER = "[redacted]"
"""What stands where a secret stood."""

_WORDS = (
    r"api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|encryption[_-]?key"
    r"|signing[_-]?key|shared[_-]?key|master[_-]?key|secret|token|passwd|password|passphrase|[_-]pwd|[_-]pass"
    r"|credentials?|authorization"
)
_NAME = re.compile(rf"(?i)(?:.*[^a-z])?(?:{_WORDS})|.*(?:{_WORDS})", re.DOTALL)
_ENVIRONMENT_NAME = re.compile(r"[A-Z0-9_]*(?:KEY|PASS|AUTH|COOKIE|_PAT|_DSN)")

FLAG = re.compile(
    r"--?(?:[a-z0-9]+-)*(?:api-?key|access-?key|secret-?key|private-?key|auth-?key|token|secret|password|passwd"
    r"|passphrase|pass|credentials?|bearer|pat)"
)
"""A command-line flag whose next word is a secret."""

_PLACEHOLDER = re.compile(
    r"""(?ix)
      <.*> | \[.*\] | \{.*\} | \$[a-z_{(].* | `.* | %[(a-z].* | @.* | \*+ | \.{3}.* | …+ | x{3,}.* | -+   # stand-ins
    | (?:true|false|yes|no|on|off|none|null|nil|undefined|0|1)
    | (?:your|my|the|some|change|replace|insert|enter|example|sample|dummy|fake|placeholder|todo|redacted)
      (?:[-_ ].*|me|_?it)?
    """,
    re.DOTALL,
)
_CODE = re.compile(
    r"""(?ix)
      [a-z_&][\w.:>&'-]*[\[({?].*                                                     # a call, an index, a generic
    | (?:os|process|self|this|config|settings|env|args|options|opts|cfg|request|ctx|context)\..*
    | &?(?:str|string|bytes|bool|int|optional|any|object|number|char|secretstr)
    """,
    re.DOTALL,
)
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.@+/-]*")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


@lru_cache(1024)
def names_a_secret(name: str) -> bool:
    """Whether a variable, key or header of this name holds a secret (`API_TOKEN`, `db_password`, `KEY`)."""
    return bool(_NAME.fullmatch(name) or _ENVIRONMENT_NAME.fullmatch(name)) or name.lower() in _HEADERS


def is_placeholder(name: str, value: str) -> bool:
    """Whether `value` only stands where a secret would: empty, a reference, a path, a word for one, its own name."""
    bare = name.strip("-").lower().replace("-", "_")
    same = value.lower().replace("-", "_")
    return not same or bool(_PLACEHOLDER.fullmatch(value)) or bare == same or bare.endswith(f"_{same}") or _path(value)


def _path(value: str) -> bool:
    """Whether `value` is a file's name; a long mixture of cases and digits with slashes is base64."""
    if not _PATH.fullmatch(value):
        return False
    return not (len(value) >= 40 and "." not in value and _has_digit(value) and value.lower() != value != value.upper())


def _has_digit(value: str) -> bool:
    return any(character.isdigit() for character in value)


def _looks_random(value: str) -> bool:
    """Whether an unquoted value in something like code is data and not a name: letters and digits mixed."""
    return len(value) >= 6 and _has_digit(value) and any(character.isalpha() for character in value)


_HEADERS = frozenset({"cookie", "set-cookie", "x-api-key", "x-auth-token", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape: `apply` is tried only where one of the `triggers` occurs, in lower case unless `exact`."""

    triggers: tuple[str, ...]
    apply: Callable[[str], str]
    exact: bool = False


_TOKENS = re.compile(
    r"""(?x)(?<![A-Za-z0-9_-])(?:
      sk-(?:(?=[\w-]*\d)[\w-]{16,}|[\w-]*[A-Za-z0-9]{20,}[\w-]*)
    | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,} | whsec_[A-Za-z0-9+/=]{16,}
    | gh[opusr]_[A-Za-z0-9]{16,} | github_pat_\w{20,} | glpat-[\w-]{16,} | gl(?:dt|rt|ft|cbt|ptt|soat|imt)-[\w-]{16,}
    | xox[a-z]-[\w-]{10,} | xapp-[\w-]{20,}
    | (?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}
    | AIza[\w-]{30,} | ya29\.[\w.-]{20,} | GOCSPX-[\w-]{20,}
    | hf_[A-Za-z0-9]{16,} | npm_[A-Za-z0-9]{20,} | pypi-[\w-]{30,} | dckr_pat_[\w-]{20,}
    | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,} | nvapi-[\w-]{20,} | r8_[A-Za-z0-9]{20,}
    | SG\.[\w-]{16,}\.[\w-]{16,} | shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32} | do[opr]_v1_[a-f0-9]{32,}
    | lin_api_[A-Za-z0-9]{20,} | glsa_\w{20,} | hv[sb]\.[\w-]{20,} | sntrys_[\w=+/-]{20,} | tskey-[\w-]{16,}
    | AGE-SECRET-KEY-1[A-Z0-9]{40,} | \d{8,10}:AA[\w-]{32,}
    | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*
    )"""
)
_TOKEN_TRIGGERS = (
    *("sk-", "sk_", "rk_", "pk_", "whsec_", "gho_", "ghp_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
    *("gldt-", "glrt-", "glft-", "glcbt-", "glptt-", "glsoat-", "glimt-", "xapp-", "AKIA", "ASIA", "ABIA", "ACCA"),
    *("AIza", "ya29.", "GOCSPX-", "hf_", "npm_", "pypi-", "dckr_pat_", "gsk_", "xai-", "pplx-", "nvapi-", "r8_", "SG."),
    *("shpat_", "shpca_", "shppa_", "shpss_", "_v1_", "lin_api_", "glsa_", "hvs.", "hvb.", "sntrys_", "tskey-"),
    *("AGE-SECRET-KEY-", ":AA", "eyJ"),
)

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)

_HEADER = re.compile(
    r"""(?ix)
    \b((?:proxy-)?authorization|x-api-key|x-auth-token)
    (["']?\s{0,8}:\s{0,8}["']?|["']?\s{0,8}=\s{0,8}["'])
    (?: ((?:bearer|basic|token|apikey|negotiate|ntlm)\s+)? ((?!(?:digest|aws4|bearer|basic|token)\b)[^\s"'\\]+)
      | (digest\s+|aws4-hmac-sha256\s+) ([^'\r\n]+) )
    """
)
_COOKIE = re.compile(r"""(?i)\b((?:set-)?cookie["']?\s{0,8}:\s{0,8}["']?)([^\s"'][^"'\r\n]*)""")
_BEARER = re.compile(r"(?i)\b(bearer\s+)((?=[\w.~+/-]*\d)[\w.~+/-]{12,}=*)")

_URL = re.compile(r"""(?i)(?<![a-z0-9])([a-z][a-z0-9+.-]{0,20}://)([^\s/:@"'<>]{0,200}):([^\s/"'<>]{1,500})@""")
_URL_TOKEN = re.compile(r"""(?i)(?<![a-z0-9])([a-z][a-z0-9+.-]{0,20}://)([^\s/:@"'<>]{20,500})@""")
_CURL_USER = re.compile(r"""(\s(?:-u|--user|--proxy-user)(?:\s*|=)["']?)([^\s:"']+:)([^\s"']+)""")
_CLIENT = re.compile(
    r"""(\b(?:sshpass\s+-p\s*|(?:mysql\w*|mariadb\w*)\b[^\n|;&]{0,300}?\s-p)["']?)([^\s"'-][^\s"']*)"""
)

_VALUE = (
    r"""(?P<value>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\\"[^"\\\n]*\\"|[^\s"'`,;&|<>(){}\[\]\\]+[^\s"'`,;&|<>\\]*)"""
)
_FLAG_VALUE = re.compile(rf"(?<![\w-])(?P<name>{FLAG.pattern})(?P<mark>=|\s+)(?!-){_VALUE}")
_ASSIGNMENT = re.compile(
    rf"""(?P<name>[A-Za-z0-9_.-]*(?:(?i:{_WORDS})|(?<![a-z])(?:KEY|AUTH|PASS|COOKIE|_PAT|_DSN)))"""
    rf"""(?![A-Za-z0-9])(?P<mark>\\{{0,3}}["']?\s{{0,20}}(?::=|=>|[:=])[ \t]*){_VALUE}"""
)
_ASSIGNED = re.compile(
    r"""(?:key|token|secret|passwd|password|passphrase|pass|pwd|credential|authorization|auth|cookie|_pat|_dsn)"""
    r"""s?\\{0,3}["']?\s{0,20}[:=]"""
)
"""The least an assignment has in lower case: cheap to look for, unlike the name in front of it."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def _substitute(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str] | str) -> Callable[[str], str]:
    def apply(text: str) -> str:
        return pattern.sub(replacement, text)

    return apply


def _assignments(text: str) -> str:
    """Assignments to names that promise a secret, each looked at from the beginning of its name."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose lower case is longer: positions would not agree
        lowered = "".join(lower if len(lower := character.lower()) == 1 else character for character in text)
    pieces, done = [], 0
    for found in _ASSIGNED.finditer(lowered):
        start = found.start()
        if start < done:
            continue
        while start > done and text[start - 1] in _NAME_CHARACTERS:
            start -= 1
        match = _ASSIGNMENT.match(text, start)
        if match:
            pieces += [text[done:start], _assignment(match)]
            done = match.end()
    return "".join((*pieces, text[done:])) if pieces else text


def _header(match: re.Match[str]) -> str:
    name, mark, scheme, token, long_scheme, rest = match.groups()
    value = token or rest
    if is_placeholder(name, value):
        return match[0]
    return f"{name}{mark}{scheme or long_scheme or ''}{MARKER}"


def _url(match: re.Match[str]) -> str:
    return match[0] if is_placeholder("", match[3]) else f"{match[1]}{match[2]}:{MARKER}@"


def _url_token(match: re.Match[str]) -> str:
    return f"{match[1]}{MARKER}@" if _looks_random(match[2]) else match[0]


def _curl_user(match: re.Match[str]) -> str:
    return match[0] if is_placeholder("", match[3]) else f"{match[1]}{match[2]}{MARKER}"


def _flag(match: re.Match[str]) -> str:
    name, mark, value = match["name"], match["mark"], match["value"]
    if is_placeholder(name, _unquoted(value)) or (value.isupper() and value.isalpha()):
        return match[0]
    return f"{name}{mark}{_masked(value)}"


def _assignment(match: re.Match[str]) -> str:
    name, mark, value = match["name"], match["mark"], match["value"]
    inner = _unquoted(value)
    shell = mark == "=" and name.isupper()
    password = "pass" in name.lower() or name.lower().endswith("pwd")
    if is_placeholder(name, inner):
        return match[0]
    if inner != value:  # quoted: data, unless it is a sentence about a secret
        keep = bool(re.search(r"\s", inner)) and not (shell or password)
    elif shell:
        keep = bool(re.match(r"[A-Za-z_][\w.]*[(\[]", value))
    else:
        keep = bool(_CODE.fullmatch(value)) or not (
            _looks_random(value) or (password and (_has_digit(value) or not _IDENTIFIER.fullmatch(value)))
        )
    return match[0] if keep else f"{name}{mark}{_masked(value)}"


def _quotes(value: str) -> int:
    """How many characters of quotation open (and close) a value."""
    if value.startswith('\\"'):
        return 2
    return 1 if value[0] in "\"'" else 0


def _unquoted(value: str) -> str:
    width = _quotes(value)
    return value[width : len(value) - width]


def _masked(value: str) -> str:
    quote = value[: _quotes(value)]
    return f"{quote}{MARKER}{quote}"


RULES = (
    Rule(("private key",), _substitute(_PRIVATE_KEY, MARKER)),
    Rule(_TOKEN_TRIGGERS, _substitute(_TOKENS, MARKER), exact=True),
    Rule(("authorization", "x-api-key", "x-auth-token"), _substitute(_HEADER, _header)),
    Rule(("cookie",), _substitute(_COOKIE, rf"\g<1>{MARKER}")),
    Rule(("bearer",), _substitute(_BEARER, rf"\g<1>{MARKER}")),
    Rule(("://",), _substitute(_URL, _url)),
    Rule(("://",), _substitute(_URL_TOKEN, _url_token)),
    Rule(("curl", "wget", "http"), _substitute(_CURL_USER, _curl_user)),
    Rule(("sshpass", "mysql", "mariadb"), _substitute(_CLIENT, rf"\g<1>{MARKER}")),
    Rule(("-",), _substitute(_FLAG_VALUE, _flag)),
    Rule(("key", "secret", "token", "pass", "pwd", "credential", "auth", "cookie", "_pat", "_dsn"), _assignments),
)
"""Every shape, in the order they are applied."""
