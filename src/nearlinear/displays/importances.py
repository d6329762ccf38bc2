"""Which columns matter to a model over many rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fitted import last_of, steps_before
from .kernel_labels import shortened
from .palette import CLASSES, INK, PALE, QUIET, axes_or_new, dress, write_heading

_AXES = {
    "contribution": "size of the contribution, mean over rows",
    "shuffling": "move of the answer as the column is shuffled, mean over rows",
}
_MIDDLE = (10, 90)  # percent of the rows between the ends of a line


@dataclass(kw_only=True, eq=False, repr=False)
class ImportancesDisplay:
    """How far each raw column moves the answers of many rows, as bars, the farthest first.

    These are the importances of ``report``: the mean size of a column's contribution to the score,
    less what it adds to every row. A model without contributions (a kernel machine) is asked again
    with one column shuffled. A thin line holds the middle 80 % of the rows: a long one belongs to a
    column that matters to some rows alone. It tells what the model uses and not what causes the
    answer; columns that say the same share what they bring. Make one with :meth:`from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    drawn_ : array of int
        Columns that are drawn, the most important first.
    bars_ : matplotlib BarContainer
        Their bars.
    ranges_ : matplotlib LineCollection
        The thin lines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearlinear import LLSVMClassifier
    >>> from nearlinear.displays import ImportancesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LLSVMClassifier(n_anchors=10, random_state=0).fit(X, y)
    >>> display = ImportancesDisplay.from_estimator(model, X)
    >>> display.importances.shape
    (4,)
    """

    sizes: np.ndarray  # (n_rows, n_columns): how far each column moves the answer of each row
    names: Sequence[str]  # of the columns
    by: str = "contribution"  # how it is known: "contribution" or "shuffling"

    @classmethod
    def from_estimator(cls, estimator, X, *, max_features=12, ax=None, title=None):
        """Ask the model about rows, and draw.

        Parameters
        ----------
        estimator : model of nearlinear or a Pipeline that ends in one
            Fitted.
        X : table, array or CSR matrix of shape (n_samples, n_features)
            Rows; 300 to 500 of them, evenly spread, are asked about.
        max_features : int, default=12
            The most bars.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        ImportancesDisplay
        """
        # in here, since a report knows of the search, which knows of pictures
        from ..report.importances import moves_of
        from ..report.subject import subject_of

        last = last_of(estimator)
        if not hasattr(last, "explain"):
            raise TypeError(
                f"{cls.__name__} draws models of nearlinear, not {type(last).__name__}."
            )
        # importances are not about errors: the model's own answers stand for the targets
        subject = subject_of(last, X, estimator.predict(X), steps_before(estimator))
        moves = moves_of(subject)
        if moves is None:
            raise ValueError(
                f"{type(last).__name__} has no contributions, and {subject.rows.shape[1]} columns "
                "are too many to shuffle: use sklearn.inspection.permutation_importance."
            )
        display = cls(sizes=moves.sizes, names=subject.rows.names, by=moves.by)
        return display.plot(ax, max_features=max_features, title=title)

    @property
    def importances(self):
        """Mean sizes, shape (n_columns,)."""
        return np.mean(self.sizes, axis=0)

    def plot(self, ax=None, *, max_features=12, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        self.drawn_ = np.argsort(-self.importances, kind="stable")[:max_features]
        n_drawn = len(self.drawn_)
        self.ax_ = ax = axes_or_new(ax, (7.2, 1.5 + 0.3 * n_drawn))
        self.figure_ = ax.figure
        places = np.arange(n_drawn)
        self.bars_ = ax.barh(places, self.importances[self.drawn_], height=0.72, color=CLASSES[0])
        low, high = np.percentile(self.sizes[:, self.drawn_], _MIDDLE, axis=0)
        self.ranges_ = ax.hlines(places, low, high, color=INK, linewidth=1.4)
        dress(ax)
        labels = [shortened(str(self.names[k])) for k in self.drawn_]
        ax.set_yticks(places, labels, fontsize=9.5)
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(0, None), ylim=(n_drawn - 0.4, -0.6))
        ax.set_xlabel(_AXES[self.by], color=INK, fontsize=9.5)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.grid(axis="x", color=PALE, linewidth=0.7)
        ax.set_axisbelow(True)
        ax.spines["bottom"].set_color(QUIET)
        others = len(self.names) - n_drawn
        told = f"{others} less important columns are not drawn; " if others else ""
        write_heading(ax, title, f"{told}lines: the middle 80 % of {len(self.sizes)} rows")
        return self
