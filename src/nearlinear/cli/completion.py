"""``nearlinear completion``: a script that completes commands, options and values in a shell."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from ._completion_scripts import SCRIPTS
from ._errors import CommandError
from ._output_file import replacing

_EXAMPLES = """\
examples:
  nearlinear completion bash --install
  source <(nearlinear completion bash)       this shell only; zsh alike
  nearlinear completion fish | source
"""
_ZSH_SHARED = Path("/usr/local/share/zsh/site-functions")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", choices=tuple(SCRIPTS))
    parser.add_argument(
        "--install", action="store_true", help="write the script where the shell looks for it"
    )


def run(arguments: argparse.Namespace) -> None:
    if not arguments.install:
        print(script(arguments.shell), end="")
        return
    path = place(arguments.shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(script(arguments.shell))
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror or error})") from error
    print(f"{path}: read by every new {arguments.shell}{_needs(arguments.shell, path)}")


def script(shell):
    """The completion script of a shell."""
    return SCRIPTS[shell](_commands())


def place(shell):
    """Where a shell looks for the completions of a user."""
    home = Path.home()
    if shell == "bash":
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        folder = os.environ.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion"
        return Path(folder) / "completions" / "nearlinear"
    if shell == "fish":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return config / "fish" / "completions" / "nearlinear.fish"
    # zsh has no folder of a user's own; the shared one is for those who may write there
    if _ZSH_SHARED.is_dir() and os.access(_ZSH_SHARED, os.W_OK):
        return _ZSH_SHARED / "_nearlinear"
    return home / ".zfunc" / "_nearlinear"


def _needs(shell, path):
    """What a shell must have been told before."""
    if shell == "bash":
        return " (by the package bash-completion, which most systems have)"
    if shell == "zsh" and path.parent != _ZSH_SHARED:
        return " if ~/.zshrc has: fpath+=~/.zfunc; autoload -Uz compinit; compinit"
    return ""


@dataclass(frozen=True)
class Option:
    """A long option, or a word without a name: what it says and the values it takes."""

    flag: str | None
    help: str
    takes_value: bool
    values: tuple[str, ...]


def _commands():
    """Every command: its summary and its options."""
    from importlib import import_module

    from . import COMMANDS

    found = {}
    for name, summary in COMMANDS.items():
        parser = argparse.ArgumentParser(add_help=True)
        import_module(f"nearlinear.cli.{name}").add_arguments(parser)
        found[name] = summary, [_option(action) for action in parser._actions]
    return found


def _option(action):
    flag = next((flag for flag in action.option_strings if flag.startswith("--")), None)
    values = getattr(action, "values", None) or action.choices or ()
    return Option(flag, action.help or "", action.nargs != 0, tuple(values))
