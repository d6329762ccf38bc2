"""Kernels switched on and off for every row: with all on, multiple kernel learning."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.kernels.gated_grams import GatedGrams
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.localized import switches
from nearlinear.solvers.localized.switches import held_out_errors, solve_equal, solve_switched
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.exchange import Exchange
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from nearlinear.solvers.mixture.simplex import solve_newton, start_weights

KERNELS = [Gaussian(0.3), Gaussian(3.0), Linear(), Polynomial(2, gamma=0.5)]
N_ROWS, C = 40, 2.0
SETTINGS = {"tol": 1e-4, "max_iter": 200}
EACH_SELECTION = pytest.mark.parametrize("n_selected", [1, 2, 3, 4])


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(N_ROWS, noise=0.3, random_state=0)
    return X, 2.0 * y - 1.0


@pytest.fixture
def learn(rows):
    X, y = rows

    def make(*machine):
        grams = Grams(KERNELS, X, max_bytes=1e9)
        grams.keep(np.arange(len(KERNELS)))
        problem = DualProblem.of_signs(y, np.full(N_ROWS, C))
        return KernelObjective(grams, problem, FreeBias(), *machine)

    return make


def shares_of(found, X):
    """F_m(x) = β_m Σ_j a_j γ_jm k_m(x_j, x), kernel by kernel."""
    weights, coef = found.evaluation.weights, found.evaluation.machine.dual_coef
    columns = [
        weight * kernel(X) @ (coef * gate)
        for weight, kernel, gate in zip(weights, KERNELS, found.gates.T, strict=True)
    ]
    return np.column_stack(columns)


def best_difference(shares, n_selected):
    """Half the largest sum of ``n_selected`` shares plus half the smallest, row by row."""
    ordered = np.sort(shares, axis=1)
    return 0.5 * ordered[:, :n_selected].sum(axis=1) + 0.5 * ordered[:, -n_selected:].sum(axis=1)


def machine_norm(found, X):
    """Σ_m ‖f_m‖² / β_m for f_m = β_m Σ_j a_j γ_jm k_m(x_j, ·)."""
    coef = found.evaluation.machine.dual_coef
    parts = [
        weight * (coef * gate) @ kernel(X) @ (coef * gate)
        for weight, kernel, gate in zip(
            found.evaluation.weights, KERNELS, found.gates.T, strict=True
        )
    ]
    return sum(parts)


# --- all kernels on ----------------------------------------------------------------------------


def test_all_kernels_on_is_multiple_kernel_learning(learn):
    found = solve_switched(Descent(learn()), 4, max_rounds=5, **SETTINGS)
    learning = learn()
    gated = GatedGrams(learning.grams, np.arange(4), np.ones((N_ROWS, 4)))
    learning = replace(learning, grams=gated)
    plain = solve_newton(Descent(learning), start_weights(4), **SETTINGS)
    np.testing.assert_array_equal(found.evaluation.weights, plain.weights)
    np.testing.assert_array_equal(found.evaluation.machine.dual_coef, plain.machine.dual_coef)
    assert found.bias == pytest.approx(plain.machine.bias)
    np.testing.assert_array_equal(found.gates, 1.0)
    assert found.n_rounds == 1


def test_all_kernels_on_has_the_value_of_kernels_without_switches(learn):
    found = solve_switched(Descent(learn()), 4, max_rounds=5, **SETTINGS)
    plain = solve_newton(Descent(learn()), start_weights(4), **SETTINGS)
    assert found.objective == pytest.approx(plain.objective, rel=2e-4)
    np.testing.assert_allclose(found.evaluation.weights, plain.weights, atol=0.02)


# --- the model that predicts -------------------------------------------------------------------


@EACH_SELECTION
@pytest.mark.parametrize("max_rounds", [1, 3, 8])
def test_the_objective_is_that_of_the_model_as_it_predicts(learn, rows, n_selected, max_rounds):
    X, y = rows
    found = solve_switched(Descent(learn()), n_selected, max_rounds=max_rounds, **SETTINGS)
    scores = best_difference(shares_of(found, X), n_selected) + found.bias
    loss = C * np.maximum(0.0, 1.0 - y * scores).sum()
    assert found.objective == pytest.approx(0.5 * machine_norm(found, X) + loss, rel=1e-9)


@pytest.mark.parametrize("n_selected", [1, 2, 3])
def test_no_other_bias_fits_the_predicted_scores_better(learn, rows, n_selected):
    X, y = rows
    found = solve_switched(Descent(learn()), n_selected, max_rounds=4, **SETTINGS)
    scores = best_difference(shares_of(found, X), n_selected)
    least = min(np.maximum(0.0, 1.0 - y * (scores + b)).sum() for b in y - scores)
    reached = np.maximum(0.0, 1.0 - y * (scores + found.bias)).sum()
    assert reached == pytest.approx(least, rel=1e-3)


@EACH_SELECTION
def test_weights_lie_on_the_simplex_and_switches_are_halves(learn, n_selected):
    found = solve_switched(Descent(learn()), n_selected, max_rounds=6, **SETTINGS)
    assert found.evaluation.weights.min() >= 0.0
    assert found.evaluation.weights.sum() == pytest.approx(1.0)
    assert set(np.unique(found.gates)) <= {0.0, 0.5, 1.0}


@pytest.mark.parametrize("n_selected", [1, 2, 3])
def test_switches_of_later_rounds_have_so_many_kernels_on(learn, n_selected, monkeypatch):
    seen, learning = [], learn()
    make = switches.GatedGrams
    monkeypatch.setattr(switches, "GatedGrams", lambda *of: seen.append(make(*of)) or seen[-1])
    solve_switched(Descent(learning), n_selected, max_rounds=4, **SETTINGS)
    gates = [grams.gates for grams in seen[:-1]]
    assert len(gates) >= 2
    np.testing.assert_array_equal(gates[0], 1.0)
    for values in gates[1:]:
        np.testing.assert_array_equal(values.sum(axis=1), n_selected)


@pytest.mark.parametrize("n_selected", [1, 2, 3])
def test_a_round_has_the_switches_that_the_scores_before_it_set(
    learn, rows, n_selected, monkeypatch
):
    first = solve_switched(Descent(learn()), n_selected, max_rounds=1, **SETTINGS)
    shares = shares_of(first, rows[0])
    place = shares.argsort(axis=1).argsort(axis=1)
    marks = 0.5 * (place < n_selected) + 0.5 * (place >= 4 - n_selected)
    seen, learning = [], learn()
    make = switches.GatedGrams
    monkeypatch.setattr(switches, "GatedGrams", lambda *of: seen.append(make(*of)) or seen[-1])
    solve_switched(Descent(learning), n_selected, max_rounds=2, **SETTINGS)
    np.testing.assert_array_equal(seen[1].gates, marks)


# --- held-out rows ------------------------------------------------------------------------------


def test_held_out_errors_are_those_of_machines_that_have_not_seen_the_rows(rows):
    X, y = rows
    problem = DualProblem.of_signs(y, np.linspace(1.0, 3.0, N_ROWS))
    folds = np.array_split(np.arange(N_ROWS), 4)

    def learn(part, kept):
        return KernelObjective(Grams(KERNELS, X[kept]), part, FreeBias())

    plans = [
        partial(solve_equal, tol=1e-4),
        partial(solve_switched, n_selected=1, max_rounds=2, **SETTINGS),
    ]
    found = held_out_errors(plans, learn, KERNELS, X, problem, folds)
    wrong, weight = np.zeros(2), np.linspace(1.0, 3.0, N_ROWS)
    for held in folds:
        kept = np.setdiff1d(np.arange(N_ROWS), held)
        for number, plan in enumerate(plans):
            model = plan(Descent(learn(problem.take(kept), kept)))
            coef, weights = model.evaluation.machine.dual_coef, model.evaluation.weights
            shares = [
                weights[m] * kernel(X[held], X[kept]) @ (coef * model.gates[:, m])
                for m, kernel in enumerate(KERNELS)
            ]
            scores = best_difference(np.column_stack(shares), [4, 1][number]) + model.bias
            wrong[number] += weight[held][scores * y[held] <= 0.0].sum()
    np.testing.assert_allclose(found, wrong / weight.sum())
    assert found.max() > 0.0


# --- rounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_selected", [1, 2, 3])
def test_more_rounds_are_never_worse(learn, n_selected):
    values = [
        solve_switched(Descent(learn()), n_selected, max_rounds=n, **SETTINGS).objective
        for n in range(1, 7)
    ]
    assert all(after <= before for before, after in pairwise(values))


@pytest.mark.parametrize("n_selected", [1, 2, 3])
def test_the_round_that_is_kept_is_among_those_allowed(learn, n_selected):
    found = solve_switched(Descent(learn()), n_selected, max_rounds=3, **SETTINGS)
    assert 1 <= found.n_rounds <= 3
    cut = solve_switched(Descent(learn()), n_selected, max_rounds=found.n_rounds, **SETTINGS)
    assert cut.objective == found.objective
    np.testing.assert_array_equal(cut.gates, found.gates)


def test_machines_from_columns_have_the_objective_of_their_own_loss(learn, rows):
    X, y = rows
    found = solve_switched(Descent(learn(Exchange())), 4, tol=1e-3, max_rounds=2, max_iter=200)
    scores = best_difference(shares_of(found, X), 4) + found.bias
    assert np.mean(scores * y > 0) > 0.85
    loss = 0.5 * C * (np.maximum(0.0, 1.0 - y * scores) ** 2).sum()
    assert found.objective == pytest.approx(0.5 * machine_norm(found, X) + loss, rel=1e-4)
