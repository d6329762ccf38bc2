"""What local forests and cascades are made of.

Modules
-------
exits           Rows that stop early: thresholds of models that have been fitted, by held-out rows.
growers         Trees from growers that exist: nothing of a tree builder is written here.
pair_screening  Which pair columns are worth having: those that explain most of a small forest.
parts           A forest piece by piece: the linear root, trees, and the refit of their leaves.
plan            What a forest is to be made of, found on held-out training rows.
refit           A fitted forest that learns on.
wishes          What users fix of a forest, and what they say of its columns.
"""
