"""How good answers are: figures beside what a model without features would reach."""

import numpy as np


def class_figures(y, answers):
    """Accuracy, its baseline, the mean of the classes' shares found, and each class."""
    from sklearn.metrics import precision_recall_fscore_support

    labels, counts = np.unique(y, return_counts=True)
    measures = precision_recall_fscore_support(y, answers, labels=labels, zero_division=0.0)
    per_class = {
        str(label): {
            "rows": int(n_rows),
            "precision": float(precision),
            "recall": float(recall),
            "f1": float(f1),
        }
        for label, n_rows, precision, recall, f1 in zip(
            labels, counts, measures[0], measures[1], measures[2]
        )
    }
    return {
        "rows": len(y),
        "accuracy": float(np.mean(y == answers)),
        "baseline_accuracy": float(counts.max() / len(y)),
        "baseline_class": str(labels[counts.argmax()]),
        "balanced_accuracy": float(measures[1].mean()),
        "baseline_balanced_accuracy": 1 / len(labels),
        "classes": per_class,
        "never_found": [name for name, found in per_class.items() if found["recall"] == 0.0],
    }


def value_figures(y, answers):
    """R², mean absolute error and root mean squared error, beside those of the mean."""
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    mean = np.full(len(y), np.mean(y))
    return {
        "rows": len(y),
        "R2": float(r2_score(y, answers)) if len(y) > 1 else None,
        "MAE": float(mean_absolute_error(y, answers)),
        "RMSE": float(np.sqrt(mean_squared_error(y, answers))),
        "baseline_MAE": float(mean_absolute_error(y, mean)),
        "baseline_RMSE": float(np.sqrt(mean_squared_error(y, mean))),
    }


def in_short(figures):
    """Part of a sentence."""
    if "R2" in figures:
        r2 = "-" if figures["R2"] is None else f"{figures['R2']:.4f}"
        return (
            f"R2 {r2}, RMSE {figures['RMSE']:.4g} "
            f"({figures['baseline_RMSE']:.4g} by the mean) on {figures['rows']:,} held-out rows"
        )
    return (
        f"accuracy {figures['accuracy']:.4f} ({figures['baseline_accuracy']:.4f} by always "
        f"{figures['baseline_class']!r}; balanced {figures['balanced_accuracy']:.4f}) on "
        f"{figures['rows']:,} held-out rows"
    )


def never_found(figures):
    """A sentence on the classes of which no row was found, or None."""
    names = figures.get("never_found")
    if not names:
        return None
    shown = [f"{name!r} ({_n_rows(figures['classes'][name])})" for name in names[:20]]
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"never found: {', '.join(shown)}{more}"


def _n_rows(found):
    return f"{found['rows']:,} row{'s' if found['rows'] > 1 else ''}"
