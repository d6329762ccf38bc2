"""What estimators share.

Modules
-------
anchors           What the anchor methods share.
capacity          How much capacity the rows bear.
checks            What parameters and rows may be.
conformal         Conformal kernels for every output: candidates, choice, collapse, predictor.
conformal_stream  Conformal kernels from a stream: rows taken in, stored, and solved for at its end.
constraints       The only file that imports scikit-learn's private validation names.
explained         Rows on their way into an explanation, and explanations on their way out.
finite            Numbers that compiled passes can hold: rows before a fit, and the model after it.
gated_doc         Parameters and attributes that all estimators on gated kernels share, said once.
gated_machine     What estimators on gated kernels share.
gating_rows       What a gate sees of a row.
input             From what users pass to rows.
kernel_machine    What estimators on sums of kernels share: kernels, memory, one machine per output.
kernel_success    What SwMKL and LD-MKL share.
kernels           Kernels of a fit and the memory for their matrices; from machines to a predictor.
labels            Labels and weights: from what users pass to what solvers take.
lmkl_doc          What the two LMKL estimators say alike.
machine_doc       Parameters and attributes that all estimators on sums of kernels share, said once.
model             The one class that all estimators share.
old_model         The face that all estimators share: input checks, labels, weights, prediction.
outputs           One loop over the outputs of a fit, one rule for Ctrl-C, one format of progress.
progress          Progress of a fit: lines of one format, and a word on fits that will take long.
rows              Training rows in one canonical form, so that every fit sees the same problem.
target_units      The unit in which a regression measures its values.
task              What is learned.
tree_coordinates  The coordinates in which a tree is trained, and the way there and back.
tree_learner      What the tree estimators share.
tree_settings     The parameters of tree estimators, and what "auto" stands for.
tree_task         What a tree is to learn, and how good its scores are.
whole_fit         Fits that are whole: a model changes at once, when all is found, or not at all.
"""
