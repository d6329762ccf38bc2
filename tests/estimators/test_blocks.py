"""Fits to rows in blocks: as good as in memory, the same bits again, within their memory."""

import tracemalloc

import numpy as np
import pytest
from estimators.dying_source import DyingSource
from grids import in_one_test
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, QuantileTransformer, StandardScaler

import nearlinear
from nearlinear import config_context
from nearlinear.estimators._base.blocks.survey import surveyed
from nearlinear.streams import fit_pipeline, from_arrays

QUICK = {
    "LLCSAPLClassifier": {"n_anchors": 10, "n_neighbors": 3, "max_iter": 4},
    "LDKLClassifier": {"depth": 3, "max_iter": 6},
    "LocalForestClassifier": {"n_trees": 10, "max_leaves": 8, "pairs": 0, "linear_root": False},
}
each_method = in_one_test("name", QUICK)


def quick(name, **more):
    return getattr(nearlinear, name)(**{**QUICK.get(name, {}), "random_state": 0, **more})


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(8000, noise=0.2, random_state=0)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    return X[:4000], y[:4000], X[4000:], y[4000:]


def same_bits(one, other, X):
    return np.array_equal(one.decision_function(X), other.decision_function(X))


@each_method
def test_blocks_give_a_model_as_good_as_arrays(name, moons):
    X, y, *test = moons
    model = quick(name).fit(from_arrays(X, y, block_rows=400))
    assert model.score(*test) > quick(name).fit(X, y).score(*test) - 0.01
    assert model.predictor_.dtype == np.float32 and model.n_features_in_ == 2
    # the source's order of blocks is that of the seed, so is the model
    assert same_bits(model, quick(name, n_jobs=2).fit(from_arrays(X, y, block_rows=400)), X)


def test_defaults_learn_from_blocks_and_compare_with_a_line(moons):
    X, y, *test = moons
    for name in ("LLCSAPLClassifier", "LDKLClassifier"):
        cls = getattr(nearlinear, name)
        model = cls(random_state=0, max_iter=5).fit(from_arrays(X, y, block_rows=800))
        assert model.score(*test) > 0.96 and len(model.settings_tried_) == 2
        best = min(model.settings_tried_, key=lambda verdict: verdict.loss)
        assert model.setting_ == best.setting


@each_method
def test_a_source_of_about_one_block_is_a_fit_to_arrays(name, moons):
    X, y = moons[0][:500], moons[1][:500]
    model = quick(name).fit([(X[:200], y[:200]), (X[200:], y[200:])])
    assert same_bits(model, quick(name).fit(X, y), X)


def test_blocks_may_be_tables(moons):
    pandas = pytest.importorskip("pandas")
    X, y, *test = moons
    frame = pandas.DataFrame(X, columns=["east", "north"])
    blocks = [
        (frame[start : start + 500], pandas.Series(y[start : start + 500], index=range(9, 509)))
        for start in range(0, 4000, 500)
    ]
    model = make_pipeline(QuantileTransformer(n_quantiles=50), quick("LDKLClassifier", max_iter=1))
    new = pandas.DataFrame(test[0], columns=frame.columns)
    assert fit_pipeline(model, blocks).score(new, test[1]) > 0.8
    model = quick("LLCSAPLClassifier", max_iter=1).fit(blocks)
    assert list(model.feature_names_in_) == ["east", "north"]


def test_values_are_learned_from_blocks():
    x = np.linspace(-3, 3, 4000)[:, None]
    y = 1e4 + 100 * np.sin(x[:, 0])
    source = from_arrays(x, y, block_rows=300, dtype=np.float64)
    model = nearlinear.LDKLRegressor(3, max_iter=20, random_state=0).fit(source)
    assert model.score(x, y) > 0.98


@in_one_test("name", ["LLCSAPLClassifier", "LDKLClassifier"])
def test_sparse_rows_stay_sparse(name, moons, monkeypatch):
    X, y, *test = moons
    fill = csr_matrix.toarray

    def few(self, *args, **settings):
        assert self.shape[0] <= 10  # anchors, and rows that become some
        return fill(self, *args, **settings)

    monkeypatch.setattr(csr_matrix, "toarray", few)
    model = quick(name).fit(from_arrays(csr_matrix(X), y, block_rows=400))
    assert model.score(*test) > 0.95


def test_three_labels_weights_and_class_weights_are_those_of_all_rows(moons):
    X, y = moons[:2]
    labels = np.where(np.arange(4000) < 50, "rare", np.where(y > 0, "up", "down"))
    weight = np.random.default_rng(0).random(4000)
    source = from_arrays(X, labels, weight, block_rows=300)
    rows = surveyed(quick("LDKLClassifier", class_weight="balanced"), source, 0)
    blocks = list(rows.epoch(0))
    targets, found = (np.concatenate([block[k] for block in blocks]) for k in (1, 2))
    masses = found @ (targets > 0)
    assert rows.task.classes.tolist() == ["down", "rare", "up"]
    assert np.allclose(masses, 4000 / 3) and np.isclose(found.mean(), 1.0)


def test_held_out_rows_are_those_of_lowest_rank_and_never_train():
    X = np.arange(4000.0)[:, None]
    source = from_arrays(X, np.arange(4000) % 2, block_rows=200, dtype=np.float64)
    rows, held = surveyed(quick("LDKLClassifier"), source, 5).split(0.02)
    assert np.array_equal(held.X[:, 0], rows.survey.numbers[:80])
    blocks = list(rows.epoch(0))
    trained = np.concatenate([block[0][:, 0] for block in blocks])
    assert np.array_equal(np.sort(trained), np.setdiff1d(np.arange(4000), held.X))
    assert not np.isin(held.X, rows.sample().X).any()
    assert sum(-(-len(block[0]) // 64) for block in blocks) == rows.count_batches(64)


def test_a_fit_to_blocks_goes_on_with_partial_fit(moons):
    X, y, *test = moons
    for name in ("LLCSAPLClassifier", "LDKLClassifier"):
        model = quick(name).fit(from_arrays(X[:2000], y[:2000], block_rows=400))
        assert model.partial_fit(X[2000:], y[2000:]).score(*test) > 0.95


class Rows:
    """A source that does what it should not."""

    def __init__(self, X, y, fault):
        self.X, self.y, self.fault, self.n_read = X, y, fault, 0

    def __iter__(self):
        self.n_read += 1
        for start in range(0, len(self.X), 250):
            X, y = self.X[start : start + 250].copy(), self.y[start : start + 250]
            if start == 1000:
                if self.fault == "nan":
                    X[3, 1] = np.nan
                elif self.fault == "columns":
                    X = X[:, :1]
                elif self.fault == "fewer" and self.n_read > 1:
                    continue
                elif self.fault == "label" and self.n_read > 1:
                    y = y + 7
                elif self.fault == "weight":
                    yield X, y, np.ones(len(y))
                    continue
                elif self.fault == "no block":
                    yield X
                    continue
            yield X, y

    block_rows = 300


@in_one_test(
    "fault, message",
    [
        ("nan", "from row 1,000 on: .*NaN"),
        ("columns", "from row 1,000 on: X has 1 features"),
        ("fewer", "gave 1750 rows now and 2000 before"),
        ("label", "gave the label .* now and not before"),
        ("weight", "from row 1,000 on: some blocks have weights"),
        ("no block", r"yields blocks \(X, y\)"),
    ],
)
def test_a_source_with_a_fault_is_refused_and_the_model_stays(fault, message, moons):
    X, y = moons[0][:2000], moons[1][:2000]
    model = quick("LDKLClassifier").fit(X, y)
    before = model.predictor_
    with pytest.raises(ValueError, match=message):
        model.fit(Rows(X, y, fault))
    assert model.predictor_ is before


def test_what_cannot_be_done_is_said(moons, tmp_path):
    X, y = moons[:2]
    source, model = from_arrays(X, y, block_rows=400), quick("LDKLClassifier")
    with pytest.raises(ValueError, match="one class"):
        model.fit(from_arrays(X, np.zeros(len(X)), block_rows=400))
    with pytest.raises(ValueError, match="come with them"):
        model.fit(source, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="checkpoint is for rows in blocks"):
        model.fit(X, y, checkpoint=tmp_path / "c")
    for change in ({"pruning": "l2"}, {"solver": "sgd"}, {"n_trees": 3}):
        with pytest.raises(ValueError, match=next(iter(change))):
            quick("LDKLClassifier", **change).fit(source)
    for every, path in ((-1.0, "c"), (1.0, "no/c")):
        with pytest.raises(ValueError, match=r"every=|in a folder"):
            model.fit(source, checkpoint=tmp_path / path, every=every)


@in_one_test(
    "name",
    [
        "ClusteredSVMClassifier", "DCPredClassifier", "DCPredRegressor", "LCCSVMClassifier",
        "LLSVMClassifier", "LMKLClassifier", "LMKLRegressor",
    ],
)  # fmt: skip
def test_the_error_names_methods_that_accept_a_chunked_source(name, moons):
    X, y = moons[:2]
    with pytest.raises(ValueError, match=f"^{name} cannot .* LDKL, LLC-SAPL or LocalForest, which"):
        quick(name).fit(from_arrays(X, y, block_rows=400))


def test_a_forest_of_a_sample_has_every_class_in_its_proportion_and_takes_missing_cells(moons):
    X, y = moons[0].copy(), moons[1].astype(int)
    y[::500], X[::7, 0] = 7, np.nan  # eight rows of a class
    source = from_arrays(X, y, block_rows=400)
    rows, _ = surveyed(quick("LocalForestClassifier"), source, 0).split(0.1)
    sample = rows.stratified_sample()
    weights = np.bincount(sample.labels, sample.weight)
    assert np.count_nonzero(sample.labels == 2) >= 6
    assert weights[2] / weights.sum() == pytest.approx(8 / 4000, rel=0.3)
    model = quick("LocalForestClassifier").fit(source)
    assert model.classes_.tolist() == [0, 1, 7] and model.score(X, y) > 0.85


def test_leaves_are_refitted_to_all_rows_and_better_for_it(moons):
    X, y, *test = moons
    source, losses = from_arrays(X, y, block_rows=400), []
    for penalty in (None, "auto"):
        model = quick("LocalForestClassifier", leaf_penalty=penalty).fit(source)
        losses.append(-np.log(model.predict_proba(test[0])[np.arange(4000), test[1]]).mean())
    assert losses[1] < losses[0] and model.plan_["leaf_penalty"] is not None
    with pytest.raises(ValueError, match="monotonic_cst needs all rows at once"):
        quick("LocalForestClassifier", monotonic_cst=[1, 0]).fit(source)


@in_one_test("name", QUICK)
def test_blocks_that_do_not_fit_are_refused_before_they_are_there(name):
    X = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (10**9, 50), (0, 0))
    y = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (10**9,), (0,))
    source = from_arrays(X, y, block_rows=10**8)  # of 20 GB
    with config_context(max_memory=1e9), pytest.raises(MemoryError, match="smaller block_rows"):
        quick(name).fit(source)
    # known only when the first rows are there
    blocks = type("Blocks", (list,), {"block_rows": 10**7})([(np.zeros((5, 50)), np.zeros(5))])
    with config_context(max_memory=1e9), pytest.raises(MemoryError, match="smaller block_rows"):
        quick(name).fit(blocks)


def test_rows_that_come_sorted_are_warned_of(moons):
    X, y = moons[0], np.sort(moons[1])
    blocks = [(X[start : start + 500], y[start : start + 500]) for start in range(0, 4000, 500)]

    class Sorted(list):
        block_rows = 500

    with pytest.warns(UserWarning, match="rows that come sorted are learned badly"):
        quick("LDKLClassifier", max_iter=1).fit(Sorted(blocks))


@each_method
def test_ctrl_c_keeps_what_was_learned_and_is_passed_on(name, moons):
    X, y, *test = moons
    source, model = from_arrays(X, y, block_rows=400), quick(name)
    with pytest.raises(KeyboardInterrupt):
        model.fit(
            DyingSource(source, 40, KeyboardInterrupt())
        )  # in the survey: nothing is there yet
    assert not hasattr(model, "predictor_")
    with pytest.raises(KeyboardInterrupt, match="kept"):
        model.fit(DyingSource(source, 120, KeyboardInterrupt()))
    assert model.score(*test) > 0.8


def test_a_pipeline_is_fitted_to_blocks(moons):
    X, y, *test = moons
    far = (X * [1000, 0.001] + [5e4, 0]).astype(np.float64)
    source = from_arrays(far, y, block_rows=400, dtype=np.float64)
    model = make_pipeline(
        StandardScaler(), QuantileTransformer(n_quantiles=100), quick("LDKLClassifier")
    )
    assert fit_pipeline(model, source) is model
    assert np.allclose(model[0].mean_, far.mean(axis=0))
    assert np.allclose(model[0].scale_, far.std(axis=0))
    assert model.score(test[0] * [1000, 0.001] + [5e4, 0], test[1]) > 0.94
    sparse = make_pipeline(MaxAbsScaler(), quick("LLCSAPLClassifier"))
    assert fit_pipeline(sparse, from_arrays(csr_matrix(X), y, block_rows=400)).score(*test) > 0.95


@in_one_test("name", ["LLCSAPLClassifier", "LDKLClassifier"])
def test_a_fit_takes_a_few_blocks_of_memory_whatever_the_file_has(name, tmp_path):
    path, rng = tmp_path / "X.npy", np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (50_000, 40))
    for start in range(0, len(X), 10_000):
        X[start : start + 10_000] = rng.standard_normal((10_000, 40), dtype=np.float32)
    y = X[:, 0] > 0
    X.flush()
    n_file, n_block = X.nbytes, 2500 * 40 * 4
    del X
    source = from_arrays(path, y, block_rows=2500)
    model = quick(name, max_iter=1)
    model.fit(from_arrays(np.load(path, mmap_mode="r")[:9000], y[:9000], block_rows=2500))
    tracemalloc.start()
    try:
        model.fit(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_file == 20 * n_block
    assert peak < 12 * n_block
