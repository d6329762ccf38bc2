"""Scores of an average of models, taken apart: what each column adds through all members."""

from dataclasses import replace

import numpy as np

from ..kinds import kind_of
from ..runtime.outcome import FLOOR, LARGEST_SCORE, averaged_scores
from .record import Explanation

_STEPS = 16
_NEAR = 1e-9  # numbers that are no further apart have a slope and no secant


def explain_averaged(predictor, X, explain):
    """One explanation, in the form that the members share; ``explain(part, rows)`` explains one.

    Linear members have coefficients. With a forest among them all have contributions. With a kernel
    machine, shares of its kernels are followed by one share for each other member, which is the sum
    of its contributions.

    Without calibrations every part is the weighted mean of the members' parts. The mean of
    probabilities is no sum. There a part is multiplied by the slope of the averaged score in the
    member's score, which is the mean of secants of 16 steps on the straight way from the members'
    intercepts to their scores (integrated gradients). These steps add up exactly, so the intercept
    is the averaged score of the members' intercepts.
    """
    found = [explain(member, X.astype(member.dtype, copy=False)) for member in predictor.members]
    slopes = _slopes(predictor, found)
    whole = _joined(found, slopes)
    if not predictor.calibrations:
        intercepts = sum(share * one.intercepts for share, one in zip(predictor.shares, found))
        return _with_gates(replace(whole, intercepts=intercepts), predictor, found)
    scores = averaged_scores(
        predictor.calibrations, predictor.weights, [one.scores for one in found]
    )
    told = replace(whole, intercepts=np.zeros_like(scores)).scores
    return _with_gates(replace(whole, intercepts=scores - told), predictor, found)


def _with_gates(whole, predictor, found):
    """Trees side by side have paths; of other members the shares are told."""
    shapes = {(one.component, np.shape(one.active)) for one in found}
    if not predictor.calibrations and len(shapes) == 1 and found[0].component == "node":
        active, gates = (
            np.stack([getattr(one, name) for one in found], axis=1) for name in ("active", "gates")
        )
        return replace(whole, component="node", active=active, gates=gates)
    shape = len(whole.intercepts), len(found)
    active = np.broadcast_to(np.arange(shape[1]), shape)
    gates = np.broadcast_to(predictor.shares, shape)
    return replace(whole, component="member", active=active, gates=gates)


def _joined(found, slopes):
    nothing, rows = found[0].intercepts, found[0].rows
    if all(one.coefficients is not None for one in found):
        parts = [slope @ one.coefficients for slope, one in zip(slopes, found)]
        return Explanation(nothing, coefficients=sum(parts), rows=rows)
    if all(one.contributions is not None for one in found):
        parts = [slope @ one.contributions for slope, one in zip(slopes, found)]
        n_features = rows.shape[1]
        shared = sum(part[:, :, :n_features] for part in parts)
        pairs = tuple(pair for one in found for pair in one.pairs)
        parts = np.concatenate([shared, *(part[:, :, n_features:] for part in parts)], axis=2)
        return Explanation(nothing, rows=rows, parts=parts, pairs=pairs)
    machines = [(slope, one) for slope, one in zip(slopes, found) if one.kernel_shares is not None]
    others = [(slope, one) for slope, one in zip(slopes, found) if one.kernel_shares is None]
    shares = [slope @ one.kernel_shares for slope, one in machines]
    shares += [slope @ one.contributions.sum(axis=2, keepdims=True) for slope, one in others]
    return Explanation(nothing, kernel_shares=np.concatenate(shares, axis=2))


def _slopes(predictor, found):
    """Of each member d score_k / d (its score_j), shape (n_rows, n_outputs, n_outputs).

    All slopes are secants of a step, chosen so that steps add up to the whole way exactly.
    """
    n_rows, n_outputs = found[0].intercepts.shape
    if not predictor.calibrations:
        identity = np.broadcast_to(np.eye(n_outputs), (n_rows, n_outputs, n_outputs))
        return [share * identity for share in predictor.shares]
    total = [np.zeros((n_rows, n_outputs, n_outputs)) for _ in found]
    for step in range(_STEPS):
        told = [
            _chances(part, *(_between(one, (step + k) / _STEPS) for k in (0, 1)))
            for part, one in zip(predictor.calibrations, found)
        ]
        means = (sum(share * one[k] for share, one in zip(predictor.shares, told)) for k in (0, 1))
        of_logs = _secants_of_logs(*means)[:, :, None]
        for sum_, share, (_, _, slopes) in zip(total, predictor.shares, told):
            logs = share * slopes * of_logs / _STEPS
            sum_ += logs[:, 1:] - logs[:, :1] if n_outputs == 1 else logs
    return total


def _between(one, along):
    """Scores on the way from an intercept to a score."""
    at = one.intercepts + along * (one.scores - one.intercepts)
    return np.clip(at, -LARGEST_SCORE, LARGEST_SCORE)


def _secants_of_logs(first, last):
    """Of log max(p, floor), where p goes from ``first`` to ``last``."""
    low, high = np.maximum(first, FLOOR), np.maximum(last, FLOOR)
    slopes = np.where((first + last) / 2 > FLOOR, 2.0 / (low + high), 0.0)
    is_far = np.abs(last - first) > _NEAR * high
    return np.divide(np.log(high) - np.log(low), last - first, out=slopes, where=is_far)


def _chances(part, first, last):
    """Probabilities (n_rows, n_classes) at two scores, and d p_k / d score_j between them.

    Every class has a value of its own score. Where probabilities are v_k / T with T = Σ v_j, the
    step of one is (Δv_k − p ΔT) / T with p and T in the middle of the step: no rounding but that.
    """
    n_outputs = first.shape[1]
    (low, high), own, are_shared = _VALUES[kind_of(part)](part, first, last)
    of_output = np.eye(n_outputs) if n_outputs > 1 else np.ones((2, 1))
    slopes = own[:, :, None] * of_output
    if not are_shared:
        return low, high, slopes
    sums = [values.sum(axis=1, keepdims=True) for values in (low, high)]
    # nothing has a share where all values are 0
    sums = [np.where(total > 0, total, 1.0) for total in sums]
    low, high = low / sums[0], high / sums[1]
    middle = (low + high)[:, :, None] / 2
    slopes = slopes - middle * slopes.sum(axis=1, keepdims=True)
    return low, high, slopes * (2.0 / (sums[0] + sums[1]))[:, :, None]


# --- values of classes at two scores, their secants, and whether probabilities are shares of them -


def _softmax(factors, first, last):
    """exp(factor · score) up to what all classes have in common."""
    logs = [scores * factors for scores in (first, last)]
    top = np.maximum(*(one.max(axis=1, keepdims=True) for one in logs))
    low, high = (np.exp(one - top) for one in logs)
    return (low, high), factors * _secants(low, high, *logs, (low + high) / 2), True


def _log_loss(part, first, last):
    return _softmax(np.array([0.0, 1.0]) if first.shape[1] == 1 else 1.0, first, last)


def _temperature(part, first, last):
    both = np.array([-1.0, 1.0]) if first.shape[1] == 1 else 1.0
    return _softmax(part.factor[0] * both, first, last)


def _own_shares(part, first, last):
    values = [part(scores) for scores in (first, last)]
    slopes = np.array([-0.5, 0.5]) if first.shape[1] == 1 else np.ones(first.shape[1])
    return values, np.broadcast_to(slopes, values[0].shape), False


def _sigmoids(part, first, last):
    with np.errstate(over="ignore"):
        low, high = (
            1.0 / (1.0 + np.exp(part.slopes * scores + part.offsets)) for scores in (first, last)
        )
    middle = (low + high) / 2
    return _of_each(low, high, first, last, -part.slopes * middle * (1.0 - middle))


def _tables(part, first, last):
    low, high, flat = np.empty(first.shape), np.empty(first.shape), np.zeros(first.shape)
    for o, table in enumerate(zip(part.scores, part.probabilities)):
        low[:, o], high[:, o] = (np.interp(scores[:, o], *table) for scores in (first, last))
        known, told = table
        steps = np.pad(np.diff(told) / np.diff(known), 1)
        flat[:, o] = steps[np.searchsorted(known, first[:, o])]
    return _of_each(low, high, first, last, flat)


def _of_each(low, high, first, last, slopes):
    """Two classes have 1 − v and v, which are probabilities; several have shares."""
    slopes = _secants(low, high, first, last, slopes)
    if low.shape[1] > 1:
        return (low, high), slopes, True
    return [np.hstack([1.0 - v, v]) for v in (low, high)], np.hstack([-slopes, slopes]), False


def _secants(low, high, first, last, slopes):
    """(high − low) / (last − first), or ``slopes`` where these are too near each other."""
    is_far = np.abs(last - first) > _NEAR * (1.0 + np.abs(first))
    return np.divide(high - low, last - first, out=np.array(slopes), where=is_far)


_VALUES = {
    "LogLoss": _log_loss,
    "Shares": _own_shares,
    "Sigmoids": _sigmoids,
    "Temperature": _temperature,
    "Tables": _tables,
}
