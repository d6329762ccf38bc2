"""A tree on two features: what it predicts where, and the cells in which one path answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .cell_borders import cell_borders, snap
from .fitted import FittedTree, axis_names, checked_labels, grid_around, like, rows_of
from .palette import (
    CLASSES,
    INK,
    MARKERS,
    QUIET,
    axes_or_new,
    color_bar,
    frame_plane,
    point_size,
)

_BORDER = "#44525f"
_SURFACE = "viridis"


@dataclass(kw_only=True, eq=False, repr=False)
class TreeCellsDisplay:
    """Predictions of a tree over two features, with the borders of its cells.

    A cell is the set of points that follow one path down the tree; in it one smooth function
    answers. Make one with :meth:`from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    surface_ : matplotlib AxesImage
        The predictions.
    borders_ : matplotlib LineCollection
        The borders of the cells.
    boundaries_ : list of matplotlib ContourSet
        Where the predicted class changes; empty for a regressor.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import LDKLClassifier
    >>> from nearlinear.displays import TreeCellsDisplay
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> model = LDKLClassifier(depth=2, random_state=0).fit(X, y)
    >>> display = TreeCellsDisplay.from_estimator(model, X, y, resolution=50)
    >>> display.cells.shape
    (50, 50)
    >>> len(display.borders) <= 3
    True
    """

    xx0: np.ndarray  # (resolution, resolution): the grid, as from ``numpy.meshgrid``
    xx1: np.ndarray
    response: np.ndarray  # of the same shape: predicted labels or values on the grid
    # (resolution, resolution, n_outputs): the decision function, or the values once more
    scores: np.ndarray
    cells: np.ndarray  # of the same shape: the leaf that each point of the grid reaches
    # (n_borders, 2, 2): the two ends of each border between cells that crosses the picture
    borders: np.ndarray
    # the node whose split each border is; the root is 0, children of k are 2k + 1 and 2k + 2
    border_nodes: np.ndarray
    points: np.ndarray  # (n_samples, 2): the rows
    targets: np.ndarray | None = None  # (n_samples,): their labels or values
    classes: np.ndarray | None = None  # (n_classes,): labels of a classifier; None for a regressor
    names: Sequence[str] = ("x0", "x1")  # names of the features

    @classmethod
    def from_estimator(
        cls, estimator, X, y=None, *, ax=None, resolution=500, margin=0.05, feature_names=None,
        title=None,
    ):  # fmt: skip
        """Predict on a grid around the rows, and draw.

        Parameters
        ----------
        estimator : LDKLClassifier, LDKLRegressor or a Pipeline that ends in one
            Fitted on two features. Steps before the tree may move, scale and rotate rows.
        X : array, data frame or CSR matrix of shape (n_samples, 2)
            Rows to show.
        y : array of shape (n_samples,) or None, default=None
            Their labels or values, shown by color.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        resolution : int, default=500
            Points of the grid along each axis.
        margin : float, default=0.05
            Room around the rows, as a share of their range.
        feature_names : sequence of two str or None, default=None
            Labels of the axes; None takes those the model was fitted with.
        title : str or None, default=None
            Heading.

        Returns
        -------
        TreeCellsDisplay
        """
        tree = FittedTree.of(estimator, cls.__name__)
        if estimator.n_features_in_ != 2:
            raise ValueError(
                f"{cls.__name__} draws models of 2 features; this one was fitted on "
                f"{estimator.n_features_in_}."
            )
        if resolution < 2:
            raise ValueError(f"resolution={resolution} must be at least 2.")
        estimator.predict(X[:1])  # says what is wrong with X, if anything
        points = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
        grid = grid_around(points, resolution, margin)
        rows = np.column_stack([axis.ravel() for axis in grid])
        on_grid = like(X, rows)
        response = estimator.predict(on_grid)
        scores = estimator.decision_function(on_grid) if tree.is_classifier else response
        cells = tree.paths(rows_of(estimator, on_grid))[:, -1]

        def see(points):
            return tree.seen(rows_of(estimator, like(X, points)))

        borders, border_nodes = cell_borders(tree.tree, rows[0], rows[-1], see)
        shape, classes = grid[0].shape, getattr(estimator, "classes_", None)
        display = cls(
            xx0=grid[0],
            xx1=grid[1],
            response=response.reshape(shape),
            scores=scores.reshape(*shape, -1),
            cells=cells.reshape(shape),
            borders=borders,
            border_nodes=border_nodes,
            points=points,
            targets=None if y is None else checked_labels(y, points, classes),
            classes=classes,
            names=axis_names(estimator) if feature_names is None else feature_names,
        )
        return display.plot(ax, title=title)

    def plot(self, ax=None, *, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        self.ax_ = ax = axes_or_new(ax, (5.4, 4.8))
        self.figure_, size = ax.figure, point_size(len(self.points))
        if self.classes is None:
            self._draw_values(size)
        else:
            self._draw_classes(size)
        self._draw_borders()
        frame_plane(ax, self.xx0, self.xx1, self.names)
        if title:
            ax.set_title(title, loc="left", fontweight="bold", color=INK)
        ax.tick_params(colors=_BORDER, labelcolor=INK)
        ax.spines[:].set_color(_BORDER)
        return self

    def _draw_classes(self, size):
        colors = _class_colors(len(self.classes))
        labels = np.searchsorted(self.classes, self.response)
        self._draw_surface(1.0 - 0.3 * (1.0 - colors)[labels])
        self.boundaries_ = [self._draw_boundary(lead) for lead in self._leads()]
        if self.targets is None:
            self._draw_points(self.points, size, color=QUIET)
            return
        for c, label in enumerate(self.classes):
            chosen = self.points[self.targets == label]
            style = {"marker": MARKERS[c % len(MARKERS)], "label": f"class {label}"}
            self._draw_points(chosen, size, color=colors[c], **style)
        if len(self.classes) <= len(CLASSES):
            self.ax_.legend(
                loc="best", fontsize=8, handletextpad=0.1, borderpad=0.3, labelcolor=INK,
                framealpha=0.85, edgecolor="none", markerscale=max(1.0, 4.0 / size**0.5),
            )  # fmt: skip

    def _draw_values(self, size):
        from matplotlib.colors import Normalize

        shown = self.response if self.targets is None else self.targets
        low, high = np.quantile(shown, [0.01, 0.99])
        norm = Normalize(low, high if high > low else low + 1.0)
        self._draw_surface(self.response, cmap=_SURFACE, norm=norm)
        self.boundaries_ = []
        color_bar(self.surface_, self.ax_, aspect=20, extend="both", pad=0.02)
        if self.targets is None:
            self._draw_points(self.points, size, color="white", edgecolor=INK)
        else:
            self._draw_points(
                self.points, size, c=self.targets, cmap=_SURFACE, norm=norm, edgecolor=INK
            )

    def _draw_surface(self, image, **colors):
        (left, bottom), (right, top) = self._corners + np.outer([-0.5, 0.5], self._steps)
        self.surface_ = self.ax_.imshow(
            image, origin="lower", extent=(left, right, bottom, top), aspect="auto",
            interpolation="nearest", zorder=0, **colors,
        )  # fmt: skip

    @property
    def _corners(self):
        return np.array([[grid[0, 0], grid[-1, -1]] for grid in (self.xx0, self.xx1)]).T

    @property
    def _steps(self):
        return np.array([self.xx0[0, 1] - self.xx0[0, 0], self.xx1[1, 0] - self.xx1[0, 0]])

    def _draw_points(self, points, size, *, edgecolor="white", **options):
        width = 0.25 if size < 10 else 0.5
        self.ax_.scatter(
            *points.T, s=size, linewidth=width, edgecolor=edgecolor, zorder=2, **options
        )

    def _leads(self):
        """For each curve to draw, how far a class leads all others; it runs where this is 0."""
        if self.scores.shape[2] == 1:
            leads = [self.scores[:, :, 0]]
        else:
            leads = [
                self.scores[:, :, c] - np.delete(self.scores, c, axis=2).max(axis=2)
                for c in range(self.scores.shape[2])
            ]
        return [lead for lead in leads if lead.min() < 0 < lead.max()]

    def _draw_boundary(self, lead):
        curve = self.ax_.contour(
            self.xx0, self.xx1, lead, levels=[0.0], colors=INK, linewidths=2.0, zorder=4
        )
        for path in curve.get_paths():
            path.vertices = snap(path.vertices, self.borders, self._steps)
        return curve

    def _draw_borders(self):
        from matplotlib.collections import LineCollection

        level = np.log2(self.border_nodes + 1).astype(int)
        color = "white" if self.classes is None else _BORDER
        self.borders_ = LineCollection(
            self.borders, linewidths=np.maximum(1.3 - 0.2 * level, 0.6), colors=color, zorder=3,
            capstyle="round",
        )  # fmt: skip
        self.ax_.add_collection(self.borders_, autolim=False)


def _class_colors(n_classes):
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if n_classes <= len(CLASSES):
        return np.array([to_rgb(color) for color in CLASSES[:n_classes]])
    return 0.85 * colormaps["turbo"](np.linspace(0.05, 0.95, n_classes))[:, :3]  # pale ones too
