"""How a fit went: the objective and the scores of its steps."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.base import is_classifier

from .fitted import last_of
from .palette import CLASSES, INK, MARKERS, PALE, dress

_FEW = 60  # steps that have a mark each


@dataclass(kw_only=True, eq=False, repr=False)
class HistoryDisplay:
    """Learning curves of a fit, from ``history_``: objective above, scores below.

    Scores are those on held-out rows where the fit holds rows out (``early_stopping=True``), with
    the best of them circled; while the splits of a tree are soft, also those with soft and with
    hard splits, which are of training rows where none are held out. scikit-learn's
    ``LearningCurveDisplay`` is about the number of rows, this one about the steps of a single fit.
    Make one with :meth:`from_estimator`.

    Attributes
    ----------
    ax_, score_ax_, figure_ : matplotlib Axes, Axes or None, Figure
        Set by ``plot``; ``score_ax_`` is None where no score is known.
    lines_ : dict of str to matplotlib Line2D
        The curves.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import LDKLClassifier
    >>> from nearlinear.displays import HistoryDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LDKLClassifier(2, early_stopping=True, max_iter=10, random_state=0).fit(X, y)
    >>> display = HistoryDisplay.from_estimator(model)
    >>> sorted(display.scores)
    ['hard splits', 'held-out rows', 'soft splits']
    """

    steps: np.ndarray  # (n_steps,): their numbers
    objective: np.ndarray  # (n_steps,): NaN where it is not known
    scores: Mapping[str, np.ndarray]  # curves by name, each (n_steps,) and NaN where not known
    score_name: str = "accuracy"  # what they are
    is_held_out: bool = False  # whether all scores are of rows that the fit has not seen

    @classmethod
    def from_estimator(cls, estimator, *, axes=None, title=None):
        """Read the history of a fitted model, and draw.

        Parameters
        ----------
        estimator : LDKL, LLC-SAPL or another model with ``history_``, or a Pipeline that ends so
            Fitted.
        axes : pair of matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        HistoryDisplay
        """
        last = last_of(estimator)
        if not getattr(last, "history_", None):
            raise TypeError(
                f"{cls.__name__} draws models with history_, such as LDKLClassifier, not "
                f"{type(last).__name__}."
            )
        told = [{"held-out rows": one.score, **one.figures} for one in last.history_]
        names = [name for name in dict.fromkeys(n for one in told for n in one)]
        curves = {name: _numbers(one.get(name) for one in told) for name in names}
        scores = {name: curve for name, curve in curves.items() if not np.isnan(curve).all()}
        display = cls(
            steps=np.array([one.step for one in last.history_]),
            objective=_numbers(one.objective for one in last.history_),
            scores=scores,
            score_name="accuracy" if is_classifier(last) else "R²",
            is_held_out="held-out rows" in scores,
        )
        return display.plot(axes, title=title)

    def plot(self, axes=None, *, title=None):
        """Draw on a pair of ``axes``, or on a new figure, as :meth:`from_estimator` does."""
        if axes is None:
            import matplotlib.pyplot as plt

            n_panels = 1 + bool(self.scores)
            axes = plt.subplots(
                n_panels, 1, figsize=(6.4, 2.0 + 1.4 * n_panels), sharex=True, squeeze=False,
                layout="constrained",
            )[1].ravel()  # fmt: skip
        self.ax_, self.score_ax_ = axes[0], axes[1] if self.scores else None
        self.figure_, self.lines_ = self.ax_.figure, {}
        self._draw(self.ax_, "objective", self.objective, INK, "")
        self.ax_.set_ylabel("objective", color=INK)
        last = self.ax_
        if self.scores:
            self._draw_scores()
            last = self.score_ax_
        last.set_xlabel("step", color=INK)
        dress(self.ax_, title)
        return self

    def _draw_scores(self):
        ax = self.score_ax_
        for (name, curve), color, marker in zip(self.scores.items(), CLASSES, MARKERS):
            self._draw(ax, name, curve, color, marker)
        if self.is_held_out:
            best = np.nanargmax(self.scores["held-out rows"])
            ax.scatter(
                self.steps[best], self.scores["held-out rows"][best], s=110, facecolor="none",
                edgecolor=INK, linewidth=1.3, zorder=4, label=f"best: step {self.steps[best]}",
            )  # fmt: skip
        rows = "held-out" if self.is_held_out else "training"
        ax.set_ylabel(f"{self.score_name}, {rows} rows", color=INK)
        ax.legend(loc="lower right", frameon=False, fontsize=9, labelcolor=INK)
        dress(ax)

    def _draw(self, ax, name, curve, color, marker):
        style = {"linewidth": 1.6, "marker": marker if len(self.steps) <= _FEW else ""}
        if name == "held-out rows":  # below the others: with hard splits it is often the same
            style = {"linewidth": 4.0, "alpha": 0.55}
        (self.lines_[name],) = ax.plot(
            self.steps, curve, color=color, markersize=4, label=name, **style
        )
        ax.grid(axis="y", color=PALE, linewidth=0.7)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)


def _numbers(values):
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
