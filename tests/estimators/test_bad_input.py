"""Input that users will try: a clear sentence, or a warning and a sensible model."""

import re
import tracemalloc

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix

import nearlinear
from nearlinear import config_context
from nearlinear.estimators._base.checks import require_memory


def message(caught):
    return str(caught.value)


@pytest.fixture
def sized(small):
    """Makes a classifier with that many anchors, clusters, basis vectors, leaves or neighbors."""

    def make(name, size, **settings):
        known = small(name).get_params()
        keys = {"n_anchors", "n_clusters", "n_neighbors", "n_basis"} & set(known)
        sizes = dict.fromkeys(keys, size)
        if "depth" in known:
            sizes["depth"] = size - 1
        if "max_leaves" in known:
            sizes |= {"max_leaves": max(size, 2), "min_samples_leaf": 1}
        return small(name, **sizes, **settings)

    return make


# --- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("when", ["fit", "predict"])
def test_rows_that_are_not_numbers_are_refused(small, any_name, moons, value, word, when):
    X, y = moons
    bad = X.copy()
    bad[3, 1] = value
    if word == "NaN" and small(any_name).__sklearn_tags__().input_tags.allow_nan:
        return  # forests know where missing values go
    with pytest.raises(ValueError) as caught:
        small(any_name).fit(bad, y) if when == "fit" else small(any_name).fit(X, y).predict(bad)
    assert word in message(caught)


def test_sparse_rows_that_are_not_numbers_are_refused(small, any_sparse_name, moons):
    X, y = moons
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        small(any_sparse_name).fit(csr_matrix(bad), y)


@pytest.mark.parametrize(
    ("dtype", "size", "words"),
    [
        (np.float64, 1e308, "squares are too large for float64"),
        (np.float32, 1e38, "squares are too large for float32"),
        (np.float32, 1e-38, "squares are too small for float32"),
    ],
)
@pytest.mark.every_estimator
def test_numbers_beyond_arithmetic_are_refused(small, any_name, moons, dtype, size, words):
    X, y = moons
    bad = (X / np.abs(X).max() * size).astype(dtype)
    if "Forest" in any_name and dtype == np.float64:  # rows are read as float32
        words = "too large for dtype..float32"
    with pytest.raises(ValueError, match=words):
        small(any_name).fit(bad, y)


@pytest.mark.parametrize("when", ["fit", "predict"])
@pytest.mark.parametrize("starts", [[2**31 - 1, -(2**31), -1], [5, 3, 5], [0, 0, 10**6]])
def test_a_broken_csr_matrix_is_refused(small, any_sparse_name, moons, starts, when):
    X, y = moons
    good, bad = csr_matrix(X), csr_matrix(X)
    bad.indptr[1:4] = starts
    with pytest.raises(ValueError, match="build the matrix anew"):
        small(any_sparse_name).fit(*((bad, y) if when == "fit" else (good, y))).predict(bad)


def test_no_rows_are_refused(small, any_name):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        small(any_name).fit(np.empty((0, 2)), np.empty(0))


def test_no_features_are_refused(small, any_name):
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        small(any_name).fit(np.empty((20, 0)), np.arange(20) % 2)


def test_no_rows_to_predict_are_refused(small, any_name, moons):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        small(any_name).fit(*moons).predict(np.empty((0, 2)))


def test_a_single_row_without_brackets_is_refused(small, any_name, moons):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        small(any_name).fit(*moons).predict(moons[0][0])


def test_another_number_of_features_is_refused(small, any_name, moons):
    X, y = moons
    model = small(any_name).fit(X, y)
    for method in {"predict", "decision_function"} & set(dir(model)):
        with pytest.raises(ValueError) as caught:
            getattr(model, method)(np.hstack([X, X]))
        assert f"X has 4 features, but {any_name} is expecting 2 features" in message(caught)


def test_rows_of_text_are_refused(small, any_name, moons):
    _, y = moons
    with pytest.raises(ValueError, match="could not convert string"):
        small(any_name).fit(np.full((200, 2), "word"), y)


def test_complex_rows_are_refused(small, any_name, moons):
    X, y = moons
    with pytest.raises(ValueError, match="Complex data not supported"):
        small(any_name).fit(X + 1j, y)


def test_rows_and_labels_of_different_length_are_refused(small, any_name, moons):
    X, y = moons
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        small(any_name).fit(X, y[:-1])


@pytest.mark.every_estimator
def test_huge_rows_give_finite_scores(small, any_name, moons):
    X, y = moons
    model = small(any_name).fit(X, y)
    score = getattr(model, "decision_function", model.predict)
    assert np.all(np.isfinite(score(1e12 * X)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_that_overflow_are_an_error_that_names_their_origin(moons, n_classes):
    X = moons[0].astype(np.float32)
    y = (X[:, 0] > 0).astype(int) + (n_classes == 3) * (X[:, 1] > 0)
    model = nearlinear.LDKLClassifier(2, max_iter=2, random_state=0).fit(X, y)
    scorer = model.compile()
    row = np.array([3e38, -3e38], dtype=np.float32)
    rows = np.array([X[0], row])
    for score in (model.decision_function, model.predict):
        with pytest.raises(ValueError, match="scores of row 1 are not finite") as caught:
            score(rows)
        text = message(caught)
        parts = ("LDKLClassifier", "float32", "up to 3e+38", f"numpy {np.__version__}")
        assert all(part in text for part in parts)
    for score in (scorer, scorer.predict):
        with pytest.raises(ValueError, match="scores of the row are not finite") as caught:
            score(row)
        assert "up to 3e+38" in message(caught)


# --- labels ------------------------------------------------------------------------------------


def test_one_class_is_refused_by_its_name(small, name, moons):
    X, _ = moons
    with pytest.raises(ValueError) as caught:
        small(name).fit(X, np.full(len(X), "yes"))
    text = message(caught)
    assert text.startswith(f"{name} needs at least two classes")
    assert "yes" in text


def test_one_class_with_positive_weight_is_refused(small, name, moons):
    X, y = moons
    with pytest.raises(ValueError, match="at least two classes with positive weight"):
        small(name).fit(X, y, sample_weight=(y == 1).astype(float))


def test_labels_of_mixed_types_are_refused(small, name, moons):
    X, y = moons
    mixed = np.array([1, "yes"], dtype=object)[y]
    with pytest.raises(ValueError) as caught:
        small(name).fit(X, mixed)
    assert "types" in message(caught)
    assert "int" in message(caught)
    assert "str" in message(caught)


def test_continuous_labels_are_refused(small, name, moons, rng):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        small(name).fit(moons[0], rng.standard_normal(200))


def test_missing_labels_are_refused(small, name, moons):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        small(name).fit(moons[0], None)


def test_labels_that_are_not_numbers_are_refused(small, name, moons):
    X, y = moons
    labels = y.astype(float)
    labels[5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        small(name).fit(X, labels)


def test_several_label_columns_are_refused(small, name, moons):
    X, y = moons
    if name == "LDKLClassifier":  # learns them, see test_several_answers.py
        return
    with pytest.raises(ValueError, match="y should be a 1d array"):
        small(name).fit(X, np.column_stack([y, y]))


# --- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_values_that_are_not_numbers_are_refused(small, regressor_name, wave, value, word):
    X, y = wave
    bad = y.copy()
    bad[5] = value
    with pytest.raises(ValueError) as caught:
        small(regressor_name).fit(X, bad)
    assert word in message(caught)


def test_values_of_text_are_refused(small, regressor_name, wave):
    words = np.array(["1.5", *["word"] * 199])
    with pytest.raises(ValueError, match="y has 'word' in row 1, and a regressor learns numbers"):
        small(regressor_name).fit(wave[0], words)


def test_missing_values_are_refused(small, regressor_name, wave):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        small(regressor_name).fit(wave[0], None)


def test_several_columns_of_values_are_refused(small, regressor_name, wave):
    X, y = wave
    if regressor_name == "LDKLRegressor":  # learns them, see test_several_answers.py
        return
    with pytest.raises(ValueError, match="y should be a 1d array"):
        small(regressor_name).fit(X, np.column_stack([y, y]))


# --- weights -----------------------------------------------------------------------------------


def test_weights_of_another_length_are_refused(small, any_name, moons):
    X, y = moons
    with pytest.raises(ValueError) as caught:
        small(any_name).fit(X, y, sample_weight=np.ones(7))
    assert "sample_weight" in message(caught)
    assert "(7,)" in message(caught)


@in_one_test("value", [-1.0, np.nan, np.inf])
def test_weights_that_are_not_weights_are_refused(small, any_name, moons, value):
    X, y = moons
    weight = np.ones(len(y))
    weight[9] = value
    with pytest.raises(ValueError) as caught:
        small(any_name).fit(X, y, sample_weight=weight)
    assert "weight" in message(caught)


def test_weights_that_are_all_zero_are_refused(small, any_name, moons):
    X, y = moons
    with pytest.raises(ValueError, match=r"[Ss]ample.weight.* zero|non-zero"):
        small(any_name).fit(X, y, sample_weight=np.zeros(len(y)))


def test_weights_beyond_arithmetic_are_refused(small, any_name, moons):
    X, y = moons
    with pytest.raises(ValueError, match=r"weights of the rows add up to inf.*divide them"):
        small(any_name).fit(X, y, sample_weight=np.full(len(y), 1e308))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_that_vanish_in_arithmetic_are_refused(small, any_name, dtype, moons):
    X, y = moons
    with pytest.raises(ValueError, match=r"weights of the rows add up to 2e-298.*divide them"):
        small(any_name).fit(X.astype(dtype), y, sample_weight=np.full(len(y), 1e-300))


def test_class_weights_beyond_arithmetic_are_refused(small, name, moons):
    with pytest.raises(ValueError, match=r"weights of the rows add up to .*divide them"):
        small(name, class_weight={0: 1e308}).fit(*moons)


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("MWUMKLClassifier", {"C": 1e308}),
        ("LMKLRegressor", {"n_copies": 2**63}),
        ("LDKLClassifier", {"depth": 99}),
        ("LDKLRegressor", {"depth": 10**9}),
        ("LocalForestClassifier", {"min_samples_leaf": 2**40}),
    ],
)
def test_settings_beyond_arithmetic_are_refused(small, method, setting, moons):
    (parameter,) = setting
    with pytest.raises(ValueError, match=f"'{parameter}' parameter .* in the range"):
        small(method, **setting).fit(*moons)


def test_a_batch_of_true_is_one_row(small, wave):
    models = [small("LDKLRegressor", batch_size=size, max_iter=2) for size in (True, 1)]
    np.testing.assert_array_equal(*(model.fit(*wave).predict(wave[0]) for model in models))


@pytest.mark.parametrize(
    ("method", "count"),
    [
        ("LLCSAPLClassifier", "n_neighbors"),
        ("LLSVMClassifier", "n_neighbors"),
        ("MLLKMClassifier", "n_anchors"),
        ("ConvexLMKLClassifier", "n_clusters"),
    ],
)
def test_a_count_of_true_is_one(small, moons, method, count):
    X, y = moons
    models = [small(method, **{count: value}) for value in (True, 1)]
    np.testing.assert_array_equal(*(model.fit(X, y).decision_function(X) for model in models))


def test_a_class_weight_for_an_unknown_class_is_refused(small, name, moons):
    with pytest.raises(ValueError, match="class_weight has the key 'maybe', which y has not"):
        small(name, class_weight={"maybe": 2.0}).fit(*moons)


@in_one_test("value", [-2.0, np.nan, "heavy"])
def test_a_class_weight_that_is_no_weight_is_refused(small, name, moons, value):
    with pytest.raises(ValueError, match="class_weight"):
        small(name, class_weight={1: value}).fit(*moons)


# --- degenerate data ---------------------------------------------------------------------------


def test_more_anchors_than_distinct_rows_give_a_warning_and_a_model(small, anchor_name):
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), 10, axis=0)
    y = np.repeat([0, 1, 1], 10)
    with pytest.warns(UserWarning, match="n_anchors=50 is more than the 3 distinct training rows"):
        model = small(anchor_name, n_anchors=50, C=100.0).fit(X, y)
    assert len(model.anchors_) == 3
    assert model.score(X, y) == 1.0


def test_more_clusters_than_distinct_rows_give_a_warning_and_a_model():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0]]), 10, axis=0)
    y = np.repeat([0, 1], 10)
    with pytest.warns(UserWarning, match="n_clusters=5 is more than the 2 distinct training rows"):
        model = nearlinear.ClusteredSVMClassifier(5).fit(X, y)
    assert model.score(X, y) == 1.0


def test_the_warning_points_to_the_line_that_called_fit(small, anchor_name):
    with pytest.warns(UserWarning) as caught:
        small(anchor_name, n_anchors=50).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert caught[0].filename == __file__


def test_more_neighbors_than_anchors_are_all_of_them(small, anchor_name, moons):
    X, y = moons
    many = small(anchor_name, n_neighbors=1000).fit(X, y)
    all_of_them = small(anchor_name, n_neighbors=many.anchors_.shape[0]).fit(X, y)
    np.testing.assert_array_equal(many.decision_function(X), all_of_them.decision_function(X))


def test_more_neighbors_than_rows_are_all_of_them(moons):
    X, y = moons
    many = nearlinear.SVMKNNClassifier(10_000).fit(X, y)
    np.testing.assert_array_equal(
        many.decision_function(X), nearlinear.SVMKNNClassifier(200).fit(X, y).decision_function(X)
    )


@pytest.mark.every_estimator
def test_constant_columns_do_no_harm(small, name, moons):
    X, y = moons
    model = small(name).fit(np.column_stack([X, np.zeros(200), np.full(200, 3.0)]), y)
    assert model.score(np.column_stack([X, np.zeros(200), np.full(200, 3.0)]), y) > 0.88


@pytest.mark.every_estimator
def test_only_constant_columns_give_the_larger_class(sized, name):
    X, y = np.ones((40, 3)), np.r_[np.zeros(10, int), np.ones(30, int)]
    # one place: one anchor or cluster, but two neighbors, since it has two labels
    model = sized(name, 2 if name == "SVMKNNClassifier" else 1)
    assert set(model.fit(X, y).predict(X)) == {1}


def test_duplicate_columns_do_no_harm(small, name, moons):
    X, y = moons
    assert small(name).fit(np.hstack([X, X]), y).score(np.hstack([X, X]), y) > 0.88


@pytest.mark.every_estimator
def test_rows_with_several_labels_go_to_the_heavier_one(sized, name):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]])
    settings = {} if name == "LocalForestClassifier" else {"C": 10.0}
    model = sized(name, 2, **settings).fit(X, [0, 1, 0, 1], sample_weight=[9, 1, 1, 9])
    assert model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist() == [0, 1]


@pytest.mark.every_estimator
def test_two_rows_are_enough(sized, name):
    model = sized(name, 2).fit([[0.0], [1.0]], ["a", "b"])
    assert model.predict([[-1.0], [2.0]]).tolist() == ["a", "b"]


def test_more_basis_vectors_than_distinct_rows_give_a_warning_and_a_model():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0]]), 10, axis=0)
    y = np.repeat([0, 1], 10)
    with pytest.warns(UserWarning, match="n_basis=5 is more than the 2 distinct training rows"):
        model = nearlinear.CPSPClassifier(5, C=100.0).fit(X, y)
    assert len(model.basis_) == 2
    assert model.score(X, y) == 1.0


# --- parameters --------------------------------------------------------------------------------


def wrong_shape(X, Z):
    return np.ones((1, 1))


def not_finite(X, Z):
    return np.full((X.shape[0], Z.shape[0]), np.nan)


def all_zero(X, Z):
    return np.zeros((X.shape[0], Z.shape[0]))


WRONG = {
    "C": [0.0, -1.0, "big"],
    "encoder": ["words", 3],
    "families": ["anchors"],
    "max_bytes": [0, "64kB"],
    "max_times_linear": [0.0],
    "max_us_per_row": [-1.0],
    "scoring": [3.5],
    "single_row_us": [0.0],
    "time_limit": [0.0, "1m"],
    "categorical_features": [0.5],
    "grower": [],  # has a sentence of its own, see test_local_forest.py
    "interaction_cst": ["pairs"],
    "max_features": [0, 1.5],
    "leaf_model": ["quadratic"],
    "leaf_penalty": [0.0, "strong"],
    "max_leaves": [1, 2.5],
    "min_samples_leaf": [0, "few"],
    "monotonic_cst": [1.5],
    "pairs": [-1, "many"],
    "quantile": [0.0, 1.0],
    "alignment": [0.0],
    "anchors": ["random"],
    "bandwidths": [2.0, "wide"],  # has sentences of its own, too, see below
    "batch_size": [0],
    "bias": ["maybe", True],
    "blend": ["mean"],
    "chunk_size": [0, 1.5],
    "class_weight": ["heavy"],
    "coding": ["hard"],
    "depth": [-1, 1.5, "deep"],
    "direction_penalty": [-0.1],
    "early_stopping": ["yes"],
    "eps": [0.0],
    "epsilon": [-0.1],
    "node_gate": ["sine"],
    "gamma": [-1.0],
    "gate": [],  # has sentences of its own, see test_gating.py
    "gate_penalty": [-0.1],
    "gating_features": [],  # so have these
    "global_features": ["cubic"],
    "hard_fraction": [-0.1, 1.0],
    "max_insertions": [0, 1.5],
    "jitter": [-0.1],
    "kernel": ["poly"],
    "kernels": [],  # has sentences of its own, see below
    "learn_metric": ["yes"],
    "learning_rate": [0.0],
    "local_model": ["quadratic"],
    "loss": ["absolute"],
    "max_epochs": [0, 2.5],
    "max_iter": [0, 2.5],
    "max_kernels": [0, 1.5],
    "max_refused": [-1, 1.5],
    "max_rounds": [0, 2.5],
    "max_support": [0, 1.5],
    "pruning": ["l3"],
    "selection_rows": [0, 1.5],
    "n_anchors": [0, 2.5, "many"],
    "n_basis": [0, 2.5, "many"],
    "n_clusters": [0, 2.5, "many"],
    "n_components": [0, 1.5, "few"],
    "n_copies": [0, 2.5],
    "n_folds": [1, 2.5],
    "n_init": [0, 1.5],
    "n_iter_no_change": [0],
    "n_jobs": [1.5],
    "device": [1, "nonsense", "cuda:"],
    "n_landmarks": [0, 1.5, "few"],
    "n_neighbors": [0, 2.5],
    "n_passes": [0, 1.5],
    "n_selected": [0, 1.5],
    "n_trees": [0, 1.5],
    "length_exponent": [-0.1, 1.5, "trace"],
    "linear_root": ["maybe", None],
    "normalization": ["l2", True],
    "p": [0.5],
    "per_feature": ["yes"],
    "profile": ["cosine"],
    "random_state": ["seed"],
    "refinement": ["anchors", True],
    "sharpness": [0.0],
    "sigma": [0.0],
    "solver": ["newton"],
    "splits": ["bottom_up"],
    "success": ["held_out"],
    "machine_epochs": [0, 1.5],
    "tol": [0.0],
    "validation_fraction": [-0.1, 1.0],
    "verbose": [-1],
    "vote": ["loud"],
    "warm_start": ["yes"],
    "weight_solver": ["gradient"],
}
# Estimators that read a parameter differently.
WRONG_HERE = {
    ("CPSPClassifier", "max_iter"): [-1, 2.5],  # zero keeps the basis it starts from
    ("LaSVMClassifier", "kernel"): [],  # has sentences of its own, see below
}
ESTIMATORS = [name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))]


@in_one_test("estimator", ESTIMATORS)
def test_a_wrong_setting_is_named_with_its_value(small, moons, estimator):
    for parameter in small(estimator).get_params():
        # a parameter without a wrong value must be given one
        for value in WRONG_HERE.get((estimator, parameter), WRONG[parameter]):
            with pytest.raises(ValueError) as caught:
                small(estimator, **{parameter: value}).fit(*moons)
            assert f"The '{parameter}' parameter of {estimator} must be" in message(caught)
            assert repr(value) in message(caught)


KERNEL_ERRORS = [
    (
        "sine",
        "There is no kernel named 'sine'; there are 'affine', 'bank', 'gaussian', 'gaussians'",
    ),
    (["linear", "sine"], "There is no kernel named 'sine'"),
    ([], "kernels is empty; give at least one kernel"),
    (3.5, "kernels holds 3.5, which is no kernel: give a name, a kernel object, a function"),
    (["linear", None], "kernels holds None, which is no kernel"),
    (wrong_shape, r"The kernel wrong_shape returned an array of shape \(1, 1\)"),
    (not_finite, "A kernel returned NaN or infinity"),
    (all_zero, "Every kernel is zero on the training rows"),
]


@in_one_test(("kernels", "sentence"), KERNEL_ERRORS)
def test_kernels_that_are_none_are_refused(small, kernel_name, moons, kernels, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(kernel_name, kernels=kernels).fit(*moons)


@in_one_test(("kernel", "sentence"), KERNEL_ERRORS[:-1])
def test_a_kernel_that_is_none_is_refused(small, moons, kernel, sentence):
    with pytest.raises(ValueError, match=sentence.replace("kernels ", "kernel ", 1)):
        small("LaSVMClassifier", kernel=kernel).fit(*moons)


def test_a_fit_beyond_the_memory_allowed_is_refused(small, random_name, moons):
    with config_context(max_memory=100.0), pytest.raises(MemoryError) as caught:
        small(random_name).fit(*moons)
    assert "nearlinear.set_config(max_memory=...)" in message(caught)
    # n_anchors or n_clusters, or the depth of a tree; LaSVM stores the rows that its C asks for
    advice = "lower C" if random_name == "LaSVMClassifier" else "lower (n_|depth)"
    assert re.search(advice, message(caught))


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        ("LDKLClassifier", "n_trees"),
        ("LMKLClassifier", "n_copies"),
        ("LocalForestClassifier", "n_trees"),
    ],
)
def test_a_count_beyond_the_machine_is_refused_by_name(small, method, parameter, moons):
    with pytest.raises(MemoryError, match=f"lower .*{parameter}.*, or raise the limit"):
        small(method, **{parameter: 10**9}).fit(*moons)


def test_more_threads_than_work_need_no_more_memory(small, moons):
    X, y = moons
    model = small("DCPredClassifier").set_params(n_jobs=10**9)
    np.testing.assert_array_equal(
        model.fit(X, y).predict(X), small("DCPredClassifier").fit(X, y).predict(X)
    )


@pytest.mark.every_estimator
def test_a_kernel_machine_beyond_the_memory_allowed_is_refused(small, kernel_name, moons):
    with config_context(max_memory=1e4), pytest.raises(MemoryError) as caught:
        small(kernel_name).fit(*moons)
    assert "give fewer rows, or raise the limit" in message(caught)


@pytest.mark.parametrize("method", ["UniformMKLClassifier", "LaSVMClassifier"])
def test_wide_sparse_rows_of_a_kernel_machine_stay_sparse(small, method, rng):
    n_rows, n_columns = 60, 1 << 20  # dense, they take 500 megabytes
    y, columns = np.arange(n_rows) % 2, np.sort(rng.integers(n_columns, size=(n_rows, 20)))
    values = rng.random((n_rows, 20)) + y[:, None]
    X = csr_matrix((values.ravel(), columns.ravel(), range(0, 1201, 20)), (n_rows, n_columns))
    model = small(method)
    tracemalloc.start()
    try:
        model.fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5e8


def test_a_fit_beyond_the_machine_is_refused(monkeypatch):
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 10, "SC_PHYS_PAGES": 100}.get)
    require_memory(1000, "lower n_anchors")
    with pytest.raises(MemoryError, match="lower n_anchors, or raise the limit"):
        require_memory(1001, "lower n_anchors")


def test_a_stream_beyond_the_memory_allowed_is_refused(small, stream_name, moons):
    with config_context(max_memory=100.0), pytest.raises(MemoryError, match="max_memory"):
        small(stream_name).partial_fit(*moons, classes=[0, 1])


def test_ten_thousand_classes_are_a_clear_word(small, name, rng):
    y = np.repeat(np.arange(10_000), 2)
    with pytest.raises(ValueError, match=r"y has 10000 classes, .* take a regressor"):
        small(name).fit(rng.standard_normal((20_000, 2)), y)


def test_many_classes_that_will_take_long_are_announced(moons, monkeypatch):
    monkeypatch.setattr("nearlinear.estimators._base.outputs._KNOWN_AFTER", 0.0)
    monkeypatch.setattr("nearlinear.estimators._base.outputs._LONG", 0.0)
    with pytest.warns(UserWarning, match=r"a machine for each of 20 classes: about .* minutes"):
        nearlinear.UniformMKLClassifier().fit(moons[0], np.arange(200) % 20)


def test_a_column_that_outweighs_all_others_is_told():
    """Distances see little else; a forest splits columns one by one, and says nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1.0, 1.0, 50.0, 1.0]
    y = X[:, 0] > 0
    with pytest.warns(UserWarning, match=r"column 2 has 99\.\d+ % of the variance of all 4 col"):
        nearlinear.LDKLClassifier(depth=1, max_iter=2, random_state=0).fit(X, y)
    nearlinear.LocalForestClassifier(n_trees=2, random_state=0).fit(X, y)
    nearlinear.LDKLClassifier(depth=1, max_iter=2, random_state=0).fit(X[:, [2]], y)
