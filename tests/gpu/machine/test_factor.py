"""Solutions by blocks of a Cholesky factor against NumPy's."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu.machine import factor


@pytest.mark.parametrize("n_rows", [1, 64, 65, 300])
def test_blocks_of_a_factor_solve_as_one_does(place, monkeypatch, n_rows):
    if place[1] != "plain":
        pytest.skip("a factor has one form")
    monkeypatch.setattr(factor, "_BLOCK", 128)  # 300 rows: two whole blocks and a part
    rng = np.random.default_rng(n_rows)
    rows, right = rng.standard_normal((n_rows, n_rows + 3)), rng.standard_normal((n_rows, 5))
    matrix, ridge = rows @ rows.T, rng.uniform(0.1, 1.0, n_rows)
    put = [torch.as_tensor(one.copy(), device=place[0]) for one in (matrix, ridge, right)]
    found = factor.Factor(*put[:2]).solved(put[2])
    np.testing.assert_allclose(
        found.cpu(), np.linalg.solve(matrix + np.diag(ridge), right), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_array_equal(put[2].cpu(), right)  # it is not written to


def test_a_matrix_that_is_singular_to_rounding_is_solved(place):
    if place[1] != "plain":
        pytest.skip("a factor has one form")
    line = np.arange(1.0, 201.0)
    matrix = torch.as_tensor(np.outer(line, line), device=place[0])
    right = torch.as_tensor(line[:, None], device=place[0])
    found = factor.Factor(matrix.clone(), torch.zeros((), device=place[0])).solved(right)
    np.testing.assert_allclose((matrix @ found).cpu()[:, 0], line, rtol=1e-6)


def test_a_matrix_of_zeros_ends():
    found = factor.Factor(torch.zeros(3, 3).double(), torch.zeros(())).solved(
        torch.ones(3, 1).double()
    )
    assert bool(torch.isfinite(found).all())


def test_a_matrix_without_a_factor_is_refused():
    for matrix in (torch.full((4, 4), torch.nan).double(), -1e300 * torch.eye(4).double()):
        with pytest.raises(ValueError, match="not finite, or is not positive"):
            factor.Factor(matrix, torch.zeros(()))
