"""The LMKR study: halves, parameters chosen on them, Table 1 and the motorcycle figure."""

from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVR

from reproduce import datasets
from reproduce.lmkr import choice, figures, motorcycle, run, tables
from reproduce.lmkr.choice import Halves
from reproduce.lmkr.methods import STUDY, TITLES
from reproduce.lmkr.motorcycle import Scatter
from reproduce.lmkr.run import measure
from reproduce.protocol import RowStore
from reproduce.report import printed
from reproduce.tuning import candidates

N_HALVES = 10
RULES = {"coarse": 2, "rise": 0.1, "near": 0.05, "most": 2}


@pytest.fixture
def halves():
    return Halves(datasets.friedman(40, 20), halvings=5)


@pytest.fixture
def errors(monkeypatch):
    """Errors by C and epsilon, in the place of fits; what was tried is on record."""
    table, tried = {}, []

    def pretend(study, method, parameters, part, seed):
        tried.append((parameters["epsilon"], parameters["C"], seed))
        mse = table[parameters["epsilon"], parameters["C"]]
        return {"mse": mse, "fit_seconds": 1.0, "n_test": len(part.y_test), "version": "0"}

    monkeypatch.setattr(choice, "try_candidate", pretend)
    table["tried"] = tried
    return table


def choose(tmp_path, halves, **grid):
    store = choice.store_in(tmp_path)
    return choice.choose(store, halves, "svr_linear", {"degree": 1}, grid, RULES)


def test_each_half_trains_and_validates_once_in_every_halving(halves):
    assert len(halves) == N_HALVES
    for number in range(0, N_HALVES, 2):
        first, second = halves.validating(number), halves.validating(number + 1)
        assert len(first.y_train) == len(first.y_test) == 20
        assert_allclose(np.sort(first.y_train), np.sort(second.y_test))
        assert_allclose(np.sort(first.y_test), np.sort(second.y_train))


def test_halves_that_validate_are_halves_of_the_training_part(halves):
    part = halves.validating(3)
    found = np.concatenate([part.y_train, part.y_test])
    assert_allclose(np.sort(found), np.sort(halves.split.target_scale * halves.split.y_train))


def test_the_same_half_trains_for_validation_and_for_the_test_part(halves):
    validating, testing = halves.validating(4), halves.testing(4)
    assert np.array_equal(validating.X_train, testing.X_train)
    assert np.array_equal(validating.y_train, testing.y_train)
    assert len(testing.y_test) == 20


def test_features_are_scaled_by_the_half_that_trains(halves):
    part = halves.validating(0)
    assert_allclose(part.X_train.mean(axis=0), 0, atol=1e-6)
    assert_allclose(part.X_train.std(axis=0), 1, rtol=1e-6)
    assert np.abs(part.X_test.mean(axis=0)).max() > 1e-3


def test_targets_are_in_their_own_unit(halves):
    part = halves.testing(0)
    assert part.target_scale == 1.0
    spread = halves.split.target_scale * np.std(halves.split.y_test)
    assert np.std(part.y_test) == pytest.approx(spread)


def test_the_candidate_with_the_least_error_is_chosen(tmp_path, halves, errors):
    errors |= {(1.0, 0.1): 3.0, (1.0, 1.0): 2.0, (2.0, 0.1): 2.5, (2.0, 1.0): 1.99}
    chosen = choose(tmp_path, halves, epsilon=[1.0, 2.0], C=[0.1, 1.0])
    assert chosen == {"degree": 1, "epsilon": 2.0, "C": 1.0}


def test_larger_C_are_left_out_once_the_error_has_risen(tmp_path, halves, errors):
    errors |= {(1.0, 0.1): 2.0, (1.0, 1.0): 2.1, (1.0, 10.0): 2.3, (1.0, 100.0): 1.0}
    chosen = choose(tmp_path, halves, epsilon=[1.0], C=[0.1, 1.0, 10.0, 100.0])
    assert chosen["C"] == 0.1  # 2.3 is more than a tenth above 2.0
    assert {C for _, C, _ in errors["tried"]} == {0.1, 1.0, 10.0}


def test_all_halves_try_the_best_few_candidates_only(tmp_path, halves, errors):
    errors |= {(1.0, 1.0): 2.0, (2.0, 1.0): 2.05, (4.0, 1.0): 2.06, (8.0, 1.0): 3.0}
    choose(tmp_path, halves, epsilon=[1.0, 2.0, 4.0, 8.0], C=[1.0])
    counts = {
        epsilon: len({seed for found, _, seed in errors["tried"] if found == epsilon})
        for epsilon in (1.0, 2.0, 4.0, 8.0)
    }
    assert counts == {1.0: N_HALVES, 2.0: N_HALVES, 4.0: 2, 8.0: 2}


def test_candidates_far_from_the_best_do_not_go_on(tmp_path, halves, errors):
    errors |= {(1.0, 1.0): 2.0, (2.0, 1.0): 2.2}
    choose(tmp_path, halves, epsilon=[1.0, 2.0], C=[1.0])
    assert sum(epsilon == 2.0 for epsilon, _, _ in errors["tried"]) == RULES["coarse"]


def test_what_was_tried_is_not_tried_again(tmp_path, halves, errors):
    errors |= {(1.0, 0.1): 2.0, (1.0, 1.0): 2.05}
    first = choose(tmp_path, halves, epsilon=[1.0], C=[0.1, 1.0])
    n_tried = len(errors["tried"])
    assert choose(tmp_path, halves, epsilon=[1.0], C=[0.1, 1.0]) == first
    assert len(errors["tried"]) == n_tried == 2 * N_HALVES


def test_candidates_of_an_older_grid_do_not_count(tmp_path, halves, errors):
    errors |= {(1.0, 0.1): 1.0, (1.0, 1.0): 2.0}
    choose(tmp_path, halves, epsilon=[1.0], C=[0.1, 1.0])
    assert choose(tmp_path, halves, epsilon=[1.0], C=[1.0])["C"] == 1.0


def test_without_rows_of_all_halves_nothing_is_chosen():
    parameters = {"degree": 1, "max_iter": 200000, "epsilon": 1.0, "C": 1.0}
    row = {"dataset": "concrete", "method": "svr", "parameters": parameters, "mse": 60.0}
    chosen, error = choice.chosen([row | {"seed": seed} for seed in range(9)], "svr", "concrete")
    assert chosen is None
    assert np.isnan(error)
    chosen, error = choice.chosen([row | {"seed": seed} for seed in range(10)], "svr", "concrete")
    assert (chosen, error) == (parameters, 60.0)


def test_errors_are_those_of_the_half_that_validates(tmp_path, halves):
    parameters = {"degree": 1, "epsilon": 1.0, "C": 1.0}
    part = halves.validating(3)
    model = STUDY.build("svr", parameters, seed=3, regression=True)
    model.fit(part.X_train, part.y_train)
    expected = np.mean((model.predict(part.X_test) - part.y_test) ** 2)
    store = choice.store_in(tmp_path)
    assert choice.tried(store, halves, "svr", parameters, 3) == pytest.approx(expected, rel=1e-5)


def scatter(n_rows=24):
    X = np.linspace(0.0, 6.0, n_rows)[:, None]
    sizes = {"svr": [1, 3], "lmkl_published": [1, 2]}
    return Scatter("wave", X, 50 * np.sin(X[:, 0]), 3, sizes, sizes)


def test_every_row_tests_in_one_fold():
    tested = np.concatenate([split.y_test for split in scatter().folds()])
    assert_allclose(np.sort(tested), np.sort(scatter().y))


def test_a_grid_is_scaled_like_the_rows_of_a_fold():
    rows = scatter()
    for split, other in zip(rows.folds(), rows.folds_before(rows.X)):
        assert np.array_equal(split.X_train, other.X_train)
        assert np.isin(np.round(split.X_test, 6), np.round(other.X_test, 6)).all()


def test_a_method_has_its_own_parameter():
    assert motorcycle.swept("svr_gaussian") == ("width", [s / 20 for s in range(1, 21)])
    parameters = motorcycle.parameters_of("lmkl_published", 7)
    assert parameters == {"C": 1000.0, "epsilon": 16.0, "gate_penalty": 0.0, "n_copies": 7}


def test_errors_and_support_by_value_and_fold_are_kept(tmp_path, monkeypatch):
    first = motorcycle.measured(tmp_path, scatter(), "svr")
    assert [array.shape for array in first] == [(2, 3), (2, 3)]
    assert (first[0][1] < first[0][0]).all()  # a wave is no line
    monkeypatch.setattr(motorcycle, "fitted", None)
    again = motorcycle.measured(tmp_path, scatter(), "svr")
    assert_allclose(again, first, rtol=1e-5)


def test_the_mean_curve_is_the_mean_over_folds():
    rows = scatter()
    curve = figures.mean_curve("svr", 3, rows, rows.X)
    fits = [motorcycle.fitted("svr", 3, split, 0) for split in rows.folds()]
    grids = [split.X_test for split in rows.folds_before(rows.X)]
    expected = np.mean([model.predict(grid) for model, grid in zip(fits, grids)], axis=0)
    assert_allclose(curve, expected)


def test_without_the_file_the_message_says_what_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    with pytest.raises(datasets.DatasetError, match="mcycle of R's MASS"):
        motorcycle.load()


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
