"""Every chain of transformers is one table that gives what scikit-learn gives."""

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from preparation.pipelines import ALL_STEPS, STEPS, pieces, table
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)

from nearlinear.preparation.columns import raw_columns
from nearlinear.preparation.transformers import NoPreparation, preparation_of_steps
from nearlinear.runtime.columns.readings import Reading
from nearlinear.single_row.preparation import preparing


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


@in_one_test("name", ALL_STEPS)
def test_the_table_prepares_rows_as_the_steps_do(name):
    columns, steps = ALL_STEPS[name]
    (X, y), (other, _) = table(seed=0), table(seed=1)
    other, steps = other[columns], clone(steps).fit(X[columns], y)
    prepare = preparation_of_steps([steps])
    assert prepare.width == dense(steps.transform(other)).shape[1]
    assert_allclose(prepare(other), dense(steps.transform(other)), rtol=1e-10, atol=1e-12)


@in_one_test("name", STEPS)
def test_single_precision_stays(name):
    columns, steps = STEPS[name]
    X = table()[0][columns].astype(np.float32).to_numpy()
    if "columns" in name:  # which are chosen by name
        X = table()[0][columns].astype(np.float32)
    steps = clone(steps).fit(X, table()[1])
    found = preparation_of_steps([steps])(X)
    assert found.dtype == np.float32
    assert_allclose(found, dense(steps.transform(X)), rtol=1e-5, atol=1e-5)


@in_one_test("n_knots", [2, 3, 4, 9])
@in_one_test("extrapolation", ["constant", "linear", "continue"])
def test_pieces_are_those_of_the_transformer_wherever_knots_coincide(n_knots, extrapolation):
    rng = np.random.default_rng(n_knots)
    columns = [
        rng.normal(size=80), rng.integers(0, 3, 80), np.full(80, 7.1), rng.integers(0, 9, 80) / 7,
        np.maximum(rng.normal(size=80), 0.3), np.minimum(rng.normal(size=80), -0.3),
    ]  # fmt: skip
    for column in columns:
        X = np.asarray(column, dtype=float)[:, None]
        steps = make_pipeline(StandardScaler(), pieces(n_knots, extrapolation=extrapolation))
        steps.fit(X)
        knots = np.unique(np.vstack([X, X + 0.2, X - 5.0, X + 5.0]))[:, None]
        try:
            prepare = preparation_of_steps([steps])
        except NoPreparation as error:  # which repeats an outer knot
            assert extrapolation != "constant"
            assert "take extrapolation='constant'" in str(error)
            assert len(np.unique(X)) < 80
            continue
        assert_allclose(prepare(knots), steps.transform(knots), rtol=1e-7, atol=1e-7)
        single = knots.astype(np.float32)
        assert_allclose(prepare(single), steps.transform(knots), rtol=1e-4, atol=1e-4)


@in_one_test("distribution", ["uniform", "normal"])
@in_one_test("n_quantiles", [2, 11, 80])
def test_quantiles_are_those_of_the_transformer_wherever_they_coincide(n_quantiles, distribution):
    rng = np.random.default_rng(n_quantiles)
    columns = [
        rng.normal(size=80), rng.integers(0, 3, 80), rng.integers(0, 2, 80), np.full(80, 7.1),
        rng.exponential(size=80).round(1), 1e9 * rng.normal(size=80), 1e-9 * rng.normal(size=80),
    ]  # fmt: skip
    for column in columns:
        X = np.asarray(column, dtype=float)[:, None]
        steps = QuantileTransformer(n_quantiles=n_quantiles, output_distribution=distribution)
        prepare = preparation_of_steps([steps.fit(X)])
        rows = np.unique(np.concatenate([X, X + 1e-3, X - 1e-3, X + 1e-8, 1.5 * X]))
        rows = np.append(rows, [rows[0] - 1.0, rows[-1] + 1.0])[:, None]
        assert_allclose(prepare(rows), steps.transform(rows), rtol=1e-9, atol=1e-9)


def test_plain_scalers_are_plain_tables():
    X = table()[0][["height", "code"]]
    assert preparation_of_steps([StandardScaler().fit(X)]).only_scales
    assert not preparation_of_steps([SimpleImputer().fit(X), OneHotEncoder().fit(X)]).only_scales


def test_missing_values_are_taken_where_the_steps_take_them():
    X = table()[0]
    steps = ColumnTransformer([("a", SimpleImputer(), ["age"]), ("b", "passthrough", ["height"])])
    X = X[["age", "height"]]
    prepare = preparation_of_steps([steps.fit(X)])
    gap = X.iloc[:1].copy()
    gap["age"] = np.nan
    assert_allclose(prepare(gap), steps.transform(gap))
    gap["height"] = np.nan
    with pytest.raises(ValueError, match="Row 0 has no value in column 'height'"):
        prepare(gap, ["age", "height"])


@pytest.mark.parametrize("value", [5, np.nan])
def test_an_unknown_category_is_refused_where_the_encoder_refuses_it(value):
    X = np.array([[3.0], [7.0]])
    strict = preparation_of_steps([OneHotEncoder().fit(X)])
    with pytest.raises(ValueError, match=r"categories of the fit|no value"):
        strict([[3.0], [value]])
    lenient = OneHotEncoder(handle_unknown="ignore").fit(X)
    found = preparation_of_steps([lenient])([[3.0], [value]])
    assert_allclose(found, lenient.transform([[3.0], [value]]).toarray())


DATES = [
    np.datetime64("2024-02-29T06:00"), "2024-02-29T07:00+01:00", "1969-12-31", date(1970, 1, 1),
    None, np.nan, np.datetime64("NaT", "us"), pd.NaT, "", pd.Timestamp("2000-12-31 23:59:59"),
]  # fmt: skip
PARTS = {
    "days": [19782.25, 19782.25, -1.0, 0.0, *[np.nan] * 5, 11322.99998842593],
    "year": [2024, 2024, 1969, 1970, *[np.nan] * 5, 2000],
    "month": [2, 2, 12, 1, *[np.nan] * 5, 12],
    "day": [29, 29, 31, 1, *[np.nan] * 5, 31],
    "weekday": [3, 3, 2, 3, *[np.nan] * 5, 6],
    "hour": [6, 6, 0, 0, *[np.nan] * 5, 23],
}


def test_dates_are_read_as_their_parts():
    columns = raw_columns(2).pick([1]).dated(list(PARTS))
    prepare = columns.moved(np.ones(len(PARTS)), np.full(len(PARTS), 2.0)).table(2, ())
    cells = np.empty((len(DATES), 2), dtype=object)
    cells[:, 0], cells[:, 1] = 0.0, DATES
    wanted = (np.column_stack(list(PARTS.values())) - 1.0) / 2.0
    assert_allclose(prepare(cells, keeps_missing=True), wanted)
    gaps = np.arange(len(PARTS)) + 0.5
    filled = replace(columns, fill=gaps).table(2, ())
    assert_allclose(filled(cells)[4], gaps)
    row = np.empty(len(PARTS))
    assert preparing(prepare, np.dtype(float))(cells[0], row)
    assert_allclose(row, wanted[0])
    stamps = np.array([["2024-02-29T06", "NaT"]], dtype="datetime64[h]").T
    whole = raw_columns(1).dated(["days"]).table(1, ())
    assert_allclose(whole(stamps, keeps_missing=True)[:, 0], [19782.25, np.nan])
    cells[1, 1] = "soon"
    with pytest.raises(ValueError, match="row 1 has 'soon' in column 'day', where a date"):
        prepare(cells, ["number", "day"])


def test_cells_are_read_as_people_have_them():
    """Booleans are numbers, or texts; what is missing has many names."""
    words = Reading(0, ("False", "True", "x"))
    cells = np.array([True, "True", np.bool_(False), "y", None, np.nan, pd.NA, ""], dtype=object)
    wanted = [1, 1, 0, -1, np.nan, np.nan, np.nan, np.nan]
    assert_array_equal(words(cells), wanted)
    numbers = Reading(0, (0.0, 1.0, 2.5), "missing")
    assert_array_equal(numbers(cells[:4]), [1, 1, 0, np.nan])
    assert_array_equal(numbers(np.array([2.5, np.nan, 3.0])), [2, np.nan, np.nan])
    assert_array_equal(numbers(np.array(["2.5", "1"], dtype=object)), [2, 1])
    assert_array_equal(Reading(0, ("", "a"))(np.array(["", None], dtype=object)), [0, np.nan])
    rows = np.array([["3", None], [pd.NA, True]], dtype=object)
    assert_array_equal(raw_columns(2).table(2, ())(rows, None, True), [[3, np.nan], [np.nan, 1]])
    with pytest.raises(ValueError, match="row 0 has 'red' in column 1, where a number"):
        raw_columns(2).table(2, ())(np.array([[1.0, "red"]], dtype=object))


NOT_TABLES = {
    "another transformer": (PowerTransformer(), "PowerTransformer has no place"),
    "gaps behind components": (make_pipeline(PCA(1), SimpleImputer()), "let it come first"),
    "a clip behind components": (make_pipeline(PCA(1), MinMaxScaler(clip=True)), "leave out clip"),
    "a function": (FunctionTransformer(np.exp), "FunctionTransformer runs code"),
    "other gaps": (SimpleImputer(missing_values=-1), "missing_values=-1"),
    "categories of scaled numbers": (
        make_pipeline(StandardScaler(), OneHotEncoder()), "let it come first",
    ),
    "cubic pieces": (SplineTransformer(n_knots=2), "degree=1 and extrapolation='constant'"),
    "weights": (
        ColumnTransformer([("a", StandardScaler(), [0])], transformer_weights={"a": 2.0}),
        "transformer_weights",
    ),
}  # fmt: skip


@in_one_test("name", NOT_TABLES)
def test_what_no_table_holds_is_refused_in_a_sentence(name):
    steps, message = NOT_TABLES[name]
    steps = clone(steps).fit(np.array([[3.0], [7.0], [7.0], [9.0]]))
    with pytest.raises(NoPreparation, match=message):
        preparation_of_steps([steps])


def test_derived_classes_and_other_widths_are_refused():
    class Doubled(StandardScaler):
        pass

    with pytest.raises(NoPreparation, match="Doubled has no place"):
        preparation_of_steps([Doubled().fit([[1.0], [2.0]])])
    with pytest.raises(NoPreparation, match="make 1 features, and the model was fitted to 2"):
        preparation_of_steps([StandardScaler().fit([[1.0], [2.0]])], 2)
    with pytest.raises(NotFittedError):
        preparation_of_steps([StandardScaler()])
