"""What scores mean: the formulas beside those of scikit-learn, and outcomes that are refused."""

import numpy as np
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from runtime import crafted, plain_reader
from runtime.crafted import CALIBRATIONS, THREE, TWO, edited, items, make, part, with_outcome
from scipy.special import expit, softmax
from sklearn import calibration
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from nearlinear.export.wrappers import unwrapped
from nearlinear.runtime.container import ModelFileError, from_bytes, to_bytes
from nearlinear.runtime.model import model_of
from nearlinear.runtime.outcome import (
    EachLabel,
    LogLoss,
    Outcome,
    Sigmoids,
    Tables,
    Threshold,
    averaged_scores,
    ramps,
)


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are its scores."""

    def fit(self, X, y):
        self.classes_, self.is_fitted_ = np.unique(y), True
        return self

    def decision_function(self, X):
        return X[:, 0] if len(self.classes_) == 2 else X

    def predict(self, X):
        raise NotImplementedError


@pytest.fixture
def scores(rng, n_outputs):
    return 2.0 * rng.standard_normal((200, n_outputs))


EACH_COUNT = pytest.mark.parametrize("n_outputs", [1, 3])


@EACH_COUNT
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_calibrated_probabilities_are_those_of_scikit_learn(method, scores, n_outputs, rng):
    if method == "temperature" and not hasattr(calibration, "_TemperatureScaling"):
        pytest.skip("temperatures came with scikit-learn 1.8")
    noisy = scores + rng.standard_normal(scores.shape)
    y = (noisy[:, 0] > 0).astype(int) if n_outputs == 1 else noisy.argmax(axis=1)
    frozen = FrozenEstimator(Given().fit(scores, y))
    theirs = CalibratedClassifierCV(frozen, method=method).fit(scores, y)
    outcome = unwrapped(theirs).outcome
    new = np.vstack([3.0 * scores, 0.1 * scores])  # also beyond what was seen
    assert_allclose(outcome.probabilities([new]), theirs.predict_proba(new), rtol=0, atol=1e-14)
    assert_array_equal(outcome.places([new]), theirs.predict(new))


@pytest.mark.parametrize("n_outputs", [1])
def test_the_log_loss_of_one_column_is_logistic(scores):
    assert_allclose(LogLoss()(scores), np.hstack([expit(-scores), expit(scores)]))


@pytest.mark.parametrize("n_outputs", [4])
def test_the_log_loss_of_several_columns_is_a_softmax(scores):
    assert_allclose(LogLoss()(scores), softmax(scores, axis=1))


def test_where_no_class_has_a_probability_all_have_the_same():
    tables = Tables((np.array([0.0]),) * 3, (np.array([0.0]),) * 3)
    assert_allclose(tables(np.ones((2, 3))), 1 / 3)


def test_large_scores_have_probabilities(recwarn):
    sure = Sigmoids(np.array([-1e5]), np.array([0.0]))
    assert_array_equal(sure(np.array([[1e305], [-1e305]])), [[0.0, 1.0], [1.0, 0.0]])
    assert not recwarn


@pytest.mark.parametrize("of", ["score", "probability"])
@pytest.mark.parametrize("positive", [0, 1])
def test_a_threshold_belongs_to_the_positive_class(of, positive):
    scores = np.array([[-1.0], [0.0], [1.0]])
    outcome = Outcome((LogLoss(),), Threshold(of, 0.5 if of == "probability" else 0.0, positive))
    expected = [0, 1, 1] if positive else [0, 0, 1]
    assert outcome.places([scores]).tolist() == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_table_of_one_point_has_no_ramps():
    first, starts, steepness, rises = ramps(np.array([0.5]), np.array([0.7]))
    assert first == 0.7
    assert starts.size == steepness.size == rises.size == 0


# NumPy 2.2 and 2.3 convert an array of one element to a scalar with this warning. As an error it
# would stop the conversion.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_mean_probability_of_one_sample_is_that_of_many(rng):
    scores = [rng.standard_normal((5, 1)) for _ in range(2)]
    calibrations = [LogLoss(), Sigmoids(slopes=np.array([2.0]), offsets=np.array([0.5]))]
    together = averaged_scores(calibrations, (0.3, 0.7), scores)
    alone = averaged_scores(calibrations, (0.3, 0.7), [values[:1] for values in scores])
    assert_allclose(alone, together[:1], rtol=1e-12)


def test_ramps_are_the_lines_of_a_table(rng):
    known = np.sort(rng.standard_normal(30))
    values = np.sort(np.repeat(rng.random(10), 3))  # with level parts
    first, starts, steepness, rises = ramps(known, values)
    assert len(rises) < 20
    at = np.linspace(-4.0, 4.0, 500)
    shares = np.clip((at[:, None] - starts) * steepness, 0.0, 1.0)
    assert_allclose(first + shares @ rises, np.interp(at, known, values), atol=1e-12)


# --- outcomes of files --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("name", [TWO, THREE])
@pytest.mark.parametrize("n_more", [0, 2])
def test_two_readers_agree(name, kind, n_more, rng):
    if kind in ("LogLoss", "Shares") and n_more:
        pytest.skip("only calibrated models are averaged")
    threshold = crafted.THRESHOLD if name == TWO else None
    header, arrays = with_outcome(name, CALIBRATIONS[kind], threshold, n_more)
    data, rows = to_bytes(header, arrays), rng.standard_normal((20, crafted.N_FEATURES))
    found, plain = model_of(*from_bytes(data)), plain_reader.read(data)
    by_row = [plain_reader.probabilities(plain, row) for row in rows.tolist()]
    assert_allclose(found.predict_proba(rows), by_row, atol=1e-12)
    assert found.predict(rows).tolist() == [plain_reader.label(plain, row) for row in rows.tolist()]


def test_a_file_without_an_outcome_gives_no_probabilities(rng):
    model = model_of(*make(TWO))
    assert not model.gives_probabilities
    with pytest.raises(ValueError, match=r"gives no probabilities: .*CalibratedClassifierCV"):
        model.predict_proba(rng.standard_normal((5, crafted.N_FEATURES)))


def test_several_models_have_no_common_scores():
    model = model_of(*with_outcome(TWO, CALIBRATIONS["Sigmoids"], n_more=1))
    with pytest.raises(ValueError, match=r"2 calibrated models .* ask for predict_proba"):
        model.decision_function(np.zeros((1, 3)))


def put(*path):
    """An edit of the outcome: fields and positions, then a value."""
    *path, last, value = path

    def edit(header, arrays):
        place = crafted.at(header["outcome"], *path)
        place["items" if isinstance(last, int) else "fields"][last] = value

    return edit


def array(*path):
    *path, values = path

    def edit(header, arrays):
        arrays.append(np.asarray(values))
        put(*path, {"$": "array", "number": len(arrays) - 1})(header, arrays)

    return edit


def top(**changes):
    return lambda header, arrays: header.update(changes)


FIRST = ("calibration", 0)
NAN = {"$": "number", "value": "nan"}
LIES = {
    "Sigmoids": [
        array(*FIRST, "slopes", [1.0, 2.0]), array(*FIRST, "offsets", [np.nan]),
        array(*FIRST, "slopes", [1]), put(*FIRST, "slopes", 1.0), put(*FIRST, "more", 1),
        put("calibration", items()), put("calibration", []), put("calibration", 0, None),
        put("calibration", 0, part("LogLoss")), put("calibration", 1, part("Softmax")),
        put("threshold", part("Threshold", of="score", at=0.0, positive=1)),
        put("threshold", part("Threshold", of="odds", at=0.0, positive=1)),
        put("threshold", part("Threshold", of="probability", at=NAN, positive=1)),
        put("threshold", part("Threshold", of="probability", at=0.5, positive=2)),
        put("threshold", part("Threshold", of="probability", at=0.5, positive=True)),
        put("threshold", 0.5), top(outcome=part("LogLoss")), top(outcome=3), top(outcome=None),
        top(members=[]), top(members=None), top(members=[None]), top(members=[{}]),
        top(classes=None), lambda header, arrays: header["members"].append(header["members"][0]),
        lambda header, arrays: header["members"][0].update(n_features=4),
        lambda header, arrays: header["members"][0].update(classes=None),
        lambda header, arrays: header["members"][0].update(members=[]),
        lambda header, arrays: header["members"][0].pop("predictor"),
    ],
    "Temperature": [
        array(*FIRST, "factor", [0.0]), array(*FIRST, "factor", [-1.0]),
        array(*FIRST, "factor", [1e9]), array(*FIRST, "factor", 1.0), put(*FIRST, "factor", 1.0),
    ],
    "Tables": [
        put(*FIRST, "scores", items()), array(*FIRST, "scores", 0, [0.0, 0.0, 1.0, 2.0]),
        array(*FIRST, "scores", 0, [0.0, 1.0]), array(*FIRST, "scores", 0, [0.0, 1, 2, 1e301]),
        array(*FIRST, "probabilities", 0, [0.0, 0.5, 1.0, 1.5]),
        array(*FIRST, "probabilities", 0, [-0.1, 0.5, 1.0, 1.0]),
    ],
}  # fmt: skip


@in_one_test("kind, number", [(k, n) for k, lies in LIES.items() for n in range(len(lies))])
def test_every_lie_about_an_outcome_is_refused(kind, number):
    header, arrays = with_outcome(TWO, CALIBRATIONS[kind], n_more=1)
    model_of(header, arrays)
    with pytest.raises(ModelFileError) as caught:
        model_of(*edited(header, arrays, LIES[kind][number]))
    assert "\n" not in str(caught.value)


def test_a_threshold_is_one_of_two_classes():
    with pytest.raises(ModelFileError, match="several classes"):
        model_of(*with_outcome(THREE, CALIBRATIONS["Sigmoids"], crafted.THRESHOLD))


def test_a_threshold_of_probabilities_needs_some():
    header, arrays = make(TWO)
    header["outcome"] = part("Outcome", calibration=items(), threshold=crafted.THRESHOLD)
    with pytest.raises(ModelFileError, match="no probabilities"):
        model_of(header, arrays)


def test_each_label_has_a_probability_and_an_answer_of_its_own(recwarn):
    header, arrays = make(THREE)
    rows = np.random.default_rng(0).standard_normal((20, 3))
    plain = model_of(header, arrays)
    scores = plain.decision_function(rows)
    header["outcome"] = part("EachLabel", of_log_loss=True)
    model = model_of(header, arrays)
    assert_array_equal(model.predict(rows), scores > 0)
    assert_allclose(model.predict_proba(rows), expit(scores))
    assert EachLabel(True).probabilities([np.array([[1e4, -1e4]])]).tolist() == [[1.0, 0.0]]
    assert not recwarn
    header["outcome"] = part("EachLabel", of_log_loss=False)
    with pytest.raises(ValueError, match="gives no probabilities"):
        model_of(header, arrays).predict_proba(rows)
    for wrong in (part("EachLabel", of_log_loss=1), part("EachLabel")):
        with pytest.raises(ModelFileError):
            model_of({**header, "outcome": wrong}, arrays)
    header, arrays = make(TWO)
    with pytest.raises(ModelFileError, match="one model and several labels"):
        model_of({**header, "outcome": part("EachLabel", of_log_loss=True)}, arrays)
