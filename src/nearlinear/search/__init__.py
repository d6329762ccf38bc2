"""The front door: which model, inside which budget.

Modules
-------
averaging     Which models are averaged: greedily, with repeats, a few at most, inside a budget.
blocks/       The front door for rows in blocks.
budgets       What a prediction may cost, and what it will cost on this machine.
candidates    What the search tries: families of models on encoded rows, cheap ones first.
contest       What candidates are held against each other on.
encoding      A table as numbers: once, or anew in each round where y has a say in the numbers.
families      Families of models by name, for those who name them before anything is loaded.
fits/         Fits of the search that no estimator has, and how long a fit will take.
fitting       From a table to a fitted model: the encoder, the search, and what is kept of it.
found         What a search leaves behind.
front         Which points are on a front: those that no other one beats in both time and loss.
intervals     Intervals of values by split conformal calibration, on rows that no model had seen.
judging       How good scores are on held-out rows, and what they say.
near_linear   The front door.
portfolio     Which candidates are tried, by the size of the problem and by what may be spent.
results       What a search has found: tables of it, other points of its front, its picture.
rounds        Rows that are held out: folds, nested samples.
screening     Selection of the columns that are most relevant to the target, under a time limit.
search        The search itself.
speed         Microseconds of this machine.
students/     Fast students of slow teachers.
time_plan     Training rows, columns and first-round rows that fit into a time limit.
trials        Candidates judged on rows that were held out: a race with halving.
"""
