"""What people see: amounts, figures, tables of text, and text from files of others.

Modules
-------
amounts       Amounts as people write them: 64kB, 10m.
figures       How good answers are: figures beside what a model without features would reach.
foreign_text  Text that comes from a file of somebody else, on its way to a terminal or a table.
text_table    Tables of text: the first column to the left, numbers to the right.
"""
