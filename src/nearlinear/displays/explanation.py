"""Why one row got its score: parts of the score, and the region that the row fell in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from ..predictors.combined import Exponential
from .fitted import last_of
from .kernel_labels import labels_of_shares, shortened
from .palette import CLASSES, INK, PALE, QUIET, dress, write_heading

_FOR, _AGAINST, _SUMMED = CLASSES[0], CLASSES[1], "#b4c0ca"
_TYPE = 8.5  # size of the type
_MOST_REGIONS = 12
_SMALLEST_GATE = 1e-4  # of the largest: others are as good as shut


@dataclass(kw_only=True, eq=False, repr=False)
class ExplanationDisplay:
    """One row's score as bars: what each feature adds, largest first, and the intercept.

    A small panel beside it shows the region that the row fell in: anchors and components with
    their gates, the path down a tree with the features of its nodes (+ where the split is
    positive), the trees of a forest with what they add, or local kernels with h. Of a kernel
    machine, bars are the most influential support rows, and the panel has the kernels' shares. Make
    one with :meth:`from_estimator`.

    Attributes
    ----------
    ax_, region_ax_, figure_ : matplotlib Axes, Axes and Figure
        Set by ``plot``.
    drawn_ : array of int
        Parts that are drawn, the largest first.
    bars_ : matplotlib BarContainer
        Their bars, then what the others sum up to, if there are others, then the intercept.
    region_bars_ : matplotlib BarContainer
        The region.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearlinear import LLSVMClassifier
    >>> from nearlinear.displays import ExplanationDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LLSVMClassifier(n_anchors=10, random_state=0).fit(X, y)
    >>> display = ExplanationDisplay.from_estimator(model, X.iloc[[0]])
    >>> len(display.parts)
    4
    """

    parts: np.ndarray  # (n_parts,): what is added up
    labels: Sequence[str]  # what each part is called
    intercept: float  # what the parts leave
    region: np.ndarray  # (n_regions,): gate values, features of nodes, h, or kernel shares
    region_labels: Sequence[str]  # what these are called
    rest: float = 0.0  # belongs to parts that are not listed
    heading: str = "score"  # what the score is of
    region_heading: str = "region"  # what the region is

    @classmethod
    def from_estimator(
        cls, estimator, x, feature_names=None, max_features=12, *, label=None, gating=None,
        axes=None, title=None,
    ):  # fmt: skip
        """Explain one row, and draw.

        Parameters
        ----------
        estimator : model of nearlinear or a Pipeline that ends in one
            Fitted. Behind scalers, features are shown in their original units; behind other steps,
            as the model sees them.
        x : array of shape (n_features,), or array or data frame of one row
            The row.
        feature_names : sequence of str or None, default=None
            None takes those the model was fitted with, or x0, x1, ...
        max_features : int, default=12
            The most bars; the smallest parts are summed.
        label : label of a class or None, default=None
            The class whose score is shown, if there are more than two; None takes the predicted.
        gating : array of one row or None, default=None
            The second matrix of a model that was fitted with one.
        axes : pair of matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        title : str or None, default=None
            Heading.

        Returns
        -------
        ExplanationDisplay
        """
        last = last_of(estimator)
        if not hasattr(last, "explain"):
            raise TypeError(
                f"{cls.__name__} draws models of nearlinear, not {type(last).__name__}."
            )
        _require_count(max_features)
        row, steps = _one_row(x), _steps(estimator)
        found = _explain(last, row, steps, gating, max_features)
        output, names = _output_of(last, found, label), _names(last, found, feature_names)
        display = cls(
            **_parts_of(last.predictor_, found, output, names),
            **_region_of(last, found, output, names, row, steps),
            intercept=float(found.intercepts[0, output]),
            heading=_heading(last, output, found),
        )
        return display.plot(axes, max_features=max_features, title=title)

    @property
    def score(self):
        """All parts together."""
        return float(np.sum(self.parts) + self.rest + self.intercept)

    def plot(self, axes=None, *, max_features=12, title=None):
        """Draw on a pair of ``axes``, or on a new figure, as :meth:`from_estimator` does."""
        _require_count(max_features)
        self.drawn_ = np.argsort(-np.abs(self.parts), kind="stable")[:max_features]
        n_lines = max(len(self.drawn_) + 2, len(self.region))
        if axes is None:
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(
                1, 2, figsize=(9.6, 1.4 + 0.28 * n_lines), width_ratios=(3, 2), layout="constrained"
            )
        self.ax_, self.region_ax_ = axes
        self.figure_ = self.ax_.figure
        self._draw_parts(n_lines)
        sign = "−" if self.intercept < 0 else "+"
        told = f"{self.heading}: {self.score:.4g} = {self.score - self.intercept:.4g} "
        write_heading(self.ax_, title, f"{told}{sign} {abs(self.intercept):.4g}")
        self.region_bars_ = _draw_bars(
            self.region_ax_, self.region, self.region_labels, _sign_colors(self.region), n_lines
        )
        self.region_ax_.set_title(self.region_heading, loc="left", fontsize=10, color=INK)
        return self

    def _draw_parts(self, n_lines):
        values = [self.parts[k] for k in self.drawn_]
        labels, colors = [self.labels[k] for k in self.drawn_], _sign_colors(values)
        n_others = len(self.parts) - len(self.drawn_)
        if n_others or self.rest:
            values.append(self.score - self.intercept - sum(values))
            labels.append("all others" if self.rest else _others(n_others))
            colors.append(_SUMMED)
        self.bars_ = _draw_bars(
            self.ax_, [*values, self.intercept], [*labels, "intercept"], [*colors, QUIET], n_lines
        )
        self.ax_.set_xlabel("part of the score", color=INK, fontsize=_TYPE)


def _draw_bars(ax, values, labels, colors, n_lines):
    """Horizontal bars from top to bottom, each with its number, in room for ``n_lines`` of them."""
    values = np.asarray(values, dtype=np.float64)
    bars = ax.barh(np.arange(len(values)), values, height=0.72, color=colors)
    ax.bar_label(bars, [f"{v:.3g}" for v in values], padding=3, fontsize=_TYPE, color=QUIET)
    dress(ax)
    ax.set_yticks(np.arange(len(values)), labels, fontsize=_TYPE)
    ax.tick_params(axis="y", length=0)
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    room = 0.25 * (high - low or 1.0)  # for the numbers
    ax.set(xlim=(low - room * (low < 0), high + room), ylim=(n_lines - 0.4, -0.6))
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.grid(axis="x", color=PALE, linewidth=0.7)
    ax.set_axisbelow(True)
    return bars


def _others(count):
    return f"{count} other" + "s" * (count > 1)


def _sign_colors(values):
    return [_FOR if value >= 0 else _AGAINST for value in values]


def _require_count(max_features):
    if max_features < 1:
        raise ValueError(f"max_features={max_features} must be at least 1.")


def _one_row(x):
    """A row as a matrix or data frame; a Series keeps the names of its columns."""
    if hasattr(x, "to_frame"):
        return x.to_frame().T
    rows = x if hasattr(x, "shape") and len(x.shape) == 2 else np.asarray(x)
    rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
    if rows.shape[0] != 1:
        raise ValueError(f"ExplanationDisplay draws one row; x has {rows.shape[0]}.")
    return rows


def _steps(model):
    """What comes before the model, or None."""
    steps = [step for _, step in getattr(model, "steps", [])[:-1]]
    return model[:-1] if any(step not in (None, "passthrough") for step in steps) else None


def _explain(last, row, steps, gating, n_support):
    seen = {} if gating is None else {"gating": gating}
    return last.explain(row, n_support=n_support, preparation=steps, **seen)


def _output_of(last, found, label):
    """The output to show: the class that is asked for, or the predicted one."""
    if label is None:
        return int(found.scores[0].argmax())
    classes = getattr(last, "classes_", ())
    if len(classes) <= 2:
        raise ValueError(f"{type(last).__name__} has one score; leave out label={label!r}.")
    if label not in classes:
        raise ValueError(f"label={label!r} is none of the classes {list(classes)}.")
    return int(np.flatnonzero(classes == label)[0])


def _heading(last, output, found):
    if not hasattr(last, "classes_"):
        return "value"
    place = output if found.scores.shape[1] > 1 else 1
    return f"score of {shortened(str(last.classes_[place]))}"


def _parts_of(predictor, found, output, names):
    """Contributions of the features, or the most influential support rows, or shares of kernels."""
    if found.kernel_shares is not None and found.support is None:
        labels = labels_of_shares(predictor, output, names)
        return {"parts": found.kernel_shares[0, output], "labels": labels}
    if found.kernel_shares is not None:
        shown = found.support.indices[0, output] >= 0
        indices, parts = (array[0, output, shown] for array in (
            found.support.indices, found.support.parts
        ))  # fmt: skip
        rest = float(found.kernel_shares[0, output].sum() - parts.sum())
        if abs(rest) < 1e-12 * np.abs(parts).sum():  # all of them are listed
            rest = 0.0
        return {"parts": parts, "labels": [f"support row {j}" for j in indices], "rest": rest}
    names = found.names if names is None else replace(found, feature_names=tuple(names)).names
    row = found.rows[0]
    values = [*row, *(a * row[i] + b * row[j] for i, j, a, b in found.pairs)]
    labels = [f"{shortened(name)} = {_shown(value)}" for name, value in zip(names, values)]
    return {"parts": found.contributions[0, output], "labels": labels}


def _shown(value):
    if value is None or value != value:
        return "missing"
    return f"{value:.3g}" if isinstance(value, Real) else shortened(str(value))


def _names(last, found, given):
    """Names as given or as learned, or None."""
    names = found.feature_names if given is None else [str(name) for name in given]
    n_features = last.n_features_in_ if found.rows is None else found.rows.shape[1]
    if names is not None and len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names and {type(last).__name__} sees {n_features} "
            "features."
        )
    return names


def _region_of(last, found, output, names, row, steps):
    predictor = last.predictor_
    if found.support is not None:
        return _shares_of(predictor, found.kernel_shares[0, output], output, names)
    active, gates = found.active[0], found.gates[0]
    if found.component == "leaf":
        forest = predictor.predictor if isinstance(predictor, Exponential) else predictor
        steps = last._behind(steps)
        rows = row if steps is None else steps.transform(row)
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=np.float64)
        return _trees_of(forest, found, output, rows)
    heading = {
        "anchor": "nearest anchors: gate", "component": "components: gate",
        "kernel": "local kernels: h", "landmark": "landmarks of the cell: h",
        "node": "path: features of its nodes", "member": "members: share of the mean",
        "unit": "units that count",
    }[found.component]  # fmt: skip
    if found.component == "node" and active.ndim == 2:
        heading = f"path down tree 0 of {len(active)}"
        active, gates = active[0], gates[0]
    elif active.ndim == 2:
        active, gates = active[output], gates[output]
    if found.component == "node":
        turns = [" +" if node % 2 else " −" for node in active[1:]]
        labels = [f"node {k}{turn}" for k, turn in zip(active, turns)] + [f"leaf {active[-1]}"]
        return {"region": gates, "region_labels": labels, "region_heading": heading}
    order = np.argsort(-gates, kind="stable")
    order = order[gates[order] > _SMALLEST_GATE * gates.max()][:_MOST_REGIONS]
    labels = [f"{found.component} {active[k]}" for k in order]
    return {"region": gates[order], "region_labels": labels, "region_heading": heading}


def _trees_of(forest, found, output, rows):
    """What the largest trees add to the score: the values of their leaves."""
    leaves, is_vector = found.active[0], forest.values.shape[1] > 1
    trees = np.arange(len(leaves)) if is_vector else np.flatnonzero(forest.outputs == output)
    told = output if is_vector else 0
    seen = forest.seen_by_slopes(rows)[0].astype(np.float64)
    values = forest.values[leaves[trees], told] + forest.slopes[leaves[trees], told] @ seen
    order = np.argsort(-np.abs(values), kind="stable")[:_MOST_REGIONS]
    labels = [f"tree {trees[k]}, leaf {leaves[trees[k]]}" for k in order]
    heading = "trees: what their leaves add"
    return {"region": values[order], "region_labels": labels, "region_heading": heading}


def _shares_of(predictor, shares, output, names):
    """The largest shares of kernels, and what the others sum up to."""
    labels = labels_of_shares(predictor, output, names)
    order = np.argsort(-np.abs(shares), kind="stable")
    shown, others = order[:_MOST_REGIONS], order[_MOST_REGIONS:]
    values, labels = shares[shown], [labels[k] for k in shown]
    if len(others):
        values, labels = np.append(values, shares[others].sum()), [*labels, _others(len(others))]
    return {"region": values, "region_labels": labels, "region_heading": "shares of kernels"}
