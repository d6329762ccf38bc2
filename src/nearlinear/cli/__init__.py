"""The ``nearlinear`` command: a table of subcommands, one file each.

A command is a module of this package, named as the command, with ``add_arguments(parser)`` and
``run(arguments)``. To add one, write the file and give it a line in ``COMMANDS``.

Modules
-------
_errors              How a command ends early: input at fault, or Ctrl-C.
_methods             Methods by their names, long or short, in any case.
_models              A model file as commands use it.
_notes               What a library warns of, as one line for a person: no file, no line of code.
_output_file         Output files: never an input, never an earlier file unasked.
_progress            Progress on standard error, with the time since the start.
compare              ``nearlinear compare``: ours beside the alternatives, on one table.
comparing/           What ``compare`` does: the alternatives, and what models score and cost.
demo                 ``nearlinear demo``: the whole job on tables that come with the package.
export               ``nearlinear export``.
exporting/           What ``export`` does beside writing.
fit                  ``nearlinear fit``: a model from a table.
fitting/             What ``fit`` does.
inspect              ``nearlinear inspect``: what a model file holds.
methods              ``nearlinear methods``: what ``fit --method`` takes.
predict              ``nearlinear predict``: labels and scores of a table, in constant memory.
score                ``nearlinear score``: how good a model is on a table whose answers are known.
shown/               What people see.
tables/              Tables as people have them: CSV, Parquet, NumPy.
warmup               ``nearlinear warmup``.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from .._version import __version__
from ._errors import CommandError, Interrupted, stopping_at_once
from ._notes import notes

COMMANDS = {
    "demo": "the whole job on tables that come with the package",
    "fit": "the best model of a table inside a budget, written to a model file",
    "compare": "our search beside the alternatives on a table of yours",
    "methods": "the methods that fit knows, with a line on each",
    "predict": "labels and scores of a table, streamed in constant memory",
    "score": "how good a model is on a table whose answers are known",
    "inspect": "what a model file holds: method, cost, training record",
    "export": "a model file as C source, ONNX graph, JavaScript or SQL, checked against the model",
    "warmup": "compile what prediction needs, once, for container images",
}


class _Parser(argparse.ArgumentParser):
    """Answers a wrong command line with one sentence."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` and return its exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    name = "nearlinear"
    _set_encoding()
    try:
        with stopping_at_once():
            arguments = _parsed(argv)
            name = f"nearlinear {arguments.command}"
            with notes(arguments.command):
                _module(arguments.command).run(arguments)
            sys.stdout.flush()
    except BrokenPipeError:  # whoever reads our output has seen enough
        _forget_output()
        return 0
    except OSError as error:
        _forget_output()
        return _failed(name, f"the output cannot be written ({error.strerror or error})", 2)
    except CommandError as error:
        return _failed(name, error, 2)
    except MemoryError as error:
        return _failed(name, f"there is too little memory {error}".rstrip(), 2)
    except Interrupted as error:
        return _failed(name, str(error) or "interrupted", 130)
    except KeyboardInterrupt:
        return _failed(name, "interrupted", 130)
    return 0


def _set_encoding():
    """Redirected output is UTF-8 with plain line ends on every system, as the files are.

    A terminal has an encoding already. Characters that it lacks are written as escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # a notebook, or no output at all
            continue
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8", newline="\n")


def _parsed(argv):
    parser = _Parser(
        prog="nearlinear", description="Non-linear accuracy at near-linear prediction cost."
    )
    parser.add_argument("--version", action="version", version=f"nearlinear {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=summary.capitalize() + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        # Only the command that was asked for is imported: --help stays instant.
        if name in argv:
            _module(name).add_arguments(command)
    return parser.parse_args(argv)


def _failed(name, reason, code):
    print(f"{name}: {reason}", file=sys.stderr)
    return code


def _forget_output():
    """So that the interpreter's last flush does not fail once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _module(command):
    return import_module(f"nearlinear.cli.{command}")
