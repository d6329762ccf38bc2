"""What estimators share.

Modules
-------
anchors               What the anchor methods share.
capacity              How much capacity the rows bear.
checks                What parameters and rows may be.
conformal_candidates  Where conformal kernels may stand, and how far they may reach.
conformal_doc         Parameters and attributes of the multiple locally linear kernel machines.
conformal_machine     What the multiple locally linear kernel machines share.
conformal_streaming   Learning conformal kernels from a stream.
constraints           The only file that imports scikit-learn's private validation names.
explained             Rows on their way into an explanation, and explanations on their way out.
finite                Numbers that compiled passes can hold.
gating                What a gate sees of a row.
input                 From what users pass to rows.
kernels               Kernels of a fit and the memory for their matrices.
labels                Labels and weights: from what users pass to what solvers take.
localized             Machines on gated kernels: one for each output, and what they report.
machine_doc           What regressors say alike.
model                 The one class that all estimators share.
old_model             The face that all estimators share: input checks, labels, weights, prediction.
outputs               One loop over the outputs of a fit, one rule for Ctrl-C.
progress              Progress of a fit.
rows                  Training rows in one canonical form, so that every fit sees the same problem.
target_units          The unit in which a regression measures its values.
task                  What is learned.
tree_coordinates      The coordinates in which a tree is trained, and the way there and back.
tree_plan             The parameters of trees and what "auto" stands for.
trees                 Training of trees: the search for a setting, training runs, streams.
whole_fit             Fits that are whole.
"""
