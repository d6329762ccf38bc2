"""The front door for rows in blocks: a search on a sample, chosen models fitted to all rows.

Modules
-------
additive  Linear and piecewise-linear models from all rows.
anchors   Local models around anchors from all rows.
course    The course of a search on a sample.
fitting   ``fit`` of a front door to rows in blocks.
forests   Trees whose leaves all rows refit by sums over blocks.
growing   Rows that trees grow on: as many as memory holds.
hinges    Hinge units from all rows.
keeping   How far a front door has come with rows in blocks.
rows      All rows of a source, encoded.
sampling  The pass in which a front door looks at all rows of a source.
trees     Oblique trees from all rows.
"""
