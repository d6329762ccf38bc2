"""Models as C99.

Modules
-------
check        The generated test program: rows, the scores that Python gives them, and a comparison.
curves       Categories and curves in C: places among known numbers, and lines between knots.
files        The texts of the header and the source, and their way to the disk.
gates        Gates of components: how much each of them answers for a row.
kernel_text  C text that evaluates kernels at a row and a support row.
kernels      Kernels as sums of terms.
literals     Numbers, strings and tables as C99 writes them, in plain ASCII.
outcome      C of probabilities and labels: what scores mean.
predictors/  Predictors in C: one file for each form.
preparation  A preparation in C: from a raw row to the row that the model takes.
program      A C source file while it is put together: tables, functions, and what they cost.
quantized    Tables in eight bits, and models that compute with what such tables hold.
rows         What every model does with rows of a table: products, distances, sums.
scaling      Where the scaler goes.
source       ``to_c``: a fitted model as a header, a source file.
texts        Columns of text in C.
"""
