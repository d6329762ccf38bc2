"""Sums over blocks: those of a formula, the same for any blocks, and a way to the optimum."""

import numpy as np
import pytest
from solvers.forests.test_refit import CORNERS, N_ROWS, SMOOTH, make, refit

from nearlinear.losses import SquaredError
from nearlinear.solvers.forests.leaf_search import LeafSearch
from nearlinear.solvers.forests.penalty_path import LeafPath
from nearlinear.solvers.forests.problem import models_of
from nearlinear.solvers.forests.statistics import (
    LeafFrame,
    add_moments_by_leaf,
    add_sums,
    leaf_statistics,
)


class Table:
    """A gate, a base and slopes' columns whose rows are numbers of rows."""

    def __init__(self, given):
        self.given, self.leaf_starts = given, given["leaf_starts"]

    def __call__(self, X, n_jobs=None):
        return self.given["leaves"][X[:, 0]]

    def before(self, X):
        return self.given["base"][X[:, 0]]

    def seen(self, X):
        return self.given["Z"][X[:, 0]]


def frame_of(given, width=0.0):
    gate = Table(given)
    seen = None if given["Z"] is None else gate.seen
    return LeafFrame(gate, given["outputs"], given["loss"], gate.before, seen, width)


def sums_in(given, frame, models, n_blocks, n_jobs=None):
    total = None
    for rows in np.array_split(np.arange(N_ROWS), n_blocks):
        targets, weight = given["targets"][rows], given["weight"][rows]
        found = leaf_statistics(frame, models, rows[:, None], targets, weight, n_jobs)
        total = found if total is None else add_sums(total, found)
    return total


def grown_of(given):
    n_slopes = 0 if given["Z"] is None else given["Z"].shape[1]
    return models_of(given["values"], np.zeros((*given["values"].shape, n_slopes)))


def searched(given, lam, n_passes, width=0.0, n_blocks=1):
    frame, most = frame_of(given, width), len(given["outputs"])
    search = LeafSearch.of(grown_of(given), lam, most)
    for _ in range(n_passes):
        search = search.after(sums_in(given, frame, search.trial, n_blocks))
    return search


@pytest.mark.passes
def test_moments_by_leaf_are_those_of_a_formula():
    rng = np.random.default_rng(0)
    leaf, g, h = rng.integers(5, 9, 40).astype(np.int32), *rng.random((2, 40))
    Z = rng.random((40, 2), dtype=np.float32)
    slopes, curves = np.zeros((4, 3)), np.zeros((4, 3, 3))
    add_moments_by_leaf(leaf, 5, g, h, Z, slopes, curves)
    z, is_there = np.c_[np.ones(40), Z], leaf[:, None] == np.arange(5, 9)
    assert np.allclose(slopes, np.einsum("il,i,ip->lp", is_there, g, z))
    assert np.allclose(curves, np.tril(np.einsum("il,i,ip,iq->lpq", is_there, h, z, z)))


@pytest.mark.parametrize("n_slopes", [0, 2])
@pytest.mark.parametrize("case", SMOOTH.values(), ids=SMOOTH)
def test_passes_end_at_the_optimum_that_steps_by_tree_find(case, n_slopes):
    given = make(np.random.default_rng(1), *case, n_slopes)
    found, wanted = searched(given, 0.5, 60), refit(given, max_passes=400)
    assert found.objective == pytest.approx(wanted.objective, rel=1e-6)
    assert found.relative_gap < 1e-4
    assert np.allclose(found.models[:, :, 0], wanted.values, atol=2e-3)


@pytest.mark.parametrize("loss", CORNERS.values(), ids=CORNERS)
def test_corners_that_are_rounded_narrowly_cost_little(loss):
    given = make(np.random.default_rng(2), loss)
    found, wanted = searched(given, 0.5, 120, width=0.02), refit(given, max_passes=400)
    assert 0 < found.objective - wanted.objective < 0.02 * wanted.objective


def test_models_do_not_depend_on_blocks_or_threads():
    given = make(np.random.default_rng(3), *SMOOTH["a tree per class"])
    one = searched(given, 0.5, 10)
    for n_blocks in (3, 11):
        some = searched(given, 0.5, 10, n_blocks=n_blocks)
        assert np.allclose(some.models, one.models, atol=1e-9)
    frame, models = frame_of(given), grown_of(given)
    alone, threads = (sums_in(given, frame, models, 2, n_jobs) for n_jobs in (None, 2))
    assert np.array_equal(alone.slopes, threads.slopes)


def test_another_penalty_needs_no_pass():
    given = make(np.random.default_rng(4), SquaredError())
    frame, search = frame_of(given), searched(given, 3.0, 5)
    moved = search.with_penalty(0.5)
    fresh = LeafSearch.of(search.grown, 0.5, 3).from_models(search.models)
    fresh = fresh.after(sums_in(given, frame, fresh.trial, 1))
    assert moved.objective == pytest.approx(fresh.objective)
    assert np.allclose(moved.search.slope, fresh.search.slope)


def test_held_out_rows_choose_the_penalty_and_may_leave_leaves_as_grown():
    given = make(np.random.default_rng(5), SquaredError())
    frame, grown = frame_of(given), grown_of(given)

    def chosen(judge):
        best = lambda losses: min(losses, key=lambda lam: losses[lam].mean())  # noqa: E731
        path = LeafPath(grown, (30.0, 3.0, 0.3), 3, judge, best)
        while not path.is_over:
            path.advance(sums_in(given, frame, path.trial, 1))
        return path

    stays = chosen(lambda models: (models - grown).ravel() ** 2)
    assert np.isinf(stays.lam) and np.array_equal(stays.models, grown)
    near = searched(given, 3.0, 30).models
    path = chosen(lambda models: (models - near).ravel() ** 2)
    assert path.lam == 3.0 and np.allclose(path.models, near, atol=1e-2)
