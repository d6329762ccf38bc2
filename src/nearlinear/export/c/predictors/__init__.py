"""Predictors in C: one file for each form.

Modules
-------
cells         Linear models that fade around the landmarks of a row's cell.
combined      Predictors of others: on mapped rows, side by side, exponentials.
conformal     Linear models that fade with the distance from their anchors.
expansions    Sums of kernels over support rows: one machine, or many that share the rows.
forests       One row down the trees of a forest: tables of splits, and no nested ifs.
gated         Kernel machines blended by a gate.
hinges        Layers of units that bend, in C.
linear        Local linear models around anchors: the nearest anchors, their codes, the blend.
linked_trees  One path down a tree whose nodes name their children.
sums          Sums in C: of curves of single columns, and of other models.
trees         One path down a tree of linear splits.
"""
