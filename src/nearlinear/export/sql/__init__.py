"""Models as SQL: one SELECT for DuckDB, whose layers compute every column once.

Modules
-------
builder      A small builder of queries: columns that are computed once, in layers.
curves       Curves of one number in SQL.
forests      Forests in SQL.
gates        Gates in SQL: of all components, or of the nearest anchors.
linear       Linear models, local ones, sums of curves and hinge units in SQL.
literals     Numbers, texts and names as DuckDB reads them.
outcome      Probabilities and classes of scores in SQL, and means of several models.
preparation  A preparation in SQL: from the columns of a table to those of a model.
statement    ``to_sql``: a fitted model as one SELECT of DuckDB.
trees        Trees of linear splits in SQL.
walks        Trees in SQL: nested CASE, and below that lists that are looked up.
"""
