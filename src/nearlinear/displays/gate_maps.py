"""Where each component of a localized classifier answers, and what it would say by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fitted import FittedGates, axis_names, checked_labels, grid_around, like
from .palette import (
    CLASSES,
    INK,
    class_marks,
    color_bar,
    draw_circles,
    draw_labeled,
    dress,
    frame_plane,
    mark,
    point_size,
    write_legend,
)

_SHADES = ["#fcfcfa", "#d9e3ca", "#9dba7f"]
_ALONE = "#7d5ba6"
_MOST_COLUMNS = 4


@dataclass(kw_only=True, eq=False, repr=False)
class GateDisplay:
    """The gate of a localized classifier in the plane, one panel for each component.

    Shading is the gate. The dashed line is the boundary of the whole model; the thin lines are what
    the component would answer by itself: zero, and its margins at −1 and 1. Rows that hold it are
    circled and counted: those with y f(x) ≤ 1 for which it is open at all. In LD-MKL components are
    machines of their own, and the rows are those with y f_m(x) ≤ 1 that machine m is trained for.
    Make one with :meth:`from_estimator`.

    Attributes
    ----------
    axes_ : array of n_panels matplotlib Axes
        Set by ``plot``.
    figure_ : matplotlib Figure
        Their figure.
    surfaces_ : list of matplotlib QuadMesh
        The gate, in each panel.
    model_boundaries_ : list of matplotlib ContourSet or None
        Where the decision function is zero; None if it is so nowhere in the picture.
    alone_ : list of matplotlib ContourSet or None
        Where a component's own answer is −1, 0 and 1, as far as it is so in the picture.
    support_ : list of matplotlib PathCollection
        Circles, in each panel.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import LMKLClassifier
    >>> from nearlinear.displays import GateDisplay
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = LMKLClassifier(n_copies=3, random_state=0).fit(X, y)
    >>> display = GateDisplay.from_estimator(model, X, y, resolution=50)
    >>> display.labels
    ['component 0', 'component 1', 'component 2']
    """

    xx0: np.ndarray  # (resolution, resolution): the grid, as from ``numpy.meshgrid``
    xx1: np.ndarray
    scores: np.ndarray  # of the same shape: the decision function on the grid
    # (n_panels, resolution, resolution): the gate's values for each drawn component
    gates: np.ndarray
    # of the same shape: what a component would answer with its gate at one, all others at zero
    alone: np.ndarray
    points: np.ndarray  # (n_samples, 2): the rows
    targets: np.ndarray  # (n_samples,): their labels
    classes: np.ndarray  # (2,): labels of negative and positive scores
    is_support: np.ndarray  # (n_samples, n_panels): rows to be circled
    labels: Sequence[str]  # what the components are called
    names: Sequence[str] = ("x0", "x1")  # names of the features

    @classmethod
    def from_estimator(
        cls, estimator, X, y, components=None, resolution=150, *, margin=0.05, ax=None, title=None
    ):
        """Ask gate and components on a grid around the rows, and draw.

        Parameters
        ----------
        estimator : LMKLClassifier, ConvexLMKLClassifier, SwMKLClassifier, LDMKLClassifier or a \
Pipeline that ends in one
            Fitted on two classes.
        X : array or data frame of shape (n_samples, 2)
            Rows to show.
        y : array of shape (n_samples,)
            Their labels.
        components : sequence of int or None, default=None
            Components to draw; None draws all.
        resolution : int, default=150
            Points of the grid along each axis.
        margin : float, default=0.05
            Room around the rows, as a share of their range.
        ax : array of matplotlib Axes or None, default=None
            Where to draw, one for each component; None makes a figure.
        title : str or None, default=None
            Heading of the figure.

        Returns
        -------
        GateDisplay
        """
        fitted = FittedGates.of(estimator, cls.__name__)
        if resolution < 2:
            raise ValueError(f"resolution={resolution} must be at least 2.")
        scores = estimator.decision_function(X)  # says what is wrong with X, if anything
        points = fitted.points(X, cls.__name__)
        y = checked_labels(y, points, estimator.classes_)
        signs = np.where(y == estimator.classes_[1], 1.0, -1.0)
        grid = grid_around(points, resolution, margin)
        rows = like(X, np.column_stack([axis.ravel() for axis in grid]))
        gates = fitted.gates(rows)
        chosen = _checked_components(components, gates.shape[1])
        display = cls(
            xx0=grid[0],
            xx1=grid[1],
            scores=estimator.decision_function(rows).reshape(grid[0].shape),
            gates=gates[:, chosen].T.reshape(-1, *grid[0].shape),
            alone=fitted.alone(rows, chosen).T.reshape(-1, *grid[0].shape),
            points=points,
            targets=y,
            classes=estimator.classes_,
            is_support=fitted.holds_boundary(X, signs, scores, chosen),
            labels=[fitted.label(q) for q in chosen],
            names=axis_names(estimator),
        )
        return display.plot(ax, title=title)

    def plot(self, ax=None, *, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        axes = _make_axes(len(self.labels)) if ax is None else np.ravel(ax)
        if len(axes) != len(self.labels):
            raise ValueError(
                f"{type(self).__name__} draws on {len(self.labels)} axes; ax has {len(axes)}."
            )
        self.axes_, self.figure_ = axes, axes[0].figure
        self.surfaces_, self.model_boundaries_, self.alone_, self.support_ = [], [], [], []
        for panel in range(len(axes)):
            self._draw_panel(panel)
        color_bar(self.surfaces_[0], list(axes), "gate", pad=0.02)
        self._write_legend()
        if title:
            self.figure_.suptitle(title, fontweight="bold", color=INK)
        return self

    def _draw_panel(self, panel):
        ax = self.axes_[panel]
        self._draw_gate(ax, self.gates[panel])
        self.alone_.append(self._draw_alone(ax, self.alone[panel]))
        self.model_boundaries_.append(self._draw_boundary(ax))
        self._draw_rows(ax, self.is_support[:, panel])
        frame_plane(ax, self.xx0, self.xx1, self.names, size=9)
        dress(ax)
        count = int(self.is_support[:, panel].sum())
        noun = "support point" if count == 1 else "support points"
        ax.set_title(f"{self.labels[panel]}\n{count} {noun}", loc="left", fontsize=9.5, color=INK)

    def _draw_gate(self, ax, gate):
        from matplotlib.colors import LinearSegmentedColormap

        low, high = float(self.gates.min()), float(self.gates.max())
        if high - low < 1e-6:  # a gate that is open alike everywhere
            low, high = 0.0, max(high, 1.0)
        shades = LinearSegmentedColormap.from_list("", _SHADES)
        surface = ax.pcolormesh(
            self.xx0, self.xx1, gate, cmap=shades, vmin=low, vmax=high, shading="nearest",
            rasterized=True, zorder=0,
        )  # fmt: skip
        self.surfaces_.append(surface)

    def _draw_alone(self, ax, answers):
        styles = {-1.0: (CLASSES[0], ":"), 0.0: (_ALONE, "-"), 1.0: (CLASSES[1], ":")}
        levels = [level for level in styles if answers.min() < level < answers.max()]
        if not levels:
            return None
        colors, lines = zip(*(styles[level] for level in levels))
        return ax.contour(
            self.xx0, self.xx1, answers, levels=levels, colors=colors, linestyles=lines,
            linewidths=1.3, zorder=1,
        )  # fmt: skip

    def _draw_boundary(self, ax):
        if not self.scores.min() < 0.0 < self.scores.max():
            return None
        return ax.contour(
            self.xx0, self.xx1, self.scores, levels=[0.0], colors=INK, linestyles="--",
            linewidths=1.8, zorder=2,
        )  # fmt: skip

    def _draw_rows(self, ax, is_support):
        size = point_size(len(self.points), 16.0)
        draw_labeled(ax, self.points, self.targets, self.classes, size, linewidth=0.4, zorder=3)
        self.support_.append(draw_circles(ax, self.points[is_support], size, zorder=4))

    def _write_legend(self):
        from matplotlib.lines import Line2D

        def line(label, color, style, width):
            return Line2D([], [], color=color, linestyle=style, linewidth=width, label=label)

        handles = [
            *class_marks(self.classes),
            mark("support point", "o", ms=8, mew=0.9, mfc="none", mec=INK),
            line("model's boundary", INK, "--", 1.8),
            line("component alone: its boundary", _ALONE, "-", 1.3),
            line(f"component alone: class {self.classes[0]} ahead by 1", CLASSES[0], ":", 1.3),
            line(f"component alone: class {self.classes[1]} ahead by 1", CLASSES[1], ":", 1.3),
        ]
        ncols = min(4, len(self.labels) + 1)  # as the panels are wide
        write_legend(self.figure_, handles, "outside lower center", ncols=ncols)


def _make_axes(n_panels):
    """Panels in rows of four at most."""
    import matplotlib.pyplot as plt

    n_rows = -(-n_panels // _MOST_COLUMNS)
    n_columns = -(-n_panels // n_rows)
    size = (max(3.1 * n_columns + 0.9, 5.6), 3.0 * n_rows + 0.8)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False
    )
    for spare in axes.ravel()[n_panels:]:
        figure.delaxes(spare)
    return axes.ravel()[:n_panels]


def _checked_components(components, n_components):
    if components is None:
        return np.arange(n_components)
    chosen = np.asarray(components)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise ValueError(f"components={components!r} must be a list of numbers of components.")
    if chosen.min() < 0 or chosen.max() >= n_components:
        raise ValueError(
            f"components={components!r} must hold numbers of components from 0 to "
            f"{n_components - 1}."
        )
    return chosen
