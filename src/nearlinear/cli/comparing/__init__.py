"""What ``compare`` does: the alternatives, and what models score and cost.

Modules
-------
comparison  Ours beside the alternatives: one split, one encoder, one table, one picture.
contenders  The models that stand beside ours in a comparison, and the bytes each needs to predict.
measure     What a model scores and costs: on test rows, in time per row, in bytes, in time to fit.
"""
