"""Probabilities and classes of scores in SQL, and means of several models."""

from ...kinds import rule_for
from ...runtime.outcome import FLOOR, LARGEST_SCORE
from .builder import values_of
from .curves import on_knots
from .literals import SqlExportError, label, number


def probabilities(query, outcome, scores):
    """Names of columns, one for each class: the mean over models."""
    found = [
        _calibrated(query, part, one) for part, one in zip(outcome.calibration, scores, strict=True)
    ]
    share = f" / {number(len(found))}" if len(found) > 1 else ""
    return [query.let(f"{query.total(one)}{share}") for one in zip(*found)]


def _calibrated(query, part, scores):
    scores = [query.let(score) for score in scores]
    return rule_for("sql", part, SqlExportError)(query, part, scores)


def labels(query, outcome, classes, scores, found):
    """The class of a row; ``found`` are its probabilities, where there are some."""
    classes = [label(one) for one in classes]
    threshold = outcome.threshold
    if threshold is not None:
        value = scores[0][0] if threshold.positive else f"-{scores[0][0]}"
        value = found[threshold.positive] if threshold.of == "probability" else value
        positive, other = classes[threshold.positive], classes[1 - threshold.positive]
        return f"CASE WHEN {value} >= {number(threshold.at)} THEN {positive} ELSE {other} END"
    values = found if outcome.is_calibrated else scores[0]
    if len(values) == 1:
        return f"CASE WHEN {values[0]} > 0 THEN {classes[1]} ELSE {classes[0]} END"
    most = query.let(f"greatest({', '.join(values)})")
    whens = [f"WHEN {value} = {most} THEN {one}" for value, one in zip(values, classes)]
    return f"CASE {' '.join(whens)} END"  # the first of equal ones


def each_label(score):
    """Whether a row has a label, and the probability of it."""
    return f"CASE WHEN {score} > 0 THEN 1 ELSE 0 END", f"(0.5e0 + 0.5e0 * tanh(0.5e0 * {score}))"


# --- calibrations: one probability for each class -----------------------------------------------


def _log_loss(query, part, scores):
    return query.softmax([number(0.0), *scores] if len(scores) == 1 else scores)


def _own_shares(query, part, scores):
    if len(scores) == 1:
        return [f"((1e0 - {scores[0]}) / 2e0)", f"((1e0 + {scores[0]}) / 2e0)"]
    return scores


def _sigmoids(query, part, scores):
    lines = zip(scores, part.slopes, part.offsets)
    found = [f"1e0 / (1e0 + exp({number(a)} * {score} + {number(b)}))" for score, a, b in lines]
    return _shared(query, found)


def _temperature(query, part, scores):
    scores = [f"-{scores[0]}", scores[0]] if len(scores) == 1 else scores
    return query.softmax([f"{number(part.factor[0])} * {score}" for score in scores])


def _tables(query, part, scores):
    tables = zip(scores, part.scores, part.probabilities, strict=True)
    return _shared(query, [on_knots(query, *table) for table in tables])


def _shared(query, values):
    """Two classes: the rest is the first one's. Several: shares of the sum, equal if that is 0."""
    values = [query.let(value) for value in values]
    if len(values) == 1:
        return [f"(1e0 - {values[0]})", values[0]]
    total = query.let(query.total(values))
    equal = number(1.0 / len(values))
    return [f"CASE WHEN {total} = 0 THEN {equal} ELSE {one} / {total} END" for one in values]


CALIBRATIONS = {
    "LogLoss": _log_loss,
    "Shares": _own_shares,
    "Sigmoids": _sigmoids,
    "Temperature": _temperature,
    "Tables": _tables,
}

# --- means ----------------------------------------------------------------------------------------


def averaged(query, part, X):
    """The weighted mean of scores, or what the log loss takes for that of probabilities."""
    found = [
        values_of(query, member, query.in_precision(X, member.dtype)) for member in part.members
    ]
    shares = [number(weight / sum(part.weights)) for weight in part.weights]
    if part.calibrations:
        most = number(LARGEST_SCORE)
        calibrated = zip(part.calibrations, found, strict=True)
        found = [
            _calibrated(query, one, [f"least(greatest({s}, -{most}), {most})" for s in scores])
            for one, scores in calibrated
        ]
    means = [
        query.let(query.total([f"{share} * {one}" for share, one in zip(shares, each)]))
        for each in zip(*found, strict=True)
    ]
    if not part.calibrations:
        return means
    logs = [query.let(f"ln(greatest({mean}, {number(FLOOR)}))") for mean in means]
    return [f"({logs[1]} - {logs[0]})"] if part.n_outputs == 1 else logs
