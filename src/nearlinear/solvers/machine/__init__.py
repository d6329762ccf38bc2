"""One machine on one kernel: its dual, its steps, its rows.

Modules
-------
basis               Sparse kernel SVM.
basis_coefficients  Coefficients of a Gaussian kernel expansion over a fixed basis.
bias                How a machine's bias is treated, and thereby which steps solve it.
epochs              A machine's dual ascended for a fixed number of epochs.
exchange            Multiple kernel learning from Gram columns alone.
lasvm               LaSVM: a kernel SVM that meets its rows one by one and stores those that may ...
problem             One form for the duals of support vector classification and regression.
steps               The compiled steps of a machine's dual, for a free bias and for a fixed one.
working_sets        Support vector machines of one kernel, for classification and regression.
"""
