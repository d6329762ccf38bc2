"""A tree on two features: what it predicts where, and the cells in which one path answers."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d

from .cell_borders import cell_borders, snap
from .fitted import FittedTree, like
from .palette import CLASSES, INK, QUIET

_BORDER = "#44525f"
_MARKERS = "os^DvPX*"
_SURFACE = "viridis"


class TreeCellsDisplay:
    """Predictions of a tree over two features, with the borders of its cells.

    A cell is the set of points that follow one path down the tree; in it one smooth function
    answers. Make one with :meth:`from_estimator`.

    Parameters
    ----------
    xx0, xx1 : arrays of shape (resolution, resolution)
        The grid, as from ``numpy.meshgrid``.
    response : array of the same shape
        Predicted labels or values on the grid.
    scores : array of shape (resolution, resolution, n_outputs)
        What the predictions are made of: the decision function, or the values once more.
    cells : array of shape (resolution, resolution)
        The leaf that each point of the grid reaches, numbered as in a heap.
    borders : array of shape (n_borders, 2, 2)
        The two ends of each border between cells that crosses the picture.
    border_nodes : array of shape (n_borders,)
        The node whose split each border is; the root is 0, the children of k are 2k + 1, 2k + 2.
    points : array of shape (n_samples, 2)
        The rows.
    targets : array of shape (n_samples,) or None
        Their labels or values.
    classes : array of shape (n_classes,) or None
        Labels of a classifier; None for a regressor.
    names : sequence of two str
        Names of the features.

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

    def __init__(
        self, *, xx0, xx1, response, scores, cells, borders, border_nodes, points, targets=None,
        classes=None, names=("x0", "x1"),
    ):  # fmt: skip
        self.xx0 = xx0
        self.xx1 = xx1
        self.response = response
        self.scores = scores
        self.cells = cells
        self.borders = borders
        self.border_nodes = border_nodes
        self.points = points
        self.targets = targets
        self.classes = classes
        self.names = names

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
        y : array of shape (n_samples,) or None
            Their labels or values, shown by color.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        resolution : int, default=500
            Points of the grid along each axis.
        margin : float, default=0.05
            Room around the rows, as a share of their range.
        feature_names : sequence of two str or None
            Labels of the axes; None takes those the model was fitted with.
        title : str or None
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
        grid = _grid_around(points, resolution, margin)
        rows = np.column_stack([axis.ravel() for axis in grid])
        on_grid = like(X, rows)
        response = estimator.predict(on_grid)
        scores = estimator.decision_function(on_grid) if tree.is_classifier else response
        cells = tree.paths(tree.rows(on_grid))[:, -1]

        def see(points):
            return tree.seen(tree.rows(like(X, points)))

        borders, border_nodes = cell_borders(tree.tree, rows[0], rows[-1], see)
        shape = grid[0].shape
        display = cls(
            xx0=grid[0],
            xx1=grid[1],
            response=response.reshape(shape),
            scores=scores.reshape(*shape, -1),
            cells=cells.reshape(shape),
            borders=borders,
            border_nodes=border_nodes,
            points=points,
            targets=_checked_targets(points, y, getattr(estimator, "classes_", None)),
            classes=getattr(estimator, "classes_", None),
            names=_axis_names(estimator) if feature_names is None else feature_names,
        )
        return display.plot(ax, title=title)

    def plot(self, ax=None, *, title=None, point_size=None):
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.
        title : str or None
            Heading.
        point_size : float or None
            Area of a row's mark in square points; None fits it to the number of rows.

        Returns
        -------
        TreeCellsDisplay
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(5.4, 4.8), layout="constrained")
        if point_size is None:
            point_size = float(np.clip(9000 / len(self.points), 4, 26))
        self.ax_, self.figure_ = ax, ax.figure
        if self.classes is None:
            self._draw_values(point_size)
        else:
            self._draw_classes(point_size)
        self._draw_borders()
        ax.set(xlim=self.xx0[0, [0, -1]], ylim=self.xx1[[0, -1], 0])
        ax.set_xlabel(self.names[0], color=INK)
        ax.set_ylabel(self.names[1], color=INK)
        if title:
            ax.set_title(title, loc="left", fontweight="bold", color=INK)
        ax.tick_params(colors=_BORDER, labelcolor=INK)
        ax.spines[:].set_color(_BORDER)
        return self

    def _draw_classes(self, point_size):
        colors = _class_colors(len(self.classes))
        labels = np.searchsorted(self.classes, self.response)
        self._draw_surface(1.0 - 0.3 * (1.0 - colors)[labels])
        self.boundaries_ = [self._draw_boundary(lead) for lead in self._leads()]
        if self.targets is None:
            self._draw_points(self.points, point_size, color=QUIET)
            return
        for c, label in enumerate(self.classes):
            chosen = self.points[self.targets == label]
            marker = _MARKERS[c % len(_MARKERS)]
            self._draw_points(chosen, point_size, color=colors[c], marker=marker, label=label)
        if len(self.classes) <= len(CLASSES):
            self.ax_.legend(
                loc="best", fontsize=8, handletextpad=0.1, borderpad=0.3, labelcolor=INK,
                framealpha=0.85, edgecolor="none", markerscale=max(1.0, 4.0 / point_size**0.5),
            )  # fmt: skip

    def _draw_values(self, point_size):
        from matplotlib.colors import Normalize

        shown = self.response if self.targets is None else self.targets
        low, high = np.quantile(shown, [0.01, 0.99])
        norm = Normalize(low, high if high > low else low + 1.0)
        self._draw_surface(self.response, cmap=_SURFACE, norm=norm)
        self.boundaries_ = []
        bar = self.figure_.colorbar(self.surface_, ax=self.ax_, extend="both", pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=_BORDER, labelcolor=INK)
        if self.targets is None:
            self._draw_points(self.points, point_size, color="white", edgecolor=INK)
        else:
            self._draw_points(
                self.points, point_size, c=self.targets, cmap=_SURFACE, norm=norm, edgecolor=INK
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


def _grid_around(points, resolution, margin):
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    axes = np.linspace(low - room, high + room, resolution).T
    return np.meshgrid(*axes)


def _axis_names(model):
    return [str(name) for name in getattr(model, "feature_names_in_", ("$x_1$", "$x_2$"))]


def _class_colors(n_classes):
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if n_classes <= len(CLASSES):
        return np.array([to_rgb(color) for color in CLASSES[:n_classes]])
    return 0.85 * colormaps["turbo"](np.linspace(0.05, 0.95, n_classes))[:, :3]  # pale ones too


def _checked_targets(points, y, classes):
    if y is None:
        return None
    y = column_or_1d(y)
    check_consistent_length(points, y)
    if classes is not None and not np.isin(y, classes).all():
        unknown = np.setdiff1d(y, classes).tolist()[0]
        raise ValueError(f"y has the label {unknown!r}, which the model does not know.")
    return y
