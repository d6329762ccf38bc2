"""Columns with long tails as normal scores."""

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import QuantileTransformer
from sklearn.utils.validation import check_is_fitted, validate_data

from ..preparation.transformers import register_step

MOST_KNOTS = 200
FARTHEST = 3.5


class NormalScores(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers as the normal scores of their quantiles, joined by lines.

    The knots of a column are at most 200 of its quantiles; each becomes the standard normal
    quantile of its rank, at most 3.5 from 0. Between knots the score is a line, beyond the outer
    ones it is constant. So scikit-learn's ``QuantileTransformer(output_distribution="normal")``
    does it, but that its lines are lines of ranks, and that its ends are 5.2 from 0.

    Attributes
    ----------
    knots_ : list of arrays of shape (n_knots,)
        Of each column, ascending.
    scores_ : list of arrays of shape (n_knots,)
        Of each column, what its knots become.
    n_features_in_ : int
        Number of columns of the fit.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if all of them are strings.
    """

    def fit(self, X, y=None):
        """Find the quantiles; missing cells (NaN) are left out."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        found = QuantileTransformer(n_quantiles=min(MOST_KNOTS, len(X)), subsample=None).fit(X)
        pairs = [_knots(column, found.references_) for column in found.quantiles_.T]
        self.knots_, self.scores_ = map(list, zip(*pairs))
        return self

    def transform(self, X):
        """The scores; missing cells stay missing."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        pairs = zip(X.T, self.knots_, self.scores_)
        return np.column_stack([np.interp(column, *pair) for column, *pair in pairs])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _knots(quantiles, ranks):
    """Distinct quantiles, and the score of the middle of the ranks that each of them has."""
    knots, first, counts = np.unique(quantiles, return_index=True, return_counts=True)
    middle = (ranks[first] + ranks[first + counts - 1]) / 2
    return knots, np.clip(ndtri(middle), -FARTHEST, FARTHEST)


def _bent(step, columns, known):
    return columns.curved(map(np.copy, step.knots_), map(np.copy, step.scores_))


register_step(NormalScores, _bent)
