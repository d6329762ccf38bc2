"""Machines by Newton steps against working sets: value, certificate, bias, support."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear import (
    LMKLClassifier,
    SequentialMKLClassifier,
    SimpleMKLClassifier,
    SimpleMKLRegressor,
    UniformMKLClassifier,
    config_context,
)
from nearlinear.estimators._base import kernels as estimators_kernels
from nearlinear.gpu.machine import grams, newton
from nearlinear.kernels.rows import GramRows
from nearlinear.kernels.standard import Gaussian, Linear
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine

N_ROWS = 120
BIASES = {"free": FreeBias(), "penalized": FixedBias(1.0), "none": FixedBias(0.0)}
KERNELS = {"narrow": Gaussian(gamma=3.0), "wide": Gaussian(gamma=0.02), "linear": Linear()}


def make(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n_rows))
    weight = rng.uniform(0.0, 2.0, n_rows) * (np.arange(n_rows) % 10 > 0)  # some rows have none
    return X, y, weight


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES)
@pytest.mark.parametrize("task", ["signs", "values"])
def test_newton_steps_solve_the_same_machine(place, task, bias, kernel):
    if place[1] != "plain":
        pytest.skip("a machine has one form")
    X, y, weight = make()
    if task == "signs":
        problem = DualProblem.of_signs(y, 10.0 * weight)
    else:
        problem = DualProblem.of_values(X[:, 0] + y, 3.0 * weight, 0.1)
    wanted = solve_kernel_machine(GramRows(kernel(X)), problem, bias, tol=1e-7)
    gram = torch.as_tensor(kernel(X), device=place[0])
    solve = partial(newton.solve_kernel_machine, GramRows(gram), problem, bias, device=place[0])
    for tol in (1e-2, 1e-6):
        found = solve(tol=tol)
        assert found.gap <= 1.001 * tol * found.objective
        assert found.objective == pytest.approx(wanted.objective, rel=1.01 * tol)
        slack = problem.targets - (kernel(X) + bias.shift) @ found.dual_coef
        np.testing.assert_allclose(found.slack, slack, atol=1e-8)
        assert np.all((found.dual_coef >= problem.lower) & (found.dual_coef <= problem.upper))
        if bias.is_free:
            assert abs(found.dual_coef.sum()) < 1e-8 * np.abs(found.dual_coef).sum()
    assert np.sum(found.dual_coef != 0) <= np.sum(wanted.dual_coef != 0) + 3
    again = solve(tol=1e-6, start=found.dual_coef)
    assert again.n_iter <= 2


def test_many_rows_start_from_some_of_them(monkeypatch):
    monkeypatch.setattr(newton, "_START_ROWS", 100)
    X, y, _ = make(400)
    problem, kernel = DualProblem.of_signs(y, np.full(400, 5.0)), Gaussian(gamma=1.0)
    wanted = solve_kernel_machine(GramRows(kernel(X)), problem, FreeBias(), tol=1e-5)
    found = newton.solve_kernel_machine(
        GramRows(torch.as_tensor(kernel(X))), problem, FreeBias(), device="cpu", tol=1e-5
    )
    assert found.objective == pytest.approx(wanted.objective, rel=2e-5)


def test_machines_whose_rows_are_all_at_a_bound_find_their_bias():
    X, y = load_breast_cancer(return_X_y=True)
    gram = Gaussian(0.1 / 30.0)((X - X.mean(axis=0)) / X.std(axis=0))
    problem = DualProblem.of_signs(np.where(y, 1.0, -1.0), np.full(len(y), 0.01))
    source = GramRows(torch.as_tensor(gram))
    found = newton.solve_kernel_machine(source, problem, FreeBias(), device="cpu")
    assert found.gap <= 1.001e-3 * found.objective
    start = np.where(y, problem.upper, problem.lower)
    start[:2] *= 0.5  # rows are exchanged first
    again = newton.solve_kernel_machine(source, problem, FreeBias(), device="cpu", start=start)
    assert again.gap <= 1.001e-3 * again.objective


def test_max_iter_counts_exchanges_and_steps_together():
    X, y, _ = make()
    problem, rng = DualProblem.of_signs(y, np.full(N_ROWS, 10.0)), np.random.default_rng(1)
    found = newton.solve_kernel_machine(
        GramRows(torch.as_tensor(KERNELS["narrow"](X))), problem, FreeBias(), device="cpu",
        tol=1e-12, max_iter=3, start=rng.uniform(problem.lower, problem.upper),
    )  # fmt: skip
    assert found.n_iter == 3


def test_a_matrix_that_holds_no_number_ends():
    X, y, _ = make(60)
    problem, gram = DualProblem.of_signs(y, np.ones(60)), torch.as_tensor(KERNELS["narrow"](X))
    gram[3, 5] = gram[5, 3] = np.nan
    start = np.random.default_rng(0).uniform(problem.lower, problem.upper)
    found = newton.solve_kernel_machine(
        GramRows(gram), problem, FreeBias(), device="cpu", start=start
    )
    assert np.isnan(found.gap)


@pytest.fixture
def device(monkeypatch, place):
    """What to give as ``device``: on a machine without a GPU, the engine runs on torch's CPU."""
    if place[1] != "plain":
        pytest.skip("a machine has one form")
    if place[0] == "cpu":
        engine = {"Grams": grams.Grams, "solve_kernel_machine": newton.solve_kernel_machine,
                  "solve_symmetric": newton.solve_symmetric}  # fmt: skip
        monkeypatch.setattr(
            estimators_kernels,
            "on_device",
            lambda _, own: partial(engine[own.__name__], device="cpu"),
        )
        monkeypatch.setattr(estimators_kernels, "free_bytes", lambda device: 1e9)
    return "cuda"


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_simple_mkl_finds_the_same_mixture(device, p):
    X, y, weight = make(150)
    pair = [SimpleMKLClassifier(p=p, tol=1e-3, device=one) for one in ("cpu", device)]
    wanted, found = (model.fit(X, y, weight) for model in pair)
    assert found.duality_gap_ <= 1e-3 * found.objective_
    assert found.objective_ == pytest.approx(wanted.objective_, rel=2e-3)
    np.testing.assert_allclose(found.kernel_weights_, wanted.kernel_weights_, atol=0.02)
    assert np.mean(found.predict(X) == wanted.predict(X)) > 0.99


def test_values_and_gates_are_learned_on_a_device(device):
    X, y, _ = make(80)
    pair = [SimpleMKLRegressor(C=1.0, device=one).fit(X, X[:, 0] + y) for one in ("cpu", device)]
    assert pair[1].objective_ == pytest.approx(pair[0].objective_, rel=1e-2)
    settings = {"n_copies": 1, "C": 1.0, "max_iter": 3, "random_state": 0}
    pair = [LMKLClassifier("gaussians", **settings, device=one).fit(X, y)
            for one in ("cpu", device)]  # fmt: skip
    assert pair[1].duality_gap_ <= 1e-3 * pair[1].objective_
    assert pair[1].objective_ <= 1.05 * pair[0].objective_


@pytest.mark.parametrize("method", [UniformMKLClassifier, SequentialMKLClassifier])
def test_every_kernel_method_finds_the_same_on_a_device(device, method):
    X, y, weight = make(100)
    settings = {"kernels": "gaussians", "C": 1.0, "random_state": 0}
    known = {name: settings[name] for name in settings.keys() & method().get_params()}
    pair = [method(**known, device=one).fit(X, y, weight) for one in ("cpu", device)]
    assert pair[1].duality_gap_ <= 1e-2 * pair[1].objective_
    assert pair[1].objective_ == pytest.approx(pair[0].objective_, rel=2e-2)
    assert np.mean(pair[1].predict(X) == pair[0].predict(X)) > 0.97


def test_a_solver_that_reads_columns_is_refused(device):
    X, y, _ = make(40)
    with pytest.raises(ValueError, match="take solver='smo', or leave device out"):
        LMKLClassifier("gaussians", solver="mwu", device=device).fit(X, y)


def test_too_many_rows_are_refused_before_anything_is_allocated(device):
    X, y, _ = make(2000)
    words = "give fewer rows, or leave device out"
    with config_context(max_memory=5e7), pytest.raises(MemoryError, match=words):
        SimpleMKLClassifier(device=device).fit(X, y)
