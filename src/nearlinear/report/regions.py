"""Regions of a model: which of its parts answers for a row, and how well it does there."""

from collections import Counter

import numpy as np

from ..kinds import kind_of
from .groups import groups, words
from .region_map import plane
from .subject import CLASSES

_MOST, _TOLD = 12, 3


def regions(subject, moves, order):
    """What is told of regions that rows are in, the most visited first; None if there are none.

    A model without regions has groups: ``nodes`` is then the tree of questions that leads there,
    and ``tells`` the share of the answers that it tells.
    """
    found = regions_of(subject.model.predictor_, subject.encoded)
    if found is not None and len(np.unique(found[1])) > 1:
        return _all_told(subject, moves, *found)
    found = groups(subject, order)
    if found is None:
        return None
    nodes, numbers, share = found
    told = _all_told(subject, moves, "group", numbers)
    rules = words(nodes, subject.rows.names)
    for one in told["regions"]:
        one["rules"] = rules[one["number"]]
    return {**told, "nodes": nodes, "tells": share}


def _all_told(subject, moves, word, numbers):
    known, counts = np.unique(numbers, return_counts=True)
    shown = known[np.argsort(-counts, kind="stable")][:_MOST]
    return {
        "word": word,
        "count": len(known),
        "left_out": float(np.mean(~np.isin(numbers, shown))),
        "regions": [_told(subject, moves, numbers == one, int(one)) for one in shown],
        "map": plane(subject, numbers, shown),
    }


def _told(subject, moves, mine, number):
    places = np.flatnonzero(mine)
    y, answers = subject.y[mine], subject.answers[mine]
    found = {"number": number, "rows": len(places), "share": float(mine.mean())}
    if subject.task == CLASSES:
        found["accuracy"] = float(np.mean(y == answers))
        labels, counts = np.unique(answers, return_counts=True)
        found["mostly"] = labels.tolist()[counts.argmax()]
        found["mostly_share"] = float(counts.max() / len(places))
    else:
        found["rmse"] = float(np.sqrt(np.mean((answers - y) ** 2)))
        found["mean"] = float(np.mean(answers))
    Z = subject.dense
    typical = places[0] if Z is None else places[((Z[mine] - Z[mine].mean(0)) ** 2).sum(1).argmin()]
    return {
        **found,
        "matters": _matters(subject, moves, places),
        "stands_out": _stands_out(subject, mine),
        "typical": subject.rows.row(int(typical)),
        "typical_row": int(typical),
    }


def _matters(subject, moves, places):
    """The columns that move answers there most."""
    mine = np.zeros(0, dtype=bool) if moves is None else np.isin(moves.places, places)
    if not mine.any():
        return []
    sizes = moves.sizes[mine].mean(axis=0)
    total = sizes.sum() or 1.0
    order = np.argsort(-sizes, kind="stable")[:_TOLD]
    return [{"name": subject.rows.names[k], "share": float(sizes[k] / total)} for k in order]


def _stands_out(subject, mine):
    """Numbers that are unusual there, in standard deviations of all rows; and usual texts."""
    found = []
    for column, name in enumerate(subject.rows.names[:200]):
        cells = subject.rows.column(column)
        if cells.dtype == object:
            found += _usual(name, cells, mine)
            continue
        here = np.isfinite(cells)
        spread = cells[here].std() if here.any() else 0.0
        if spread > 0 and (here & mine).any():
            away = (cells[here & mine].mean() - cells[here].mean()) / spread
            word = "high" if away > 0 else "low"
            mean = float(cells[here & mine].mean())
            found.append({"name": name, "is": word, "mean": mean, "away": float(abs(away))})
    found.sort(key=lambda one: -one["away"])
    return [one for one in found[:_TOLD] if one["away"] > 0.3]


def _usual(name, cells, mine):
    counts = Counter(cells[mine].tolist())
    most, count = counts.most_common(1)[0]
    share, before = count / mine.sum(), np.mean(cells == most)
    if most is None or before in (0.0, 1.0):
        return []
    away = (share - before) / np.sqrt(before * (1 - before))
    return [{"name": name, "is": most, "mean": float(share), "away": float(away)}]


# --- which part answers -------------------------------------------------------------------------


def regions_of(predictor, Z):
    """A word for the parts, and the number of the one that answers for each row; or None."""
    predictor = answering(predictor)
    if not _can_answer(predictor):
        return None
    return RULES[kind_of(predictor)](predictor, Z.astype(predictor.dtype, copy=False))


def _locally_linear(predictor, Z):
    if predictor.is_sparse:
        indices, codes = predictor.gate.codes(Z)
        return "anchor", indices[np.arange(len(codes)), codes.argmax(axis=1)]
    return "local model", np.asarray(predictor.gate(Z)).argmax(axis=1)


def _tree(predictor, Z):
    from ..explain.explain import explain

    return "leaf", explain(predictor, Z, 0).active.max(axis=1)


def _conformal(predictor, Z):
    from ..explain.explain import explain

    return "local kernel", explain(predictor, Z, 0).gates.argmax(axis=1)


def _cells(predictor, Z):
    return "cell", np.asarray(predictor.cells(np.ascontiguousarray(Z, dtype=predictor.dtype)))


def answering(predictor):
    """The predictor whose parts are the regions: of an average the weightiest that has any."""
    if kind_of(predictor) != "Averaged":
        return predictor
    order = np.argsort(-np.asarray(predictor.weights), kind="stable")
    members = [answering(predictor.members[place]) for place in order]
    return next((one for one in members if _can_answer(one)), predictor)


def _can_answer(predictor):
    is_single = kind_of(predictor) == "LocallyLinear" and len(predictor.biases) < 2
    return kind_of(predictor) in RULES and not is_single


RULES = {
    "LocallyLinear": _locally_linear,
    "TreePath": _tree,
    "TreeLeaves": _tree,
    "LinkedTree": _tree,
    "ConformalLinear": _conformal,
    "GaussianCells": _cells,
    "Mapped": lambda predictor, Z: regions_of(predictor.predictor, predictor.map(Z)),
    "Exponential": lambda predictor, Z: regions_of(predictor.predictor, Z),
}
