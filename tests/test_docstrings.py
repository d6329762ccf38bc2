"""Docstrings of all public names: parameters as the signatures have them, with true defaults."""

import inspect
import re
from importlib import import_module
from pathlib import Path

from grids import in_one_test

from nearlinear.gates.base import LearnedGate
from nearlinear.kernels.base import Kernel

PUBLIC = ("", ".dask", ".displays", ".gates", ".kernels", ".runtime", ".streams")
# What every kernel and every learned gate has is documented there.
SHARED = {*vars(Kernel), *vars(LearnedGate), "random_start"}
MADE_BY_OTHERS = ("Display", "FileModel", "Error")  # nobody calls the class itself


def documented(doc):
    """Names of the parameters in order, each with the default that is stated, as text."""
    text = inspect.cleandoc(doc or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", text, re.M | re.S)
    if section is None:
        return {}
    entries = re.findall(r"^(\S[^\n:]*?)(?: : ([^\n]*))?\n {4}\S", section.group(1), re.M)
    return {
        name.strip("* "): kind.partition("default=")[2]
        for names, kind in entries
        for name in names.split(",")
    }


def public_values():
    for part in PUBLIC:
        module = import_module(f"nearlinear{part}")
        for name in getattr(module, "__all__", [n for n in vars(module) if n.endswith("Display")]):
            if not inspect.ismodule(getattr(module, name)):
                yield f"{module.__name__}.{name}", getattr(module, name)


def public_callables():
    for name, value in public_values():
        if inspect.isclass(value):
            yield from callables_of(value, name)
        else:
            yield name, value, ()


def callables_of(cls, name):
    """The class and its methods, each with names of parameters that are documented elsewhere."""
    if not name.endswith(MADE_BY_OTHERS) or documented(cls.__doc__):
        local = getattr(cls, "local_class", None)  # what a Dask class refers to
        yield name, cls, documented(local.__doc__) if local else ()
    methods = {key: getattr(cls, key) for key in dir(cls) if not key.startswith("_")}
    ours = {
        key: method
        for key, method in methods.items()
        if inspect.isroutine(method) and is_ours(method)
    }
    known = {n for value in (cls, *ours.values()) for n in documented(value.__doc__)}
    for key, method in ours.items():
        if key not in SHARED:
            # without a section, parameters mean what they mean in the other methods
            has_section = "Parameters\n" in (method.__doc__ or "")
            yield f"{name}.{key}", method, () if has_section else known


def is_ours(method):
    """Whether a module of nearlinear defines the method, wherever that module is installed."""
    module = inspect.getmodule(method)
    return module is not None and module.__name__.partition(".")[0] == "nearlinear"


@in_one_test("name, value, elsewhere", list(public_callables()))
def test_parameters_are_documented_with_their_defaults(name, value, elsewhere):
    assert value.__doc__, f"{name} says nothing"
    said, parameters = documented(value.__doc__), dict(inspect.signature(value).parameters)
    parameters.pop("self", None)
    is_plain = len(parameters) == 1 and not said  # one argument, which the sentence tells of
    expected = [] if is_plain else [n for n in parameters if n in said or n not in elsewhere]
    assert list(said) == expected, name
    for n in expected:
        default = parameters[n].default
        if default is inspect.Parameter.empty:
            assert not said[n], (name, n)
        else:
            assert said[n] and eval(said[n]) == default, (name, n, said[n], default)


def test_the_reference_lists_every_public_name():
    page = (Path(__file__).parents[1] / "docs" / "api" / "index.rst").read_text("utf-8")
    _, *parts = re.split(r"^\.\. currentmodule:: (\S+)\n", page, flags=re.M)
    listed = {
        f"{module}.{name}"
        for module, text in zip(parts[::2], parts[1::2], strict=True)
        for name in re.findall(r"^   (\w[\w.]*)$", text, re.M)
    }
    assert {name for name, _ in public_values()} <= listed
