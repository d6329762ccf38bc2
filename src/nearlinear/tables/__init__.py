"""Tables as people have them, in numbers that models take.

Modules
-------
assembly       scikit-learn's parts, put together as the plans of all columns say.
cells          Cells of all kinds as numbers, texts or dates.
date_parts     Dates as numbers.
encoder        Tables as people have them, in numbers that models take.
in_blocks      A ``TableEncoder`` fitted to blocks of rows.
levels         Levels of a column and what is known of y in each of them.
normal_scores  Columns with long tails as normal scores.
plan           What becomes of each column of a table: one look at its cells.
reading        Rows as the fit has read them.
strays         Columns of numbers in which a few cells are none, which are missing.
survey         One pass over blocks of a table.
table          One form for all tables: pandas, polars and Arrow tables, arrays, lists.
target         What y is: classes or values.
target_means   Means of y, made anew from some of the rows.
"""
