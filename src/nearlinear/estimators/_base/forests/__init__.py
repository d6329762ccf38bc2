"""What local forests and cascades are made of.

Modules
-------
codes    Columns as numbers of bins.
exits    Rows that stop early: thresholds of models that have been fitted, by held-out rows.
growers  Trees from growers that exist: nothing of a tree builder is written here.
learn    The fit of a local forest, from rows to what is kept.
parts    A forest piece by piece.
plan     What a forest is to be made of, found on held-out training rows: root, trees, pairs, refit.
refit    A fitted forest that learns on.
wishes   What users fix of a forest, and what they say of its columns.
"""
