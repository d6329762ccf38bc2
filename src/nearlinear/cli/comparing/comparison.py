"""Ours beside the alternatives: one split, one encoder, one table, one picture."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from ... import TableEncoder
from ..._warn import warn_user
from ...displays.cost_front import ModelPoint, draw_cost_fronts
from .._errors import CommandError
from .._output_file import check_writable, replacing
from .._progress import progress
from ..fitting.search import fit_search
from ..shown.amounts import shown_bytes, shown_us
from ..shown.text_table import text_table
from .contenders import contenders
from .measure import Split, measure, measured

OURS = "nearlinear"
_PICTURES = (".png", ".pdf", ".svg")
LEGEND = """\
All models see the same encoded rows. µs/row: CPU time of predict, best of several batches of
repeated test rows. one row: median of single predictions (ours by compile()). bytes: what
prediction reads. fit: one thread; ours is the whole search, and compiles on its first run on a
machine. ours leads by: the score of our first line less that of the other, ± its standard error
over the test rows."""


@dataclass(frozen=True)
class Comparison:
    """The search, its knee, and the measurements: ours first, its chosen model at the top."""

    model: object
    knee: object
    split: Split
    rows: list

    @property
    def ours(self):
        return self.rows[0]

    @property
    def score_name(self):
        return "R²" if self.split.is_regression else "accuracy, %"


@dataclass(frozen=True)
class Parts:
    """Raw rows: a training part, and a test part that no model sees before it is measured."""

    X_train: object
    X_test: object
    y_train: np.ndarray
    y_test: np.ndarray
    is_regression: bool


def compare(model, parts, seed, *, plain=True):
    """Search with ``model``, then fit and measure the alternatives, all on one thread."""
    split = _encoded(parts)
    with threadpool_limits(1):
        start = perf_counter()
        fit_search(model, parts.X_train, parts.y_train, plain=plain)
        seconds = perf_counter() - start
        labeled = replace(split, y_train=parts.y_train, y_test=parts.y_test)
        rows = [_ours(model, OURS, labeled, seconds)]
        knee = model.select(knee=True)
        if chosen(knee) != chosen(model):
            rows.append(_ours(knee, f"{OURS}, knee", labeled, seconds))
        others = contenders(split.is_regression, len(split.y_train), seed)
        # No refreshes: they would take time from the models that are being timed.
        with progress(len(others), refreshes=0, plain=plain) as begin:
            for contender in others:
                begin(contender.name)
                try:
                    rows.append(measure(contender, split))
                except Exception as error:  # of any library that happens to be installed
                    reason = str(error).strip().partition("\n")[0]
                    warn_user(f"{contender.name} could not be measured: {reason}.")
    return Comparison(model, knee, split, rows)


def _encoded(parts):
    """What all models see: rows of the encoder that ours has, in single precision."""
    encoder = TableEncoder(target_type="values" if parts.is_regression else "classes")
    Z_train = encoder.fit_transform(parts.X_train, parts.y_train).astype(np.float32)
    Z_test = encoder.transform(parts.X_test).astype(np.float32)
    if hasattr(Z_train, "toarray"):
        Z_train, Z_test = Z_train.toarray(), Z_test.toarray()
    y_train, y_test = parts.y_train, parts.y_test
    if not parts.is_regression:  # some libraries take no other labels
        classes, y_train = np.unique(y_train, return_inverse=True)
        y_test = np.searchsorted(classes, y_test)
    return Split(Z_train, y_train, Z_test, y_test, parts.is_regression)


def chosen(model):
    """In words, what a search has chosen."""
    return next(one["model"] for one in model.record_ if one["is_chosen"])


def _ours(model, name, split, seconds):
    behind = model.best_estimator_[-1]  # the encoder
    n_bytes, one_row = model.cost_.n_bytes, behind.compile().predict
    return measured(name, behind, split, seconds, n_bytes, one_row, ours=True)


def comparison_table(found):
    """Ours above a line, the alternatives below it, the best score first."""
    is_regression = found.split.is_regression
    header = ("model", found.score_name, "RMSE" if is_regression else "log loss", "ours leads by",
              "µs/row", "one row, µs", "bytes", "fit, s")  # fmt: skip
    ours = [row for row in found.rows if row.ours]
    others = sorted((row for row in found.rows if not row.ours), key=lambda row: -row.score)
    lines = [_cells(row, found) for row in (*ours, *others)]
    return text_table(header, lines, rules=(len(ours),))


def _cells(row, found):
    is_regression = found.split.is_regression
    unit, digits = _shown(is_regression)
    lead = ""
    if row is not found.ours:
        mean, error = found.ours.lead_over(row)
        lead = f"{unit * mean:+.{digits}f} ± {unit * error:.{digits}f}"
    loss = "-" if row.loss is None else f"{row.loss:.4g}" if is_regression else f"{row.loss:.4f}"
    return (
        row.name, f"{unit * row.score:.{digits}f}", loss, lead, shown_us(row.us_per_row),
        shown_us(row.single_us), shown_bytes(row.n_bytes), f"{row.fit_seconds:.2f}",
    )  # fmt: skip


def _shown(is_regression):
    """The unit of scores, and the digits that are shown."""
    return (1.0, 4) if is_regression else (100.0, 2)


def _is_level(found, row):
    """Whether the lead is no more than its standard error, as the table shows both."""
    unit, digits = _shown(found.split.is_regression)
    mean, error = (round(unit * one, digits) for one in found.ours.lead_over(row))
    return not abs(mean) > error


def verdict(found):
    """What ours is, its leads and its losses; within a standard error it is neither."""
    groups = {"ahead of": [], "level with": [], "behind": []}
    for row in found.rows:
        if not row.ours:
            is_ahead = found.ours.score > row.score
            word = "level with" if _is_level(found, row) else "ahead of" if is_ahead else "behind"
            groups[word].append(row.name)
    said = [f"{word} {', '.join(names)}" for word, names in groups.items() if names]
    what = f"{OURS}: {chosen(found.model)}"
    if chosen(found.knee) != chosen(found.model):
        what += f"; knee of its front: {chosen(found.knee)}"
    return (
        f"{what}\nBy {found.score_name.removesuffix(', %')} and one standard error, ours is "
        f"{'; '.join(said)}.{_by_loss(found)}"
    )


def _by_loss(found):
    """Our place by log loss, which says more of probabilities than the share of right labels.

    Losses of which the table shows the same digits share a place.
    """
    if found.split.is_regression:
        return ""
    rows = [row for row in found.rows if row is found.ours or not row.ours]
    ranked = sorted((row for row in rows if row.loss is not None), key=lambda row: row.loss)
    losses = {row.name: round(row.loss, 4) for row in ranked}
    own, least = losses.pop(found.ours.name), ranked[0]
    place = 1 + sum(loss < own for loss in losses.values())
    alike = [name for name, loss in losses.items() if loss == own]
    told = f", level with {', '.join(alike)}" if alike else ""
    told += "" if place == 1 else f"; the least is {least.loss:.4f}, of {least.name}"
    return f"\nBy log loss, ours is number {place} of {len(ranked)}{told}."


def _picture(path, comparisons):
    """Score against time of each comparison, side by side."""
    panels = {
        title: [
            ModelPoint(row.name, row.us_per_row, 100 * row.score, row.ours)
            for row in found.rows
        ]
        for title, found in comparisons.items()
    }  # fmt: skip
    scores = {
        title: "test R², %" if found.split.is_regression else "test accuracy, %"
        for title, found in comparisons.items()
    }
    figure = draw_cost_fronts(panels, scores)
    with replacing(path) as file:
        figure.savefig(file, dpi=160, format=path.suffix.lstrip(".") or None)


def check_picture(path, *, inputs=(), force=False):
    """Refuse what is no picture before any work."""
    if path.suffix not in _PICTURES:
        raise CommandError(f"{path}: a picture's name ends in {', '.join(_PICTURES)}")
    check_writable(path, inputs=inputs, force=force)


def draw(path, comparisons):
    """The picture, where matplotlib is there; gives what is to be told."""
    try:
        _picture(path, comparisons)
    except ImportError:
        return "no picture: matplotlib is not installed (pip install 'nearlinear[plot]')"
    return f"picture: {path}"


def as_facts(found):
    """One object for programs."""
    return {
        "train_rows": len(found.split.y_train),
        "test_rows": len(found.split.y_test),
        "columns": found.split.X_train.shape[1],
        "models": [
            {
                "name": row.name, "ours": row.ours, "score": row.score, "loss": row.loss,
                "ours_leads_by": found.ours.lead_over(row), "us_per_row": row.us_per_row,
                "single_row_us": row.single_us, "bytes": row.n_bytes,
                "fit_seconds": row.fit_seconds,
            }
            for row in found.rows
        ],
    }  # fmt: skip
