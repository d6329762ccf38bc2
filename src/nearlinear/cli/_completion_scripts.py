"""The scripts that shells read to complete the ``nearlinear`` command."""

import re

_BASH = """\
_nearlinear() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options words
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=( $(compgen -W "{commands}" -- "$word") )
        return
    fi
    # bash cuts --name=value in three
    if [ "$word" = "=" ]; then word=""; fi
    if [ "$before" = "=" ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    case "${{COMP_WORDS[1]}} $before" in
{values}
    esac
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    case "$word" in
        -*) COMPREPLY=( $(compgen -W "$options" -- "$word") ) ;;
        *) if [ -n "$words" ]; then
               COMPREPLY=( $(compgen -W "$words" -- "$word") )
           else
               COMPREPLY=( $(compgen -f -- "$word") )
           fi ;;
    esac
}}
complete -o filenames -F _nearlinear nearlinear
"""
_ZSH = """\
#compdef nearlinear
_nearlinear() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command="$words[2]"
    shift words
    (( CURRENT-- ))
    case "$command" in
{cases}
    esac
}}
if [ "$funcstack[1]" = "_nearlinear" ]; then
    _nearlinear "$@"
else
    compdef _nearlinear nearlinear
fi
"""


def bash(commands):
    values = [
        f'        "{name} {option.flag}") COMPREPLY=( $(compgen -W "{_words(option)}" -- "$word") )'
        "; return ;;"
        for name, (_, options) in commands.items()
        for option in options
        if option.flag and option.values
    ]
    cases = [
        f'        {name}) options="{" ".join(o.flag for o in options if o.flag)}"; '
        f'words="{" ".join(_words(o) for o in options if not o.flag)}" ;;'.replace('" "', '""')
        for name, (_, options) in commands.items()
    ]
    return _BASH.format(
        commands=" ".join(commands), values="\n".join(values), cases="\n".join(cases)
    )


def zsh(commands):
    cases = []
    for name, (_, options) in commands.items():
        lines = [f"            {_zsh_option(option)} \\" for option in options if option.flag]
        named = [option for option in options if not option.flag and option.values]
        rest = f"'*:word:({_words(named[0])})'" if named else "'*:file:_files'"
        cases += [f"        {name}) _arguments \\", *lines, f"            {rest} ;;"]
    described = [f"        '{name}:{_plain(summary)}'" for name, (summary, _) in commands.items()]
    return _ZSH.format(commands="\n".join(described), cases="\n".join(cases))


def fish(commands):
    lines = [
        f"complete -c nearlinear -f -n __fish_use_subcommand -a '{name}' -d '{_plain(summary)}'"
        for name, (summary, _) in commands.items()
    ]
    for name, (_, options) in commands.items():
        seen = f"complete -c nearlinear -n '__fish_seen_subcommand_from {name}'"
        for option in options:
            offered = f" -a '{_words(option)}'" if option.values else ""
            if option.flag is None:
                lines += [f"{seen} -f{offered}"] if offered else []
                continue
            takes = " -x" if option.values else " -r" if option.takes_value else ""
            told = f" -d '{_plain(option.help)}'"
            lines.append(f"{seen} -l {option.flag[2:]}{takes}{offered}{told}")
    return "\n".join(lines) + "\n"


def _zsh_option(option):
    told = f"{option.flag}[{_plain(option.help)}]"
    if not option.takes_value:
        return f"'{told}'"
    return f"'*{told}:value:{f'({_words(option)})' if option.values else '_files'}'"


def _words(option):
    return " ".join(option.values)


def _plain(text):
    """A help text without signs that a shell or its completion would read, or argparse fills in."""
    text = re.sub(r" \(default.*", "", text, flags=re.S)
    return re.sub(r"[^\w .,;/=-]", "", text)


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
