"""A tree as a river: how many rows pass each node, and how well they are served."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.sparsefuncs import mean_variance_axis

from ..gates.trees.balanced import count_nodes, count_splits, depth_of
from ..predictors.combined import tree_and_projection
from .fitted import FittedTree, rows_of
from .kernel_labels import shortened
from .palette import INK, QUIET, axes_or_new, color_bar, ink_on
from .tree_layout import label_rooms, level_of, place_nodes

_WEAK_TO_STRONG = ["#b3354c", "#e58b6d", "#f3dfae", "#8fbcbf", "#2b6f8f"]
_BAR = 0.3  # height of a node, where levels are 1 apart
_LABEL_LEVELS = 6  # below, text would be too small to read
_LEVEL_POINTS = 30  # height of a level that holds a number and a label
_TYPE = 7.5  # size of the type
_NAME_LENGTH = 18


@dataclass(kw_only=True, eq=False, repr=False)
class TreeDiagramDisplay:
    """A tree from its root down, each node as wide as its share of the rows.

    The color of a node says how good the model is on the rows that pass it. The strongest
    features of a split stand above it, each with the sign that leads to the left.
    Make one with :meth:`from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    colorbar_ : matplotlib Colorbar
        The scale of the colors.
    drawn_nodes_ : array
        Nodes that are drawn: those that a row passes, down to ``max_depth``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearlinear import LDKLClassifier
    >>> from nearlinear.displays import TreeDiagramDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LDKLClassifier(depth=2, random_state=0).fit(X, y)
    >>> display = TreeDiagramDisplay.from_estimator(model, X, y)
    >>> display.traffic.shape
    (7,)
    >>> float(display.traffic[0])
    1.0
    """

    # share of the rows that pass each node; the root is 0, children of k are 2k + 1 and 2k + 2
    traffic: np.ndarray
    # of these rows, the share that a classifier predicts right, or a regressor's mean squared
    # error divided by the variance of all targets; NaN where no row passes
    quality: np.ndarray
    # (n_splits, n_features): coefficients times standard deviations of features, of unit length
    strengths: np.ndarray
    is_classifier: bool  # which of the two qualities it is
    names: Sequence[str]  # names of the features

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, feature_names=None, max_depth=None, ax=None, title=None
    ):
        """Send rows down the tree, and draw.

        Parameters
        ----------
        estimator : LDKLClassifier, LDKLRegressor or a Pipeline that ends in one
            Fitted.
        X : array, data frame or CSR matrix of shape (n_samples, n_features)
            Rows; those of a test set say more than those of the training set.
        y : array of shape (n_samples,)
            Their labels or values.
        feature_names : sequence of str or None, default=None
            Names of the features that reach the tree; None takes those it was fitted with.
        max_depth : int or None, default=None
            The deepest level drawn, of which the root's is 0; None draws all.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        TreeDiagramDisplay
        """
        tree = FittedTree.of(estimator, cls.__name__)
        names = tree.feature_names(feature_names)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        predicted = estimator.predict(X)
        if tree.is_classifier:
            goodness = (predicted == y).astype(float)
        else:
            goodness = (predicted - y) ** 2 / (np.var(y) or 1.0)
        rows = rows_of(estimator, X)
        traffic, quality = _node_means(tree.paths(rows), goodness)
        display = cls(
            traffic=traffic,
            quality=quality,
            strengths=_split_strengths(tree.predictor, rows),
            is_classifier=tree.is_classifier,
            names=names,
        )
        return display.plot(ax, max_depth=max_depth, title=title)

    def split_label(self, node, n_features=2):
        """The features that decide most at a node's split, with the signs that lead left.

        Parameters
        ----------
        node : int
            Number of the node: 0 is the root, 2k + 1 and 2k + 2 are the children of k.
        n_features : int, default=2
            How many features are named.
        """
        strengths = self.strengths[node]
        strongest = np.argsort(-np.abs(strengths), kind="stable")[:n_features]
        return " ".join(
            f"{'+' if strengths[d] > 0 else '−'}{shortened(self.names[d], _NAME_LENGTH)}"
            for d in strongest
            if strengths[d] != 0
        )

    def plot(self, ax=None, *, max_depth=None, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        depth = depth_of(len(self.traffic))
        depth = depth if max_depth is None else min(depth, max_depth)
        size = (float(np.clip(4 + 1.3 * depth, 5, 12)), float(np.clip(1.6 + depth, 2.4, 8.5)))
        self.ax_ = ax = axes_or_new(ax, size)
        self.figure_ = ax.figure
        places = place_nodes(self.traffic[: count_nodes(depth)])
        self.drawn_nodes_ = np.array(sorted(places))
        colors = self._draw_scale(self.drawn_nodes_)
        for node in self.drawn_nodes_[1:]:
            self._draw_band(node, places, colors.to_rgba(self.quality[node]))
        for node in self.drawn_nodes_:
            self._draw_bar(node, places[node], colors.to_rgba(self.quality[node]))
        ax.set(xlim=(-0.01, 1.01), ylim=(-depth - _BAR / 2 - 0.25, 0.42))
        ax.set_axis_off()
        if title:
            ax.set_title(title, loc="left", fontweight="bold", color=INK)
        self._write(places, colors)
        return self

    def _draw_scale(self, nodes):
        """Color bar over what all but the rarest rows see, so that one odd leaf does not rule."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        values, share = self.quality[nodes], self.traffic[nodes]
        order = np.argsort(values)
        reached = np.cumsum(share[order]) / share.sum()
        low, high = values[order][np.searchsorted(reached, [0.02, 0.98])]
        if high <= low:
            most = 1.0 if self.is_classifier else np.inf  # no accuracy is above 100 %
            low, high = max(low - 0.005, 0.0), min(high + 0.005, most)
        ramp = _WEAK_TO_STRONG if self.is_classifier else _WEAK_TO_STRONG[::-1]
        colors = ScalarMappable(Normalize(low, high), LinearSegmentedColormap.from_list("", ramp))
        below, above = values.min() < low, values.max() > high
        extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
        label = "accuracy of the rows that pass" if self.is_classifier else "MSE / variance of y"
        style = {"extend": extend, "shrink": 0.75, "aspect": 24, "pad": 0.01}
        self.colorbar_ = color_bar(colors, self.ax_, label, **style)
        if self.is_classifier:
            self.colorbar_.formatter = lambda value, _: f"{100 * value:.4g} %"
            self.colorbar_.update_ticks()
        return colors

    def _draw_bar(self, node, place, color):
        from matplotlib.patches import Rectangle

        left, right = place
        level = level_of(node)
        corner = (left, -level - _BAR / 2)
        self.ax_.add_patch(
            Rectangle(corner, right - left, _BAR, facecolor=color, edgecolor="none", zorder=3)
        )

    def _draw_band(self, node, places, color):
        """From the child's part of its parent's bar down to the child."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        parent = (node - 1) // 2
        left, right = places[node]
        width = right - left
        from_left, from_right = places[parent]
        if node == 2 * parent + 1:
            from_right = from_left + width
        else:
            from_left = from_right - width
        top, bottom = -level_of(parent) - _BAR / 2, -level_of(node) + _BAR / 2
        middle = (top + bottom) / 2
        outline = [
            (from_left, top), (from_left, middle), (left, middle), (left, bottom),
            (right, bottom), (right, middle), (from_right, middle), (from_right, top),
        ]  # fmt: skip
        codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3]
        self.ax_.add_patch(
            PathPatch(Path(outline, codes), facecolor=color, alpha=0.35, linewidth=0, zorder=2)
        )

    def _write(self, places, colors):
        """Text where it fits: numbers on a node, the split above it."""
        width, height = self._points_per_unit()
        if height < _LEVEL_POINTS:
            return
        rooms = label_rooms(places)
        if len(places) > 1:
            self.ax_.annotate(
                "Above a node: what its split weighs most; + sends high values left.", (0, 0),
                xycoords="axes fraction", fontsize=7, color=QUIET, in_layout=False,
            )  # fmt: skip
        for node, (left, right) in places.items():
            level, middle = level_of(node), (left + right) / 2
            if level > _LABEL_LEVELS:
                continue
            ink = ink_on(colors.to_rgba(self.quality[node]))
            texts, room = self._number_texts(node), width * (right - left)
            self._write_if_it_fits(middle, -level, texts, room, color=ink, va="center")
            if 2 * node + 1 in places or 2 * node + 2 in places:
                texts = [self.split_label(node, n_features) for n_features in (3, 2, 1)]
                above, room = -level + _BAR / 2 + 0.03, width * rooms[node]
                self._write_if_it_fits(middle, above, texts, room, color=INK, va="bottom")

    def _points_per_unit(self):
        """Size of a unit of the axes in points of type; the layout has to be settled first."""
        outermost = self.figure_.canvas.figure
        outermost.draw_without_rendering()
        (left, bottom), (right, top) = self.ax_.transData.transform([(0, 0), (1, 1)])
        return (right - left) * 72 / outermost.dpi, (top - bottom) * 72 / outermost.dpi

    def _number_texts(self, node):
        quality = self.quality[node]
        quality = f"{100 * quality:.1f} %" if self.is_classifier else f"{quality:.2f}"
        share = f"{100 * self.traffic[node]:.0f} % of rows" if node else "all rows"
        return [f"{share}: {quality}", quality]

    def _write_if_it_fits(self, x, y, texts, room, **style):
        """The first of several texts that is narrower than ``room`` points."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        font = FontProperties(size=_TYPE)
        for text in texts:
            width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
            if width <= room - _TYPE:
                self.ax_.text(
                    x, y, text, ha="center", fontsize=_TYPE, zorder=5, in_layout=False, **style
                )
                return


def _node_means(paths, values):
    """Share of rows that pass each node, and the mean value of those rows."""
    n_nodes = count_nodes(paths.shape[1] - 1)
    counts = np.bincount(paths.ravel(), minlength=n_nodes)
    sums = np.bincount(paths.ravel(), np.repeat(values, paths.shape[1]), minlength=n_nodes)
    means = np.full(n_nodes, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return counts / len(paths), means


def _split_strengths(predictor, rows):
    if issparse(rows):
        spread = np.sqrt(mean_variance_axis(rows, axis=0)[1])
    else:
        spread = rows.std(axis=0, dtype=np.float64)
    tree, projection = tree_and_projection(predictor)
    coefficients = tree.splits[: count_splits(tree.depth), :-1]
    if projection is not None:
        coefficients = coefficients @ projection[:, :-1]
    strengths = coefficients * spread
    lengths = np.linalg.norm(strengths, axis=1, keepdims=True)
    return strengths / np.where(lengths > 0, lengths, 1.0)
