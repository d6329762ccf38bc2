"""``nearlinear methods``: what ``fit --method`` takes."""

import argparse
import json

from ._methods import find_methods, short_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: nearlinear methods ldkl"
    parser.add_argument("name", nargs="?", help="a method whose parameters are wanted, in any case")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import nearlinear

    names = find_methods(arguments.name) if arguments.name else None
    if arguments.json:
        every = names or [name for group in short_names().values() for name in group]
        print(json.dumps({name: _told(getattr(nearlinear, name)) for name in every}))
    elif names:
        for name in names:
            told = _told(getattr(nearlinear, name))
            print(f"{name}: {told['summary']}\n")
            width = max(map(len, told["parameters"]))
            for parameter, default in told["parameters"].items():
                print(f"  {parameter:{width}}  {default}")
            print()
        print("give one to fit with --set NAME=VALUE")
    else:
        _list(short_names())


def _list(groups):
    import nearlinear

    width = max(map(len, groups))
    for short, names in groups.items():
        also = " (classes and values)" if len(names) > 1 else ""
        print(f"{short:{width}}  {_told(getattr(nearlinear, names[0]))['summary']}{also}")
    print("\nnearlinear methods NAME shows the parameters of one")


def _told(estimator):
    defaults = estimator().get_params(deep=False)
    return {
        "summary": estimator.__doc__.strip().split("\n")[0],
        "parameters": {name: repr(value) for name, value in defaults.items()},
    }
