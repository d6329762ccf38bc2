"""The curve of a localized regressor on one feature, and the local fits that it is blended from."""

from dataclasses import dataclass

import numpy as np

from .fitted import FittedGates, axis_names, checked_labels, grid_around, like
from .palette import (
    CLASSES,
    INK,
    PALE,
    QUIET,
    axes_or_new,
    draw_circles,
    dress,
    mark,
    point_size,
    write_legend,
)

_GATE_SHARE = 0.24  # of the height, below the rows
_FIT_WIDTH = 4.5  # shows on both sides of the curve that it makes up


@dataclass(kw_only=True, eq=False, repr=False)
class LocalFitsDisplay:
    """The fit of an LMKLRegressor on one feature with its tube, its local fits and its gates.

    Each local fit is drawn as strongly as its gate is open, and not where that is shut; the picture
    has room for it wherever it has more than half the say, and ends at most one range of the rows
    above and below them. Gates are dashed lines of the same color, on the axis at the right.
    Rows on or outside the ε-tube hold the fit and are circled. Make one with
    :meth:`from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    gate_ax_ : matplotlib Axes
        Where the gates are drawn.
    rows_, support_ : matplotlib PathCollection
        The rows, and the circles.
    curve_ : matplotlib Line2D
        The fit.
    tube_ : matplotlib FillBetweenPolyCollection
        Where errors are free.
    local_ : list of matplotlib LineCollection
        The local fits.
    gates_ : list of matplotlib Line2D
        The gates.

    Examples
    --------
    >>> import numpy as np
    >>> from nearlinear import LMKLRegressor
    >>> from nearlinear.displays import LocalFitsDisplay
    >>> X = np.linspace(-1.0, 1.0, 60)[:, None]
    >>> y = np.abs(X[:, 0])
    >>> model = LMKLRegressor(n_copies=2, epsilon=0.02, random_state=0).fit(X, y)
    >>> display = LocalFitsDisplay.from_estimator(model, X, y)
    >>> len(display.local_)
    2
    """

    x: np.ndarray  # (resolution,): values of the feature, in order
    curve: np.ndarray  # (resolution,): the fit there
    gates: np.ndarray  # (resolution, n_components): the gate's values
    # of the same shape: what a component would answer with its gate at one, all others at zero
    local: np.ndarray
    epsilon: float  # half the height of the tube
    points: np.ndarray  # (n_samples,): the feature of the rows
    targets: np.ndarray  # (n_samples,): their values
    is_support: np.ndarray  # (n_samples,): rows to be circled
    name: str = "x0"  # name of the feature

    @classmethod
    def from_estimator(cls, estimator, X, y, resolution=500, *, margin=0.05, ax=None, title=None):
        """Ask gate and components along the rows, and draw.

        Parameters
        ----------
        estimator : LMKLRegressor or a Pipeline that ends in one
            Fitted.
        X : array or data frame of shape (n_samples, 1)
            Rows to show.
        y : array of shape (n_samples,)
            Their values.
        resolution : int, default=500
            Points of the curves.
        margin : float, default=0.05
            Room beside the rows, as a share of their range.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        LocalFitsDisplay
        """
        fitted = FittedGates.of_regressor(estimator, cls.__name__)
        if resolution < 2:
            raise ValueError(f"resolution={resolution} must be at least 2.")
        answers = estimator.predict(X)  # says what is wrong with X, if anything
        points = fitted.points(X, 1, cls.__name__)
        y = checked_labels(y, points).astype(np.float64)
        (x,) = grid_around(points, resolution, margin)
        rows = like(X, x[:, None])
        gates = fitted.gates(rows)
        display = cls(
            x=x,
            curve=estimator.predict(rows),
            gates=gates,
            local=fitted.alone(rows, np.arange(gates.shape[1])),
            epsilon=fitted.epsilon,
            points=points[:, 0],
            targets=y,
            is_support=fitted.holds_tube(y - answers),
            name=axis_names(estimator)[0],
        )
        return display.plot(ax, title=title)

    def plot(self, ax=None, *, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        ax = axes_or_new(ax, (7.2, 4.8))
        self.ax_, self.figure_, self.gate_ax_ = ax, ax.figure, ax.twinx()
        self._draw_fit()
        self._draw_components()
        self._draw_rows()
        self._set_axes()
        dress(ax, title)
        self._write_legend()
        return self

    def _draw_fit(self):
        self.tube_ = self.ax_.fill_between(
            self.x, self.curve - self.epsilon, self.curve + self.epsilon, color=PALE,
            linewidth=0, zorder=1,
        )  # fmt: skip
        (self.curve_,) = self.ax_.plot(self.x, self.curve, color=INK, linewidth=1.4, zorder=3)

    def _draw_components(self):
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgb

        self.local_, self.gates_ = [], []
        for q in range(self.gates.shape[1]):
            color = CLASSES[q % len(CLASSES)]
            line = np.column_stack([self.x, self.local[:, q]])
            strength = np.minimum((self.gates[1:, q] + self.gates[:-1, q]) / 2, 1.0)
            shades = np.column_stack([np.tile(to_rgb(color), (len(strength), 1)), strength])
            is_open = strength > 0.0
            # without antialiasing, which would leave seams between the pieces
            fit = LineCollection(
                np.stack([line[:-1], line[1:]], axis=1)[is_open], colors=shades[is_open],
                linewidths=_FIT_WIDTH, capstyle="butt", antialiaseds=False, zorder=2,
            )  # fmt: skip
            self.ax_.add_collection(fit, autolim=False)
            self.local_.append(fit)
            self.gates_ += self.gate_ax_.plot(
                self.x, self.gates[:, q], color=color, linestyle="--", linewidth=1.1
            )

    def _draw_rows(self):
        size = point_size(len(self.points))
        self.rows_ = self.ax_.scatter(
            self.points, self.targets, s=size, color=QUIET, edgecolor="white", linewidth=0.5,
            zorder=4,
        )  # fmt: skip
        held = np.column_stack([self.points, self.targets])[self.is_support]
        self.support_ = draw_circles(self.ax_, held, size, zorder=5)

    def _set_axes(self):
        seen = [self.targets, self.curve - self.epsilon, self.curve + self.epsilon]
        low, high = min(map(np.min, seen)), max(map(np.max, seen))
        answering = self.local[self.gates > 0.5 * self.gates.max()]
        spread = high - low or 1.0
        low = min(low, max(answering.min(initial=low), low - spread))
        high = max(high, min(answering.max(initial=high), high + spread))
        room = 0.05 * spread
        low, high = low - room, high + room
        self._cut_fits(low, high)
        bottom = high - (high - low) / (1.0 - _GATE_SHARE)
        self.ax_.set(xlim=self.x[[0, -1]], ylim=(bottom, high))
        self.ax_.set_yticks([tick for tick in self.ax_.get_yticks() if low <= tick <= high])
        self.ax_.set_xlabel(self.name, color=INK)
        self.ax_.set_ylabel("target", color=INK)
        most = max(1.0, float(self.gates.max()))
        self.gate_ax_.set(ylim=(0.0, 1.06 * most / _GATE_SHARE), yticks=[0.0, most / 2, most])
        self.gate_ax_.set_ylabel("gate", color=INK, loc="bottom")
        dress(self.gate_ax_)
        # rows and curve before the gates, through a transparent ground
        self.ax_.set_zorder(self.gate_ax_.get_zorder() + 1)
        self.ax_.patch.set_visible(False)

    def _cut_fits(self, low, high):
        """Fits end above the gates, which have another axis."""
        from matplotlib.patches import Rectangle

        whole_width = self.ax_.get_yaxis_transform()
        for fit in self.local_:
            fit.set_clip_path(Rectangle((0.0, low), 1.0, high - low, transform=whole_width))

    def _write_legend(self):
        from matplotlib.lines import Line2D

        count = int(self.is_support.sum())
        hollow = {"mfc": "none", "mec": INK, "mew": 0.9, "ms": 8}
        handles = [
            mark("row", "o", color=QUIET, mec="white", ms=6),
            mark(f"support rows: {count} of {len(self.points)}", "o", **hollow),
            self.curve_,
            self.tube_,
            Line2D([], [], color=CLASSES[0], lw=_FIT_WIDTH, label="local fit, as far as open"),
            Line2D([], [], color=CLASSES[0], ls="--", lw=1.1, label="its gate"),
        ]  # fmt: skip
        self.curve_.set_label("fit")
        self.tube_.set_label(f"± {self.epsilon:.3g}")
        below = {"bbox_to_anchor": (0.5, -0.12), "ncols": 3, "handletextpad": 0.5}
        write_legend(self.ax_, handles, "upper center", **below)
