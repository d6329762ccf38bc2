"""What a gate sees of a row: columns by number and name, a function, a second matrix."""

import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from grids import in_one_test
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.svm import SVC, SVR

from nearlinear import LMKLClassifier, LMKLRegressor
from nearlinear.gates.learned import Columns, Softmax, Viewing
from nearlinear.kernels import Gaussian, Linear, OnColumns, Polynomial

AFFINE = Polynomial(1, gamma=1.0, coef0=1.0)
TASKS = {"Classifier": LMKLClassifier, "Regressor": LMKLRegressor}
EACH_TASK = pytest.mark.parametrize("task", TASKS)
EACH_SOLVER = pytest.mark.parametrize("solver", ["smo", "adam"])
EACH_KERNEL = pytest.mark.parametrize(
    "kernels", [AFFINE, Gaussian(0.5)], ids=["linear", "gaussian"]
)
KINDS = {"dense": np.asarray, "csr": csr_matrix, "csr_array": csr_array, "list": np.ndarray.tolist}


def make(task="Classifier", kernels=AFFINE, **settings):
    settings = {"n_copies": 2, "C": 2.0, "gate_penalty": 0.1, "normalization": None} | settings
    return TASKS[task](kernels, **{"max_iter": 5, "max_epochs": 20, "random_state": 0} | settings)


def score(model, X, *gating):
    return getattr(model, "decision_function", model.predict)(X, *gating)


def first_two(X):
    return X[:, :2]


def squares(X):
    return np.hstack([X, X**2])


@dataclass(frozen=True)
class Halves:
    """A gate with nothing to learn: left and right of zero in the first column it sees."""

    parameters = np.zeros(0)

    def start(self, Z, n_components, rng):
        return self

    def with_parameters(self, parameters):
        return self

    def gradient(self, Z, slopes):
        return np.zeros(0)

    def __call__(self, Z):
        right = 0.2 + 0.6 * np.asarray((Z @ np.eye(Z.shape[1])[:, :1]) > 0)
        return np.hstack([right, 1.0 - right])


@pytest.fixture(scope="module")
def data():
    """Rows, what gates may see of them, and labels and values."""
    rng = np.random.default_rng(5)
    X, G = rng.standard_normal((80, 3)), rng.standard_normal((80, 2))
    values = np.where(G[:, 0] > 0, X[:, 0], -X[:, 0]) + 0.3 * X[:, 1]
    return X, G, {"Classifier": (values > 0.1).astype(int), "Regressor": values}


# --- columns and functions ---------------------------------------------------------------------


@EACH_TASK
@EACH_SOLVER
@pytest.mark.parametrize("columns", [[0], [2, 0], (1,), np.array([0, 1])], ids=str)
def test_columns_by_number_are_a_gate_that_sees_them(data, task, solver, columns):
    X, _, y = data
    named = make(task, solver=solver, gating_features=columns).fit(X, y[task])
    view = Viewing(Softmax(), Columns(tuple(int(d) for d in columns)))
    own = make(task, solver=solver, gate=view).fit(X, y[task])
    np.testing.assert_array_equal(score(named, X), score(own, X))
    np.testing.assert_array_equal(named.gate_values(X), own.gate_values(X))


@EACH_TASK
def test_columns_by_name_are_those_by_number(data, task):
    X, _, y = data
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    named = make(task, gating_features=["weight", "age"]).fit(frame, y[task])
    numbered = make(task, gating_features=[2, 0]).fit(X, y[task])
    np.testing.assert_array_equal(score(named, frame), score(numbered, X))
    np.testing.assert_array_equal(named.gate_values(frame), numbered.gate_values(X))


@EACH_TASK
@EACH_SOLVER
def test_a_function_of_the_rows_is_called_on_them(data, task, solver):
    X, _, y = data
    by_function = make(task, solver=solver, gating_features=first_two).fit(X, y[task])
    by_number = make(task, solver=solver, gating_features=[0, 1]).fit(X, y[task])
    np.testing.assert_array_equal(score(by_function, X), score(by_number, X))


@EACH_TASK
def test_a_function_may_give_more_features_than_there_are(data, task):
    X, _, y = data
    model = make(task, gating_features=squares).fit(X, y[task])
    learned = model.gate_.gate
    assert learned.gate.directions.shape == (2, 6)
    np.testing.assert_allclose(model.gate_values(X), learned.gate(squares(X)), atol=1e-3)


def test_a_gate_does_not_feel_columns_that_it_does_not_see(data, rng):
    X, _, y = data
    model = make(gating_features=[1]).fit(X, y["Classifier"])
    other = rng.standard_normal(X.shape)
    other[:, 1] = X[:, 1]
    np.testing.assert_array_equal(model.gate_values(other), model.gate_values(X))
    assert np.ptp(model.gate_values(X), axis=0).max() > 0.1


@EACH_SOLVER
def test_functions_and_columns_see_sparse_rows(data, solver):
    X, _, y = data
    rows = csr_matrix(X)
    columns = make(solver=solver, gating_features=[0, 1]).fit(rows, y["Classifier"])
    function = make(solver=solver, gating_features=first_two).fit(rows, y["Classifier"])
    np.testing.assert_array_equal(score(columns, rows), score(function, rows))
    np.testing.assert_allclose(score(columns, X), score(columns, rows), atol=1e-10)


@EACH_TASK
@pytest.mark.parametrize(
    "seen", [[0], first_two, squares, None], ids=["columns", "function", "squares", "all"]
)
def test_a_model_survives_pickling_and_cloning(data, task, seen):
    X, _, y = data
    model = make(task, gating_features=seen).fit(X, y[task])
    np.testing.assert_array_equal(score(pickle.loads(pickle.dumps(model)), X), score(model, X))
    np.testing.assert_array_equal(score(clone(model).fit(X, y[task]), X), score(model, X))


# --- a second matrix ---------------------------------------------------------------------------


@EACH_TASK
@EACH_KERNEL
def test_the_gate_sees_the_second_matrix_and_nothing_else(data, task, kernels, rng):
    X, G, y = data
    model = make(task, kernels).fit(X, y[task], gating=G)
    learned = model.gate_.gate.gate
    assert learned.directions.shape == (2, 2)
    np.testing.assert_allclose(model.gate_values(X, gating=G), learned(G), atol=1e-3)
    other = rng.standard_normal(X.shape)
    np.testing.assert_array_equal(model.gate_values(other, G), model.gate_values(X, G))
    assert np.abs(model.gate_values(X, -G) - model.gate_values(X, G)).max() > 0.1


@EACH_TASK
@EACH_KERNEL
def test_kernels_do_not_see_the_second_matrix(data, task, kernels):
    X, G, y = data
    model = make(task, kernels, n_copies=1, tol=1e-6).fit(X, y[task], gating=100.0 * G)
    plain = {"Classifier": SVC, "Regressor": SVR}[task](
        kernel=lambda A, B: kernels(A, B), C=2.0, tol=1e-6
    ).fit(X, y[task])
    expected = score(plain, X)
    np.testing.assert_allclose(score(model, X, 100.0 * G), expected, atol=0.02)


@EACH_TASK
@EACH_KERNEL
def test_a_second_matrix_with_a_known_gate_gives_the_machine_of_its_kernel(data, task, kernels):
    X, G, y = data
    model = make(task, kernels, gate=Halves(), tol=1e-6).fit(X, y[task], gating=G)
    gates = Halves()(G)
    gram = gates @ gates.T * kernels(X)
    plain = {"Classifier": SVC, "Regressor": SVR}[task](kernel="precomputed", C=2.0, tol=1e-6)
    plain.fit(gram, y[task])
    expected = score(plain, gram)
    np.testing.assert_allclose(score(model, X, G), expected, atol=0.02)


@EACH_TASK
@EACH_SOLVER
def test_columns_of_the_rows_as_a_second_matrix_are_columns_of_the_rows(data, task, solver):
    X, _, y = data
    settings = {"gate": Halves(), "solver": solver, "tol": 1e-6}
    settings |= {"max_epochs": 2000} if solver == "adam" else {}
    second = make(task, **settings).fit(X, y[task], gating=X[:, [1]])
    columns = make(task, gating_features=[1], **settings).fit(X, y[task])
    np.testing.assert_allclose(second.gate_values(X, X[:, [1]]), columns.gate_values(X))
    # rows come in another order
    assert second.objective_ == pytest.approx(columns.objective_, rel=0.02)
    np.testing.assert_allclose(score(second, X, X[:, [1]]), score(columns, X), atol=0.1)


@EACH_TASK
@EACH_SOLVER
def test_a_second_matrix_says_who_answers(data, task, solver):
    X, G, y = data
    extra = {"max_epochs": 2000} if solver == "adam" else {"max_iter": 40}
    settings = {"solver": solver, "C": 10.0, **extra}
    seen = make(task, **settings).fit(X, y[task], gating=G)
    blind = make(task, **settings).fit(X, y[task])
    measure = {
        "Classifier": lambda values: np.mean(values == y[task]),
        "Regressor": lambda values: 1.0 - np.var(values - y[task]) / np.var(y[task]),
    }[task]
    assert measure(seen.predict(X, gating=G)) > measure(blind.predict(X)) + 0.15


@EACH_SOLVER
@pytest.mark.parametrize("kind_of_gating", KINDS)
@pytest.mark.parametrize("kind_of_rows", ["dense", "csr", "csr_array"])
def test_rows_and_second_matrix_may_be_dense_or_sparse(data, solver, kind_of_rows, kind_of_gating):
    X, G, y = data
    rows, gating = KINDS[kind_of_rows](X), KINDS[kind_of_gating](G)
    settings = {"gate": Halves(), "solver": solver, "tol": 1e-6, "max_epochs": 3}
    model = make(**settings).fit(rows, y["Classifier"], gating=gating)
    dense = make(**settings).fit(X, y["Classifier"], gating=G)
    np.testing.assert_allclose(score(model, rows, gating), score(dense, X, G), atol=0.01)
    np.testing.assert_allclose(score(model, X, G), score(model, rows, gating), atol=1e-10)


def test_a_second_matrix_may_be_a_data_frame(data):
    X, G, y = data
    frame, gating = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(G, columns=list("uv"))
    model = make().fit(frame, y["Classifier"], gating=gating)
    plain = make().fit(X, y["Classifier"], gating=G)
    np.testing.assert_array_equal(score(model, frame, gating), score(plain, X, G))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3


@EACH_TASK
@EACH_SOLVER
def test_weight_k_equals_k_copies_of_row_and_gating(data, task, solver, rng):
    X, G, y = data
    weight = rng.integers(0, 4, len(X))
    weighted = make(task, solver=solver).fit(X, y[task], sample_weight=weight, gating=G)
    rows, gating, values = (np.repeat(part, weight, axis=0) for part in (X, G, y[task]))
    copied = make(task, solver=solver).fit(rows, values, gating=gating)
    np.testing.assert_array_equal(score(weighted, X, G), score(copied, X, G))


def test_equal_rows_with_another_gating_are_other_rows():
    X = np.repeat([[1.0], [2.0]], 20, axis=0)
    G = np.tile([[-1.0], [1.0]], (20, 1))
    y = (G[:, 0] > 0).astype(int)
    model = make(gate=Halves(), C=100.0).fit(X, y, gating=G)
    np.testing.assert_array_equal(model.predict(X, gating=G), y)


@EACH_KERNEL
def test_three_classes_have_gates_on_the_second_matrix(blobs, kernels, rng):
    X, y = blobs
    G = rng.standard_normal((len(X), 2))
    model = make(kernels=kernels).fit(X, y, gating=G)
    assert score(model, X, G).shape == (len(X), 3)
    assert [values.shape for values in model.gate_values(X, G)] == [(len(X), 2)] * 3
    np.testing.assert_array_equal(
        model.predict(X, gating=G), score(model, X, G).argmax(axis=1)
    )  # fmt: skip


@EACH_TASK
@EACH_SOLVER
def test_single_precision_stays_so(data, task, solver):
    X, G, y = data
    model = make(task, solver=solver).fit(X.astype(np.float32), y[task], gating=G)
    assert score(model, X, G).dtype == np.float32
    assert model.predictor_.weights.dtype == np.float32


@EACH_TASK
def test_threads_and_pickling_do_not_change_a_bit(data, task):
    X, G, y = data
    one, two = (make(task, n_jobs=n).fit(X, y[task], gating=G) for n in (1, 2))
    np.testing.assert_array_equal(score(one, X, G), score(two, X, G))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(score(copy, X, G), score(one, X, G))
    np.testing.assert_array_equal(copy.gate_values(X, G), one.gate_values(X, G))


@EACH_TASK
def test_a_second_fit_without_a_second_matrix_forgets_it(data, task):
    X, G, y = data
    model = make(task).fit(X, y[task], gating=G).fit(X, y[task])
    np.testing.assert_array_equal(score(model, X), score(make(task).fit(X, y[task]), X))
    assert model.n_gating_features_ == 0


def test_kernels_on_columns_are_on_columns_of_the_rows(data):
    X, G, y = data
    kernels = [OnColumns(Linear(), (2,)), AFFINE]
    model = make(kernels=kernels, n_copies=1, gate=Halves()).fit(X, y["Classifier"], gating=G)
    weights = model.predictor_.weights[:, :, 0].T
    assert weights.shape == (5, 2)
    np.testing.assert_array_equal(weights[[0, 1, 3, 4], 0], 0.0)
    np.testing.assert_array_equal(weights[3:, 1], 0.0)
    assert weights[2, 0] != 0.0


def test_scales_of_kernels_are_those_of_the_rows_alone(data):
    X, G, y = data
    settings = {"n_copies": 1, "normalization": "variance", "tol": 1e-6}
    for kernels in ("affine", "gaussian", "linear"):
        second = make(kernels=kernels, **settings).fit(X, y["Classifier"], gating=1e3 * G)
        alone = make(kernels=kernels, **settings).fit(X, y["Classifier"])
        np.testing.assert_allclose(score(second, X, 1e3 * G), score(alone, X), atol=0.02)


# --- what is refused ---------------------------------------------------------------------------


def test_a_second_matrix_and_gating_features_are_too_much(data):
    X, G, y = data
    with pytest.raises(ValueError, match="got both gating_features and a matrix gating=; give one"):
        make(gating_features=[0]).fit(X, y["Classifier"], gating=G)


METHODS = ["predict", "decision_function", "gate_values"]


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_a_second_matrix_needs_one_to_predict(data, method):
    X, G, y = data
    model = make().fit(X, y["Classifier"], gating=G)
    with pytest.raises(
        ValueError, match="LMKLClassifier was fitted with a second matrix and is given no gating="
    ):
        getattr(model, method)(X)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_without_a_second_matrix_refuses_one(data, method):
    X, G, y = data
    model = make().fit(X, y["Classifier"])
    with pytest.raises(
        ValueError, match="LMKLClassifier was fitted with no second matrix and is given a gating="
    ):
        getattr(model, method)(X, gating=G)


@in_one_test("method", METHODS)
def test_a_second_matrix_with_other_columns_is_refused(data, method):
    X, G, y = data
    model = make().fit(X, y["Classifier"], gating=G)
    with pytest.raises(ValueError, match="gating has 3 features, but LMKLClassifier was fitted"):
        getattr(model, method)(X, gating=X)


@in_one_test("method", METHODS)
def test_other_rows_than_the_fitted_ones_are_refused_with_a_second_matrix(data, method):
    X, G, y = data
    model = make().fit(X, y["Classifier"], gating=G)
    with pytest.raises(ValueError, match="X has 2 features, but LMKLClassifier is expecting 3"):
        getattr(model, method)(G, gating=G)


WRONG_MATRICES = {
    "one_dimension": (lambda G: G[:, 0], "Expected 2D array, got 1D array"),
    "other_rows": (lambda G: G[:-1], r"inconsistent numbers of samples: \[80, 79\]"),
    "nan": (lambda G: np.where(G > 2, np.nan, G), "Input gating contains NaN"),
    "text": (lambda G: np.full(G.shape, "word"), "could not convert string"),
    "no_columns": (lambda G: G[:, :0], r"0 feature\(s\)"),
}


@pytest.mark.parametrize("case", WRONG_MATRICES)
@pytest.mark.parametrize("when", ["fit", "predict"])
def test_a_second_matrix_of_a_wrong_shape_is_refused(data, case, when):
    X, G, y = data
    change, sentence = WRONG_MATRICES[case]
    model = make()
    if when == "predict":
        model.fit(X, y["Classifier"], gating=G)
    with pytest.raises(ValueError, match=sentence):
        if when == "fit":
            model.fit(X, y["Classifier"], gating=change(G))
        else:
            model.predict(X, gating=change(G))


@in_one_test(
    ("columns", "sentence"),
    [
        ([], r"gating_features=\[\] must be a list of columns or a function"),
        (1, "gating_features=1 must be a list of columns or a function"),
        ("age", "gating_features='age' must be a list of columns or a function"),
        ([[0], [1]], "must be a list of columns or a function"),
        ([-1], r"gating_features=\[-1\] must hold numbers of columns from 0 to 2"),
        ([0, 3], "must hold numbers of columns from 0 to 2"),
        ([0.5], "must hold numbers of columns from 0 to 2"),
        ([True, False, True], "must hold numbers of columns from 0 to 2"),
        (["age"], "must hold numbers of columns from 0 to 2"),
    ],
)
@EACH_TASK
def test_columns_that_are_none_are_refused(data, task, columns, sentence):
    X, _, y = data
    with pytest.raises(ValueError, match=sentence):
        make(task, gating_features=columns).fit(X, y[task])


def test_a_name_that_the_rows_do_not_have_is_refused(data):
    X, _, y = data
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    with pytest.raises(ValueError, match="gating_features names 'size', which X does not have"):
        make(gating_features=["age", "size"]).fit(frame, y["Classifier"])


WRONG_FUNCTIONS = {
    "fewer_rows": lambda X: X[:5],
    "one_dimension": lambda X: X[:, 0],
    "a_number": lambda X: 3.0,
}


@in_one_test("case", WRONG_FUNCTIONS)
def test_a_function_that_returns_no_rows_of_its_own_is_refused(data, case):
    X, _, y = data
    with pytest.raises(ValueError, match="gating_features"):
        make(gating_features=WRONG_FUNCTIONS[case]).fit(X, y["Classifier"])


@in_one_test(
    ("gate", "sentence"),
    [
        ("hard", "There is no gate named 'hard'; there are 'softmax', 'sigmoid', 'gaussian'"),
        (3, "gate=3 is no gate: give a name or an object with start, with_parameters, gradient"),
        (None, "gate=None is no gate"),
        (first_two, "is no gate: give a name or an object with start, with_parameters, gradient"),
        (Columns((0,)), "is no gate"),
        (Softmax, "is no gate"),
    ],
)
@EACH_TASK
def test_what_is_no_gate_is_refused(data, task, gate, sentence):
    X, _, y = data
    with pytest.raises(ValueError, match=sentence):
        make(task, gate=gate).fit(X, y[task])
