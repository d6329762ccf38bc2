"""What was asked and what was found, in plain English."""

from pathlib import PurePath

from .subject import CLASSES

_BUDGETS = {
    "max_times_linear": "at most {:g} times the work of a linear model",
    "max_us_per_row": "at most {:g} µs a row",
    "single_row_us": "at most {:g} µs for a single row",
    "max_bytes": "at most {:,.0f} bytes",
}


# What the encoder says it has done begins or goes on so, and what it is good for.
_REASONS = {
    "centered, scaled": "Columns then weigh alike, whatever their units.",
    "normal scores": "A few huge numbers would drown all others.",
    "0 or 1": "It has two values.",
    "one column for": "It has few values, and each may count on its own.",
    "mean target": "It has too many values for a column each.",
    "as numbers": "Models count in numbers.",
    "goes through": "The pipeline asks for it.",
    "whether it is missing": "A gap may tell something.",
}


def why(done):
    """Why a column was treated so, in a sentence or two."""
    return " ".join(reason for words, reason in _REASONS.items() if words in done)


def title(subject):
    """A heading, where nobody has given one."""
    target, data = (subject.names.get(key) for key in ("target", "data"))
    what = f"A model of {target}" if target else type(subject.model).__name__
    return what if data in (None, "-") else f"{what}, from {PurePath(data).name}"


def asked(subject):
    """The question: a target, columns, a budget."""
    n_columns = subject.rows.shape[1]
    target = subject.names.get("target")
    if subject.task == CLASSES:
        what = f"which of {len(subject.classes)} classes a row is of"
        if target:
            what = f"which {target} a row has (one of {len(subject.classes)})"
    else:
        what = f"how large {target or 'the value'} is"
    parameters = subject.model.get_params(deep=False)
    limits = [
        words.format(parameters[name])
        for name, words in _BUDGETS.items()
        if parameters.get(name) is not None
    ]
    told = f", with {' and '.join(limits)}" if limits else ""
    return f"Tell {what} from {n_columns:,} {_columns(n_columns)}{told}."


def _columns(count):
    return "column" if count == 1 else "columns"


def found(subject, measures, cost):
    """The answer: what was chosen, how good it is on rows it has not seen, what it costs."""
    rows = f"{measures['rows']:,} rows that had no part in its training"
    if subject.task == CLASSES:
        good = (
            f"is right for {100 * measures['accuracy']:.1f} % of {rows} "
            f"(always saying {measures['most_frequent']}: {100 * measures['baseline']:.1f} %)"
        )
    else:
        explained = "" if measures["r2"] is None else f" and explains {_percent(measures['r2'])}"
        good = (
            f"is off by {measures['rmse']:.4g} on {rows} (root mean square; the mean alone: "
            f"{measures['baseline']:.4g}){explained}"
        )
    return (
        f"{chosen(subject)} {good}, at {cost['times_linear']:.3g} times the work of a linear model."
    )


def _percent(r2):
    return f"{100 * r2:.1f} % of the variance"


def chosen(subject):
    """What the model is, in words."""
    record = getattr(subject.model, "record_", None)
    for one in record or ():
        if one["is_chosen"]:
            parts = one["model"].split(" + ")
            if len(parts) == 1:
                return f"A model of the family “{parts[0]}”"
            return f"An average of {len(parts)} models ({', '.join(parts)})"
    return type(subject.model).__name__


def headline(subject, measures, cost):
    """Three or four figures that are read first."""
    times = {"label": "work", "value": f"{cost['times_linear']:.3g} ×", "note": "a linear model"}
    size = {"label": "size", "value": _bytes(cost["bytes"]), "note": "that prediction reads"}
    where = "a row" if cost["encoder_us"] is None else "a row, behind the encoder"
    speed = {"label": "speed", "value": f"{cost['us']:.2g} µs", "note": where}
    if subject.task == CLASSES:
        first = {
            "label": "right answers", "value": f"{100 * measures['accuracy']:.1f} %",
            "note": f"± {100 * measures['error']:.1f}, of {measures['rows']:,} unseen rows",
        }  # fmt: skip
    else:
        first = {
            "label": "explained (R²)",
            "value": "–" if measures["r2"] is None else f"{100 * measures['r2']:.1f} %",
            "note": f"of the variance, {measures['rows']:,} unseen rows",
        }
    return [first, times, speed, size]


def _bytes(count):
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
