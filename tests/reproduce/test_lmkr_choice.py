"""Halves of a training part, and parameters that are chosen on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproduce import datasets
from reproduce.lmkr import choice
from reproduce.lmkr.methods import STUDY
from reproduce.lmkr.resampling import Halves

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
