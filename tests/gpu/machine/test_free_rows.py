"""Systems among free rows, and machines that exchange rows, against plain solutions."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu.machine import free_rows, newton, pivoting
from nearlinear.gpu.machine.dual import Dual
from nearlinear.kernels.rows import GramRows
from nearlinear.kernels.standard import Gaussian
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine

N_ROWS, HELD = 80, 0.1


def make():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(N_ROWS))
    return X, y, rng


@pytest.mark.parametrize("bias", [FreeBias(), FixedBias(1.0)], ids=["free", "penalized"])
def test_a_factor_serves_while_few_rows_come_and_go(bias):
    X, y, rng = make()
    problem, gram = DualProblem.of_signs(y, rng.uniform(1.0, 5.0, N_ROWS)), Gaussian(0.5)(X)
    dual = Dual(problem, bias, "cpu")
    rows, is_free = free_rows.FreeRows(torch.as_tensor(gram), dual), rng.random(N_ROWS) < 0.5
    for n_exchanged in (0, 2, 1, 0, N_ROWS):
        is_free = is_free ^ (np.arange(N_ROWS) < n_exchanged)
        wanted, jumps = rng.standard_normal(N_ROWS), np.where(is_free, 0.0, 0.2)
        found, change = rows.direction(
            torch.as_tensor(is_free), HELD, torch.as_tensor(wanted), torch.as_tensor(jumps),
            torch.tensor(0.3, dtype=torch.float64),
        )  # fmt: skip
        free = np.flatnonzero(is_free)
        system = (gram + bias.shift)[np.ix_(free, free)] + np.diag(HELD / dual.sizes[free].numpy())
        moves = found.numpy()
        np.testing.assert_allclose(system @ moves[free] + float(change), wanted[free], atol=1e-9)
        np.testing.assert_array_equal(moves[~is_free], jumps[~is_free])
        if bias.is_free:
            assert moves.sum() == pytest.approx(0.3)


def test_from_a_neighbors_solution_exchanges_of_rows_take_fewer_systems(monkeypatch):
    X, y, _ = make()
    problem = DualProblem.of_signs(y, np.full(N_ROWS, 10.0))
    near, gram = Gaussian(0.5)(X), Gaussian(0.6)(X)
    wanted = solve_kernel_machine(GramRows(gram), problem, FreeBias(), tol=1e-7)
    settings = {
        "problem": problem, "bias": FreeBias(), "device": "cpu", "tol": 1e-4,
        "start": solve_kernel_machine(GramRows(near), problem, FreeBias(), tol=1e-4).dual_coef,
    }  # fmt: skip
    source = GramRows(torch.as_tensor(gram))
    quick = newton.solve_kernel_machine(source, **settings)
    monkeypatch.setattr(pivoting, "_PATIENCE", -1)  # all exchanges seem to go round in circles
    slow = newton.solve_kernel_machine(source, **settings)
    for found in (quick, slow):
        assert found.gap <= 1.001e-4 * found.objective
        assert found.objective == pytest.approx(wanted.objective, rel=1e-4)
    assert quick.n_iter < slow.n_iter
