"""scikit-learn's parts, put together as the plans of all columns say."""

from inspect import signature

import numpy as np
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
    "target": lambda making: make_pipeline(making.target_encoder(), StandardScaler()),
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
        self._target, self._seed = target, seed

    @property
    def units(self):
        names = ("dates", "heavy_dates")
        return {n: [plan.units[n] for plan in self.plans if n in plan.parts] for n in names}

    @property
    def n_missing_dates(self):
        return sum("missing_dates" in plan.parts for plan in self.plans)

    def target_encoder(self):
        """Cross-fitted: the training rows' own targets are not in what they become."""
        n_folds = int(np.clip(self._target.largest_class, 2, _MOST_FOLDS))
        kind = self._target.kind
        if signature(TargetEncoder).parameters["random_state"].default is None:  # until 1.8
            return TargetEncoder(target_type=kind, cv=n_folds, random_state=self._seed)
        folds = KFold if kind == "continuous" else StratifiedKFold
        return TargetEncoder(
            target_type=kind, cv=folds(n_folds, shuffle=True, random_state=self._seed)
        )


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
