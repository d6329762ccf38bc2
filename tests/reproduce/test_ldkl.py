"""Tables of the LDKL study, and models of the size that a budget of multiply-adds allows."""

import csv

import numpy as np
import pytest
from grids import in_one_test

from nearlinear import LDKLClassifier
from reproduce.ldkl import run, tables
from reproduce.ldkl.methods import BASIS_SIZES, STUDY, fill_budget, tree_multiply_adds
from reproduce.model_cost import multiply_adds
from reproduce.protocol import RowStore

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


SETS = ("ijcnn1", "letter_halves", "magic04")


def add(store, method, accuracies, dataset="letter_halves", **changed):
    parameters = STUDY.parameters_for(method, dataset) | changed
    for seed, accuracy in enumerate(accuracies):
        key = {"dataset": dataset, "method": method, "seed": seed, "parameters": parameters}
        measured = {"accuracy": accuracy, "times_linear": 2.0 + seed, "predict_us_per_row": 1.0}
        counts = {"multiply_adds": 1, "model_bytes": 1, "n_train": 12000, "n_test": 8000}
        store.get_or_add(key, lambda row=measured | counts: row)


@pytest.fixture
def store(tmp_path):
    return RowStore(tmp_path / "rows.csv", STUDY.measured)


def written(store):
    tables.write(store.path.parent)
    with open(store.path.parent / "basis.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_as_many_learned_and_drawn_vectors_stand_beside_the_full_machine(store):
    add(store, "cpsp_50", (94.0, 95.0, 96.0))
    add(store, "nystroem_50", (78.0, 80.0, 79.0))
    add(store, "kernel", (98.0,))
    (line,) = written(store)
    assert (line["dataset"], line["n_basis"], line["seeds"]) == ("letter_halves", "50", "3")
    found = [float(line[name]) for name in ("measured", "nystroem", "difference", "kernel")]
    assert found == [95.0, 79.0, 16.0, 98.0]
    assert float(line["times_linear"]) == 3.0
    assert line["verdict"] == "holds"
    text = (store.path.parent / "basis.md").read_text(encoding="utf-8")
    assert "| letter_halves | 50 | 95.00 ± 1.00 | 79.00 ± 1.00 | +16.00 **holds** | 98.00 |" in text


def test_a_loss_is_called_one_and_the_full_machine_may_be_missing(store):
    add(store, "cpsp_10", (80.0, 82.0))
    add(store, "nystroem_10", (81.0, 82.0, 90.0))
    (line,) = written(store)
    assert (line["seeds"], line["difference"], line["verdict"]) == ("2", "-0.5", "fails")
    assert "| -0.50 **fails** | – |" in (store.path.parent / "basis.md").read_text(encoding="utf-8")


def test_sizes_without_both_methods_and_rows_of_other_choices_are_left_out(store):
    add(store, "cpsp_10", (90.0,))
    add(store, "cpsp_200", (97.0,))
    add(store, "nystroem_200", (88.0,), C=12345.0)
    assert written(store) == []


@pytest.mark.parametrize("size", BASIS_SIZES)
@pytest.mark.parametrize("dataset", SETS)
def test_both_methods_have_the_size_of_their_line_and_a_tuned_choice(dataset, size):
    for method, name in (("cpsp", "n_basis"), ("nystroem", "n_components")):
        assert STUDY.parameters_for(f"{method}_{size}", dataset)[name] == size
        assert dataset in STUDY.config["methods"][f"{method}_{size}"]["chosen"]


def test_these_methods_are_not_run_on_other_sets():
    for dataset in set(STUDY.config["datasets"]) - set(SETS):
        methods = STUDY.methods_for(dataset)
        assert not any(
            f"{name}_{size}" in methods for name in ("cpsp", "nystroem") for size in BASIS_SIZES
        )


@pytest.mark.filterwarnings("ignore")
def test_the_smoke_run_goes_through():
    assert run.main(["--smoke"]) == 0
