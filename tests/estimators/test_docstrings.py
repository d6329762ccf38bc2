"""Docstrings of all estimators, complete and true; parameters: tests/test_docstrings.py."""

import inspect
import re

import numpy as np
from grids import in_one_test

import nearlinear

NAMES = [name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))]


def section(doc, heading):
    """The entries ``name : type`` of a numpydoc section, and what each is said to be."""
    text = inspect.cleandoc(doc)
    found = re.search(rf"^{heading}\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", text, re.M | re.S)
    entries = re.findall(r"^(\S[^\n:]*?) : ([^\n]*)\n((?:    [^\n]*\n?|\n)*)", found.group(1), re.M)
    return {
        key.strip(): (kind, body)
        for keys, kind, body in entries
        for key in keys.split(",")
    }  # fmt: skip


each_estimator = in_one_test("estimator", [getattr(nearlinear, name) for name in NAMES])


@each_estimator
def test_choices_are_those_that_are_allowed(estimator):
    documented = section(estimator.__doc__, "Parameters")
    for name, rules in estimator._parameter_constraints.items():
        for rule in rules if isinstance(rules, list) else []:
            for option in getattr(rule, "options", ()):
                assert f'"{option}"' in "".join(documented[name])


@each_estimator
def test_every_attribute_is_documented(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = X[:, 0] if estimator.__name__.endswith("Regressor") else np.arange(30) % 3
    model = estimator().fit(X, y)
    documented = section(estimator.__doc__, "Attributes")
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    said = set(documented) | set(re.findall(r"``(\w+_)``", estimator.__doc__))
    assert learned - {"n_features_in_"} <= said
    assert all(hasattr(model, name) for name in documented)


@each_estimator
def test_text_is_indented_as_one_docstring(estimator):
    lines = inspect.cleandoc(estimator.__doc__).splitlines()
    assert all(len(line) <= 100 for line in lines)
    headings = ["Parameters", "Attributes", "Notes"]
    for heading in headings:
        assert lines.count(heading) == 1
        assert lines[lines.index(heading) + 1] == "-" * len(heading)
    assert sorted(headings, key=lines.index) == headings
    assert re.match(r"[A-Z\"].*\.$", lines[0])
    assert lines[1] == ""


@each_estimator
def test_no_parameter_is_there_for_nothing(estimator):
    assert not re.search(r"not used|unused|ignored", estimator.__doc__, re.I)
