"""Tables as people have them, in numbers that models take."""

import warnings
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._hints import Rows, Seed, Targets
from .._sklearn import Interval, StrOptions, check_feature_names_in
from .._warn import warn_user
from ..preparation.transformers import columns_after, register_step
from ..streams.blocks import is_source
from .assembly import Making, assembled, assembled_sparse, fitted
from .plan import NUMBER, Plan, Seen, Settings, kind_of, plans_of
from .reading import aligned, read_as
from .strays import strays_in, warn_of_strays
from .table import Table, table_of
from .target import Target, target_of


class TablePlan(NamedTuple):
    """A table with the plan of each column, from which the parts of an encoder are fitted."""

    table: Table
    columns: list[Seen]
    target: Target | None
    settings: Settings
    plans: list[Plan]

    def keep_columns(self, columns, reason):
        """The same plan with all other columns dropped for a reason."""
        kept = set(columns)
        plans = [
            plan if k in kept or plan.dropped is not None else Plan(plan.kind, dropped=reason)
            for k, plan in enumerate(self.plans)
        ]
        return self._replace(plans=plans)


_MAX_PIECES = 1000  # each is a column of the encoded rows


class TableEncoder(TransformerMixin, BaseEstimator):
    """A table of numbers, texts, categories, dates and missing cells as rows of numbers.

    It looks at each column once and puts scikit-learn's own parts together:

    * Numbers are centered and scaled; a missing one is the median, and a further column says that
      it is missing. A column with a value farther than 12 robust standard deviations from its
      median becomes normal scores, ``NormalScores``.
    * Columns of two values, booleans and one-hot columns are 0/1 minus their mean. They are not
      divided by their spread: a rare value would outweigh all other columns in a distance.
    * Texts and categories of at most ``max_levels`` values are one-hot encoded; values of fewer
      than 3 rows, or of 0.5 % of the rows, share a column; a missing cell is a value. With more
      values each becomes the mean of y over its rows (``TargetEncoder``, cross-fitted: training
      rows are encoded by ``fit_transform`` without their own y). Without y, the most frequent
      values are one-hot encoded.
    * Dates, and texts such as "2024-02-29", become days since 1970, month, day of the week and
      hour, as far as these vary.
    * A column nine tenths of which are numbers is one of numbers. Its other cells are missing, in
      new rows, too, and a warning names the first one.
    * Constant and duplicate columns are dropped, and, with a warning, columns that number or name
      the rows, and prose.

    CSR rows are numbers: they are divided by the largest magnitude of each column and stay CSR.

    New rows may contain categories that were not seen in ``fit``, and missing values anywhere. If
    tables have column names, columns are matched by name: their order does not matter, extra
    columns are ignored with a warning, and missing columns are errors. Infinite numbers are errors,
    and so are strings in columns of numbers that had none in ``fit``.

    Parameters
    ----------
    max_levels : int, default=30
        Most values of a text column that is one-hot encoded.
    pieces : int or None, default=None
        Knots of the piecewise-linear columns of ``SplineTransformer(degree=1)`` that are set beside
        each column of numbers; None makes none. They make a linear model additive.
    target_type : {"auto", "classes", "values"}, default="auto"
        What y is. "auto" takes numbers for values if any has a fraction, or if they are many.
    random_state : int, RandomState or None, default=0
        How rows are dealt into the parts of the cross-fitted encoding.

    Attributes
    ----------
    transformer_ : ColumnTransformer
        The fitted parts; columns have numbers.
    columns_ : list of dict
        For each column of the fit its name, kind ("number", "text", "date"), what was done to it
        ("done"), and how many cells were missing ("missing"). Empty for CSR rows.
    dropped_ : dict
        Why columns were dropped, by their names.
    kinds_ : list of str
        What the columns are read as.
    strays_ : dict
        How many cells of columns of numbers are texts that are none, by the columns' names.
    is_sparse_ : bool
        Whether the fit saw CSR rows.
    n_features_in_ : int
        Number of columns of the fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if all of them are strings.

    Notes
    -----
    The result is a matrix of double precision; beside it, a fit takes one copy of the numbers and
    one Python object for each text. Rows count alike: there are no weights.

    Examples
    --------
    >>> from nearlinear import TableEncoder
    >>> X = [[1.5, "red"], [2.5, "red"], [None, "blue"], [0.5, "blue"], [1.0, "red"], [3.0, "blue"]]
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.get_feature_names_out()
    array(['x0', 'x1_red', 'missingindicator_x0'], dtype=object)
    """

    transformer_: Any
    columns_: list[dict[str, Any]]
    dropped_: dict[str, Any]
    kinds_: list[str]
    strays_: dict[str, int]
    is_sparse_: bool
    n_features_in_: int
    feature_names_in_: np.ndarray

    _parameter_constraints = {
        "max_levels": [Interval(Integral, 2, None, closed="left")],
        "pieces": [Interval(Integral, 2, _MAX_PIECES, closed="both"), None],
        "target_type": [StrOptions({"auto", "classes", "values"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        max_levels: int = 30,
        pieces: int | None = None,
        target_type: Literal["auto", "classes", "values"] = "auto",
        random_state: Seed = 0,
    ):
        self.max_levels = max_levels
        self.pieces = pieces
        self.target_type = target_type
        self.random_state = random_state

    def fit(self, X: Rows, y: Targets | None = None) -> Self:
        """Look at the columns and fit the parts.

        Parameters
        ----------
        X : table, array, CSR matrix, list of rows or source of blocks
            A pandas, polars or Arrow table, or rows of numbers, texts and dates. A source yields
            blocks (X, y) of such rows, the same ones whenever it is iterated: see
            ``nearlinear.streams``. It is read twice. Levels, missing cells, means, spreads and
            means of y are then those of all rows; quantiles are those of 100,000.
        y : array of shape (n_samples,) or None, default=None
            Classes or values, for columns of many values. Several outputs are not looked at. None
            with a source, which has them.

        Returns
        -------
        TableEncoder
        """
        if y is None and is_source(X):
            from .in_blocks import fit_to_blocks

            self._validate_params()
            return fit_to_blocks(self, X)
        self._fitted(X, y)
        return self

    def fit_transform(self, X: Rows, y: Targets | None = None) -> np.ndarray | Any:
        """Fit, and encode the training rows, columns of many values without their own y.

        Parameters
        ----------
        X : table
            As in ``fit``.
        y : array of shape (n_samples,) or None, default=None
            As in ``fit``.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self._fitted(X, y)

    def transform(self, X: Rows) -> np.ndarray | Any:
        """Encode rows.

        Parameters
        ----------
        X : table, array, CSR matrix or list of rows
            The columns of the fit: matched by name if the table has names, else by position.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        if self.is_sparse_:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            return _sparse(self.transformer_.transform(_sparse(X)))
        if issparse(X):
            X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator=self).toarray()
        return self._encoded(self._read(X))

    def _encoded(self, table):
        with warnings.catch_warnings():
            # of a value that the fit has not seen, which has an answer
            warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
            return self.transformer_.transform(table)

    def _read(self, X):
        """Rows as the parts take them."""
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else tuple(names)
        table = aligned(table_of(X), names, self.n_features_in_, self.dropped_)
        return read_as(table, self.kinds_, self._unused, self._loose)

    @property
    def _loose(self):
        """Numbers of the columns in which texts among numbers are missing cells."""
        return {k for k, one in enumerate(self.columns_) if one["name"] in self.strays_}

    @property
    def _unused(self):
        """Numbers of the columns that were dropped: whatever stands there does not matter."""
        return {k for k, one in enumerate(self.columns_) if one["name"] in self.dropped_}

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the columns, such as "age", "sex_female" or "missingindicator_age".

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            Names of the columns that come in. None takes those of the fit.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        return self.transformer_.get_feature_names_out(names)

    def _fitted(self, X, y):
        self._validate_params()
        return self._fitted_sparse(X) if issparse(X) else self._fit_plan(self._plan(X, y))

    def _plan(self, X, y):
        """The plan of a table of all rows."""
        table = table_of(X)
        target = target_of(y, self.target_type, table)
        if len(table) < 2:
            raise ValueError(
                f"Found array with {len(table)} sample(s) (shape={table.shape}) while a minimum of "
                "2 is required by TableEncoder."
            )
        kinds, n_strays = [kind_of(column) for column in table.cells], {}
        for place, strays, row in strays_in(table, tuple(kinds)):
            kinds[place], n_strays[place] = NUMBER, strays.n_strays
            warn_of_strays(table.name(place), strays, row)
        table = read_as(table, kinds, loose=n_strays)
        columns = [
            Seen.whole(column, kind, place in table.declared, n_strays.get(place, 0))
            for place, (column, kind) in enumerate(zip(table.cells, kinds))
        ]
        return self._plan_columns(table, columns, target, len(table), len(table))

    def _plan_columns(self, table, columns, target, n_rows, n_seen):
        """The plan of a table of all rows or of a sample of them."""
        settings = Settings(
            n_rows, n_seen, self.max_levels, target is not None, self.pieces is not None
        )
        plans = plans_of(columns, table.name, settings)
        told = {_name(table, k): p.dropped for k, p in enumerate(plans) if p.is_told}
        if told and any(p.dropped is None for p in plans):
            warn_user(f"TableEncoder drops columns: {_listed(told)}.")
        return TablePlan(table, columns, target, settings, plans)

    def _fit_plan(self, plan):
        """Fit the parts that a plan asks for; return the encoded rows of its table."""
        table, columns, target, settings, plans = plan
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        transformer = assembled(plans, Making(plans, settings, self.pieces, target, seed))
        dropped = {_name(table, k): p.dropped for k, p in enumerate(plans) if p.dropped is not None}
        if len(dropped) == len(plans):
            raise ValueError(f"No column of X tells rows apart: {_listed(dropped)}.")
        found = fitted(transformer, table, None if target is None else target.values)

        self.transformer_, self.dropped_ = transformer, dropped
        self.kinds_ = [seen.kind for seen in columns]
        self.strays_ = {_name(table, k): s.n_strays for k, s in enumerate(columns) if s.n_strays}
        self.columns_ = [
            _record(table, k, plan, columns[k].n_missing) for k, plan in enumerate(plans)
        ]
        self.is_sparse_ = False
        self._note_columns(table.shape[1], table.names)
        return found

    def _note_columns(self, count, names):
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        try:
            self.get_feature_names_out()
        except ValueError:  # such as columns "sex" and "sex_female"
            self.transformer_.verbose_feature_names_out = True

    def _fitted_sparse(self, X):
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        self._made_sparse(X)
        return _sparse(self.transformer_.transform(X))

    def _made_sparse(self, X):
        """The part for CSR rows, fitted to these, or to one row of the largest magnitudes."""
        kept = np.unique(X.indices[X.data != 0]).tolist()
        if not kept:
            raise ValueError("No column of X tells rows apart: all numbers are 0.")
        transformer = assembled_sparse(kept).fit(X)
        empty = sorted(set(range(X.shape[1])) - set(kept))
        self.transformer_, self.is_sparse_ = transformer, True
        self.dropped_ = {f"x{k}": "always 0" for k in empty}
        self.kinds_, self.columns_, self.strays_ = [], [], {}
        self._note_columns(X.shape[1], None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _sparse(rows):
    return rows.tocsr() if issparse(rows) else csr_matrix(rows)


def _name(table, place):
    return f"x{place}" if table.names is None else table.names[place]


def _record(table, place, plan, n_missing):
    done = plan.words if plan.dropped is None else f"dropped: {plan.dropped}"
    return {"name": _name(table, place), "kind": plan.kind, "done": done, "missing": n_missing}


def _listed(reasons):
    shown = [f"{name!r} ({reason})" for name, reason in list(reasons.items())[:5]]
    return ", ".join(shown) + (f" and {len(reasons) - 5} more" if len(reasons) > 5 else "")


def _columns(encoder, columns, known):
    if encoder.strays_ and columns.are_raw:
        columns = columns.with_slips(sorted(encoder._loose))
    return columns_after(encoder.transformer_, columns, known)


register_step(TableEncoder, _columns)
