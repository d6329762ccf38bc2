"""Scores taken apart.

Modules
-------
averaged   Scores of an average of models, taken apart: what each column adds through all members.
cells      w(x) and b(x) of linear models that fade around the landmarks of a row's cell.
conformal  w(x) and b(x) of linear models that fade around anchors: Σ h(x) w, and b − Σ h(x) ⟨w, c⟩.
explain    Explanations: which local linear model answered for a row.
forests    Scores of forests, taken apart: what every split of a row's paths has changed.
hinges     w(x) and b(x) of layers of units that bend.
kernels    Scores of kernel machines, taken apart by kernels and by support rows.
linear     w(x) and b(x) of models that blend linear ones by a gate.
record     What the score of a row is made of: the records.
trees      w(x) and b(x) of trees: the models along the path of a row, each times its gate c(x).
"""
