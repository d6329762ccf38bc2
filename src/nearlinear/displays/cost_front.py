"""Accuracy against prediction cost: which models are worth their price."""

from collections.abc import Mapping, Sequence
from timeit import repeat
from typing import NamedTuple

from sklearn.base import is_classifier

from .fitted import last_of
from .palette import CLASSES, INK, QUIET

_OURS, _OTHERS, _FRONT, _JOINED = CLASSES[1], QUIET, "#c9d2da", "#9fb0be"
# Where a label may stand around its point, in points of type: the first free place is taken.
_PLACES = [
    (7, 3, "left", "bottom"),
    (8, 0, "left", "center"),
    (-8, 0, "right", "center"),
    (0, 9, "center", "bottom"),
    (0, -9, "center", "top"),
    (7, 9, "left", "bottom"),
    (-7, 9, "right", "bottom"),
    (7, -9, "left", "top"),
    (-7, -9, "right", "top"),
    (0, 22, "center", "bottom"),
    (0, -22, "center", "top"),
]


class ModelPoint(NamedTuple):
    """One model: µs per row, accuracy in percent, and whether it is to stand out."""

    name: str
    us_per_row: float
    accuracy: float
    highlighted: bool = False


class CostFrontDisplay:
    """Accuracy against prediction time, one labeled point per model.

    The line joins the models that no other one beats in both respects.

    Parameters
    ----------
    points : sequence of ModelPoint
        The models.
    score : str, default="test accuracy, %"
        What the points' ``accuracy`` is, at the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from nearlinear import LLSVMClassifier
    >>> from nearlinear.displays import CostFrontDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"SVC": SVC(), "anchors": LLSVMClassifier(n_anchors=10, random_state=0)}
    >>> fitted = {name: model.fit(X[::2], y[::2]) for name, model in models.items()}
    >>> display = CostFrontDisplay.from_estimators(fitted, X[1::2], y[1::2])
    >>> [point.name for point in display.points if point.highlighted]
    ['anchors']
    """

    def __init__(self, points: Sequence[ModelPoint], score: str = "test accuracy, %"):
        self.points, self.score = points, score

    @classmethod
    def from_estimators(cls, estimators, X, y, *, ax=None, title=None):
        """Score fitted models on rows, time their ``predict``, and draw.

        Models of nearlinear, and pipelines that end in one, stand out. Times are those of this
        machine at this moment, the best of five calls: give some thousand rows. The front of a
        search needs no measurement: see ``plot_front`` of ``NearLinearClassifier``.

        Parameters
        ----------
        estimators : mapping of str to fitted classifiers, or to fitted regressors
            Any of scikit-learn's style.
        X : array or table of shape (n_samples, n_features)
            Rows that no model has seen.
        y : array of shape (n_samples,)
            Their labels or values.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        CostFrontDisplay
        """
        points = []
        for name, model in estimators.items():
            is_ours = type(last_of(model)).__module__.startswith("nearlinear.")
            seconds = min(repeat(lambda model=model: model.predict(X), number=1, repeat=5))
            score = 100.0 * model.score(X, y)
            points.append(ModelPoint(name, 1e6 * seconds / len(y), score, is_ours))
        score = "test accuracy, %" if all(map(is_classifier, estimators.values())) else "test R², %"
        return cls(points, score).plot(ax, title=title)

    def plot(self, ax=None, *, title: str | None = None) -> "CostFrontDisplay":
        """Draw the points and the line.

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
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        front = pareto_front(self.points)
        ax.step(
            [point.us_per_row for point in front],
            [point.accuracy for point in front],
            where="post",
            color=_JOINED,
            linewidth=2.5,
            zorder=1,
        )
        for highlighted, color, marker in ((False, _OTHERS, "s"), (True, _OURS, "o")):
            chosen = [point for point in self.points if point.highlighted == highlighted]
            ax.scatter(
                [point.us_per_row for point in chosen],
                [point.accuracy for point in chosen],
                s=90 if highlighted else 44,
                color=color,
                marker=marker,
                edgecolor="white",
                linewidth=0.8,
                # the smaller squares on top: of two models in one place both are seen
                zorder=3 if highlighted else 4,
                label="nearlinear" if highlighted else "alternatives",
            )
        _dress(ax, title, self.score)
        _label_points(ax, self.points)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def pareto_front(points: Sequence[ModelPoint]) -> list[ModelPoint]:
    """The points that no other one beats in cost and accuracy, cheapest first."""
    front = []
    for point in sorted(points, key=lambda point: (point.us_per_row, -point.accuracy)):
        if not front or point.accuracy > front[-1].accuracy:
            front.append(point)
    return front


def draw_cost_fronts(
    panels: Mapping[str, Sequence[ModelPoint]], scores: Mapping[str, str] | None = None
):
    """One display per entry of ``panels``, side by side; returns the matplotlib figure.

    ``scores`` has what the points of a panel say, where it is no test accuracy.
    """
    # A bare Figure: pyplot would choose a window system and keep the figure alive.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2 * len(panels), 5.0), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, points) in zip(axes, panels.items()):
        score = (scores or {}).get(title, "test accuracy, %")
        CostFrontDisplay(points, score).plot(ax, title=title)
    figure.axes[0].legend(loc="lower right", frameon=False, labelcolor=INK)
    return figure


def _dress(ax, title, score):
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax.set_xscale("log")
    ax.margins(x=0.24, y=0.14)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("prediction, µs per row, one thread (log scale)", color=INK)
    ax.set_ylabel(score, color=INK)
    if title:
        ax.set_title(title, loc="left", fontweight="bold", color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(_FRONT)
    ax.tick_params(colors=_OTHERS)
    ax.grid(axis="y", color=_FRONT, linewidth=0.6, alpha=0.6)
    ax.set_axisbelow(True)


def _label_points(ax, points):
    from matplotlib.patheffects import withStroke

    ax.figure.draw_without_rendering()  # fixes the scales that the labels' extents depend on
    taken = [_marker_box(ax, point) for point in points]
    for point in points:
        label = ax.annotate(
            point.name.removesuffix("Classifier"),
            (point.us_per_row, point.accuracy),
            xytext=(0, 0),
            textcoords="offset points",
            color=_OURS if point.highlighted else INK,
            fontweight="bold" if point.highlighted else "normal",
            fontsize=10,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )
        best = min(_PLACES, key=lambda place: _overlap(label, place, taken, ax))
        _move(label, best)
        taken.append(label.get_window_extent())


def _move(label, place):
    x, y, horizontal, vertical = place
    label.set_position((x, y))
    label.set_horizontalalignment(horizontal)
    label.set_verticalalignment(vertical)


def _overlap(label, place, taken, ax):
    """Area of the label that covers a point or another label, or lies outside the axes."""
    from matplotlib.transforms import Bbox

    _move(label, place)
    box = label.get_window_extent()
    shared = (Bbox.intersection(box, other) for other in taken)
    covered = sum(part.width * part.height for part in shared if part is not None)
    inside = Bbox.intersection(box, ax.get_window_extent())
    visible = inside.width * inside.height if inside is not None else 0.0
    return covered + box.width * box.height - visible


def _marker_box(ax, point):
    from matplotlib.transforms import Bbox

    x, y = ax.transData.transform((point.us_per_row, point.accuracy))
    return Bbox.from_extents(x - 5, y - 5, x + 5, y + 5)
