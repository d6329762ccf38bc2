"""The public surface: what ``import nearlinear`` offers, and what it does not load."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from grids import in_one_test

import nearlinear

ROOT = Path(__file__).parents[1]


def run_python(source):
    """Standard output of ``source`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", source], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.parametrize("heavy", ["numba", "matplotlib", "torch", "pandas", "rich", "dask"])
def test_import_does_not_load(heavy):
    assert run_python(f"import sys, nearlinear; print({heavy!r} in sys.modules)") == "False"


def test_public_estimators_are_loaded_without_compiling():
    source = (
        "import sys, nearlinear\n"
        "for name in nearlinear.__all__: getattr(nearlinear, name)\n"
        "print('numba' in sys.modules)"
    )
    assert run_python(source) == "False"


@in_one_test("name", nearlinear.__all__)
def test_public_name_resolves(name):
    assert getattr(nearlinear, name) is not None
    assert name in dir(nearlinear)


def test_type_checkers_see_every_public_name_where_it_is_loaded_from():
    tree = ast.parse(Path(nearlinear.__file__).read_text("utf-8"))
    block = next(one for one in tree.body if isinstance(one, ast.If))
    shown = {name.name: line.module for line in block.body for name in line.names}
    folders = {name for name, module in shown.items() if module is None}
    assert shown == nearlinear._MODULES | dict.fromkeys(folders)
    assert sorted(shown) == sorted(nearlinear.__all__)


def test_public_names_are_listed_once():
    assert len(set(nearlinear.__all__)) == len(nearlinear.__all__)


def test_documentation_groups_the_public_names_in_one_order():
    """Groups of ``help(nearlinear)`` and of the API reference are those of ``__all__``."""
    groups = re.findall(r"^(\w[^\n]*)\n((?:    [^\n]*\n)+)", nearlinear.__doc__, re.M)
    in_docstring = {title: re.findall(r"\w+", names) for title, names in groups}
    assert [name for names in in_docstring.values() for name in names] == nearlinear.__all__
    page = (ROOT / "docs" / "api" / "index.rst").read_text("utf-8")
    for title, names in in_docstring.items():
        section = page.partition(f"{title}\n---")[2].partition("\n---")[0]
        listed = re.findall(r"^   (\w+)$", section, re.M)
        assert listed == [n for n in names if n not in ("gates", "kernels", "streams")]
    places = [page.index(f"{title}\n---") for title in in_docstring]
    assert places == sorted(places)


ESTIMATORS = [name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))]


@in_one_test("name", ESTIMATORS)
def test_estimator_is_a_documented_class_named_as_it_is_exported(name):
    estimator = getattr(nearlinear, name)
    assert estimator.__name__ == name
    assert "Parameters\n" in estimator.__doc__


CLASSES = [name for name in nearlinear.__all__ if inspect.isclass(getattr(nearlinear, name))]


@in_one_test("name", CLASSES)
def test_type_checkers_know_all_parameters_and_attributes(name):
    """Those of a fitted model stand in the class as ``name_: type``, or are properties of it."""
    found = getattr(nearlinear, name)
    hinted = inspect.signature(found).parameters.values()
    assert [one.name for one in hinted if one.annotation is inspect.Parameter.empty] == []
    attributes = inspect.cleandoc(found.__doc__).partition("\nAttributes\n")[2].split("\n\n")[0]
    told = re.findall(r"^(\w+_) : ", attributes, re.M)
    declared = {one for cls in found.__mro__ for one in inspect.get_annotations(cls)}
    assert [one for one in told if one not in declared and not hasattr(found, one)] == []


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchClassifier"):
        nearlinear.NoSuchClassifier  # noqa: B018  (the access itself is under test)
