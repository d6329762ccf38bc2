"""Fits to rows in blocks: a survey, a sample to start from, training on all of them.

Modules
-------
anchors   LLC-SAPL from rows in blocks.
fit       ``fit`` of methods that learn from arrays and from rows in blocks alike.
forests   Forests from rows in blocks: trees of a sample, whose leaf models all rows refit together.
memory    What rows in blocks take of memory, known before a block is there.
rows      Rows of a source as an estimator trains on them: checked, with targets, some held out.
survey    The survey of a source as an estimator needs it: rows checked, labels and weights counted.
training  Training on rows in blocks, from a checkpoint if there is one.
trees     LDKL from rows in blocks: a tree that starts from a sample and is trained on all rows.
"""
