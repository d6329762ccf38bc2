"""What the conformal maps x ↦ h(x)(x − c) make of a cloud of points in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array

from ..kernels.candidates import ConformalScales
from ..kernels.conformal import PROFILES, Conformal
from .fitted import checked_labels
from .palette import CLASSES, INK, MARKERS, PALE, QUIET, dress, point_size

_FORMULAS = {
    "exponential": r"$h = e^{-\gamma r}$",
    "gaussian": r"$h = e^{-\gamma r^2}$",
    "linear": r"$h = |1 - \gamma r|_+$",
    "square": r"$h = |1 - \gamma r^2|_+$",
}
_N_PANELS = 1 + 2 * len(_FORMULAS)
_DISTANCES, _FAINT = "cividis", "#c9d2da"


@dataclass(kw_only=True, eq=False, repr=False)
class ConformalMapsDisplay:
    """A cloud of points, and its images under the eight conformal maps of MLLKM.

    Four profiles fade with the distance from the anchor, or in each feature by itself. Points far
    from the anchor go toward zero, by bounded profiles exactly there; the neighborhood of the
    anchor keeps its shape. Make one with :meth:`from_data`.

    Attributes
    ----------
    axes_ : array of nine matplotlib Axes
        Set by ``plot``: the cloud, the whole-vector maps, the maps per feature.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear.displays import ConformalMapsDisplay
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> display = ConformalMapsDisplay.from_data(X, y, bandwidth=3.0)
    >>> [kernel.profile for kernel in display.kernels[:4]]
    ['exponential', 'gaussian', 'linear', 'square']
    >>> bool(display.vanished(display.images[3]).any())  # a bounded map
    True
    """

    points: np.ndarray  # (n_samples, 2): the cloud
    kernels: Sequence[Conformal]  # kernels whose maps are shown; all with one anchor
    images: Sequence[np.ndarray]  # (n_samples, 2): what each of them makes of the points
    labels: np.ndarray | None = None  # their classes; without them color is distance

    @classmethod
    def from_data(cls, X, y=None, anchor=None, bandwidth=1.0, *, ax=None):
        """Map the rows of ``X``, and draw.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, 2)
            The cloud.
        y : array of shape (n_samples,) or None, default=None
            Classes of its rows, at most eight.
        anchor : array of shape (2,) or None, default=None
            Where the maps stand; None takes the row nearest to the mean.
        bandwidth : float, default=1.0
            γ relative to the typical distance of the rows, as in ``bandwidths`` of
            MLLKMClassifier: larger is narrower.
        ax : array of nine matplotlib Axes or None, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ConformalMapsDisplay
        """
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != 2:
            raise ValueError(f"{cls.__name__} draws rows of 2 features; X has {X.shape[1]}.")
        if not 0 < bandwidth < np.inf:
            raise ValueError(f"bandwidth={bandwidth} must be a number above 0.")
        anchor = _checked_anchor(anchor, X)
        kernels = [
            Conformal(anchor, _gamma(X, profile, per_feature, bandwidth), profile.name, per_feature)
            for per_feature in (False, True)
            for profile in PROFILES.values()
        ]
        images = [kernel.features(X) for kernel in kernels]
        display = cls(points=X, kernels=kernels, images=images, labels=_checked_labels(y, X))
        return display.plot(ax)

    @property
    def anchor(self):
        return np.array(self.kernels[0].anchor)

    def vanished(self, image):
        """Which points are exactly zero in one of ``images``, the anchor itself left aside."""
        return ~image.any(axis=1) & np.any(self.points != self.anchor, axis=1)

    def plot(self, ax=None):
        """Draw on nine axes, or on a new figure, as :meth:`from_data` does."""
        axes = _make_axes() if ax is None else np.ravel(ax)
        if len(axes) != _N_PANELS:
            raise ValueError(
                f"{type(self).__name__} draws on {_N_PANELS} axes; ax has {len(axes)}."
            )
        self.axes_, self.figure_ = axes, axes[0].figure
        self._draw_cloud(axes[0])
        limit = 1.08 * max(np.abs(image).max() for image in self.images) or 1.0
        for panel, kernel, image in zip(axes[1:], self.kernels, self.images):
            self._draw_image(panel, kernel, image)
            panel.set(xlim=(-limit, limit), ylim=(-limit, limit))
        return self

    def _draw_cloud(self, ax):
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        half = 0.54 * float((high - low).max()) or 1.0
        self._draw_points(ax, self.points, np.full(len(self.points), True))
        _mark_anchor(ax, self.anchor)
        (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        dress(ax)
        ax.set_title("rows and anchor", loc="left", fontsize=9.5, color=INK)
        if self.labels is not None:
            ax.legend(
                loc="upper center", bbox_to_anchor=(0.5, -0.06), fontsize=8.5, labelcolor=INK,
                ncols=4, handletextpad=0.1, columnspacing=1.0, frameon=False, title="class",
                title_fontsize=8.5,
            ).get_title().set_color(QUIET)  # fmt: skip
        else:
            ax.set_xlabel("color: distance from the anchor", color=QUIET, fontsize=8.5)

    def _draw_image(self, ax, kernel, image):
        gone = self.vanished(image)
        for line in (ax.axhline, ax.axvline):
            line(0.0, color=PALE, linewidth=0.8, zorder=0)
        self._draw_points(ax, image, ~gone)
        _mark_anchor(ax, (0.0, 0.0))
        if gone.any():
            # all of them in one place: a pale spot whose area is their number
            ax.scatter(0.0, 0.0, s=60 + 500 * gone.mean(), color=_FAINT, linewidth=0, zorder=1)
            ax.set_xlabel(f"{_percent(gone)} exactly at 0", color=QUIET, fontsize=8.5)
        name = f"{kernel.profile}, per feature" if kernel.per_feature else kernel.profile
        ax.set_aspect("equal")
        dress(ax)
        ax.set_title(name, loc="left", fontsize=9.5, color=INK)
        if not kernel.per_feature:
            ax.set_title(_FORMULAS[kernel.profile], loc="right", fontsize=9, color=QUIET)

    def _draw_points(self, ax, places, shown):
        style = {
            "s": point_size(len(places), 16.0),
            "linewidth": 0.3,
            "edgecolor": "white",
            "zorder": 2,
        }
        if self.labels is None:
            away = np.linalg.norm(self.points - self.anchor, axis=1)
            far = float(np.quantile(away, 0.98)) or 1.0
            ax.scatter(*places[shown].T, c=away[shown], cmap=_DISTANCES, vmin=0, vmax=far, **style)
            return
        for label, color, marker in zip(np.unique(self.labels), CLASSES, MARKERS):
            chosen = places[shown & (self.labels == label)]
            ax.scatter(*chosen.T, color=color, marker=marker, label=str(label), **style)


def _make_axes():
    """One large panel, and beside it four columns of profiles in two rows that share a scale."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12.6, 5.5), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.08, hspace=0.04)
    left, right = figure.add_gridspec(1, 2, width_ratios=(1.55, 4.0))
    cloud = figure.add_subplot(left)
    maps = right.subgridspec(2, 4).subplots(sharex=True, sharey=True)
    return np.array([cloud, *maps.ravel()])


def _percent(chosen):
    share = 100 * np.mean(chosen)
    return "< 1 %" if share < 0.5 else f"{share:.0f} %"


def _mark_anchor(ax, place):
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.2, foreground="white")]
    ax.plot(*place, "+", color=INK, ms=10, mew=1.6, path_effects=halo, zorder=5)


def _gamma(X, profile, per_feature, bandwidth):
    scales = ConformalScales.of_rows(X, np.ones(len(X)), profile, per_feature, [bandwidth], 0.0)
    return float(scales.gammas[0])


def _checked_anchor(anchor, X):
    if anchor is None:
        return X[np.argmin(((X - X.mean(axis=0)) ** 2).sum(axis=1))]
    anchor = np.asarray(anchor, dtype=np.float64)
    if anchor.shape != (2,) or not np.isfinite(anchor).all():
        raise ValueError(f"anchor must be a point of 2 numbers, not {anchor.tolist()}.")
    return anchor


def _checked_labels(y, X):
    if y is None:
        return None
    y = checked_labels(y, X)
    if len(np.unique(y)) > len(CLASSES):
        raise ValueError(
            f"ConformalMapsDisplay tells {len(CLASSES)} classes apart; y has {len(np.unique(y))}."
        )
    return y
