"""What a search has found: tables of it, other points of its front, its picture."""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from .._hints import Rows
from ..estimators._base.checks import available_if
from ..estimators._base.input import scored_rows
from .budgets import Budget
from .found import Found

if TYPE_CHECKING:
    from ..displays.cost_front import CostFrontDisplay

M = TypeVar("M")


@property
def results(self: Any) -> Any:
    """Models that were fitted to all rows, best first, as a data frame."""
    check_is_fitted(self, "predictor_")
    from pandas import DataFrame

    return DataFrame(sorted(self.record_, key=lambda one: one["loss"]))


@property
def front(self: Any) -> Any:
    """Models that nothing else beats in both loss and time, cheapest first, as a data frame."""
    check_is_fitted(self, "predictor_")
    from pandas import DataFrame

    chosen = [one for one in self.record_ if one["on_front"]]
    return DataFrame(sorted(chosen, key=lambda one: one["us_per_row"])).reset_index(drop=True)


@property
def best_estimator(self: Any) -> Any:
    """The encoder and the model behind it, as one pipeline."""
    check_is_fitted(self, "predictor_")
    model = clone(self).set_params(encoder=None)
    learned = {k: v for k, v in vars(self).items() if k.endswith("_") or k == "_training"}
    vars(model).update(learned | {"encoder_": None, "n_features_in_": self.predictor_.n_features})
    vars(model).pop("feature_names_in_", None)
    return model if self.encoder_ is None else make_pipeline(self.encoder_, model)


def select(
    self: M,
    *,
    knee: bool = False,
    max_times_linear: float | None = None,
    max_us_per_row: float | None = None,
    single_row_us: float | None = None,
    max_bytes: float | None = None,
) -> M:
    """Another point of the front, without another search.

    Parameters
    ----------
    knee : bool, default=False
        The point of ``front_`` from which on more time buys little: the one farthest above the
        line from the cheapest point to the most accurate one, in log time. An average is such a
        point as well as a single model.
    max_times_linear, max_us_per_row, single_row_us, max_bytes : float or None, default=None
        Budgets, as those of the constructor.

    Returns
    -------
    estimator
        A new fitted model; this one stays as it is.
    """
    from .fitting import learned_of

    check_is_fitted(self, "predictor_")
    found = self._state
    if not isinstance(found, Found):
        raise ValueError(
            f"This {type(self).__name__} comes from a file, which holds the chosen model alone: "
            "fit it anew to select another."
        )
    budget = Budget(max_times_linear, max_us_per_row, single_row_us, max_bytes)
    blend = found.knee(budget) if knee else found.within(budget)
    if blend is None:
        raise ValueError(f"No fitted model costs at most {budget}: allow more, or fit with it.")
    other = clone(self).set_params(
        max_times_linear=max_times_linear, max_us_per_row=max_us_per_row,
        single_row_us=single_row_us, max_bytes=max_bytes,
    )  # fmt: skip
    vars(other).update({k: v for k, v in vars(self).items() if k.endswith("_") or k == "_training"})
    learned = learned_of(found, blend, self.tried_)
    learned.attributes["encoder_"] = self.encoder_
    return other._settle(learned)


def _knows(self):
    """The member that can tell how well it knows a row."""
    predictor = getattr(self, "predictor_", None)
    for one in getattr(predictor, "members", (predictor,)):
        if hasattr(one, "support_score"):
            return one
    raise AttributeError(
        "No member of this model knows how far a row is from all that it has seen: fit with "
        'families=["local kernels"].'
    )


@available_if(_knows)
def support_score(self: Any, X: Rows) -> np.ndarray:
    """How strongly the nearest local kernel answers for each row: 0 where it knows nothing.

    Parameters
    ----------
    X : table or array of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    array of shape (n_samples,)
        Numbers between 0 and 1.
    """
    return _knows(self).support_score(scored_rows(self, X), n_jobs=self.n_jobs)


def plot_front(self: Any, ax: Any = None, *, title: str | None = None) -> "CostFrontDisplay":
    """Held-out score against microseconds a row of all models that were fitted.

    Parameters
    ----------
    ax : matplotlib Axes or None, default=None
        None makes a new figure.
    title : str or None, default=None
        A heading above the picture.

    Returns
    -------
    CostFrontDisplay
    """
    from ..displays.cost_front import CostFrontDisplay, ModelPoint

    check_is_fitted(self, "predictor_")
    points = [
        ModelPoint(one["model"], one["us_per_row"], 100.0 * one["score"], one["is_chosen"])
        for one in self.record_
    ]
    score = "held-out accuracy, %" if hasattr(self, "classes_") else "held-out R², %"
    return CostFrontDisplay(points, score).plot(ax, title=title)
