"""Docstrings of kernel machines: filled in, complete and true."""

import inspect
import re

import numpy as np
from grids import in_one_test

import nearlinear
from nearlinear.estimators._base.conformal_doc import documents_conformal

NAMES = [
    *(name for name in nearlinear.__all__ if "MKL" in name),
    "LaSVMClassifier",
    "CPSPClassifier",
    "MLLKMClassifier",
    "MLLKMRegressor",
]


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
def test_nothing_is_left_to_fill_in(estimator):
    assert "%(" not in estimator.__doc__
    assert "{{" not in estimator.__doc__
    assert "}}" not in estimator.__doc__


@each_estimator
def test_every_parameter_is_documented_and_no_other(estimator):
    documented = section(estimator.__doc__, "Parameters")
    assert set(documented) == set(estimator().get_params())
    assert all(body.strip() for _, body in documented.values())


@each_estimator
def test_documented_defaults_are_the_true_ones(estimator):
    documented = section(estimator.__doc__, "Parameters")
    for name, value in estimator().get_params().items():
        said = re.search(r"default=(.*)$", documented[name][0]).group(1)
        assert eval(said) == value, (name, said, value)  # as a literal: "x", 1.0, None


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
    for heading in ("Parameters", "Attributes", "Notes"):
        assert lines.count(heading) == 1
        assert lines[lines.index(heading) + 1] == "-" * len(heading)


def test_the_decorator_of_conformal_machines_fills_both_places():
    @documents_conformal(C=2.0, length_exponent=0.25, refinement='"models"')
    class SomeRegressor:
        """Something.

        Parameters
        ----------
        %(parameters)s

        Attributes
        ----------
        %(attributes)s
        """

    doc = SomeRegressor.__doc__
    assert "C : float, default=2.0" in doc
    assert "default=0.25" in doc
    assert 'or None, default="models"' in doc
    assert "epsilon" in doc
    assert "class_weight" not in doc
    assert "classes_" not in doc
    assert "predictor_ : ConformalLinear" in doc
