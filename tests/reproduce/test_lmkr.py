"""Table 1 of the paper on localized multiple kernel regression."""

from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVR

from reproduce import datasets
from reproduce.lmkr import choice, run, tables
from reproduce.lmkr.methods import STUDY, TITLES
from reproduce.lmkr.resampling import Halves
from reproduce.lmkr.run import measure
from reproduce.protocol import RowStore
from reproduce.report import printed
from reproduce.tuning import candidates


@pytest.fixture
def halves():
    return Halves(datasets.friedman(40, 20), halvings=5)


@pytest.mark.parametrize("dataset", STUDY.config["datasets"])
def test_every_candidate_can_be_built_for_every_set(dataset):
    for method in STUDY.methods_for(dataset):
        assert method in TITLES
        for values in candidates(choice.grid_for(method, dataset)):
            STUDY.build(method, STUDY.base_for(method, dataset) | values, 0, regression=True)


def test_tubes_of_the_wines_are_narrower():
    assert choice.grid_for("lmkl", "wine_red")["epsilon"] == [0.08, 0.16, 0.32, 0.64, 1.28]
    assert choice.grid_for("lmkl", "concrete")["epsilon"] == [1.0, 2.0, 4.0, 8.0, 16.0]


def polynomial(X, Z):
    return (X @ Z.T + 1) ** 3


def unit_polynomial(X, Z):
    return polynomial(X, Z) / np.sqrt(
        np.outer(np.diag(polynomial(X, X)), np.diag(polynomial(Z, Z)))
    )


def gaussian(X, Z):
    return np.exp(-((X[:, None] - Z) ** 2).sum(axis=2) / 4)


@pytest.mark.parametrize(
    ("method", "parameters", "kernel"),
    [
        ("svr", {"degree": 3}, polynomial),
        ("svr_unit", {"degree": 3}, unit_polynomial),
        ("svr_gaussian", {"width": 2.0}, gaussian),
    ],
)
def test_kernels_are_those_of_the_paper(halves, method, parameters, kernel):
    part = halves.testing(0)
    model = STUDY.build(method, parameters | {"C": 1.0, "epsilon": 1.0}, 0, regression=True)
    model.fit(part.X_train, part.y_train)
    gram = kernel(part.X_test, part.X_train[model.support_])
    scores = gram @ model.dual_coef_[0] + model.intercept_
    assert_allclose(model.predict(part.X_test), scores, rtol=1e-9)


def test_local_machines_have_C_and_epsilon_in_the_unit_of_the_targets(halves):
    part = halves.testing(0)
    settings = {"C": 0.1, "epsilon": 1.0, "tol": 1e-6}
    one = STUDY.build("lmkl", settings | {"n_copies": 1}, 0, regression=True)
    one.fit(part.X_train, part.y_train)
    svr = SVR(kernel="linear", **settings).fit(part.X_train, part.y_train)
    spread = np.std(part.y_train)
    assert abs(spread - 1.0) > 0.5
    assert_allclose(one.predict(part.X_test), svr.predict(part.X_test), atol=0.01 * spread)


def test_support_vectors_of_local_machines_are_counted_by_kernel(halves):
    parameters = {"n_copies": 3, "gate_penalty": 0.0, "C": 1.0, "epsilon": 1.0}
    model = STUDY.build("lmkl", parameters, 0, regression=True)
    row = measure(model, halves.testing(0))
    gates = model.gate_values(halves.testing(0).X_train) > 0
    assert row["kernels_per_row"] == pytest.approx(gates.sum(axis=1).mean())
    assert row["support_per_kernel"] == pytest.approx(model.n_support_per_component_.sum() / 3)
    assert row["support_per_kernel"] <= row["n_support"]


def add_rows(folder, method, errors, n_support, per_kernel=nan):
    """Ten halves of concrete, with parameters that validation has chosen."""
    grid = choice.grid_for(method, "concrete")
    first = {name: values[0] for name, values in grid.items()}
    key = {"dataset": "concrete", "method": method}
    key["parameters"] = STUDY.base_for(method, "concrete") | first
    validation, store = choice.store_in(folder), RowStore(folder / "rows.csv", STUDY.measured)
    fixed = {"fit_seconds": 1.0, "times_linear": 2.0, "n_train": 343, "n_test": 343}
    fixed |= {"model_bytes": 1, "support_per_kernel": per_kernel}
    for seed, error in enumerate(errors):
        tried = {"mse": 70.0, "fit_seconds": 1.0, "n_test": 344}
        validation.get_or_add(key | {"seed": seed, "n_train": 343}, lambda tried=tried: tried)
        row = fixed | {"mse": error, "n_support": n_support + seed % 2}
        store.get_or_add(key | {"seed": seed}, lambda row=row: row)


@pytest.fixture
def folder(tmp_path):
    add_rows(tmp_path, "svr", 60.0 + np.arange(10) % 3, n_support=200)
    add_rows(tmp_path, "lmkl", 50.0 + np.arange(10) % 2, n_support=100, per_kernel=34.3)
    tables.write(tmp_path)
    return tmp_path


def lines_of(folder, *quantities):
    cells = tables.current_rows(folder)
    return {line["method"]: line for line in tables.quantity_lines(cells, *quantities)}


def test_every_number_of_the_table_is_on_record():
    paper = printed(STUDY)
    assert paper.keys() == {
        (quantity, method, dataset)
        for quantity in ("mse", "support")
        for method in ("svr", "lmkl")
        for dataset in STUDY.config["datasets"]
    }
    assert paper["mse", "svr", "boston_housing"][0] == 14.5893
    assert paper["support", "lmkl", "abalone"][0] == 16.03


def test_errors_stand_beside_print(folder):
    found = lines_of(folder, "mse", "mse")
    assert (found["lmkl"]["measured"], found["lmkl"]["paper"]) == (50.5, 51.8043)
    assert found["lmkl"]["times_paper"] == pytest.approx(50.5 / 51.8043)
    assert found["lmkl"]["validation"] == 70.0
    assert found["lmkl_affine"]["paper"] == 51.8043
    assert "measured" not in found["lmkl_affine"]
    text = (folder / "table1.md").read_text("utf-8")
    assert "| LMKL, linear | 50.500 ± 0.527<br>(51.804) |" in text


def test_support_vectors_are_a_share_of_the_training_rows(folder):
    found = lines_of(folder, "support", "support")
    assert found["svr"]["measured"] == pytest.approx(100 * 200.5 / 343)
    assert found["svr"]["paper"] == 73.16


def test_a_machine_of_one_kernel_has_all_its_support_vectors_there(folder):
    found = lines_of(folder, "local_support", "support")
    assert found["lmkl"]["measured"] == pytest.approx(10.0)
    assert found["svr"]["measured"] == pytest.approx(100 * 200.5 / 343)


def test_rows_with_other_parameters_than_the_chosen_ones_do_not_count(folder):
    key = {"dataset": "concrete", "method": "svr", "seed": 0, "parameters": {"degree": 9}}
    row = {"mse": 1.0, "n_support": 1, "n_train": 343, "n_test": 343, "model_bytes": 1}
    RowStore(folder / "rows.csv", STUDY.measured).get_or_add(key, lambda: row)
    assert lines_of(folder, "mse", "mse")["svr"]["seeds"] == 10


def test_the_claim_is_tested_for_error_and_for_support_vectors(folder):
    (line,) = tables.claim_lines(tables.current_rows(folder), "svr")
    assert (line["claim"], line["beside"]) == ("lmkl", "svr")
    assert (line["mse"], line["support"], line["local_support"]) == ("lower", "fewer", "fewer")
    assert line["mse_difference"] == pytest.approx(50.5 - 60.9)
    assert line["support_difference"] == pytest.approx(-100 * 100 / 343)
    assert 0 < line["mse_p"] < 0.05
    text = (folder / "claims.md").read_text("utf-8")
    assert "-10.4 **lower**<br>-29.2 **fewer**<br>-48.5 **fewer**" in text


def test_a_difference_within_its_scatter_is_comparable(tmp_path):
    add_rows(tmp_path, "svr", 50.0 + np.arange(10) % 3, n_support=100)
    add_rows(tmp_path, "lmkl", 50.0 + np.arange(10) % 2, n_support=100)
    (line,) = tables.claim_lines(tables.current_rows(tmp_path), "svr")
    assert (line["mse"], line["support"]) == ("comparable", "comparable")


@pytest.mark.filterwarnings("ignore")
def test_the_smoke_run_goes_through():
    assert run.main(["--smoke"]) == 0
