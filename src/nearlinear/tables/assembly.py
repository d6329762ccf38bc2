"""scikit-learn's parts, put together as the plans of all columns say."""

import warnings
from inspect import signature

import numpy as np
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from .date_parts import DateParts
from .normal_scores import NormalScores

_MOST_FOLDS = 5
TARGET = "target"  # the part whose numbers hang on y


def _gaps():
    return SimpleImputer(strategy="median")


def _centered():
    return StandardScaler(with_std=False)


def _pieces(making):
    return SplineTransformer(making.pieces, degree=1, knots="quantile", extrapolation="constant")


def _levels(making, **settings):
    return OneHotEncoder(
        min_frequency=making.min_frequency,
        handle_unknown="infrequent_if_exist",
        drop="if_binary",
        sparse_output=False,
        **settings,
    )


def target_part(target, seed):
    """Cross-fitted: the training rows' own targets are not in what they become."""
    n_folds = int(np.clip(target.largest_class, 2, _MOST_FOLDS))
    if signature(TargetEncoder).parameters["random_state"].default is None:  # until 1.8
        means = TargetEncoder(target_type=target.kind, cv=n_folds, random_state=seed)
    else:
        folds = KFold if target.kind == "continuous" else StratifiedKFold
        folds = folds(n_folds, shuffle=True, random_state=seed)
        means = TargetEncoder(target_type=target.kind, cv=folds)
    return make_pipeline(means, StandardScaler())


# What is done to columns, in the order in which their numbers stand side by side.
PARTS = {
    "numbers": lambda making: make_pipeline(_gaps(), StandardScaler()),
    "heavy": lambda making: make_pipeline(_gaps(), NormalScores()),
    # 0/1 columns keep their spread: rare ones would outweigh all others in a distance
    "two_values": lambda making: make_pipeline(
        SimpleImputer(strategy="most_frequent"), MinMaxScaler(), _centered()
    ),
    "dates": lambda making: make_pipeline(
        DateParts(making.units["dates"]), _gaps(), StandardScaler()
    ),
    "heavy_dates": lambda making: make_pipeline(
        DateParts(making.units["heavy_dates"]), _gaps(), NormalScores()
    ),
    "one_hot": lambda making: make_pipeline(_levels(making), _centered()),
    "frequent": lambda making: make_pipeline(
        _levels(making, max_categories=making.max_levels), _centered()
    ),
    TARGET: lambda making: target_part(making.target, making.seed),
    "missing": lambda making: make_pipeline(MissingIndicator(features="all"), _centered()),
    "missing_dates": lambda making: make_pipeline(
        DateParts([("days",)] * making.n_missing_dates), MissingIndicator(features="all"),
        _centered(),
    ),
    "numbers_pieces": lambda making: make_pipeline(_gaps(), StandardScaler(), _pieces(making)),
    "heavy_pieces": lambda making: make_pipeline(_gaps(), NormalScores(), _pieces(making)),
}  # fmt: skip


class Making:
    """What the parts are made with."""

    def __init__(self, plans, settings, pieces, target, seed):
        self.plans, self.pieces = plans, pieces
        self.min_frequency, self.max_levels = settings.min_frequency, settings.max_levels
        self.target, self.seed = target, seed

    @property
    def units(self):
        names = ("dates", "heavy_dates")
        return {n: [plan.units[n] for plan in self.plans if n in plan.parts] for n in names}

    @property
    def n_missing_dates(self):
        return sum("missing_dates" in plan.parts for plan in self.plans)


def assembled(plans, making):
    """A ``ColumnTransformer`` of the parts that some column asks for; columns have numbers."""
    chosen = {part: [k for k, plan in enumerate(plans) if part in plan.parts] for part in PARTS}
    return ColumnTransformer(
        [(part, PARTS[part](making), places) for part, places in chosen.items() if places],
        sparse_threshold=0.0,
        verbose_feature_names_out=False,
    ).set_output(transform="default")


def assembled_sparse(kept):
    """The same for CSR rows: scaled by the largest, so that zeros stay zeros."""
    return ColumnTransformer(
        [("numbers", MaxAbsScaler(), kept)], sparse_threshold=1.0, verbose_feature_names_out=False
    ).set_output(transform="default")


def fitted(part, cells, y):
    """Training rows as a part, which is fitted to them, encodes them."""
    # scikit-learn 1.9's TargetEncoder fails where metadata is routed; the parts take none
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return part.fit_transform(cells, y)
