"""What comes before a model: scikit-learn's transformers as one table.

Modules
-------
chosen_columns  The columns that a ColumnTransformer gives to one of its transformers.
columns         Columns on their way from raw rows to the model.
likely_rows     Whether rows look as they were before a preparation, or as they are after it.
raw_rows        Raw rows of every kind that a preparation takes.
transformers    scikit-learn's transformers as a ``Preparation``.
"""
