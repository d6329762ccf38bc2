"""Alternatives sized by LDKL's multiply-adds stay within them, and use what they can."""

import numpy as np
import pytest
from grids import in_one_test

from nearlinear import LDKLClassifier
from reproduce.ldkl.budget import fill_budget, tree_multiply_adds
from reproduce.ldkl.methods import STUDY
from reproduce.model_cost import multiply_adds

SETTINGS = {
    "rff": {"n_components": "budget", "gamma": 0.1},
    "nystroem": {"n_components": "budget", "gamma": 0.1},
    "cpsp": {"n_basis": "budget", "max_iter": 1},
    "llsvm": {"n_anchors": "budget", "n_neighbors": 8, "max_iter": 1},
    "mlp": {"hidden_layer_sizes": "budget", "max_iter": 1},
}


def labeled_rows(n_features, n_classes):
    X = np.random.default_rng(0).standard_normal((400, n_features)).astype(np.float32)
    return X, np.arange(400) % n_classes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", SETTINGS)
@pytest.mark.parametrize(("n_features", "n_classes", "depth"), [(2, 2, 1), (16, 2, 6), (30, 5, 3)])
def test_a_sized_model_costs_no_more_than_the_tree(method, n_features, n_classes, depth):
    n_outputs = n_classes if n_classes > 2 else 1
    budget = tree_multiply_adds({"depth": depth}, n_features, n_outputs)
    parameters = fill_budget(method, SETTINGS[method], budget, n_features, n_outputs)
    model = STUDY.build(method, parameters, seed=0).fit(*labeled_rows(n_features, n_classes))
    cost = multiply_adds(model)
    # One more unit of the size would not fit.
    per_unit = n_features + n_outputs + (method == "cpsp")
    assert budget - per_unit < cost <= budget


@pytest.mark.parametrize("shape", [{"node_gate": "indicator"}, {"n_components": 4}])
def test_the_budget_is_the_cost_of_a_tree_of_that_shape(shape):
    X, y = labeled_rows(6, 3)
    tree = LDKLClassifier(3, max_iter=1, random_state=0, **shape).fit(X, y)
    assert tree_multiply_adds({"depth": 3, **shape}, 6, 3) == tree.cost_.multiply_adds


def test_sizes_that_are_given_stay():
    assert fill_budget("rff", {"n_components": 9}, 1000, 2, 1) == {"n_components": 9}
    assert fill_budget("linear", {"C": 1.0}, 1000, 2, 1) == {"C": 1.0}


@in_one_test("dataset", STUDY.config["datasets"])
def test_every_method_has_parameters_for_every_set_of_its_task(dataset):
    for method in STUDY.methods_for(dataset):
        parameters = STUDY.parameters_for(method, dataset)
        assert "budget" not in parameters.values()
        regression = dataset in ("concrete", "boston_housing", "wine_white")
        STUDY.build(method, parameters, 0, regression)
