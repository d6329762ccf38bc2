"""Parts of local forests.

Modules
-------
boosting        Boosted trees from growers that exist: nothing of a tree builder is written here.
choice          Which plan is taken: root, trees, pairs and refit, one choice after another.
codes           Columns as numbers of bins.
grown           Grown forests: the first trees of one, and several as one.
learn           The fit of a local forest, from rows to what is kept.
orders          What growers are told: how much to grow, and of which columns.
pair_screening  Which pair columns are worth having: those that explain most of a small forest.
parts           A forest piece by piece: the linear root, trees, and the refit of their leaves.
plan            What a forest is made of, and the whole model of a plan.
refit           Refit of the leaves of a fitted forest on further rows.
side_by_side    Trees side by side, from growers that exist: each is grown on all rows.
taken           Models of growers, and forests of the user's.
trials          Plans held against each other on training rows that were held out.
wishes          What users fix of a forest, and what they say of its columns.
"""
