"""The front door: which model, inside which budget.

Modules
-------
additive_fit  A linear model, or one on piecewise-linear columns, by scikit-learn's solvers.
averaging     Which models are averaged: greedily, with repeats, a few at most, inside a budget.
budgets       What a prediction may cost, and what it will cost on this machine.
candidates    What the search tries: families of models on encoded rows, cheap ones first.
distill       A slow model's knowledge in a fast one.
families      Families of models by name, for those who name them before anything is loaded.
fidelity      How near a student comes to its teacher: on held-out rows, in time and in bytes.
fitting       From a table to a fitted model: the encoder, the search, and what is kept of it.
hinges_fit    A small network of ReLU units, by scikit-learn's stochastic solver.
intervals     Intervals of values by split conformal calibration, on rows that no model had seen.
judging       How good scores are on held-out rows, and what they say.
lessons       What a student learns from.
near_linear   The front door.
new_rows      New rows for a teacher to label: each lies between a row and one of its neighbors.
portfolio     Which candidates are tried, by the size of the problem and by what may be spent.
results       What a search has found: tables of it, other points of its front, its picture.
search        The search itself.
speed         Microseconds of this machine.
teachers      A teacher's scores.
trials        Candidates judged on rows that were held out: folds, nested samples, halving.
"""
