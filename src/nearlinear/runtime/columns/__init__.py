"""Columns of raw rows: what their cells say, and how numbers are bent.

Modules
-------
curves     Curves of one number: lines between knots, a number for each category, or normal scores.
names      Columns of tables by name.
read_rows  Rows whose texts and dates were read already: for targets whose rows are numbers.
readings   Cells that are no numbers by themselves: categories, dates, numbers with slips.
"""
