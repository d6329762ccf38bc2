"""Dask classes of the methods that learn from rows in blocks, and of the front door."""

from ..estimators.forests.local_forest import LocalForestClassifier, LocalForestRegressor
from ..estimators.ldkl import LDKLClassifier, LDKLRegressor
from ..estimators.llc_sapl import LLCSAPLClassifier
from ..search.near_linear import NearLinearClassifier, NearLinearRegressor
from .base import DaskClassifier, DaskEstimator, DaskRegressor
from .near_linear import fit_search


class DaskLDKLClassifier(DaskClassifier):
    local_class = LDKLClassifier


class DaskLDKLRegressor(DaskRegressor):
    local_class = LDKLRegressor


class DaskLLCSAPLClassifier(DaskClassifier):
    local_class = LLCSAPLClassifier


class DaskLocalForestClassifier(DaskClassifier):
    local_class = LocalForestClassifier


class DaskLocalForestRegressor(DaskRegressor):
    local_class = LocalForestRegressor


class DaskFrontDoor(DaskEstimator):
    """A search whose fits are tasks, on a sample, and its winners on all rows."""

    own = {**DaskEstimator.own, "search_rows": 100_000}
    _more = (
        "\nsearch_rows : int, default=100_000\n"
        "    Rows of the sample that the search runs on; they are gathered by the client."
    )
    _learned = (
        "\nfitted_to_ : list of (str, str)\n"
        "    Families of the chosen model, and what each was fitted to: all rows, or the sample."
    )

    def fit(self, X, y, sample_weight=None):
        """Search on a sample, and fit what was chosen to all rows where its family can.

        Parameters
        ----------
        X : Dask dataframe or array of shape (n_samples, n_features)
            A table with numbers, text, dates and missing cells, or numbers.
        y : Dask series or array of shape (n_samples,)
            Labels or values, in the partitions of X.
        sample_weight : Dask series or array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        more = {"search_rows": self.search_rows}
        self.fitted_to_ = self._fit_on_cluster(fit_search, X, y, sample_weight, **more)
        return self


class DaskNearLinearClassifier(DaskFrontDoor, DaskClassifier):
    local_class = NearLinearClassifier


class DaskNearLinearRegressor(DaskFrontDoor, DaskRegressor):
    local_class = NearLinearRegressor
