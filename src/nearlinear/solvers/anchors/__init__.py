"""Local linear models around anchors.

Modules
-------
adam         Anchors and local models learned together by mini-batch Adam, in matrix products.
dual         Linear SVM on gated features γ(x) ⊗ [x.
fixed_gate   Local models for a fixed gate, by the solver that suits the loss.
linear_root  The linear model that local models add to: they are shrunk toward it, not toward zero.
objective    What training minimizes, evaluated on all rows.
row_steps    Compiled steps of the row-by-row solver: one row's code, scores and updates.
sgd          Anchors and local models learned row by row.
"""
