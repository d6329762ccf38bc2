"""Which kernels a model has chosen, and how much each of them counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fitted import checked_names, last_of
from .kernel_labels import describe, shortened
from .palette import CLASSES, INK, PALE, QUIET, axes_or_new, color_bar, ink_on, write_heading

_KINDS = dict(zip(("Gaussian", "Polynomial", "Linear"), CLASSES))
_OTHER_KINDS = CLASSES[3:]
_HEAT = ["#e3eef2", "#8fbcbf", "#2b6f8f", "#153f57"]
_TYPE = 8.5  # size of the type


@dataclass(kw_only=True, eq=False, repr=False)
class KernelWeightsDisplay:
    """The largest kernel weights of a model, as bars; for several classes as a heat map.

    Kernels of weight zero are not drawn but counted in the heading. Make one with
    :meth:`from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    drawn_kernels_ : array
        Kernels that are drawn, the heaviest first.
    bars_ : matplotlib BarContainer or None
        One bar for each drawn kernel.
    heat_ : matplotlib AxesImage or None
        One row for each drawn kernel, one column for each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearlinear import SimpleMKLClassifier
    >>> from nearlinear.displays import KernelWeightsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SimpleMKLClassifier("bank").fit(X, y == 1)
    >>> display = KernelWeightsDisplay.from_estimator(model, top=5)
    >>> len(display.labels)
    65
    >>> len(display.drawn_kernels_) <= 5
    True
    """

    weights: np.ndarray  # (n_kernels,), or (n_classes, n_kernels) of more than two classes
    labels: Sequence[str]  # what each kernel is called
    kinds: Sequence[str]  # what each counts as: "Gaussian", "Polynomial", "Linear"
    classes: Sequence | None = None  # labels of the rows of ``weights``; None if there is one

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, top=20, feature_names=None, title=None):
        """Read the weights of a fitted model, and draw.

        Parameters
        ----------
        estimator : estimator with ``kernel_weights_`` and ``kernels_``, or a Pipeline that ends so
            Fitted.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        top : int or None, default=20
            The most kernels drawn; None draws all that have weight.
        feature_names : sequence of str or None, default=None
            Names of the features that reach the kernels; None takes those the model was fitted
            with, or numbers from 0.
        title : str or None, default=None
            Heading.

        Returns
        -------
        KernelWeightsDisplay
        """
        last = last_of(estimator)
        if not hasattr(last, "kernel_weights_") or not hasattr(last, "kernels_"):
            raise TypeError(
                f"{cls.__name__} draws the kernel weights of MKL models, not {type(last).__name__}."
            )
        names = checked_names(feature_names, estimator, last.n_features_in_, "the kernels see")
        descriptions = [describe(kernel) for kernel in last.kernels_]
        display = cls(
            weights=last.kernel_weights_,
            labels=[description.label(names) for description in descriptions],
            kinds=[description.kind for description in descriptions],
            classes=last.classes_ if np.ndim(last.kernel_weights_) == 2 else None,
        )
        return display.plot(ax, top=top, title=title)

    @property
    def _rows(self):
        return np.atleast_2d(self.weights)

    def total_by_kind(self):
        """{kind: weight of all its kernels, summed over classes}, the heaviest kind first."""
        totals = {}
        for kind, weight in zip(self.kinds, self._rows.sum(axis=0), strict=True):
            totals[kind] = totals.get(kind, 0.0) + float(weight)
        return dict(sorted(totals.items(), key=lambda entry: -entry[1]))

    def plot(self, ax=None, *, top=20, title=None):
        """Draw on ``ax``, or on a new figure, as :meth:`from_estimator` does."""
        if top is not None and top < 1:
            raise ValueError(f"top={top} must be at least 1, or None for all kernels.")
        total = self._rows.sum(axis=0)
        in_use = np.flatnonzero(self._rows.any(axis=0))
        in_use = in_use[np.argsort(-total[in_use], kind="stable")]
        self.drawn_kernels_ = in_use[:top]
        self.ax_ = ax = axes_or_new(ax, self._size())
        self.figure_ = ax.figure
        self.bars_ = self.heat_ = None
        if len(in_use) == 0:
            ax.set_axis_off()
        elif self.classes is None:
            self._draw_bars()
        else:
            self._draw_heat()
        self._write_heading(len(in_use), title)
        return self

    def _size(self):
        n_drawn = max(1, len(self.drawn_kernels_))
        if self.classes is None:
            return 7.2, 1.2 + 0.27 * n_drawn
        return float(np.clip(4.2 + 0.55 * len(self.classes), 8, 14)), 1.5 + 0.3 * n_drawn

    def _draw_bars(self):
        ax, drawn = self.ax_, self.drawn_kernels_
        weights = self._rows[0, drawn]
        colors = _kind_colors(self.total_by_kind())
        self.bars_ = ax.barh(
            np.arange(len(drawn)), weights, height=0.72,
            color=[colors[self.kinds[m]] for m in drawn],
        )  # fmt: skip
        texts = [f"{weight:.2g}" for weight in weights]
        ax.bar_label(self.bars_, texts, padding=3, fontsize=_TYPE, color=QUIET)
        self._name_kernels()
        ax.set(xlim=(0, 1.1 * weights.max()), ylim=(len(drawn) - 0.4, -0.6))
        ax.set_xlabel("kernel weight", color=INK, fontsize=_TYPE)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.spines["left"].set_color(QUIET)
        ax.grid(axis="x", color=PALE, linewidth=0.7)
        ax.set_axisbelow(True)
        if len(set(self.kinds)) > 1:
            self._write_kinds(colors)

    def _write_kinds(self, colors):
        """A legend with each kind's total, where the shortest bars leave room."""
        from matplotlib.patches import Patch

        totals = self.total_by_kind()
        handles = [
            Patch(color=colors[kind], label=f"{kind} {totals[kind]:.2g}")
            for kind in totals
            if totals[kind] > 0
        ]
        self.ax_.legend(
            handles=handles, loc="lower right", title="total weight", alignment="left",
            fontsize=_TYPE, title_fontsize=_TYPE, labelcolor=INK, handlelength=0.9,
            handleheight=0.9, framealpha=0.9, edgecolor="none",
        ).get_title().set_color(QUIET)  # fmt: skip

    def _draw_heat(self):
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        ax, drawn = self.ax_, self.drawn_kernels_
        weights = self._rows[:, drawn].T
        heat = LinearSegmentedColormap.from_list("", _HEAT).with_extremes(bad="white")
        self.heat_ = ax.imshow(
            np.ma.masked_equal(weights, 0.0), cmap=heat, norm=Normalize(0.0, weights.max()),
            aspect="auto", interpolation="nearest",
        )  # fmt: skip
        self._name_kernels()
        names = [shortened(str(label)) for label in self.classes]
        ax.set_xticks(np.arange(len(names)), names, fontsize=_TYPE)
        if max(map(len, names)) > max(6, 50 / len(names)):
            ax.tick_params(axis="x", rotation=35)
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        ax.set_xlabel("class", color=INK, fontsize=_TYPE)
        ax.tick_params(axis="x", length=0)
        ax.spines[:].set_visible(False)
        edges = [np.arange(1, size) - 0.5 for size in weights.shape]
        ax.hlines(edges[0], -0.5, weights.shape[1] - 0.5, color=PALE, linewidth=0.7)
        ax.vlines(edges[1], -0.5, weights.shape[0] - 0.5, color="white", linewidth=2.5)
        if len(names) <= 12:
            self._write_weights(weights)
        else:
            color_bar(self.heat_, ax, "kernel weight", pad=0.02)

    def _write_weights(self, weights):
        for row, column in zip(*np.nonzero(weights), strict=True):
            weight = weights[row, column]
            self.ax_.text(
                column, row, f"{weight:.2g}", color=ink_on(self.heat_.to_rgba(weight)),
                fontsize=_TYPE, ha="center", va="center",
            )  # fmt: skip

    def _name_kernels(self):
        labels = [self.labels[m] for m in self.drawn_kernels_]
        self.ax_.set_yticks(np.arange(len(labels)), labels, fontsize=_TYPE)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.tick_params(colors=QUIET, labelcolor=INK, labelsize=_TYPE)

    def _write_heading(self, n_in_use, title):
        """How many kernels there are, alone or below the title."""
        n_drawn, n_kernels = len(self.drawn_kernels_), len(self.labels)
        count = f"{n_in_use} of {n_kernels} kernels in use, {n_kernels - n_in_use} with weight zero"
        if n_drawn < n_in_use:
            count += f"; the {n_drawn} largest" if n_drawn > 1 else "; the largest"
        write_heading(self.ax_, title, count)


def _kind_colors(kinds):
    others = iter(_OTHER_KINDS * len(kinds))
    return {kind: _KINDS.get(kind) or next(others) for kind in kinds}
