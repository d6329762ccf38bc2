"""How good a classifier is on rows that it has not seen."""

import numpy as np
from sklearn.metrics import (
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

_MOST_CLASSES = 12  # of a matrix that is drawn
_ROWS_A_BIN, _MOST_BINS = 15, 10


def class_measures(subject):
    """Figures, the confusion matrix, scores of each class, and the calibration."""
    y, answers = subject.y, subject.answers
    known = list(subject.classes)
    labels = known + [one for one in np.unique(y).tolist() if one not in known]
    right = answers == y
    share, n = float(right.mean()), len(y)
    most = max(labels, key=lambda label: int(np.sum(y == label)))
    found = {
        "rows": n,
        "accuracy": share,
        "error": float(np.sqrt(share * (1 - share) / n)),
        "most_frequent": most,
        "baseline": float(np.mean(y == most)),
        "log_loss": None,
        "roc_auc": None,
        "calibration": None,
        "per_class": _per_class(y, answers, labels),
        "confusion": _confusion(y, answers, labels),
    }
    chances = _chances(subject)
    if chances is not None and set(labels) == set(known):
        found["log_loss"] = float(log_loss(y, chances, labels=known))
        if len(known) == 2 and len(np.unique(y)) == 2:
            found["roc_auc"] = float(roc_auc_score(y == known[1], chances[:, 1]))
        found["calibration"] = calibration(chances, y, np.array(known))
    return found


def _chances(subject):
    if not subject.judge.gives_probabilities:
        return None
    if subject.judge.model.classes_.tolist() != subject.classes:
        return None  # the judge has not seen a rare class
    return subject.judge.probabilities(subject.judge.scores(subject.rows.cells))


def _per_class(y, answers, labels):
    precision, recall, f1, rows = precision_recall_fscore_support(
        y, answers, labels=labels, zero_division=0.0
    )
    columns = zip(labels, precision, recall, f1, rows, strict=True)
    return [
        {"class": label, "precision": float(p), "recall": float(r), "f1": float(f), "rows": int(n)}
        for label, p, r, f, n in columns
    ]


def _confusion(y, answers, labels):
    """All classes, or those that are confused most."""
    counts = confusion_matrix(y, answers, labels=labels)
    kept = np.arange(len(labels))
    if len(labels) > _MOST_CLASSES:
        wrong = counts - np.diag(np.diagonal(counts))
        trouble = wrong.sum(axis=0) + wrong.sum(axis=1)
        kept = np.sort(np.argsort(-trouble, kind="stable")[:_MOST_CLASSES])
    return {
        "labels": [labels[k] for k in kept],
        "counts": counts[np.ix_(kept, kept)].tolist(),
        "left_out": len(labels) - len(kept),
    }


def calibration(chances, y, classes):
    """What was said, and how often it came true, in bins of as many rows each.

    Of two classes it is the probability of the second, of several that of the label that was given.
    """
    if len(classes) == 2:
        said, came = chances[:, 1], y == classes[1]
        of = classes[1:].tolist()[0]
    else:
        said, came, of = chances.max(axis=1), classes[chances.argmax(axis=1)] == y, None
    n_bins = int(np.clip(len(y) // _ROWS_A_BIN, 2, _MOST_BINS))
    order = np.argsort(said, kind="stable")
    bins = [
        {
            "said": float(said[mine].mean()),
            "came_true": float(came[mine].mean()),
            "error": float(np.sqrt(came[mine].mean() * (1 - came[mine].mean()) / len(mine))),
            "rows": len(mine),
        }
        for mine in np.array_split(order, n_bins)
        if len(mine)
    ]
    gap = sum(one["rows"] * abs(one["said"] - one["came_true"]) for one in bins) / len(y)
    return {"of": of, "bins": bins, "gap": float(gap)}
