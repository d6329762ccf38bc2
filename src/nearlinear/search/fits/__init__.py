"""Fits of the search that no estimator has, and how long a fit will take.

Modules
-------
additive   A linear model, or one on piecewise-linear columns, by scikit-learn's solvers.
forecasts  How long a fit will take, before it has begun: for searches that have a time limit.
hinges     A small network of ReLU units, by scikit-learn's stochastic solver.
"""
