"""What a request names: files and directories, symbols, provisions of a standard. Syntax only.

A path is written with a slash or an extension, or is one of the few names every build tool knows. `1.4.0` is a version,
`Encoder.encode` a symbol, `e.g.` an abbreviation, a URL no path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_KNOWN_NAMES = (
    r"(?:GNUmakefile|[Mm]akefile|README|LICENSE|LICENCE|COPYING|CHANGELOG|CONTRIBUTING|AUTHORS|NOTICE|Dockerfile|Containerfile"
    r"|Jenkinsfile|Vagrantfile|Procfile|Gemfile|Rakefile|Justfile|justfile|Kconfig|BUILD|WORKSPACE|SConstruct|SConscript)"
)
_SEGMENT = r"[\w.+@~%*?\[\]{}-]+"
_PATH = re.compile(
    r"""(?<![\w/:@.$-])(?:
        (?P<quoted>[`'"][^`'"\s]*[/.][^`'"\s]*[`'"])
      | (?P<slashed>(?:\.{1,2}/|~/|/)?(?:"""
    + _SEGMENT
    + r"""/)+(?:"""
    + _SEGMENT
    + r""")?)
      | (?P<dotted>\.?[A-Za-z_*][\w*-]*(?:\.[\w*-]+)*\.[A-Za-z*][A-Za-z0-9_*]{0,9})
      | (?P<dotfile>\.[a-z][\w-]{2,}(?:\.[\w-]+)*)
      | (?P<known>"""
    + _KNOWN_NAMES
    + r"""(?:\.[A-Za-z]+)?)
    )(?![\w/(])""",
    re.X,
)
_EXTENSIONS = frozenset(
    [
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "hh",
        "hpp",
        "hxx",
        "ino",
        "m",
        "mm",
        "s",
        "asm",
        "py",
        "pyi",
        "pyx",
        "ipynb",
        "rs",
        "go",
        "java",
        "kt",
        "kts",
        "scala",
        "clj",
        "groovy",
        "js",
        "jsx",
        "ts",
        "tsx",
        "mjs",
        "cjs",
        "vue",
        "svelte",
        "html",
        "htm",
        "css",
        "scss",
        "sass",
        "less",
        "json",
        "jsonl",
        "json5",
        "toml",
        "yaml",
        "yml",
        "ini",
        "cfg",
        "conf",
        "xml",
        "csv",
        "tsv",
        "sql",
        "md",
        "mdx",
        "rst",
        "adoc",
        "asciidoc",
        "txt",
        "tex",
        "org",
        "log",
        "sh",
        "bash",
        "zsh",
        "fish",
        "ps1",
        "bat",
        "cmd",
        "rb",
        "erb",
        "php",
        "pl",
        "pm",
        "t",
        "lua",
        "r",
        "jl",
        "hs",
        "lhs",
        "ml",
        "mli",
        "ex",
        "exs",
        "erl",
        "hrl",
        "nim",
        "zig",
        "dart",
        "swift",
        "cs",
        "fs",
        "vb",
        "d",
        "v",
        "sv",
        "vhd",
        "vhdl",
        "proto",
        "thrift",
        "graphql",
        "cmake",
        "mk",
        "make",
        "ninja",
        "bazel",
        "bzl",
        "gradle",
        "lock",
        "mod",
        "sum",
        "env",
        "service",
        "dts",
        "dtsi",
        "bb",
        "bbappend",
        "bbclass",
        "inc",
        "in",
        "am",
        "ac",
        "patch",
        "diff",
        "bin",
        "dat",
        "elf",
        "o",
        "a",
        "so",
        "dll",
        "exe",
        "img",
        "iso",
        "zip",
        "tar",
        "gz",
        "tgz",
        "bz2",
        "xz",
        "7z",
        "jar",
        "war",
        "whl",
        "pdf",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "ico",
        "wasm",
        "map",
        "spec",
        "properties",
        "template",
        "tmpl",
        "j2",
        "back",
        "orig",
        "bak",
        "pristine",
        "ld",
        "lds",
        "cu",
        "cl",
        "glsl",
    ]
)
_ABBREVIATIONS = frozenset({"e.g", "i.e", "etc", "p.ex", "c.-a-d", "a.k.a"})
_URL = re.compile(r"\b(?:https?|ssh|git|ftp|file)://\S+|\b\S+@\S+\.\w+\b")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_][\w]*(?:(?:::|\.|->)[A-Za-z_]\w*)*)\(\)")
_NAMED_SYMBOL = re.compile(
    r"\b(?:function|method|class|struct|macro|symbol|variable|constant|enum|fonction|méthode|methode|classe|structure)\s+"
    r"[`'\"]?([A-Za-z_]\w*(?:(?:::|\.)\w+)*)[`'\"]?"
)
_MEMBER = re.compile(r"(?<![\w./])([A-Z]\w*(?:(?:::|\.)[a-z_]\w*)+)(?![\w/(])")
_SNAKE = re.compile(r"(?<![\w./-])([A-Za-z]\w*_\w+)(?![\w./-])")
_PROVISION = re.compile(
    r"""(?<!\w)(?:
        (?:§{1,2}\s?(?:[A-Z]\.?)?\d+(?:\.\d+)*(?:-\d+)?)
      | (?:(?:rules?|requirements?|recommendations?|permissions?|observations?|sections?|clauses?|articles?|annex(?:e)?|appendix|paragraphs?
           |r[èe]gles?|exigences?|recommandations?|paragraphes?|chapters?|chapitres?|table|tableau|figure)
         \s(?:[A-Z]\.?)?\d+(?:\.\d+)*(?:-\d+)?(?![\w.]*\w))
      | (?:(?:annex(?:e)?|appendix)\s[A-Z](?:\.\d+)*\b)
    )""",
    re.X | re.I,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One named thing: its text and where it stands in the request."""

    text: str
    start: int
    end: int


def paths(text: str) -> tuple[Mention, ...]:
    """Every file or directory named, in order. Trailing punctuation and quotes are not part of the name."""
    blanked = _URL.sub(lambda m: " " * len(m.group()), text)
    found: list[Mention] = []
    for match in _PATH.finditer(blanked):
        raw, start = match.group(), match.start()
        if match.lastgroup == "quoted":
            raw, start = raw[1:-1], start + 1
        trimmed = raw.rstrip(".,;:!?")
        if _is_path(trimmed, match.lastgroup or ""):
            found.append(Mention(_normal(trimmed), start, start + len(trimmed)))
    return tuple(found)


def _is_path(text: str, form: str) -> bool:
    if not text or text.lower() in _ABBREVIATIONS or text.strip("./") == "":
        return False
    last = text.rstrip("/").rsplit("/", 1)[-1]
    extension = last.rsplit(".", 1)[-1].lower() if "." in last else ""
    match form:
        case "known" | "dotfile":
            return True
        case "slashed":
            return _is_slashed_path(text, extension)
        case _:
            return extension in _EXTENSIONS and not re.fullmatch(r"[\d.]+", text)


def _is_slashed_path(text: str, extension: str) -> bool:
    if re.fullmatch(r"[\d/.]+", text):  # 24/7, 1/2
        return False
    if text.endswith("/") or text.startswith(("/", "./", "../", "~/")) or extension in _EXTENSIONS:
        return True
    parts = [p for p in text.split("/") if p]
    # "and/or", "read/write": two plain words are prose; a path has a depth, a digit, an underscore or a glob
    return len(parts) > 2 or bool(re.search(r"[\d_*.]", text)) or parts[0] in _COMMON_DIRECTORIES


_COMMON_DIRECTORIES = frozenset(
    [
        "src",
        "lib",
        "libs",
        "app",
        "apps",
        "test",
        "tests",
        "doc",
        "docs",
        "script",
        "scripts",
        "include",
        "tools",
        "bin",
        "pkg",
        "cmd",
        "internal",
        "examples",
        "packages",
        "crates",
        "bench",
    ]
)


def _normal(text: str) -> str:
    while text.startswith("./"):
        text = text[2:]
    return text.removeprefix("/workspace/")


def symbols(text: str) -> tuple[Mention, ...]:
    """Functions, methods, classes named as code: `f()`, `function f`, `Type.member`, snake_case words."""
    taken = [(m.start, m.end) for m in paths(text)]
    found: dict[str, Mention] = {}
    for pattern in (_CALL, _NAMED_SYMBOL, _MEMBER, _SNAKE):
        for match in pattern.finditer(text):
            inside = any(start <= match.start(1) < end for start, end in taken)
            if not inside and match.group(1) not in found:
                found[match.group(1)] = Mention(match.group(1), match.start(), match.end())
    return tuple(sorted(found.values(), key=lambda m: m.start))


def provisions(text: str) -> tuple[Mention, ...]:
    """Labels of provisions: `Rule 7.1-3`, `§4.2`, `clause 5.3`, `règle 4.2.1-2`."""
    return tuple(Mention(m.group().strip(), m.start(), m.end()) for m in _PROVISION.finditer(text))
