"""Steps before a model, each with a table that it takes."""

from inspect import signature

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from nearlinear import PairFeatures


def table(n_rows=90, seed=0):
    """Numbers (one column with gaps), codes, words (with gaps), a column nobody uses, labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40.0, 9.0, n_rows),
            "height": rng.normal(1.7, 0.1, n_rows),
            "code": rng.choice([3, 7, 11], n_rows),
            "color": rng.choice(["red", "green", "blue"], n_rows),
            "note": rng.choice(["?", "!"], n_rows),
        }
    )
    y = (frame["age"] > 40).to_numpy() ^ (frame["code"] == 7).to_numpy()
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "color"] = np.nan
    return frame, y.astype(int)


NUMBERS, CODED = ["age", "height"], ["age", "height", "code"]
GAPS = SimpleImputer(strategy="median", add_indicator=True)


def pieces(n_knots=4, **settings):
    return SplineTransformer(n_knots, degree=1, knots="quantile", **settings)


# Name: the columns that are given to the steps, and the steps.
STEPS = {
    "standard": (["height", "code"], StandardScaler()),
    "standard, no mean": (["height", "code"], StandardScaler(with_mean=False)),
    "min-max": (["height", "code"], MinMaxScaler((-1, 2))),
    "min-max, clipped": (["height", "code"], MinMaxScaler(clip=True)),
    "max-abs": (["height", "code"], MaxAbsScaler()),
    "robust": (["height", "code"], RobustScaler()),
    "robust, no center": (["height", "code"], RobustScaler(with_centering=False)),
    "imputed": (NUMBERS, SimpleImputer()),
    "imputed, marked, scaled": (NUMBERS, make_pipeline(GAPS, StandardScaler())),
    "scaled, imputed": (NUMBERS, make_pipeline(MinMaxScaler(clip=True), SimpleImputer())),
    "twice scaled": (
        ["height", "code"],
        make_pipeline(MinMaxScaler((2, 5), clip=True), RobustScaler(), MinMaxScaler(clip=True)),
    ),
    "components": (["height", "code"], make_pipeline(StandardScaler(), PCA(1))),
    "white components, scaled again": (
        CODED,
        make_pipeline(SimpleImputer(), PCA(whiten=True), MinMaxScaler(), PCA(2)),
    ),
    "components of some columns": (
        CODED,
        ColumnTransformer(
            [
                ("codes", OneHotEncoder(), ["code"]),
                ("numbers", make_pipeline(SimpleImputer(), StandardScaler(), PCA(1)), NUMBERS),
            ]
        ),
    ),
    "singular vectors": (
        CODED,
        make_pipeline(SimpleImputer(), TruncatedSVD(2, algorithm="arpack", random_state=0)),
    ),
    "codes": (["code"], OneHotEncoder()),
    "codes, one dropped, scaled": (
        ["code"],
        make_pipeline(OneHotEncoder(drop="first", sparse_output=False), StandardScaler()),
    ),
    "columns": (
        CODED,
        ColumnTransformer(
            [
                ("numbers", make_pipeline(GAPS, RobustScaler()), NUMBERS),
                ("codes", OneHotEncoder(handle_unknown="ignore"), ["code"]),
            ]
        ),
    ),
    "pieces": (["height", "code"], pieces()),
    "pieces, all but the last, sparse": (
        ["height", "code"],
        pieces(6, include_bias=False, sparse_output=True),
    ),
    "pieces that go on": (["height"], pieces(extrapolation="linear")),
    "two pieces that go on": (["height"], pieces(3, extrapolation="continue")),
    "pieces of filled and scaled numbers, scaled and clipped": (
        CODED,
        make_pipeline(
            SimpleImputer(), StandardScaler(), pieces(5), StandardScaler(), MinMaxScaler(clip=True)
        ),
    ),
    "pieces of columns, and components of them": (
        CODED,
        ColumnTransformer(
            [
                ("codes", OneHotEncoder(), ["code"]),
                ("numbers", make_pipeline(SimpleImputer(), pieces(), PCA(1)), NUMBERS),
                ("pieces", pieces(3), ["height", "code"]),
            ]
        ),
    ),
    "pairs, and pieces beside them": (
        ["height", "code"],
        make_pipeline(
            StandardScaler(),
            PairFeatures(3),
            ColumnTransformer([("all", StandardScaler(), [0, 1]), ("pieces", pieces(), [0, 1])]),
        ),
    ),
    "columns of all kinds: pieces of pairs, pieces of a clip, codes": (
        CODED,
        ColumnTransformer(
            [
                ("codes", OneHotEncoder(), ["code"]),
                ("pairs", make_pipeline(SimpleImputer(), PairFeatures(2), pieces()), NUMBERS),
                ("clip", make_pipeline(MinMaxScaler(clip=True), pieces(), PCA(1)), ["height"]),
            ]
        ),
    ),
    "columns in another order": (
        CODED,
        make_pipeline(
            ColumnTransformer(
                [("codes", "passthrough", ["code"]), ("none", "drop", [1])],
                remainder=SimpleImputer(),
            ),
            StandardScaler(),
        ),
    ),
}
if "handle_missing" in signature(SplineTransformer).parameters:
    STEPS["pieces of gaps"] = (NUMBERS, pieces(handle_missing="zeros"))
TEXT_STEPS = {
    "words": (
        ["age", "color", "note"],
        ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age"]),
                (
                    "words",
                    make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
                    ["color"],
                ),
            ]
        ),
    ),
    "words, gaps are a word": (
        ["height", "color"],
        ColumnTransformer(
            [
                ("numbers", MinMaxScaler(), make_column_selector(dtype_include="number")),
                ("words", OneHotEncoder(drop="if_binary"), slice("color", "color")),
            ]
        ),
    ),
}
ALL_STEPS = STEPS | TEXT_STEPS
