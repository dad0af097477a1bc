"""Python programs given inline: the files they open for writing, and the commands they run, read from their syntax."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spear.shell.options import read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import UNKNOWN, Call, Reading, Table, Write, WriteKind, literal

NAMES = re.compile(r"(?:python|pypy)[0-9.]*")
_VALUED = "-c -m -W -X --check-hash-based-pycs"
_PATH_METHODS = {
    "write_text": WriteKind.WRITE,
    "write_bytes": WriteKind.WRITE,
    "touch": WriteKind.CREATE,
    "unlink": WriteKind.DELETE,
    "rmdir": WriteKind.DELETE,
    "mkdir": WriteKind.MKDIR,
    "chmod": WriteKind.MODE,
}
_FIRST_ARGUMENT = {
    "os.remove": WriteKind.DELETE,
    "os.unlink": WriteKind.DELETE,
    "os.rmdir": WriteKind.DELETE,
    "os.removedirs": WriteKind.DELETE,
    "os.mkdir": WriteKind.MKDIR,
    "os.makedirs": WriteKind.MKDIR,
    "os.truncate": WriteKind.TRUNCATE,
    "os.chmod": WriteKind.MODE,
    "os.mkfifo": WriteKind.CREATE,
    "shutil.rmtree": WriteKind.DELETE,
}
_SECOND_ARGUMENT = {
    "shutil.copy": WriteKind.WRITE,
    "shutil.copy2": WriteKind.WRITE,
    "shutil.copyfile": WriteKind.WRITE,
    "shutil.copytree": WriteKind.WRITE,
    "os.symlink": WriteKind.LINK,
    "os.link": WriteKind.LINK,
}
_BOTH_ARGUMENTS = frozenset({"shutil.move", "os.rename", "os.replace", "os.renames"})
_SHELL_CALLS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_PROCESS_CALLS = frozenset(
    {"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen"}
)
_MODULES = frozenset({"os", "shutil", "subprocess", "io", "pathlib"})
_TREES = frozenset({"shutil.rmtree", "shutil.copytree"})


@dataclass(frozen=True, slots=True)
class Program:
    """What a program was seen to do. Commands are shell text; what was not seen may still happen."""

    writes: tuple[Write, ...] = ()
    commands: tuple[str, ...] = ()


def python_source(call: Call) -> str | None:
    """The inline program of a python command line: `-c TEXT`, or a here-document read from standard input."""
    options = read_options(call.words, _VALUED, stop_early=True)
    text = next(iter(options.values("-c")), None)
    if text is not None:
        return text.value
    if options.has("-m") or (options.operands and options.operands[0].value != "-"):
        return None
    return call.heredoc


def read_program(source: str) -> Program:
    """Read a program; an unreadable one shows nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Program()
    reader = _Reader(tree)
    try:
        writes = tuple(reader.writes())
        return Program(writes, tuple(reader.commands()))
    except RecursionError:
        return Program()


class _Reader:
    """Reads one module: names bound once to a literal are known, everything else is not."""

    def __init__(self, tree: ast.Module) -> None:
        self._calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self._names: dict[str, str | None] = {}
        self._imports: dict[str, str] = {}
        for node in ast.walk(tree):
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                text = self._text(value)
                self._names[name] = text if name not in self._names else None
            case ast.For(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                self._names[name] = None
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    self._imports[alias.asname or alias.name] = f"{module}.{alias.name}"
            case ast.Import(names=names):
                for alias in names:
                    self._imports[alias.asname or alias.name] = alias.name

    def writes(self) -> Iterator[Write]:
        """Every destination, in source order as far as it can be told."""
        for call in self._calls:
            name = self._name(call.func)
            tree = name in _TREES
            if name in ("open", "io.open", "codecs.open", "os.open"):
                yield from self._opened(name, call.args, call.keywords)
            elif name in _FIRST_ARGUMENT and call.args:
                yield Write(self._word(call.args[0]), _FIRST_ARGUMENT[name], tree=tree)
            elif name in _SECOND_ARGUMENT and len(call.args) > 1:
                yield Write(self._word(call.args[1]), _SECOND_ARGUMENT[name], tree=tree, into=self._base(call.args[0]))
            elif name in _BOTH_ARGUMENTS and len(call.args) > 1:
                yield Write(self._word(call.args[0]), WriteKind.DELETE, tree=True)
                yield Write(self._word(call.args[1]), into=self._base(call.args[0]))
            elif isinstance(call.func, ast.Attribute):
                yield from self._method(call.func, call)

    def _method(self, function: ast.Attribute, call: ast.Call) -> Iterator[Write]:
        if self._is_module(function.value):
            return
        if function.attr in _PATH_METHODS and self._is_path(function.value):
            yield Write(self._word(function.value), _PATH_METHODS[function.attr])
        elif function.attr == "open" and self._is_path(function.value):
            yield from self._opened("open", [function.value, *call.args], call.keywords)
        elif function.attr in ("rename", "replace") and len(call.args) == 1 and self._is_path(function.value):
            yield Write(self._word(function.value), WriteKind.DELETE)
            yield Write(self._word(call.args[0]))

    def _opened(self, name: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Iterator[Write]:
        given = {keyword.arg: keyword.value for keyword in keywords}
        path = arguments[0] if arguments else given.get("file")
        mode = arguments[1] if len(arguments) > 1 else given.get("mode")
        if path is None or mode is None:
            return
        if name == "os.open":
            flags = ast.unparse(mode)
            if any(flag in flags for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")):
                yield Write(self._word(path))
            return
        text = self._text(mode)
        if text is None:
            yield Write(UNKNOWN)
        elif any(letter in text for letter in "wax+"):
            yield Write(self._word(path))

    def commands(self) -> Iterator[str]:
        """Shell commands whose text can be read."""
        for call in self._calls:
            name = self._name(call.func)
            if name not in _SHELL_CALLS | _PROCESS_CALLS or not call.args:
                continue
            first = call.args[0]
            if isinstance(first, ast.List | ast.Tuple):
                texts = [self._text(item) for item in first.elts]
                known = [text for text in texts if text is not None]
                if known and len(known) == len(texts):
                    yield shlex.join(known)
            else:
                text = self._text(first)
                if text is not None:
                    yield text

    def _name(self, function: ast.expr) -> str:
        match function:
            case ast.Name(id=name):
                return self._imports.get(name, name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return f"{self._imports.get(name, name)}.{attribute}"
            case ast.Attribute(value=ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name))])):
                return f"{name}.{function.attr}"
            case _:
                return ""

    def _is_module(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self._imports.get(node.id, "") in _MODULES

    def _is_path(self, node: ast.expr) -> bool:
        """Whether a method's object can be taken for a path: `Path("x")`, or a name bound to one."""
        return self._text(node) is not None or "Path(" in ast.unparse(node)

    def _text(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=bytes(data)):
                return data.decode("utf-8", "replace")
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.Call(func=function, args=[first]) if self._name(function).rsplit(".", 1)[-1] == "Path":
                return self._text(first)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._combined(left, right, "/")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._combined(left, right, "")
            case ast.Call(func=function, args=parts) if self._name(function) == "os.path.join" and parts:
                texts = [self._text(part) for part in parts]
                known = [text for text in texts if text is not None]
                return "/".join(known) if len(known) == len(texts) else None
            case _:
                return None

    def _combined(self, left: ast.expr, right: ast.expr, between: str) -> str | None:
        first, second = self._text(left), self._text(right)
        return None if first is None or second is None else first + between + second

    def _word(self, node: ast.expr) -> Word:
        text = self._text(node)
        return UNKNOWN if text is None else literal(text)

    def _base(self, node: ast.expr) -> tuple[str, ...]:
        text = self._text(node)
        name = (text or "").rstrip("/").rsplit("/", 1)[-1]
        return (name,) if name else ()


def read_python(call: Call) -> Reading:
    """A python command line: what its inline program was seen to write. Always opaque: a program may do more."""
    source = python_source(call)
    return Reading(read_program(source).writes if source else (), opaque=True)


TABLE: Table = {"python": read_python}
