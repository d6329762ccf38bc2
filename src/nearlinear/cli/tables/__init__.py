"""Tables as people have them: CSV, Parquet, NumPy.

Modules
-------
cells       Cells as numbers: the first that is none is named, and what to do about it.
columns     Which columns of a table are features: ``--drop`` and ``--features``.
csv_format  Options of CSV files: delimiter, encoding and decimal sign.
reading     Rows from CSV, Parquet, svmlight and npz files, whole or in pieces.
target      Whether a target holds classes or values, and in which words that is told.
"""
