"""``nearlinear completion``: a script that completes commands and options in a shell."""

import argparse

_SHELLS = ("bash", "zsh", "fish")
_BASH = """\
_nearlinear() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=( $(compgen -W "{commands}" -- "$word") )
        return
    fi
    case "$command" in
{cases}
    esac
    case "$word" in
        -*) COMPREPLY=( $(compgen -W "$options" -- "$word") ) ;;
        *) COMPREPLY=( $(compgen -f -- "$word") ) ;;
    esac
}}
complete -o filenames -F _nearlinear nearlinear
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "example: nearlinear completion bash > ~/.local/share/bash-completion/nearlinear"
    )
    parser.add_argument("shell", choices=_SHELLS)


def run(arguments: argparse.Namespace) -> None:
    print(script(arguments.shell), end="")


def script(shell):
    """The completion script of a shell."""
    options = _options()
    if shell == "fish":
        lines = ["complete -c nearlinear -f -n __fish_use_subcommand -a " + f"'{name}'"
                 for name in options]  # fmt: skip
        for name, flags in options.items():
            seen = f"-n '__fish_seen_subcommand_from {name}'"
            lines += [f"complete -c nearlinear {seen} -l {flag[2:]}" for flag in flags]
        return "\n".join(lines) + "\n"
    cases = "\n".join(
        f'        {name}) options="{" ".join(flags)}" ;;' for name, flags in options.items()
    )
    text = _BASH.format(commands=" ".join(options), cases=cases)
    return "autoload -U +X bashcompinit && bashcompinit\n" + text if shell == "zsh" else text


def _options():
    """Long options of every command."""
    from importlib import import_module

    from . import COMMANDS

    found = {}
    for name in COMMANDS:
        parser = argparse.ArgumentParser(add_help=True)
        import_module(f"nearlinear.cli.{name}").add_arguments(parser)
        flags = {flag for action in parser._actions for flag in action.option_strings}
        found[name] = sorted(flag for flag in flags if flag.startswith("--"))
    return found
