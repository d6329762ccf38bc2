"""Local models for a fixed gate by Newton steps: products, slopes, optimum, certificate, seeds."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from grids import in_one_test
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from nearlinear import LCCSVMClassifier, LLSVMClassifier
from nearlinear.estimators import llsvm
from nearlinear.gates.anchors import SoftAssignment, densify
from nearlinear.gates.blend import gated_gradient, gated_scores
from nearlinear.gpu.anchors import blend, codes, fixed_gate
from nearlinear.gpu.anchors.smoothed import Chances, Margins
from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors.fixed_gate import solve_local_models
from reference.local_problem import N_ANCHORS, N_NEIGHBORS, make_problem

KNOWN = ["hinge", "squared_hinge", "log_loss"]


def gated(n_outputs, local_model="affine", n_rows=120):
    """Rows, codes, targets and C of a problem in which some rows have no weight."""
    X, targets, weight, model = make_problem(n_outputs, local_model, n_rows=n_rows)
    codes = SoftAssignment(model.anchors, N_NEIGHBORS, 0.4).codes(X)
    C = 3.0 * weight * (np.arange(n_rows) % 10 > 0)
    return (X[:, : model.weights.shape[1]], *codes, targets), C, model


def proof(problem, C, name, solution):
    """Objective and duality gap with the features γ(x) ⊗ [x; 1] built."""
    X, indices, codes, targets = problem
    rows = np.hstack([X, np.ones((len(X), 1))])
    Z = np.einsum("im,id->imd", densify(indices, codes, N_ANCHORS), rows).reshape(len(X), -1)
    model = np.concatenate([solution.weights, solution.biases[:, None]], 1).reshape(Z.shape[1], -1)
    primal = 0.5 * np.sum(model**2) + C @ LOSSES[name].value(Z @ model, targets)
    if name == "log_loss":
        slope = model + Z.T @ (C[:, None] * LOSSES[name].slope(Z @ model, targets))
        return primal, 0.5 * np.sum(slope**2)
    a = solution.dual
    assert np.all(a >= 0.0) and (name != "hinge" or np.all(a <= C[:, None]))
    norm = 0.5 * np.sum((Z.T @ (targets * a)) ** 2)
    conjugate = 0.0
    if name == "squared_hinge":
        conjugate = np.sum(a[C > 0] ** 2 / (4.0 * C[C > 0, None]))
    return primal, primal - (a.sum() - norm - conjugate)


@pytest.mark.every_case
@pytest.mark.parametrize("local_model", ["affine", "constant"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", KNOWN)
def test_newton_steps_find_the_same_models(name, n_outputs, local_model, place):
    if place[1] != "plain":
        pytest.skip("there is one form")
    problem, C, _ = gated(n_outputs, local_model)
    settings = {"loss": LOSSES[name], "C": C, "n_components": N_ANCHORS, "max_iter": 3000,
                "rng": np.random.RandomState(0), "n_jobs": None}  # fmt: skip
    keep = C > 0  # the squared hinge has no dual box for others on the CPU
    wanted, _ = solve_local_models(
        *(part[keep] for part in problem), **settings | {"C": C[keep]}, tol=1e-7
    )
    solve = partial(fixed_gate.solve_local_models, *problem, **settings, device=place[0])
    for tol in (1e-3, 1e-6):
        found, parts = solve(tol=tol)
        assert all(one.gap <= tol * one.objective for one in parts)
        assert found.objective == pytest.approx(wanted.objective, rel=1.01 * tol)
        primal, gap = proof(problem, C, name, found)
        assert (found.objective, found.gap) == (pytest.approx(primal), pytest.approx(gap, rel=1e-6))
    again, _ = solve(tol=1e-6, start=found)
    assert again.n_iter < found.n_iter / 2


def test_products_are_those_of_numpy_in_blocks_and_of_some_rows(monkeypatch, place):
    if place[1] != "plain":
        pytest.skip("there is one form")
    monkeypatch.setattr(blend, "_BLOCK_BYTES", 1)
    (X, indices, codes, targets), _, model = gated(3, n_rows=700)
    rows = blend.GatedRows(X, indices, codes, N_ANCHORS, 3, place[0])
    both = np.concatenate([model.weights, model.biases[:, None]], 1).transpose(1, 2, 0)
    wanted = gated_scores(X, indices, codes, model.weights, model.biases)
    slopes = codes[:, :, None] * targets[:, None]
    for dtype, digits in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        rows.dtype = dtype
        for some in (np.arange(700), np.arange(1, 700, 2)):
            there = None if len(some) == 700 else torch.as_tensor(some, device=place[0])
            scores = rows.scores(torch.tensor(both.copy(), device=place[0]), there)
            np.testing.assert_allclose(scores.cpu(), wanted[some], rtol=digits, atol=10 * digits)
            is_in = np.isin(np.arange(700), some)
            products, sums = gated_gradient(X, indices, slopes, is_in, N_ANCHORS)
            found = rows.adjoint(torch.tensor(targets[some], device=place[0]), there).cpu().numpy()
            tolerance = {"rtol": digits, "atol": 1000 * digits}
            np.testing.assert_allclose(found[:-1].transpose(2, 0, 1), products, **tolerance)
            np.testing.assert_allclose(found[-1].T, sums, **tolerance)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", KNOWN)
def test_pulls_and_bends_are_slopes(name, n_outputs):
    """Of float64 autograd; the hinge is smoothed, and has its own value where ā is its dual."""
    _, targets, weight, _ = make_problem(n_outputs, "affine")
    y, C = torch.tensor(targets), torch.tensor(weight)
    loss = Chances(y, C) if name == "log_loss" else Margins(y, C, name == "squared_hinge", 1.0)
    scores = torch.tensor(np.random.default_rng(1).standard_normal(y.shape), requires_grad=True)
    if name != "hinge":
        (slope,) = torch.autograd.grad(loss.value(scores).sum(), scores)
        torch.testing.assert_close(loss.pulls(scores), -slope)
        wanted = C.numpy() @ LOSSES[name].value(scores.detach().numpy(), targets)
        assert loss.value(scores).sum().item() == pytest.approx(wanted)
    change = torch.tensor(np.random.default_rng(2).standard_normal(y.shape))
    (fall,) = torch.autograd.grad((loss.pulls(scores) * change).sum(), scores)
    torch.testing.assert_close(loss.bends(scores)(change), -fall)


def test_both_ways_to_a_newton_step_solve_its_equation(monkeypatch):
    monkeypatch.setattr(fixed_gate, "_CLOSE", 1e-10)
    (X, indices, codes, targets), C, _ = gated(3)
    rows = blend.GatedRows(X, indices, codes, N_ANCHORS, 3, "cpu")
    rows.dtype = torch.float64
    loss = Margins(torch.tensor(targets), torch.tensor(C), False, 5.0)
    scores = torch.tensor(np.random.default_rng(0).standard_normal(targets.shape))
    bends, slope = loss.bends(scores), rows.adjoint(scores)
    free = (bends.weights != 0.0).any(1).nonzero()[:, 0]
    assert 0 < len(free) < len(X)
    for step in (
        fixed_gate._by_rows(rows, bends.weights[free], free, slope),
        fixed_gate._by_gradients(rows, loss, bends.take(free), free, slope),
    ):
        product = step + rows.adjoint(bends(rows.scores(step)))
        torch.testing.assert_close(product, -slope, rtol=1e-6, atol=1e-6)


@pytest.fixture
def device(monkeypatch, place):
    """What to give as ``device``: on a machine without a GPU, the engine runs on torch's CPU."""
    if place[1] != "plain":
        pytest.skip("there is one form")
    if place[0] == "cpu":
        own = llsvm._engine_for

        def engine(model, rows, width):
            with monkeypatch.context() as patch:
                solve = partial(fixed_gate.solve_local_models, device="cpu")
                patch.setattr(llsvm, "on_device", lambda device, own: solve)
                patch.setattr(llsvm, "device_room", lambda most, device: most or 1e9)
                found = own(model, rows, width)
            names = ("cluster", "sharpness", "codes") if model.device == "cuda" else ()
            return replace(
                found, **{name: partial(getattr(found, name), device="cpu") for name in names}
            )

        monkeypatch.setattr(llsvm, "_engine_for", engine)
    return "cuda"


X, Y = load_digits(return_X_y=True)
X, FIT, HELD = X / 16.0, slice(0, 600), slice(1200, None)


@pytest.mark.every_case
@pytest.mark.parametrize("kind", [LLSVMClassifier, LCCSVMClassifier])
@pytest.mark.parametrize("loss", KNOWN)
def test_estimators_have_the_same_model_on_a_device(kind, loss, device):
    settings = {"anchors": X[:12], "loss": loss, "class_weight": {3: 2.0}}
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 600)
    wanted, found = (
        kind(**settings, device=one).fit(X[FIT], Y[FIT], weight) for one in ("cpu", device)
    )
    assert found.duality_gap_ >= 0.0
    assert np.mean(found.predict(X[HELD]) == wanted.predict(X[HELD])) > 0.98
    answers = found.predict(torch.tensor(X[HELD]))
    assert np.mean(answers.numpy() == found.predict(X[HELD])) > 0.99


def test_anchors_are_placed_and_pruned_on_a_device_and_fits_go_on(device):
    settings = {"device": device, "random_state": 0}
    model = LLSVMClassifier(20, warm_start=True, **settings).fit(torch.tensor(X[FIT]), Y[FIT])
    assert model.anchors_.shape == (20, 64) and model.score(X[HELD], Y[HELD]) > 0.9
    steps = model.n_iter_
    assert model.fit(X[FIT], Y[FIT]).n_iter_ < steps / 2
    pruned = LCCSVMClassifier("pruned", **settings).fit(X[FIT], Y[FIT])
    assert pruned.score(X[HELD], Y[HELD]) > 0.8


@in_one_test("kind", [LLSVMClassifier, LCCSVMClassifier])
def test_sparse_rows_become_dense_on_a_device_a_block_at_a_time(kind, device, monkeypatch):
    fill = csr_matrix.toarray

    def few(self, *args, **settings):
        assert self.shape[0] < 600
        return fill(self, *args, **settings)

    monkeypatch.setattr(csr_matrix, "toarray", few)
    for module in (blend, codes):
        monkeypatch.setattr(module, "_BLOCK_BYTES", 1)
    model = kind(12, random_state=0, device=device)
    wanted = model.fit(X[FIT], Y[FIT]).decision_function(X[HELD])
    found = model.fit(csr_matrix(X[FIT]), Y[FIT]).decision_function(X[HELD])
    np.testing.assert_allclose(found, wanted, atol=1e-4)


@in_one_test("size", [{"n_anchors": 20, "max_memory": 4e6},
                      {"anchors": X[:1000], "max_memory": 6e7}])  # fmt: skip
def test_what_does_not_fit_is_refused(size, device):
    with pytest.raises(MemoryError, match="give fewer rows, or leave device out"):
        LLSVMClassifier(**size, device=device).fit(X[FIT], Y[FIT])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("name", KNOWN)
def test_the_same_seed_gives_the_same_bits(name):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20_000, 100)).astype(np.float32)
    labels = (rows[:, :3].argmax(1) + (rows[:, 3] * rows[:, 4] > 0)) % 3
    fits = [LLSVMClassifier(50, loss=name, device="cuda", random_state=0).fit(rows, labels)
            for _ in range(3)]  # fmt: skip
    assert all(one.duality_gap_ == fits[0].duality_gap_ for one in fits)
    assert all(np.array_equal(one.predictor_.weights, fits[0].predictor_.weights) for one in fits)
