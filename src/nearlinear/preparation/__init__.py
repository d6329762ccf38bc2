"""What comes before a model: scikit-learn's transformers as one table.

Modules
-------
bends           Steps that bend numbers: quantiles and bins.
chosen_columns  The columns that a ColumnTransformer gives to one of its transformers.
columns         Columns on their way from raw rows to the model.
encoders        Encoders of categories: each of their columns is a number for every category.
likely_rows     Whether rows look as they were before a preparation, or as they are after it.
origins         Which raw columns a prepared one comes from.
pieces          Piecewise-linear columns: what SplineTransformer(degree=1) makes of a column.
raw_rows        Raw rows of every kind that a preparation takes.
transformers    scikit-learn's transformers as a ``Preparation``.
"""
