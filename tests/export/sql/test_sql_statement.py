"""``to_sql``: DuckDB gives what the model gives."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from forests import FORESTS, forest_and_rows, held
from numpy.testing import assert_allclose, assert_array_equal
from preparation.pipelines import ALL_STEPS, table
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from small_predictors import additive, averaged, hinges, mean_of

import nearlinear.export.sql.forests
from nearlinear import (
    LCCSVMClassifier,
    LDKLClassifier,
    LLCSAPLClassifier,
    LLSVMClassifier,
    LMKLClassifier,
    LocalForestClassifier,
    LocalForestRegressor,
    TableEncoder,
    UniformMKLClassifier,
    to_sql,
)
from nearlinear.export.sql.literals import SqlExportError
from nearlinear.predictors.combined import Exponential, Stacked


def answers(model, X, **options):
    """What DuckDB says of a table called rows; NULL is NaN or None."""
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{d}" for d in range(X.shape[1])])
    with duckdb.connect(config={"threads": 1}) as base:
        base.register("rows", X)
        return base.execute(to_sql(model, **options)).df()


def assert_same(model, X, title=""):
    """Labels of all rows, scores and probabilities to rounding."""
    found = answers(model, X)
    last = model[-1] if isinstance(model, Pipeline) else model
    is_single = hasattr(last, "predictor_") and last.predictor_.dtype == np.float32
    near = 2e-6 if is_single else 1e-9
    wanted = {"label": model.predict(X)} if hasattr(model, "classes_") else {}
    assert_array_equal(found.get("label", []), wanted.get("label", []), err_msg=title)
    asked = {"score": "decision_function", "probability": "predict_proba", "value": "predict"}
    for word, ask in asked.items():
        columns = [name for name in found if name.startswith(word)]
        if columns:
            values = getattr(model, ask)(X).reshape(len(X), -1)
            largest = np.abs(values).max()
            assert_allclose(found[columns], values, rtol=0, atol=near * largest, err_msg=title)
    return found


@pytest.mark.parametrize(("most", "dtype"), [(None, np.float32), (3, np.float32), (3, np.float64)])
def test_forests_of_every_kind(monkeypatch, most, dtype):
    """With few CASE allowed, the rest of a tree is looked up in lists."""
    if most is not None:
        monkeypatch.setattr(nearlinear.export.sql.forests, "_MOST_CASES", most)
        monkeypatch.setattr(nearlinear.export.sql.forests, "_FEWEST_CASES", most)
    for name in FORESTS.keys() - {"wide"}:
        forest, X = forest_and_rows(name, dtype, 100)
        assert_same(held(forest), X, name)


def test_what_is_made_of_curves_units_and_other_models():
    X = np.random.default_rng(0).standard_normal((100, 6))
    for dtype, n_outputs, name in ((np.float32, 1, "pairs"), (np.float64, 3, "three outputs")):
        curves = additive(6, n_outputs, dtype=dtype)
        units = hinges(6, n_outputs, dtype=dtype)
        forest, _ = forest_and_rows(name, np.float32)
        for predictor in (
            curves,
            additive(6, n_outputs, dtype=dtype, counts=(40, 0)),
            units,
            mean_of(curves, units, forest),
            averaged(6, n_outputs, dtype, first=forest),
        ):
            assert_same(held(predictor), X.astype(predictor.dtype), repr(predictor)[:60])
    sides = Stacked((additive(6), additive(6, seed=1)))
    assert_same(held(Exponential(sides), is_regression=True), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trees_anchors_and_gates(dtype):
    X, y = make_classification(200, 5, n_informative=4, n_redundant=1, n_classes=3, random_state=0)
    X = X.astype(dtype)
    for model in (
        *(LDKLClassifier(3, node_gate=one) for one in ("tanh", "compositional", "indicator")),
        LLSVMClassifier(12, n_neighbors=4),
        LLCSAPLClassifier(12, n_neighbors=4),
    ):
        assert_same(model.set_params(random_state=0).fit(X, y), X, str(model))
    for gate in ("softmax", "sigmoid", "gaussian"):
        model = LMKLClassifier(n_copies=3, gate=gate, random_state=0).fit(X, y == 1)
        assert_same(model, X, str(model))


def test_rows_are_prepared_as_by_every_pipeline():
    (X, y), (other, _) = table(seed=0), table(seed=1)
    model = LLSVMClassifier(n_anchors=3, n_neighbors=2, random_state=0)
    for name, (columns, steps) in ALL_STEPS.items():
        fitted = make_pipeline(clone(steps), clone(model)).fit(X[columns], y)
        assert_same(fitted, other[columns], name)


@pytest.fixture(scope="module")
def raw():
    """A raw table whose names and texts would like to be code, and another one with new values."""
    rng = np.random.default_rng(0)

    def drawn(words):
        found = pd.DataFrame({
            'n1" FROM rows; --': rng.standard_normal(300),
            "heavy": rng.standard_cauchy(300),
            "it's": rng.choice(words, 300),
            "many": rng.choice([f"L{k}" for k in range(40)], 300),
            "flag": rng.random(300) < 0.5,
        })  # fmt: skip
        found.loc[::7, "heavy"] = np.nan
        found.loc[::11, "it's"] = None
        return found

    words = ["x'; DROP TABLE rows; --", 'b"c', "ü", "\\n", "n1"]
    X, other = drawn(words), drawn([*words, "new", ""])
    y = np.where(X.iloc[:, 0] + (X["it's"] == "ü") + rng.standard_normal(300) > 0, "it's", "no")
    other["flag"] = other["flag"].astype(object)
    other.loc[3, "flag"] = None
    return X, y, other


@pytest.mark.parametrize("model", [LDKLClassifier(2), LocalForestClassifier(5)])
def test_a_raw_table_with_texts_gaps_and_new_values(raw, model):
    X, y, other = raw
    model = make_pipeline(TableEncoder(pieces=4), model.set_params(random_state=0)).fit(X, y)
    found = assert_same(model, other)
    assert set(found) == {"label", "score", "probability_it's", "probability_no"}


def test_columns_are_kept_and_names_quoted(raw, tmp_path):
    X, y, other = raw
    model = make_pipeline(TableEncoder(), LDKLClassifier(1, random_state=0)).fit(X, y)
    found = answers(model, other, keep=["many", "it's"])
    assert list(found)[:3] == ["many", "it's", "label"]
    assert_array_equal(found["many"], other["many"])
    text = to_sql(model, ("main", 'a "table"'), path=tmp_path / "x.sql")
    assert 'FROM "main"."a ""table"""' in text
    assert (tmp_path / "x.sql").read_text() == text == to_sql(model, ("main", 'a "table"'))
    with pytest.raises(SqlExportError, match="Two columns are called 'Label'"):
        to_sql(model, keep=["Label"])


def test_what_the_model_refuses_is_null():
    X = np.random.default_rng(0).standard_normal((60, 2)).astype(np.float32)
    model = LDKLClassifier(1, random_state=0).fit(X, X[:, 0] > 0)
    rows = pd.DataFrame({"x0": [1.0, None, np.inf, 1e300], "x1": [1.0, 1.0, 1.0, 1.0]})
    found = answers(model, rows)
    assert found.notna().all(axis=1).tolist() == [True, False, False, False]
    forest = LocalForestRegressor(3, random_state=0).fit(X, X[:, 0])
    found = answers(forest, rows)["value"]
    assert found.notna().tolist() == [True, True, False, False]
    assert_allclose(found[:2], forest.predict(rows[:2].to_numpy(np.float32)), rtol=1e-6)


def test_wrappers_say_what_scores_mean():
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    for method in ("sigmoid", "isotonic", "temperature"):
        model = CalibratedClassifierCV(LLSVMClassifier(4, random_state=0), method=method, cv=2)
        assert_same(model.fit(X, y), X, method)
        assert_same(model.fit(X, y == 1), X, method)
    model = FixedThresholdClassifier(LDKLClassifier(1, random_state=0), threshold=0.2)
    assert_same(model.fit(X, y == 1), X)
    several = np.column_stack([y == 1, y > 0]).astype(int)
    model = LDKLClassifier(1, random_state=0).fit(X, several)
    found = answers(model, X)
    assert_array_equal(found[["label_0", "label_1"]], model.predict(X))


def test_what_has_no_sql_is_refused_by_its_name():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = X[:, 0] > 0
    with pytest.raises(SqlExportError, match=r"A KernelExpansion .*: export to ONNX or C"):
        to_sql(UniformMKLClassifier(["gaussian"]).fit(X, y))
    with pytest.raises(SqlExportError, match=r"ReconstructionCodes solve .* LLSVMClassifier"):
        to_sql(LCCSVMClassifier(4, random_state=0).fit(X, y))
    dated = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40), "x": X[:, 0]})
    with pytest.raises(SqlExportError, match=r"Column 'when' holds dates, .*: give numbers"):
        to_sql(make_pipeline(TableEncoder(), LDKLClassifier(0, random_state=0)).fit(dated, y))
    twice = pd.DataFrame({"a": X[:, 0], "A": X[:, 1]})
    with pytest.raises(SqlExportError, match="upper and lower case"):
        to_sql(LDKLClassifier(0, random_state=0).fit(twice, y))
