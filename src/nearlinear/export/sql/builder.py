"""A small builder of queries: columns that are computed once, in layers that read one another.

An expression that is used twice becomes a column of a layer, ``SELECT *, … FROM`` the layer before:
DuckDB copies what an alias stands for, but no column. Missing values are NULL.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from ...kinds import rule_for
from .literals import SqlExportError, number, number_list

_NAME = re.compile(r"\bn\d+\b")
_FEW_PRODUCTS = 4  # up to which sums are quicker than a list of the row and products of lists
_LONGEST_SUM = 64  # of one expression: DuckDB nests them 1,000 deep at most


@dataclass(frozen=True)
class Query:
    """Columns in the order of their making: of each its name, by its expression; its layer.

    ``checks`` are conditions without which a row has no answer. ``single`` are names of columns
    whose numbers are those of float32.
    """

    names: dict = field(default_factory=dict)
    layers: dict = field(default_factory=dict)
    checks: list = field(default_factory=list)
    single: set = field(default_factory=set)

    def let(self, expression):
        """The name of a column with this value."""
        if expression in self.layers:
            return expression
        if expression not in self.names:
            known = [self.layers[name] for name in _NAME.findall(expression) if name in self.layers]
            name = f"n{len(self.names)}"
            self.names[expression] = name
            self.layers[name] = 1 + max(known, default=-1)
        return self.names[expression]

    def raw(self, expression):
        """The same of columns of the table, whatever they are called."""
        if expression not in self.names:
            name = f"n{len(self.names)}"
            self.names[expression], self.layers[name] = name, 0
        return self.names[expression]

    def require(self, condition):
        if condition not in self.checks:
            self.checks.append(condition)

    def in_precision(self, X, dtype):
        """Columns as a predictor of this precision sees them; a number too large is NULL."""
        if np.dtype(dtype) != np.float32:
            return X
        return tuple(map(self._in_single, X))

    def _in_single(self, x):
        if x in self.single:
            return x
        name = self.let(f"CAST(TRY_CAST({x} AS FLOAT) AS DOUBLE)")
        self.single.add(name)
        return name

    def products(self, X, matrix, offsets=None):
        """Expressions of matrix X + offsets, one for each row of the matrix."""
        offsets = np.zeros(len(matrix)) if offsets is None else offsets
        if len(matrix) > _FEW_PRODUCTS:
            found = [self.product(X, row) for row in matrix]
            return [f"({one} + {number(b)})" if b else one for one, b in zip(found, offsets)]
        return [
            self.total([number(b), *(f"{x} * {number(w)}" for x, w in zip(X, row) if w)])
            for row, b in zip(matrix, offsets)
        ]

    def product(self, X, weights):
        """One of many products with the same columns; NULL counts as 0."""
        if not np.any(weights):
            return number(0.0)
        return f"list_dot_product({self.row(X)}, {number_list(weights)})"

    def row(self, X):
        """The name of a list of columns; NULL, which products of lists refuse, is 0."""
        return self.let(f"[{', '.join(f'coalesce({x}, 0e0)' for x in X)}]")

    def total(self, terms):
        """A sum in the order of its terms."""
        first = 0
        terms = list(terms)
        while len(terms) - first > _LONGEST_SUM:
            last = first + _LONGEST_SUM
            terms[last - 1] = self.let(_sum(terms[first:last]))
            first = last - 1
        return _sum(terms[first:])

    def softmax(self, values):
        """Shares of exponentials; nothing overflows."""
        values = [self.let(value) for value in values]
        most = self.let(_nested(values, "greatest({}, {})"))
        return self.shares([f"exp({value} - {most})" for value in values])

    def shares(self, values):
        """Values divided by their sum."""
        values = [self.let(value) for value in values]
        total = self.let(self.total(values))
        return [f"({value} / {total})" for value in values]


def _sum(terms):
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _nested(values, form):
    """A function of two, of many: halves of halves, so that nothing is nested deeply."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return form.format(_nested(values[:half], form), _nested(values[half:], form))


def all_of(conditions):
    return _nested(conditions, "({} AND {})") if conditions else "TRUE"


def any_of(conditions):
    return _nested(conditions, "({} OR {})") if conditions else "FALSE"


def values_of(query, part, X):
    """Expressions of what a part makes of columns."""
    return rule_for("sql", part, SqlExportError)(query, part, X)
