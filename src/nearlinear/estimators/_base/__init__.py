"""What estimators share.

Modules
-------
anchor_settings   Settings that LLC-SAPL tries, from a linear model on.
anchors           What the anchor methods share.
blocks/           Fits to rows in blocks: a survey, a sample to start from, training on all of them.
capacity          How much capacity the rows bear.
cells             Cells and landmarks of DC-Pred++.
checks            What parameters and rows may be.
conformal         Conformal kernels for every output: candidates, choice, collapse, predictor.
explained         Rows on their way into an explanation, and explanations on their way out.
forests/          Parts of local forests.
gating            What a gate sees of a row.
input             From what users pass to rows.
kernels           Kernels of a fit and the memory for their matrices; from machines to a predictor.
local_search      Local models with a gate that stays: how many, found on held-out rows.
localized         Machines on gated kernels: one for each output, and what they report.
model             The one class that all estimators share.
outputs           One loop over the outputs of a fit, one rule for Ctrl-C, one format of progress.
pruning           How many anchors, or nodes, the data bear.
rows              Training rows in one canonical form, so that every fit sees the same problem.
streams/          Fits that go on: rows and kernels as streams.
task              What is learned.
tensors/          Rows that are torch tensors: learned from and scored where they lie.
tree_coordinates  The coordinates in which a tree is trained, and the way there and back.
tree_plan         The parameters of trees and what "auto" stands for.
trees             Training of trees: the search for a setting, training runs, streams.
values/           What only machines that learn values have: their unit, and C that is found.
"""
