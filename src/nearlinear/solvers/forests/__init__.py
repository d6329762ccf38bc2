"""The numbers of a forest whose trees are given.

Modules
-------
descent       Leaf models and scores on their way down: passes over all trees.
leaf_search   Where all leaf models go from the sums of a pass: steps of all trees at once.
leaf_steps    One step for every leaf of a tree, all other trees held.
mixing        Several passes of a refit mixed into a better one.
monotone      Leaf values that rise (or fall) with a column, and the proof that they do.
pairs         Columns a x_i + b x_j for a grower to split.
penalty_path  λ of a refit, found on held-out rows.
problem       The arrays of a refit, in the order that its passes read them.
refit         What the leaves of a given forest hold, found for all trees together.
row_losses    Losses along one output of the scores: slopes and curvatures of rows, compiled.
statistics    Sums over a block of rows that a step of all leaf models needs.
"""
