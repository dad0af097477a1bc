"""Completion scripts for bash, zsh and fish, written from the tables of options and subcommands.

The scripts are static: completing starts no `spear-chat`.
"""

from __future__ import annotations

from spear.cli.option import DIRECTORY, FILE, Command, Option, Positional
from spear.cli.options import global_options

SHELLS = ("bash", "zsh", "fish")


def script(shell: str, commands: tuple[Command, ...]) -> str:
    """The completion script of one of `SHELLS` for these subcommands."""
    match shell:
        case "bash":
            return _bash(commands)
        case "zsh":
            return _zsh(commands)
        case "fish":
            return _fish(commands)
    raise ValueError(f"no completion for {shell}")


def _paths(commands: tuple[Command, ...]) -> list[tuple[str, Command]]:
    """Every subcommand with its path: `audit`, `audit/verify`."""
    found = []
    for command in commands:
        found.append((command.name, command))
        found += [(f"{command.name}/{action.name}", action) for action in command.actions]
    return found


def _options_of(command: Command) -> list[Option]:
    if command.free:
        return []
    return [*command.options, *(option for option in global_options() if option.key in command.shared)]


def _words(options: list[Option] | tuple[Option, ...]) -> list[str]:
    words = [name for option in options for name in option.names]
    return [*words, "--help"]


def _values(options: list[Option]) -> dict[str, tuple[str, ...] | str]:
    """What follows each flag that takes a value: its choices, or the kind of path."""
    return {
        name: option.choices or (option.kind if option.kind in (FILE, DIRECTORY) else ())
        for option in options
        if option.takes_value
        for name in option.names
    }


def _every_value(commands: tuple[Command, ...]) -> dict[str, tuple[str, ...] | str]:
    values = _values(list(global_options()))
    for _, command in _paths(commands):
        values |= _values(list(command.options))
    return values


def _next_words(command: Command) -> list[str]:
    """Plain words that may follow a subcommand: its actions, or the choices of its first word."""
    first: tuple[Positional, ...] = command.positionals[:1]
    return [action.name for action in command.actions] + [choice for word in first for choice in word.choices]


def _bash(commands: tuple[Command, ...]) -> str:
    lines = [
        "# bash completion for spear-chat",
        "_spear_chat() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" path="" word i words',
        "    COMPREPLY=()",
        '    case "$prev" in',
    ]
    for name, values in _every_value(commands).items():
        match values:
            case "file":
                reply = 'COMPREPLY=($(compgen -f -- "$cur"))'
            case "directory":
                reply = 'COMPREPLY=($(compgen -d -- "$cur"))'
            case _:
                reply = f'COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$cur"))' if values else ":"
        lines.append(f"        {name}) {reply}; return ;;")
    lines += ["    esac", "    for ((i = 1; i < COMP_CWORD; i++)); do", '        word="${COMP_WORDS[i]}"']
    lines.append('        case "$path/$word" in')
    for path, _ in _paths(commands):
        lines.append(f'            {"/" + path if "/" not in path else path}) path="{path}" ;;')
    lines += ["        esac", "    done", '    case "$path" in']
    top = [*_words(global_options()), "--version", *(command.name for command in commands)]
    lines.append(f'        "") words="{" ".join(top)}" ;;')
    for path, command in _paths(commands):
        lines.append(f'        {path}) words="{" ".join([*_next_words(command), *_words(_options_of(command))])}" ;;')
    lines += [
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o default -F _spear_chat spear-chat",
    ]
    return "\n".join(lines) + "\n"


def _zsh_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_options(options: list[Option] | tuple[Option, ...]) -> list[str]:
    specs = []
    for option in options:
        action = ""
        if option.takes_value:
            values = (
                f"({' '.join(option.choices)})"
                if option.choices
                else {FILE: "_files", DIRECTORY: "_files -/"}.get(option.kind, " ")
            )
            action = f"{'::' if option.optional else ':'}{option.metavar or 'value'}:{values}"
        for name in option.names:
            specs.append(f"'*{name}[{_zsh_text(option.help)}]{action}'")
    specs.append("'--help[show help]'")
    return specs


def _zsh_arguments(command: Command) -> list[str]:
    specs = _zsh_options(_options_of(command))
    for positional in command.positionals:
        values = (
            f"({' '.join(positional.choices)})" if positional.choices else "_files" if positional.kind == FILE else " "
        )
        specs.append(f"'*:{positional.name}:{values}'")
    return specs


def _zsh_branch(commands: tuple[Command, ...], indent: str, depth: int) -> list[str]:
    lines = []
    for command in commands:
        lines.append(f"{indent}{command.name})")
        if command.actions:
            described = " ".join(f"'{a.name}:{_zsh_text(a.help)}'" for a in command.actions)
            lines.append(
                f"{indent}    if (( CURRENT == 2 )); then local -a actions=({described}); _describe action actions"
            )
            lines.append(f"{indent}    else shift words; (( CURRENT-- )); case $words[1] in")
            lines += _zsh_branch(command.actions, indent + "        ", depth + 1)
            lines.append(f"{indent}    esac; fi ;;")
        elif command.free:
            lines.append(f"{indent}    _files ;;")
        else:
            lines.append(f"{indent}    _arguments {' '.join(_zsh_arguments(command))} ;;")
    return lines


def _zsh(commands: tuple[Command, ...]) -> str:
    described = " ".join(f"'{command.name}:{_zsh_text(command.help)}'" for command in commands)
    specs = " ".join([*_zsh_options(global_options()), "'--version[show the version]'"])
    lines = [
        "#compdef spear-chat",
        "_spear_chat() {",
        "    local curcontext=$curcontext state line",
        f"    _arguments -C {specs} '1: :->command' '*:: :->rest'",
        "    case $state in",
        f"        command) local -a commands=({described}); _describe command commands ;;",
        "        rest) case $words[1] in",
        *_zsh_branch(commands, "            ", 0),
        "        esac ;;",
        "    esac",
        "}",
        'if [ "$funcstack[1]" = "_spear_chat" ]; then _spear_chat "$@"; else compdef _spear_chat spear-chat; fi',
    ]
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _fish_option(option: Option, condition: str) -> str:
    flags = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = ""
    if option.takes_value:
        value = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -r" if option.kind == FILE else " -x"
        value = " -x -a '(__fish_complete_directories)'" if option.kind == DIRECTORY else value
    return f"complete -c spear-chat {condition} {flags}{value} -d '{_fish_text(option.help)}'"


def _fish(commands: tuple[Command, ...]) -> str:
    names = " ".join(command.name for command in commands)
    top = f"-n 'not __fish_seen_subcommand_from {names}'" if names else ""
    lines = ["# fish completion for spear-chat", "complete -c spear-chat -f"]
    lines += [_fish_option(option, top) for option in global_options()]
    lines.append(f"complete -c spear-chat {top} -l version -d 'show the version'")
    lines.append("complete -c spear-chat -s h -l help -d 'show help'")
    for command in commands:
        lines.append(f"complete -c spear-chat {top} -a {command.name} -d '{_fish_text(command.help)}'")
        seen = f"__fish_seen_subcommand_from {command.name}"
        for action in command.actions:
            others = " ".join(other.name for other in command.actions)
            first = f"-n '{seen}; and not __fish_seen_subcommand_from {others}'"
            lines.append(f"complete -c spear-chat {first} -a {action.name} -d '{_fish_text(action.help)}'")
            inside = f"-n '{seen}; and __fish_seen_subcommand_from {action.name}'"
            lines += [_fish_option(option, inside) for option in _options_of(action)]
        if not command.actions:
            lines += [_fish_option(option, f"-n '{seen}'") for option in _options_of(command)]
            for choice in _next_words(command):
                lines.append(f"complete -c spear-chat -n '{seen}' -a {choice}")
    return "\n".join(lines) + "\n"
