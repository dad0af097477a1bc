"""sed: a small tokenizer for its scripts, because regular expressions look like everything else."""

from __future__ import annotations

from dataclasses import dataclass

from spear.shell.options import Options, read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import Call, Reading, Table, WriteKind, Writes, literal

_VALUED = "-e --expression -f --file -l --line-length"
_OPTIONAL = "-i --in-place"
_FLAGS = (
    "--quiet --silent --regexp-extended --separate --null-data --debug --posix --follow-symlinks --sandbox --unbuffered"
)


@dataclass(frozen=True, slots=True)
class SedEffects:
    """Files a sed script writes (`w`, `s///w`) and shell commands it runs (`e`); `unsure` when it cannot be read.

    A command of None is made from the input (`s///e`, a bare `e`).
    """

    files: tuple[str, ...] = ()
    commands: tuple[str | None, ...] = ()
    unsure: bool = False


def sed_script(text: str) -> SedEffects:
    """Read a sed script."""
    return _Tokenizer(text).read()


class _Tokenizer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._files: list[str] = []
        self._commands: list[str | None] = []

    def read(self) -> SedEffects:
        while self._at < len(self._text):
            self._skip(" \t\n;")
            if self._at >= len(self._text):
                break
            if not self._addresses() or not self._command():
                return SedEffects(tuple(self._files), tuple(self._commands), unsure=True)
        return SedEffects(tuple(self._files), tuple(self._commands))

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, characters: str) -> None:
        while self._peek() and self._peek() in characters:
            self._at += 1

    def _line(self) -> str:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        line, self._at = self._text[self._at : end], end
        return line.strip()

    def _pattern(self, delimiter: str) -> bool:
        """Skip a regular expression and its delimiter, which brackets shield; false when it does not end."""
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "\\":
                self._at += 1
            elif character == delimiter:
                self._at += 1
                return True
            elif character == "[":
                end = self._text.find("]", self._at + (3 if self._text[self._at + 1 : self._at + 2] == "^" else 2))
                self._at = end if end > 0 else self._at
            self._at += 1
        return False

    def _replacement(self, delimiter: str) -> bool:
        """Skip a replacement and its delimiter; false when it does not end."""
        while self._at < len(self._text):
            character = self._text[self._at]
            self._at += 2 if character == "\\" else 1
            if character == delimiter:
                return True
        return False

    def _addresses(self) -> bool:
        while True:
            character = self._peek()
            if character and character in "0123456789$":
                self._skip("0123456789$~+")
            elif character == "/":
                self._at += 1
                if not self._pattern("/"):
                    return False
                self._skip("IM")
            elif character == "\\":
                delimiter = self._text[self._at + 1 : self._at + 2]
                self._at += 2
                if not delimiter or not self._pattern(delimiter):
                    return False
                self._skip("IM")
            else:
                break
            self._skip(" \t")
            if self._peek() != ",":
                break
            self._at += 1
            self._skip(" \t~+")
        self._skip(" \t!")
        return True

    def _command(self) -> bool:
        command = self._peek()
        self._at += 1
        if command in ("s", "y"):
            return self._substitution(command)
        if command in ("w", "W"):
            self._files.append(self._line())
        elif command == "e":
            self._commands.append(self._line() or None)
        elif command in ("a", "i", "c"):
            self._inserted()
        elif command in ("r", "R", "b", "t", "T", ":", "#"):
            self._line_or_semicolon(command)
        elif command not in "{}=dDgGhHlnNpPqQxzFv":
            return False
        else:
            self._skip("0123456789 ")
        return True

    def _line_or_semicolon(self, command: str) -> None:
        if command in "btT":
            while self._peek() and self._peek() not in "\n;}":
                self._at += 1
        else:
            self._line()

    def _inserted(self) -> None:
        """Text of a, i, c: to the end of the line, continued by a backslash."""
        while True:
            line = self._line()
            if not line.endswith("\\") or self._at >= len(self._text):
                return
            self._at += 1

    def _substitution(self, command: str) -> bool:
        delimiter = self._peek()
        self._at += 1
        if not delimiter or delimiter in "\\\n":
            return False
        first = self._pattern if command == "s" else self._replacement
        if not first(delimiter) or not self._replacement(delimiter):
            return False
        while command == "s" and self._peek() and self._peek() in "gpeimIM0123456789":
            if self._peek() == "e":
                self._commands.append(None)
            self._at += 1
        if command == "s" and self._peek() == "w":
            self._at += 1
            self._files.append(self._line())
        return True


def sed_options(words: tuple[Word, ...]) -> Options:
    """sed's command line."""
    return read_options(words, _VALUED, _OPTIONAL, _FLAGS)


def sed_effects(words: tuple[Word, ...]) -> SedEffects:
    """What the scripts on sed's command line do."""
    options = sed_options(words)
    scripts = list(options.values("-e", "--expression"))
    if not scripts and not options.has("-f", "--file"):
        scripts = list(options.operands[:1])
    texts = [word.value for word in scripts]
    known = [text for text in texts if text is not None]
    effects = sed_script("\n".join(known))
    unsure = effects.unsure or len(known) != len(texts) or options.has("-f", "--file")
    return SedEffects(effects.files, effects.commands, unsure)


def _sed(call: Call) -> Reading:
    options = sed_options(call.words)
    effects = sed_effects(call.words)
    scripted = options.has("-e", "--expression", "-f", "--file")
    files = options.operands if scripted else options.operands[1:]
    found = Writes()
    if options.has("-i", "--in-place"):
        found.add(files, WriteKind.EDIT)
        found.add(_backups(files, options.last("-i", "--in-place")), WriteKind.BUILD)
    found.add(literal(name) for name in effects.files if name not in ("/dev/stdout", "/dev/stderr", ""))
    return found.reading(opaque=effects.unsure or None in effects.commands)


def _backups(files: tuple[Word, ...], suffix: Word | None) -> list[Word]:
    """The copies `-i.bak` keeps beside the files."""
    text = "" if suffix is None or suffix.value is None else suffix.value
    if not text or "*" in text or "/" in text:
        return []
    return [Word(word.value + text, word.raw, word.glob) for word in files if word.value is not None]


TABLE: Table = {"sed": _sed, "gsed": _sed, "ssed": _sed}
