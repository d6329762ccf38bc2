"""A scorer of single rows: the scores of the predictor, in memory that no two threads share."""

import copy
import pickle
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
import small_predictors
from small_predictors import additive, averaged, hinges, machines, mean_of, selected_sum

from nearlinear.gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
from nearlinear.gates.learned import GaussianGate, Rounded, Sigmoid, Softmax
from nearlinear.gates.trees.node_gates import NODE_GATES
from nearlinear.kernels import Gaussian, Linear
from nearlinear.kernels.conformal import PROFILES
from nearlinear.predictors.combined import Stacked, tree_predictor
from nearlinear.predictors.conformal_linear import ConformalLinear
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.kernel_expansion import KernelExpansion
from nearlinear.predictors.locally_linear import LocallyLinear
from nearlinear.runtime.preparation import Preparation
from nearlinear.single_row.scorer import RowScorer
from reference.tree_problem import make_tree

N_FEATURES = 4


def anchored(gate, width=N_FEATURES):
    def make(dtype, n_outputs):
        rng = np.random.default_rng(0)
        return LocallyLinear(
            gate((rng.standard_normal((7, N_FEATURES)) + 0.5).astype(dtype)),
            rng.standard_normal((7, width, n_outputs)).astype(dtype),
            rng.standard_normal((7, n_outputs)).astype(dtype),
        )

    return make


def weighed(anchors):
    return SoftAssignment(anchors, 3, 0.8, np.array([0.5, 1.0, 2.0, 0.1], dtype=anchors.dtype))


def tree(kind, depth=2, n_seen=N_FEATURES):
    """A tree, on projected rows if it sees another number of features."""

    def make(dtype, n_outputs, seed=0):
        model = make_tree(kind, depth, n_outputs, n_features=n_seen, seed=seed, dtype=dtype)
        intercept = np.array([0.4, -1.5, 2.5], dtype=dtype)[:n_outputs]
        arrays = model.splits, model.slopes, model.weights, intercept, model.node_gate
        projection = np.random.default_rng(2).standard_normal((n_seen, N_FEATURES + 1))
        return tree_predictor(
            *arrays, projection=None if n_seen == N_FEATURES else projection.astype(dtype)
        )

    return make


def forest(dtype, n_outputs):
    return mean_of(*(tree("tanh")(dtype, n_outputs, seed) for seed in range(3)))


def fading(profile, per_feature):
    def make(dtype, n_outputs):
        rng = np.random.default_rng(0)
        typical = 2.0 * (1 if per_feature else N_FEATURES)
        kernels = np.repeat(np.arange(6), n_outputs)
        return ConformalLinear(
            rng.standard_normal((6, N_FEATURES)).astype(dtype),
            PROFILES[profile].gamma(rng.uniform(0.5, 4.0, 6), typical).astype(dtype),
            rng.standard_normal((len(kernels), N_FEATURES)).astype(dtype),
            kernels,
            np.tile(np.arange(n_outputs), 6),
            rng.standard_normal(n_outputs).astype(dtype),
            profile,
            per_feature,
        )

    return make


def stacked(one):
    """One predictor alone, or several side by side that differ in size."""

    def make(dtype, n_outputs):
        parts = tuple(one(dtype, size) for size in range(3, 3 + n_outputs))
        return parts[0] if n_outputs == 1 else Stacked(parts)

    return make


def gated_linear(gate):
    def make(dtype, n_components):
        rng = np.random.default_rng(n_components)
        weights = rng.standard_normal((N_FEATURES, n_components)).astype(dtype)
        biases = rng.standard_normal(n_components).astype(dtype)
        return small_predictors.gated_linear(gate(rng, n_components), weights, biases, 0.7)

    return stacked(make)


def softmax(rng, n_components):
    directions = rng.standard_normal((n_components, N_FEATURES))
    return Softmax(directions, rng.standard_normal(n_components))


def sigmoid(rng, n_components):
    return Sigmoid(rng.standard_normal((n_components, N_FEATURES)), np.zeros(n_components))


def gaussian(rng, n_components):
    centers = rng.standard_normal((n_components, N_FEATURES))
    return GaussianGate(centers, np.zeros(n_components), scale=4.0)


def components(dtype, n_components):
    rng = np.random.default_rng(n_components)
    return machines(
        (Gaussian(0.4), Linear()),
        tuple(q % 2 for q in range(n_components)),
        rng.standard_normal((10, N_FEATURES)).astype(dtype),
        rng.standard_normal((n_components, 10)).astype(dtype),
        rng.standard_normal(n_components).astype(dtype),
        N_FEATURES,
    )


def gated_expansion(dtype, n_components):
    gate = softmax(np.random.default_rng(n_components), n_components)
    return GatedExpansion(gate, components(dtype, n_components), 0.7)


def vote(dtype, n_components):
    gate = softmax(np.random.default_rng(n_components), n_components)
    return small_predictors.vote(gate, components(dtype, n_components))


def selection(dtype, n_components):
    return selected_sum(components(dtype, n_components), 1, 0.7)


def expansion(dtype, n_outputs):
    rng = np.random.default_rng(5)
    return KernelExpansion(
        (Gaussian(0.4), Linear()),
        rng.standard_normal((10, N_FEATURES)).astype(dtype),
        rng.standard_normal((2, 10, n_outputs)).astype(dtype),
        rng.standard_normal(n_outputs).astype(dtype),
        N_FEATURES,
    )


MAKERS = {
    "soft": anchored(lambda anchors: SoftAssignment(anchors, 3, 0.8)),
    "soft, metric": anchored(weighed),
    "soft, constant": anchored(lambda anchors: SoftAssignment(anchors, 3, 0.8), width=0),
    "nearest": anchored(lambda anchors: SoftAssignment(anchors, 1, 1.0)),
    "inverse": anchored(lambda anchors: InverseDistance(anchors, 3)),
    "reconstruction": anchored(lambda anchors: ReconstructionCodes(anchors, 3)),
    "codes, constant": anchored(lambda anchors: ReconstructionCodes(anchors, 3), width=0),
    **{f"{kind} tree": tree(kind) for kind in NODE_GATES},
    **{f"{kind} stump": tree(kind, depth=0) for kind in NODE_GATES},
    **{f"projected {kind} tree": tree(kind, n_seen=2) for kind in NODE_GATES},
    "forest": forest,
    "additive": lambda dtype, n_outputs: additive(N_FEATURES, n_outputs, dtype=dtype),
    "hinges": lambda dtype, n_outputs: hinges(N_FEATURES, n_outputs, dtype=dtype),
    "average": lambda dtype, n_outputs: averaged(N_FEATURES, n_outputs, dtype),
    **{
        f"{profile}{', per feature' * per_feature}": fading(profile, per_feature)
        for profile in PROFILES
        for per_feature in (False, True)
    },
    "rounded softmax": gated_linear(lambda rng, n: Rounded(softmax(rng, n))),
    "wide margin": gated_linear(lambda rng, n: Rounded(softmax(rng, n), 0.2)),
    "softmax": gated_linear(softmax),
    "rounded sigmoid": gated_linear(lambda rng, n: Rounded(sigmoid(rng, n))),
    "rounded gaussian": gated_linear(lambda rng, n: Rounded(gaussian(rng, n))),
    "gated expansion": stacked(gated_expansion),
    "vote": stacked(vote),
    "selection": stacked(selection),
    "expansion": expansion,
}
# One kind for each way through a scorer.
each_way = pytest.mark.parametrize(
    "kind", ["soft", "reconstruction", "projected tanh tree", "forest", "square", "softmax", "vote"]
)
each_kind = pytest.mark.parametrize("kind", MAKERS)
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])


HALVES = Preparation(N_FEATURES, shift=np.ones(N_FEATURES), scale=np.full(N_FEATURES, 2.0))


def make(kind, dtype=np.float64, n_outputs=3, **settings):
    predictor = MAKERS[kind](dtype, n_outputs)
    return predictor, RowScorer(predictor, N_FEATURES, dtype, **settings)


@pytest.fixture
def X(rng):
    return rng.standard_normal((25, N_FEATURES))


@pytest.mark.passes
@each_kind
@each_type
@each_size
def test_scores_are_those_of_the_predictor(X, kind, dtype, n_outputs):
    predictor, scorer = make(kind, dtype, n_outputs)
    rows = X.astype(dtype)
    expected = predictor(rows)
    scores = np.array([np.atleast_1d(scorer(x)) for x in rows])
    # sums of a few dozen products of size ten, in another order
    np.testing.assert_allclose(scores, expected, atol=500 * np.finfo(dtype).eps)
    assert scorer.n_outputs == n_outputs


@pytest.mark.passes
@pytest.mark.parametrize("kind", ["soft", "soft, metric", "nearest", "inverse", "reconstruction"])
@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_a_row_that_is_an_anchor_scores_as_the_predictor_says(kind, offset):
    predictor, _ = make(kind)
    moved = replace(predictor.gate, anchors=predictor.gate.anchors + offset)
    predictor = replace(predictor, gate=moved)
    scorer = RowScorer(predictor, N_FEATURES, np.float64)
    # a distance of zero is rounded to 1e-7, and so is its inverse at the floor
    atol = 1e-8 if kind == "inverse" else 1e-10
    np.testing.assert_allclose(scorer.batch(moved.anchors), predictor(moved.anchors), atol=atol)


@pytest.mark.passes
@pytest.mark.parametrize("kind", ["soft", "soft, metric", "nearest"])
@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e25), (np.float64, 1e180)])
def test_a_row_whose_squares_overflow_scores_as_the_predictor_says(X, kind, dtype, far):
    predictor, scorer = make(kind, dtype)
    rows = (far * X).astype(dtype)
    expected = predictor(rows)
    assert np.isfinite(expected).all()
    with np.errstate(over="ignore"):
        scores = scorer.batch(rows)
    np.testing.assert_allclose(scores, expected, rtol=1e-4 if dtype is np.float32 else 1e-12)


@each_way
@each_type
def test_one_score_is_a_float_and_several_are_an_array(X, kind, dtype):
    x = X[0].astype(dtype)
    assert type(make(kind, dtype, 1)[1](x)) is float
    scores = make(kind, dtype, 3)[1](x)
    assert (scores.shape, scores.dtype) == ((3,), dtype)


@each_way
def test_scores_keep_their_values_when_the_next_row_is_scored(X, kind):
    _, scorer = make(kind)
    first = scorer(X[0])
    before = first.copy()
    scorer(X[1])
    np.testing.assert_array_equal(first, before)


@each_way
@each_size
def test_a_few_rows_are_scored_at_once(X, kind, n_outputs):
    _, scorer = make(kind, n_outputs=n_outputs)
    alone = np.array([np.atleast_1d(scorer(x)) for x in X])
    np.testing.assert_array_equal(scorer.batch(X), alone)


def test_a_batch_is_written_into_memory_that_is_given(X):
    _, scorer = make("soft")
    out = np.empty((25, 3))
    assert scorer.batch(X, out) is out
    np.testing.assert_array_equal(out, scorer.batch(X))


def test_a_whole_number_beyond_all_others_is_refused_in_a_sentence():
    _, scorer = make("soft")
    with pytest.raises(ValueError, match="A number of the row is too large for float64"):
        scorer([10**400, *[0] * (scorer.n_features - 1)])


def test_a_batch_of_no_rows_is_empty(X):
    assert make("soft")[1].batch(X[:0]).shape == (0, 3)


@each_way
def test_a_row_stays_as_it_was(X, kind):
    _, scorer = make(kind, preparation=HALVES)
    before = X.copy()
    scorer.batch(X)
    np.testing.assert_array_equal(X, before)


# Each makes the passes be compiled once more, so one of a family stands for all.
@pytest.mark.parametrize("kind", ["soft", "indicator tree", "square", "rounded softmax"])
def test_a_row_may_be_read_only_or_have_gaps(X, kind):
    _, scorer = make(kind)
    expected = scorer.batch(X)
    columns = np.asfortranarray(X)
    columns.flags.writeable = False
    np.testing.assert_allclose(scorer.batch(columns), expected, atol=1e-13)


@each_kind
@each_type
def test_a_scaler_is_applied_before_the_scores(X, kind, dtype):
    mean, factor = np.array([1.0, -2.0, 0.0, 3.0]), np.array([0.5, 1.0, 2.0, 0.1])
    predictor, scorer = make(
        kind, dtype, preparation=Preparation(N_FEATURES, shift=mean, scale=1.0 / factor)
    )
    rows = X.astype(dtype)
    expected = predictor((rows - mean.astype(dtype)) * factor.astype(dtype))
    np.testing.assert_allclose(scorer.batch(rows), expected, atol=1000 * np.finfo(dtype).eps)


@each_way
def test_the_label_is_that_of_the_largest_score(X, kind):
    predictor, scorer = make(kind, classes=np.array(["a", "b", "c"]))
    expected = np.array(["a", "b", "c"])[predictor(X).argmax(axis=1)]
    assert [scorer.predict(x) for x in X] == expected.tolist()


@each_way
def test_the_label_of_two_classes_is_by_the_sign(X, kind):
    predictor, scorer = make(kind, n_outputs=1, classes=np.array([-5, 7]))
    expected = np.where(predictor(X)[:, 0] > 0, 7, -5)
    assert [scorer.predict(x) for x in X] == expected.tolist()


def test_a_score_of_zero_is_the_first_class():
    predictor, _ = make("expansion", n_outputs=1)
    silent = replace(
        predictor, coefficients=0.0 * predictor.coefficients, biases=0.0 * predictor.biases
    )
    scorer = RowScorer(silent, N_FEATURES, np.float64, np.array(["no", "yes"]))
    assert scorer.predict(np.ones(N_FEATURES)) == "no"


@each_way
def test_without_classes_the_prediction_is_the_value(X, kind):
    _, scorer = make(kind, n_outputs=1)
    values = [scorer.predict(x) for x in X]
    assert values == [scorer(x) for x in X]
    assert {type(value) for value in values} == {float}


@each_way
@each_size
def test_a_copy_gives_the_same_bits(X, kind, n_outputs):
    _, scorer = make(kind, n_outputs=n_outputs, preparation=HALVES)
    scorer.classes = np.array(["a", "b", "c"])[: max(2, n_outputs)]
    for twin in (pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer)):
        np.testing.assert_array_equal(twin.batch(X), scorer.batch(X))
        assert [twin.predict(x) for x in X] == [scorer.predict(x) for x in X]


def test_a_scorer_that_has_worked_is_no_larger_in_a_pickle(X):
    _, scorer = make("reconstruction")
    before = len(pickle.dumps(scorer))
    scorer.batch(X)
    assert len(pickle.dumps(scorer)) == before


def in_threads(work, n_threads=32):
    """What ``work(number)`` gives on threads that begin together."""
    found, gate = [None] * n_threads, threading.Barrier(n_threads, timeout=60)

    def run(number):
        gate.wait()
        found[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(n_threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads change places in the midst of a row
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return found


@each_way
def test_threads_do_not_disturb_each_other(X, kind):
    _, scorer = make(kind, preparation=HALVES)
    expected = scorer.batch(X)

    def work(number):
        order = np.roll(np.arange(len(X)), number)
        scores = np.empty_like(expected)
        for i in order:
            scores[i] = scorer(X[i])
        return scores

    for scores in in_threads(work):
        np.testing.assert_array_equal(scores, expected)


def test_threads_have_memory_of_their_own(X):
    _, scorer = make("soft")
    places = {memory.ctypes.data for memory in in_threads(lambda _: scorer._scores(X[0]))}
    assert len(places) == 32


def test_a_thread_takes_no_new_memory_for_its_next_row(X):
    _, scorer = make("soft")
    assert scorer._scores(X[0]) is scorer._scores(X[1])


@each_way
@pytest.mark.parametrize("preparation", [None, HALVES])
def test_what_is_no_row_is_refused(kind, preparation):
    _, scorer = make(kind, preparation=preparation, classes=np.array(["a", "b", "c"]))
    for length in (0, 1, N_FEATURES - 1, N_FEATURES + 1, 1000):
        with pytest.raises(ValueError, match=f"{length} numbers, not {N_FEATURES}"):
            scorer.predict(np.zeros(length))
    with pytest.raises(ValueError, match="one row"):
        scorer(np.zeros((1, N_FEATURES)))
    for strange in (np.nan, np.inf, -np.inf):
        x = np.zeros(N_FEATURES)
        x[2] = strange
        with pytest.raises(ValueError, match=r"Feature 2 .* finite"):
            scorer.predict(x)


@pytest.mark.parametrize("kind", ["soft", "tanh tree", "projected tanh tree", "gaussian", "forest"])
def test_blocks_of_rows_have_the_model_s_width(kind):
    predictor, _ = make(kind)
    for width in (1, N_FEATURES - 1, N_FEATURES + 1, 60):
        with pytest.raises(ValueError, match=f"X has {width} features"):
            predictor(np.zeros((5, width)))


def test_a_list_is_a_row(X):
    predictor, scorer = make("soft", n_outputs=1)
    assert scorer(X[0].tolist()) == pytest.approx(predictor(X)[0, 0])
