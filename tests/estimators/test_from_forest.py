"""Forests of other libraries, fitted and read: the same labels, scores and probabilities."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnxruntime import InferenceSession
from shipping import assert_ships
from sklearn import ensemble, tree

from nearlinear import from_forest, load, runtime, save, to_c, to_onnx

needs = {
    library: pytest.mark.skipif(
        importlib.util.find_spec(library) is None, reason=f"{library} is not installed"
    )
    for library in ("lightgbm", "xgboost", "catboost")
}
CATEGORIES = (0, 1, 2, 3, 5, 40)  # with gaps, and beyond one word of a set


@pytest.fixture(scope="module")
def table():
    """Rows with missing values, a column of categories, labels of two and three classes, values."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((500, 5))
    X[:, 3] = rng.choice(CATEGORIES, 500)
    values = X[:, 0] + np.sin(2 * X[:, 1]) + 1.5 * np.isin(X[:, 3], (2, 5, 40))
    values += 0.2 * rng.standard_normal(500)
    with_holes = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    two = np.where(values > 0.5, "yes", "no")
    three = np.array(["a", "b", "c"])[np.digitize(values, [0.0, 1.5])]
    return {"X": X, "holes": with_holes, "two": two, "three": three, "values": values}


@pytest.fixture(scope="module")
def new(table):
    """Rows that were not seen; some of their categories were not, either."""
    rng = np.random.RandomState(1)
    X = table["holes"] + 0.3 * rng.standard_normal(table["holes"].shape)
    X[:, 3] = rng.choice((*CATEGORIES, 4, 39), len(X))
    return np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)


def numbers(labels):
    return np.unique(labels, return_inverse=True)[1]


def same(values):
    return values


def lightgbm(of="two", rows="holes", categories="auto", y=same, **settings):
    def fitted(table):
        import lightgbm

        cls = lightgbm.LGBMRegressor if of == "values" else lightgbm.LGBMClassifier
        shared = {"n_estimators": 8, "n_jobs": 1, "verbose": -1, "min_data_per_group": 5}
        model = cls(**shared | settings)
        return model.fit(table[rows], y(table[of]), categorical_feature=categories)

    return pytest.param(fitted, marks=needs["lightgbm"])


def xgboost(of="two", rows="holes", types=None, y=same, **settings):
    def fitted(table):
        import xgboost

        cls = xgboost.XGBRegressor if of == "values" else xgboost.XGBClassifier
        shared = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1, "feature_types": types}
        answers = y(table[of] if of == "values" else numbers(table[of]))
        model = cls(enable_categorical=types is not None, **shared, **settings)
        if "early_stopping_rounds" in settings:
            return model.fit(
                table[rows], answers, eval_set=[(table[rows][:50], answers[:50])], verbose=0
            )
        return model.fit(table[rows], answers)

    return pytest.param(fitted, marks=needs["xgboost"])


def catboost(of="two", rows="holes", y=same, **settings):
    def fitted(table):
        import catboost

        cls = catboost.CatBoostRegressor if of == "values" else catboost.CatBoostClassifier
        shared = {"iterations": 8, "depth": 4, "thread_count": 1, "verbose": 0}
        model = cls(allow_writing_files=False, **shared, **settings)
        return model.fit(table[rows], y(table[of]))

    return pytest.param(fitted, marks=needs["catboost"])


def scikit(cls, of="two", rows="holes", y=same, **settings):
    def fitted(table):
        return cls(random_state=0, **settings).fit(table[rows], y(table[of]))

    return fitted


def twice(values):
    return np.column_stack([values, 2 * values])


def counts(values):
    return np.exp(values).round()


DEEP, FEW = {"max_depth": 6}, {"n_estimators": 8, "max_depth": 6}
SETS = ["q", "q", "q", "c", "q"]
CASES = {
    "tree": scikit(tree.DecisionTreeClassifier),
    "tree of three": scikit(tree.DecisionTreeClassifier, "three", **DEEP),
    "tree of values": scikit(tree.DecisionTreeRegressor, "values", **DEEP),
    "extra tree": scikit(tree.ExtraTreeClassifier, "three", "X", **DEEP),
    "random forest": scikit(ensemble.RandomForestClassifier, n_estimators=10),
    "random forest of three": scikit(ensemble.RandomForestClassifier, "three", **FEW),
    "random forest of values": scikit(ensemble.RandomForestRegressor, "values", **FEW),
    "two values": scikit(ensemble.RandomForestRegressor, "values", y=twice, **FEW),
    "extra trees": scikit(ensemble.ExtraTreesClassifier, **FEW),
    "boosting": scikit(ensemble.GradientBoostingClassifier, rows="X", **FEW),
    "boosting of three": scikit(ensemble.GradientBoostingClassifier, "three", "X", **FEW),
    "boosting, exponential loss": scikit(
        ensemble.GradientBoostingClassifier, rows="X", loss="exponential", init="zero", **FEW
    ),
    "boosting of values": scikit(
        ensemble.GradientBoostingRegressor, "values", "X", loss="huber", **FEW
    ),
    "histograms": scikit(ensemble.HistGradientBoostingClassifier, max_iter=8),
    "histograms, categories": scikit(
        ensemble.HistGradientBoostingClassifier, max_iter=8, categorical_features=[3]
    ),
    "histograms of three": scikit(
        ensemble.HistGradientBoostingClassifier, "three", max_iter=4, categorical_features=[3]
    ),
    "histograms of values": scikit(
        ensemble.HistGradientBoostingRegressor, "values", "X", max_iter=8, loss="absolute_error"
    ),
    "histograms of counts": scikit(
        ensemble.HistGradientBoostingRegressor, "values", y=counts, max_iter=8, loss="poisson"
    ),
    "LightGBM": lightgbm(categories=[3]),
    "LightGBM, none missing": lightgbm(rows="X"),
    "LightGBM of three": lightgbm("three", categories=[3]),
    "LightGBM of values": lightgbm("values", objective="quantile"),
    "LightGBM of counts": lightgbm("values", y=counts, objective="tweedie"),
    "LightGBM, mean": lightgbm(boosting_type="rf", subsample=0.6, subsample_freq=1),
    "LightGBM, steep": lightgbm(sigmoid=2.0),
    "XGBoost": xgboost(),
    "XGBoost, categories": xgboost(types=SETS),
    "XGBoost of three": xgboost("three", types=SETS),
    "XGBoost of values": xgboost("values", booster="dart", rate_drop=0.5),
    "XGBoost of counts": xgboost("values", y=counts, objective="count:poisson"),
    "XGBoost, vector leaves": xgboost(
        "values", y=twice, multi_strategy="multi_output_tree", tree_method="hist"
    ),
    "XGBoost, stopped early": xgboost(early_stopping_rounds=1, learning_rate=1.5),
    "CatBoost": catboost(),
    "CatBoost of three": catboost("three"),
    "CatBoost of values": catboost("values", nan_mode="Max"),
    "CatBoost of counts": catboost("values", y=counts, loss_function="Poisson"),
    "CatBoost, free trees": catboost("three", grow_policy="Lossguide"),
}


def cases():
    for name, case in CASES.items():
        marks = getattr(case, "marks", ())
        yield pytest.param(case.values[0] if marks else case, marks=marks, id=name)


@pytest.mark.every_case
@pytest.mark.parametrize("fitted", cases())
def test_answers_are_the_librarys(fitted, table, new):
    theirs = fitted(table)
    ours = from_forest(theirs)
    takes_holes = "GradientBoosting" not in type(theirs).__name__ or hasattr(theirs, "max_iter")
    rows = new if takes_holes else np.nan_to_num(new)
    if ours.predictor_.dtype == np.float32:
        rows = rows.astype(np.float32)
    wanted = theirs.predict(rows)
    if not hasattr(ours, "classes_"):
        assert_allclose(ours.predict(rows), wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
        return
    assert_array_equal(ours.predict(rows), np.ravel(wanted))
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=0, atol=1e-6)
    assert_allclose(ours.predictor_.plain(rows), ours.predictor_(rows), atol=1e-6)


def test_many_equal_votes_go_to_the_same_class():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((300, 3)), rng.randint(0, 3, 300)
    rows = rng.standard_normal((4000, 3))
    for labels in (y, y > 0):
        theirs = ensemble.RandomForestClassifier(10, random_state=0).fit(X, labels)
        assert_array_equal(from_forest(theirs).predict(rows), theirs.predict(rows))


@needs["lightgbm"]
@needs["xgboost"]
def test_tables_of_pandas_keep_their_names_and_categories(table):
    import lightgbm
    import xgboost

    frame = pd.DataFrame(table["X"], columns=list("vwxyz"))
    frame["y"] = pd.Categorical(frame["y"].astype(int))
    plain, labels = frame.astype({"y": float}), numbers(table["two"])
    for model in (
        lightgbm.LGBMClassifier(n_estimators=4, n_jobs=1, verbose=-1, min_data_per_group=5),
        xgboost.XGBClassifier(n_estimators=4, n_jobs=1, enable_categorical=True),
        ensemble.HistGradientBoostingClassifier(max_iter=4),
    ):
        theirs = model.fit(frame, labels)
        ours = from_forest(theirs)
        assert len(ours.predictor_.gate.categories) > 0
        assert ours.feature_names_in_.tolist() == list("vwxyz")
        assert_allclose(ours.predict_proba(plain), theirs.predict_proba(frame), atol=1e-6)


def test_a_read_forest_goes_everywhere(table, new, tmp_path):
    rows, three = new[:60].astype(np.float32), numbers(table["three"])
    forest = ensemble.RandomForestClassifier(4, max_depth=5, random_state=0)
    model = from_forest(forest.fit(table["holes"], three))
    assert_ships(model, rows, tmp_path)
    scorer, read = model.compile(), runtime.load(tmp_path / "model.nlm")
    shares = forest.predict_proba(rows)
    assert_allclose(read.predict_proba(rows), shares, atol=1e-6)
    assert_allclose([scorer.predict_proba(row) for row in rows], shares, atol=1e-6)


def test_values_that_are_exponentials_go_everywhere_too(table, new, tmp_path):
    theirs = ensemble.HistGradientBoostingRegressor(
        loss="poisson", max_iter=4, categorical_features=[3]
    ).fit(table["holes"], counts(table["values"]))
    model, rows = from_forest(theirs), new[:60]
    wanted = theirs.predict(rows)
    save(model, tmp_path / "model.nlm")
    assert_array_equal(load(tmp_path / "model.nlm").predict(rows), model.predict(rows))
    assert_allclose(runtime.load(tmp_path / "model.nlm").predict(rows), wanted, rtol=1e-12)
    assert_allclose([model.compile().predict(row) for row in rows], wanted, rtol=1e-12)
    session = InferenceSession(to_onnx(model).SerializeToString())
    assert_allclose(session.run(["variable"], {"X": rows})[0][:, 0], wanted, rtol=1e-6)
    assert_allclose(np.exp(model.explain(rows).scores[:, 0]), wanted, rtol=1e-12)
    assert to_c(model, tmp_path / "c", sample=rows).largest_difference < 1e-5 * wanted.max()
    assert_allclose(model.feature_importances_.sum(), 1.0)


@needs["lightgbm"]
def test_scores_that_are_no_probabilities_are_told(table):
    import lightgbm

    theirs = lightgbm.LGBMClassifier(
        objective="multiclassova", n_estimators=2, n_jobs=1, verbose=-1
    ).fit(table["X"], table["three"])
    ours = from_forest(theirs)
    assert_array_equal(ours.predict(table["X"]), theirs.predict(table["X"]))
    assert not hasattr(ours, "predict_proba")


# --- their leaves, refitted -----------------------------------------------------------------------


def halves(table, of):
    X, y = table["X"], table[of]
    return X[:350], X[350:], y[:350], y[350:]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_forest_that_has_learned_too_little_gains_by_a_refit(n_classes):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((4000, 5))
    values = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3]
    y = np.digitize(values + 0.2 * rng.standard_normal(4000), [0.0, 1.5][: n_classes - 1])
    first, new, held = slice(0, 1000), slice(1000, 2500), slice(2500, 4000)
    slow = {"max_iter": 20, "learning_rate": 0.05, "max_leaf_nodes": 31, "random_state": 0}
    theirs = ensemble.HistGradientBoostingClassifier(**slow).fit(X[first], y[first])
    before, ours = from_forest(theirs), from_forest(theirs).set_params(random_state=0)
    ours.refit(X[new], y[new])
    held, answers = X[held], y[held]
    told = theirs.predict_proba(held)
    assert ours.score(held, answers) >= before.score(held, answers)
    places = np.arange(len(held)), answers
    losses = [-np.log(model.predict_proba(held)[places]).mean() for model in (before, ours)]
    assert losses[1] < 0.9 * losses[0]
    assert_allclose(theirs.predict_proba(held), told, rtol=0)
    assert_allclose(before.predict_proba(held), told, atol=1e-6)
    assert_array_equal(ours.predictor_.gate.thresholds, before.predictor_.gate.thresholds)


@pytest.mark.parametrize("of", ["two", "three"])
def test_shares_become_scores_of_the_log_loss(of, table):
    X, held, y, answers = halves(table, of)
    theirs = ensemble.RandomForestClassifier(10, max_leaf_nodes=10, random_state=0).fit(X, y)
    ours = from_forest(theirs).refit(X, y, leaf_penalty=3.0)
    assert ours.score(held, answers) > theirs.score(held, answers) - 0.03
    assert_allclose(ours.predict_proba(held).sum(axis=1), 1.0, atol=1e-6)
    scores = ours.decision_function(held).reshape(len(held), -1)
    odds = ours.predict_proba(held)
    assert_allclose(
        np.log(odds[:, 1:] / odds[:, :1]),
        scores if of == "two" else scores[:, 1:] - scores[:, :1],
        atol=1e-4,
    )
    kept = from_forest(theirs).refit(X, y, leaf_penalty=None)
    assert_allclose(kept.predict_proba(held), theirs.predict_proba(held), atol=1e-6)


def test_counts_and_values_are_refitted(table):
    X, held, y, answers = halves(table, "values")
    slow = {"max_iter": 20, "learning_rate": 0.02, "random_state": 0}
    for loss, target in (("poisson", counts), ("squared_error", same)):
        theirs = ensemble.HistGradientBoostingRegressor(loss=loss, **slow).fit(X, target(y))
        ours = from_forest(theirs).set_params(random_state=0).refit(X, target(y))
        assert ours.score(held, target(answers)) > theirs.score(held, target(answers)) + 0.05
        assert (ours.predict(held) > 0).all() or loss != "poisson"
    two = ensemble.RandomForestRegressor(3, max_depth=3).fit(X, twice(y))
    with pytest.raises(ValueError, match="gives 2 values a row"):
        from_forest(two).refit(X, y)
