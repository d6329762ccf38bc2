"""Models as C99.

Modules
-------
cells        Linear models that fade around the landmarks of a row's cell.
check        The generated test program: rows, the scores that Python gives them, and a comparison.
combined     Predictors of others: on mapped rows, their mean, side by side.
conformal    Linear models that fade with the distance from their anchors.
expansions   Sums of kernels over support rows: one machine, or many that share the rows.
files        The texts of the header and the source, and their way to the disk.
gated        Kernel machines blended by a gate.
gates        Gates of components: how much each of them answers for a row.
kernel_text  C text that evaluates kernels at a row and a support row.
kernels      Kernels as sums of terms.
linear       Local linear models around anchors: the nearest anchors, their codes, the blend.
literals     Numbers, strings and tables as C99 writes them, in plain ASCII.
outcome      C of probabilities and labels: what scores mean.
preparation  A preparation in C: from a raw row to the row that the model takes.
program      A C source file while it is put together: tables, functions, and what they cost.
quantized    Tables in eight bits, and models that compute with what such tables hold.
rows         What every model does with rows of a table: products, distances, sums.
scaling      Where the scaler goes.
source       ``to_c``: a fitted model as a header, a source file.
trees        One path down a tree of linear splits.
"""
