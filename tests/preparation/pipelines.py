"""Steps before a model, each with a table that it takes."""

from inspect import signature

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)


def table(n_rows=90, seed=0):
    """Numbers (one column with gaps), codes, words (with gaps), a column nobody uses, labels.

    Of any other seed, some towns and parts are new.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40.0, 9.0, n_rows),
            "height": rng.normal(160.0, 10.0, n_rows),
            "code": rng.choice([3, 7, 11], n_rows),
            "color": rng.choice(["red", "green", "blue"], n_rows),
            "note": rng.choice(["?", "!"], n_rows),
        }
    )
    y = (frame["age"] > 40).to_numpy() ^ (frame["code"] == 7).to_numpy()
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "color"] = np.nan
    towns = [f"town {k + 2 * (seed > 0)}" for k in range(9)]
    frame["town"] = rng.choice(towns, n_rows, p=[0.3, 0.2, 0.2, *[0.05] * 6])
    frame["part"] = rng.choice([2.5, 4, 8 + (seed > 0), np.nan], n_rows, p=[0.5, 0.3, 0.1, 0.1])
    return frame, y.astype(int)


NUMBERS, CODED = ["age", "height"], ["age", "height", "code"]
GAPS = SimpleImputer(strategy="median", add_indicator=True)


def pieces(n_knots=4, **settings):
    return SplineTransformer(n_knots, degree=1, knots="quantile", **settings)


def _one_hot(**settings):
    return OneHotEncoder(sparse_output=False, **settings)


def _places(**settings):
    return OrdinalEncoder(handle_unknown="use_encoded_value", **settings)


def _normal_quantiles():
    return QuantileTransformer(n_quantiles=12, output_distribution="normal")


def _bins(encode):
    return KBinsDiscretizer(4, encode=encode, strategy="uniform")


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
    "rare codes and parts, in several ways, some of them new": (
        ["part", "code"],
        ColumnTransformer(
            [
                ("rare", _one_hot(min_frequency=15, handle_unknown="infrequent_if_exist"), [0]),
                ("few", _one_hot(max_categories=3, handle_unknown="ignore"), [0]),
                ("codes", _one_hot(max_categories=2, drop="first"), [1]),
                ("places", _places(unknown_value=-1, encoded_missing_value=-2), [0]),
            ]
        ),
    ),
    "means of parts, in pieces, and places, the unknown imputed": (
        ["part", "code"],
        ColumnTransformer(
            [
                ("means", make_pipeline(TargetEncoder(), StandardScaler(), pieces()), [0, 1]),
                ("places", make_pipeline(_places(unknown_value=np.nan), SimpleImputer()), [0]),
            ]
        ),
    ),
    "quantiles and bins": (
        ["height", "code"],
        ColumnTransformer(
            [
                ("quantiles", QuantileTransformer(n_quantiles=12), [0, 1]),
                ("normal", _normal_quantiles(), [0]),
                ("bins", make_pipeline(_bins("ordinal"), MinMaxScaler(clip=True)), [0, 1]),
                ("each", _bins("onehot-dense"), [0, 1]),
            ]
        ),
    ),
    "quantiles of filled and scaled numbers, mixed": (
        NUMBERS,
        make_pipeline(
            SimpleImputer(), StandardScaler(), QuantileTransformer(n_quantiles=7), PCA(1)
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
    "components, and pieces beside them": (
        ["height", "code"],
        make_pipeline(
            StandardScaler(),
            PCA(2),
            ColumnTransformer([("all", StandardScaler(), [0, 1]), ("pieces", pieces(), [0, 1])]),
        ),
    ),
    "columns of all kinds: pieces of components, pieces of a clip, codes": (
        CODED,
        ColumnTransformer(
            [
                ("codes", OneHotEncoder(), ["code"]),
                ("components", make_pipeline(SimpleImputer(), PCA(2), pieces()), NUMBERS),
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
    "words and parts, each in several ways, some of them new": (
        ["age", "town", "color", "part"],
        ColumnTransformer(
            [
                ("means", make_pipeline(TargetEncoder(), RobustScaler()), ["town"]),
                (
                    "rare",
                    OneHotEncoder(min_frequency=9, handle_unknown="infrequent_if_exist"),
                    ["town", "color"],
                ),
                (
                    "places",
                    OrdinalEncoder(
                        handle_unknown="use_encoded_value",
                        unknown_value=-1,
                        encoded_missing_value=-2,
                        max_categories=4,
                    ),
                    ["color", "town", "part"],
                ),
                ("gaps", SimpleImputer(strategy="median", add_indicator=True), ["age", "part"]),
            ]
        ),
    ),
}
ALL_STEPS = STEPS | TEXT_STEPS
