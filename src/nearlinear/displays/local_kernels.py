"""The few local kernels of a machine on two features, and the decision function they make up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fitted import FittedMachine, axis_names, checked_labels, checked_line, grid_around, like
from .palette import (
    INK,
    axes_or_new,
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

_SURFACE = ["#7fb0c5", "#c5dbe4", "#f8f8f6", "#f0cdd2", "#e39aa5"]
_ABSTAINING, _HATCH = "#e9ecee", "#9aa5af"
# Rows this little beyond the margin count as on it: machines are solved to a gap.
_BEYOND_MARGIN = 1e-3
_LEAST_SQUARE, _LARGEST_SQUARE = 22.0, 260.0  # areas, in square points


@dataclass(kw_only=True, eq=False, repr=False)
class LocalKernelsDisplay:
    """Decision function of an MLLKM with its kernels, its boundary and the rows that hold it.

    Rows with y f(x) ≤ 1 are circled: those by which the machine was chosen, although it keeps none
    of them. Squares are kernels, larger where they weigh more. Make one with
    :meth:`from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    surface_ : matplotlib AxesImage
        The decision function.
    model_boundary_ : matplotlib ContourSet or None
        Where it is zero and the model is asked; None if it is so nowhere in the picture.
    true_boundary_ : matplotlib Line2D or None
        The true boundary.
    support_, kernels_ : matplotlib PathCollection
        Circles and squares.
    abstention_ : matplotlib ContourSet or None
        Where the model is not to be asked.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import MLLKMClassifier
    >>> from nearlinear.displays import LocalKernelsDisplay
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = MLLKMClassifier(profile="square").fit(X, y)
    >>> display = LocalKernelsDisplay.from_estimator(model, X, y, resolution=50)
    >>> len(display.kernels_.get_offsets()) == model.n_kernels_
    True
    """

    xx0: np.ndarray  # (resolution, resolution): the grid, as from ``numpy.meshgrid``
    xx1: np.ndarray
    scores: np.ndarray  # of the same shape: the decision function on the grid
    reach: np.ndarray  # of the same shape: the support score on the grid
    points: np.ndarray  # (n_samples, 2): the rows
    targets: np.ndarray  # (n_samples,): their labels
    classes: np.ndarray  # (2,): labels of negative and positive scores
    is_support: np.ndarray  # (n_samples,): rows to be circled
    anchors: np.ndarray  # (n_kernels, 2): where the kernels stand, in the units of the rows
    weights: np.ndarray  # (n_kernels,): their weights
    boundary: np.ndarray | None = None  # (n_points, 2): the true boundary
    names: Sequence[str] = ("x0", "x1")  # names of the features

    @classmethod
    def from_estimator(
        cls, estimator, X, y, boundary=None, resolution=200, *, abstain_below=None, margin=0.05,
        ax=None, title=None,
    ):  # fmt: skip
        """Score a grid around the rows, and draw.

        Parameters
        ----------
        estimator : MLLKMClassifier or a Pipeline that ends in one
            Fitted on two classes and two features. Steps before it must be invertible.
        X : array or data frame of shape (n_samples, 2)
            Rows to show.
        y : array of shape (n_samples,)
            Their labels.
        boundary : array of shape (n_points, 2) or None, default=None
            Points of the true boundary in order; a row of NaN begins a new piece.
        resolution : int, default=200
            Points of the grid along each axis.
        abstain_below : float or None, default=None
            Hatch where the model's support score is below this.
        margin : float, default=0.05
            Room around the rows, as a share of their range.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        LocalKernelsDisplay
        """
        fitted = FittedMachine.of(estimator, cls.__name__)
        if resolution < 2:
            raise ValueError(f"resolution={resolution} must be at least 2.")
        scores = estimator.decision_function(X)  # says what is wrong with X, if anything
        points = np.asarray(X, dtype=np.float64)
        if points.shape[1] != 2:
            raise ValueError(f"{cls.__name__} draws rows of 2 features; X has {points.shape[1]}.")
        y = checked_labels(y, points, estimator.classes_)
        grid = grid_around(points, resolution, margin)
        rows = like(X, np.column_stack([axis.ravel() for axis in grid]))
        signs = np.where(y == estimator.classes_[1], 1.0, -1.0)
        display = cls(
            xx0=grid[0],
            xx1=grid[1],
            scores=estimator.decision_function(rows).reshape(grid[0].shape),
            reach=fitted.support_score(rows).reshape(grid[0].shape),
            points=points,
            targets=y,
            classes=estimator.classes_,
            is_support=signs * scores <= 1.0 + _BEYOND_MARGIN,
            anchors=fitted.anchors(X),
            weights=fitted.machine.kernel_weights_,
            boundary=None if boundary is None else checked_line(boundary, "boundary"),
            names=axis_names(estimator),
        )
        return display.plot(ax, abstain_below=abstain_below, title=title)

    def plot(self, ax=None, *, abstain_below=None, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        if abstain_below is not None and not 0 < abstain_below <= 1:
            raise ValueError(f"abstain_below={abstain_below} must be above 0 and at most 1.")
        self.ax_ = ax = axes_or_new(ax, (6.4, 5.6))
        self.figure_ = ax.figure
        self._draw_surface()
        self._draw_abstention(abstain_below)
        self._draw_boundaries(abstain_below)
        self._draw_rows()
        self._draw_kernels()
        frame_plane(ax, self.xx0, self.xx1, self.names)
        dress(ax, title)
        self._write_legend()
        return self

    def _draw_surface(self):
        from matplotlib.colors import LinearSegmentedColormap

        limit = max(1.5, float(np.quantile(np.abs(self.scores), 0.95)))
        shades = LinearSegmentedColormap.from_list("", _SURFACE)
        (left, right), (bottom, top) = self.xx0[0, [0, -1]], self.xx1[[0, -1], 0]
        half = np.array([right - left, top - bottom]) / (len(self.xx0) - 1) / 2
        self.surface_ = self.ax_.imshow(
            self.scores, cmap=shades, vmin=-limit, vmax=limit, origin="lower", aspect="auto",
            extent=(left - half[0], right + half[0], bottom - half[1], top + half[1]),
            interpolation="bilinear", zorder=0,
        )  # fmt: skip
        color_bar(self.surface_, self.ax_, "decision function", extend="both", pad=0.02)

    def _draw_abstention(self, threshold):
        self.abstention_ = None
        if threshold is None or self.reach.min() >= threshold:
            return
        self.abstention_ = self.ax_.contourf(
            self.xx0, self.xx1, self.reach, levels=[-1.0, threshold], colors=[_ABSTAINING],
            hatches=["////"], zorder=1,
        )  # fmt: skip
        self.abstention_.set(edgecolor=_HATCH, linewidth=0.0)

    def _draw_boundaries(self, threshold):
        self.model_boundary_ = self.true_boundary_ = None
        # where there is no answer, none changes
        unanswered = self.reach < (0.0 if threshold is None else threshold)
        answers = np.ma.masked_array(self.scores, unanswered)
        if (answers > 0).any() and (answers < 0).any():
            self.model_boundary_ = self.ax_.contour(
                self.xx0, self.xx1, answers, levels=[0.0], colors=INK, linestyles="--",
                linewidths=1.8, zorder=3,
            )  # fmt: skip
        if self.boundary is not None:
            (self.true_boundary_,) = self.ax_.plot(
                *self.boundary.T, color=INK, linewidth=1.8, zorder=2
            )

    def _draw_rows(self):
        size = point_size(len(self.points))
        style = {"linewidth": 0.5, "zorder": 4}
        draw_labeled(self.ax_, self.points, self.targets, self.classes, size, **style)
        self.support_ = draw_circles(self.ax_, self.points[self.is_support], size, zorder=5)

    def _draw_kernels(self):
        from matplotlib.patheffects import withStroke

        share = self.weights / (self.weights.max(initial=0.0) or 1.0)
        self.kernels_ = self.ax_.scatter(
            *self.anchors.T, s=_LEAST_SQUARE + (_LARGEST_SQUARE - _LEAST_SQUARE) * share,
            marker="s", facecolor="none", edgecolor=INK, linewidth=1.6, zorder=6,
            path_effects=[withStroke(linewidth=3.4, foreground="white")],
        )  # fmt: skip

    def _write_legend(self):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        hollow = {"markerfacecolor": "none", "markeredgecolor": INK}
        handles = class_marks(self.classes)
        handles.append(mark("row with y f(x) ≤ 1", "o", ms=8, mew=0.9, **hollow))
        handles.append(mark("kernel, by weight", "s", ms=8, mew=1.6, **hollow))
        if self.model_boundary_ is not None:
            handles.append(Line2D([], [], color=INK, ls="--", lw=1.8, label="model's boundary"))
        if self.true_boundary_ is not None:
            handles.append(Line2D([], [], color=INK, lw=1.8, label="true boundary"))
        if self.abstention_ is not None:
            shade = {"facecolor": _ABSTAINING, "edgecolor": _HATCH, "hatch": "////"}
            handles.append(Patch(**shade, linewidth=0, label="no answer"))
        below = {"bbox_to_anchor": (0.5, -0.1), "ncols": (len(handles) + 1) // 2}
        write_legend(self.ax_, handles, "upper center", **below)
