"""Learning from a stream: partial_fit."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from nearlinear.kernels import Polynomial
from nearlinear.solvers.anchors.sgd import RowTrainer
from nearlinear.solvers.trees.adam import TreeStream

PORTION = 50


@pytest.fixture(scope="module")
def stream():
    """Six hundred rows of two moons, in random order."""
    X, y = make_moons(600, noise=0.15, random_state=0)
    return StandardScaler().fit_transform(X), y


def feed(model, X, y, n_passes=1, **settings):
    for _ in range(n_passes):
        for start in range(0, len(y), PORTION):
            rows = slice(start, start + PORTION)
            model.partial_fit(X[rows], y[rows], classes=np.unique(y), **settings)
    return model


def learned_dtype(model):
    return model.predictor_.dtype


def assert_same_bits(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_moons_are_learned_portion_by_portion(small, loss_stream_name, loss, stream):
    model = feed(small(loss_stream_name, loss=loss), *stream, n_passes=5)
    assert model.score(*stream) > LinearSVC().fit(*stream).score(*stream) + 0.05


def test_three_classes_are_learned_portion_by_portion(small, stream_name, blobs):
    assert feed(small(stream_name), *blobs, n_passes=5).score(*blobs) > 0.75


@pytest.mark.parametrize("local_model", ["affine", "constant"])
def test_the_stream_of_llc_sapl_moves_the_anchors(small, local_model, stream):
    X, y = stream
    model = small("LLCSAPLClassifier", local_model=local_model)
    start = model.partial_fit(X[:50], y[:50], classes=[0, 1]).anchors_.copy()
    model.partial_fit(X[50:], y[50:])
    assert np.abs(model.anchors_ - start).max() > 1e-3


@pytest.mark.parametrize("fixed_name", ["LLSVMClassifier", "LCCSVMClassifier"])
def test_the_stream_of_fixed_anchors_leaves_them(small, fixed_name, stream):
    X, y = stream
    model = small(fixed_name)
    start = model.partial_fit(X[:50], y[:50], classes=[0, 1]).anchors_.copy()
    np.testing.assert_array_equal(model.partial_fit(X[50:], y[50:]).anchors_, start)


def test_sparse_portions_teach_what_dense_ones_do(small, sparse_stream_name, stream):
    X, y = np.where(np.abs(stream[0]) < 0.2, 0.0, stream[0])[:300], stream[1][:300]
    # every row and its mirror image: trees center dense rows, which must change nothing here
    X, y = np.stack([X, -X], axis=1).reshape(600, 2), np.repeat(y, 2)
    settings = {"jitter": 0.0} if sparse_stream_name == "LDKLClassifier" else {}
    if sparse_stream_name == "LaSVMClassifier":
        # pair steps leave equal gradients, of which rounding would choose: nothing is rounded here
        X, settings = np.round(4.0 * X) / 4.0, {"kernel": Polynomial(2, gamma=1.0)}
    dense, sparse = (small(sparse_stream_name, **settings) for _ in range(2))
    for start in range(0, 600, PORTION):
        rows = slice(start, start + PORTION)
        dense.partial_fit(X[rows], y[rows], classes=[0, 1])
        sparse.partial_fit(csr_matrix(X[rows]), y[rows], classes=[0, 1])
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X)), dense.decision_function(X), atol=1e-6
    )  # six hundred steps with sums in another order


def test_a_stream_goes_on_from_a_fitted_model(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).fit(X[:300], y[:300])
    fitted = model.score(X, y)
    before = model.decision_function(X)
    model.partial_fit(X[300:], y[300:])
    assert np.abs(model.decision_function(X) - before).max() > 1e-3  # it learned something
    assert model.score(X, y) > fitted - 0.02  # and forgot nothing


def test_one_row_does_not_upset_a_fitted_model(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).fit(X, y)
    before = model.predict(X)
    model.partial_fit(X[:1], y[:1])
    assert np.mean(model.predict(X) == before) > 0.98


def test_fit_after_a_stream_begins_anew(small, stream_name, stream, blobs):
    model = feed(small(stream_name), *stream).fit(*blobs)
    assert_same_bits(model, small(stream_name).fit(*blobs), blobs[0])


def test_a_stream_after_fit_after_a_stream_goes_on_from_the_fit(small, stream_name, stream):
    X, y = stream
    used = feed(small(stream_name), X, 1 - y).fit(X, y).partial_fit(X[:100], y[:100])
    assert used.score(X, y) > 0.85


def test_one_seed_gives_one_stream(small, stream_name, stream):
    assert_same_bits(
        feed(small(stream_name), *stream), feed(small(stream_name), *stream), stream[0]
    )


def test_every_portion_has_an_order_of_its_own(small, shuffled_stream_name, stream, monkeypatch):
    orders = []

    def note(trainer, X, *args, rng, **settings):
        orders.append(rng.permutation(len(X)).tolist())

    for trainer in (RowTrainer, TreeStream):
        monkeypatch.setattr(trainer, "train", note)
    X, y = stream
    for _ in range(2):
        model = small(shuffled_stream_name).partial_fit(X, y, classes=[0, 1])
        model.partial_fit(X, y).partial_fit(X, y)
    assert orders[1] != orders[2]
    assert orders[:3] == orders[3:]  # the seed settles them all


def test_a_pickled_stream_goes_on_to_the_same_end(small, stream_name, stream):
    X, y = stream
    model = feed(small(stream_name), X[:300], y[:300])
    copy = pickle.loads(pickle.dumps(model))
    assert_same_bits(feed(model, X[300:], y[300:]), feed(copy, X[300:], y[300:]), X)


def test_portions_need_not_hold_every_class(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).partial_fit(X[:50], y[:50], classes=[0, 1])
    for label in (0, 1, 0, 1):
        model.partial_fit(X[y == label][:20], y[y == label][:20])
    assert model.score(X, y) > 0.6


def test_classes_come_in_any_order_and_more_than_once(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).partial_fit(X[:50], y[:50], classes=[1, 0, 1])
    assert model.classes_.tolist() == [0, 1]


def test_class_weights_count_in_a_stream(small, stream_name, stream):
    X, y = stream
    by_class = feed(small(stream_name, class_weight={1: 3.0}), X, y)
    by_row = small(stream_name)
    for start in range(0, 600, PORTION):
        rows = slice(start, start + PORTION)
        by_row.partial_fit(
            X[rows], y[rows], classes=[0, 1], sample_weight=np.where(y[rows] == 1, 3.0, 1.0)
        )
    assert_same_bits(by_class, by_row, X)


def test_heavy_rows_pull_harder(small, stream_name, stream, rng):
    X, y = stream[0] + rng.standard_normal(stream[0].shape), stream[1]  # much overlap
    share = [
        feed(small(stream_name, class_weight={1: weight}), X, y, n_passes=3).predict(X).mean()
        for weight in (0.1, 10.0)
    ]
    assert share[1] > share[0] + 0.2


def test_float32_portions_stay_float32(small, stream_name, stream):
    X, y = stream[0].astype(np.float32), stream[1]
    model = feed(small(stream_name), X, y)
    assert learned_dtype(model) == np.float32
    assert model.decision_function(X).dtype == np.float32


@pytest.mark.parametrize("first", [np.float32, np.float64])
def test_portions_may_come_in_either_precision(small, stream_name, stream, first):
    X, y = stream
    second = np.float64 if first == np.float32 else np.float32
    model = small(stream_name).fit(X[:300].astype(first), y[:300])
    for _ in range(3):
        model.partial_fit(X[300:].astype(second), y[300:])
    assert model.score(X, y) > 0.85
    # forests read all rows as float32
    assert learned_dtype(model) == (np.float32 if "Forest" in stream_name else first)


def test_a_stream_of_the_log_loss_has_probabilities(small, loss_stream_name, stream):
    X, y = stream
    model = feed(small(loss_stream_name, loss="log_loss"), X, y, n_passes=5)
    probabilities = model.predict_proba(X)
    assert -np.log(probabilities[np.arange(600), y]).mean() < 0.8 * np.log(2)


def test_the_first_portion_needs_all_classes_named(small, stream_name, stream):
    with pytest.raises(ValueError, match="partial_fit needs classes in its first call"):
        small(stream_name).partial_fit(*stream)


def test_one_class_is_refused(small, stream_name, stream):
    X, _ = stream
    with pytest.raises(ValueError, match=f"{stream_name} needs at least two classes"):
        small(stream_name).partial_fit(X, np.zeros(600), classes=[0])


@pytest.mark.parametrize("label", [-5, 7])
def test_a_label_that_was_not_named_is_refused(small, stream_name, stream, label):
    X, y = stream
    labels = y.astype(float)
    labels[7] = label
    with pytest.raises(ValueError) as caught:
        small(stream_name).partial_fit(X, labels, classes=[0.0, 1.0])
    assert str(caught.value).startswith(f"partial_fit met the label {float(label)}")


def test_a_label_of_another_type_is_refused(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).partial_fit(X, np.array(["no", "yes"])[y], classes=["no", "yes"])
    with pytest.raises(ValueError, match="met the label 0"):
        model.partial_fit(X[:1], [0])


def test_a_call_that_failed_does_not_settle_the_classes(small, stream_name, stream):
    X, y = stream
    model = small(stream_name)
    with pytest.raises(ValueError, match="met the label"):
        model.partial_fit(X, y + 1, classes=[0, 1])
    assert model.partial_fit(X, y + 1, classes=[1, 2]).classes_.tolist() == [1, 2]


def test_other_classes_in_a_later_call_are_refused(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).partial_fit(X[:50], y[:50], classes=[0, 1])
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X[50:], y[50:], classes=[0, 1, 2])


def test_a_portion_with_other_features_is_refused(small, stream_name, stream):
    X, y = stream
    model = small(stream_name).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"X has 1 features, but .* is expecting 2 features"):
        model.partial_fit(X[:, :1], y)


def test_a_first_portion_with_few_rows_gives_few_anchors_and_a_warning(small, anchor_name, stream):
    X, y = stream
    with pytest.warns(UserWarning, match="is more than the 4 distinct training rows"):
        model = small(anchor_name).partial_fit(X[:4], y[:4], classes=[0, 1])
    assert len(model.anchors_) == 4
    assert feed(model, X, y, n_passes=5).score(X, y) > 0.75
