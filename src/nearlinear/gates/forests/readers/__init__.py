"""Forests of other libraries, read: their private attributes are read here and nowhere else.

Modules
-------
catboost       CatBoost, by its JSON export.
hist_boosting  HistGradientBoosting of scikit-learn.
lightgbm       LightGBM: its text form has the arrays of every tree in a few lines.
reading        A fitted forest of any library that we know.
record         What a reader gives: the arrays of a forest, and what its scores mean.
scikit_trees   Decision trees, random forests, extra trees and gradient boosting of scikit-learn.
xgboost        XGBoost: its JSON form has the arrays of every tree.
"""
