"""Scores of an average of models, taken apart: what each column adds through all members."""

from dataclasses import replace

import numpy as np

from ..kinds import kind_of
from ..runtime.outcome import FLOOR, LARGEST_SCORE, averaged_scores
from .record import Explanation

_PLACES, _LENGTHS = np.polynomial.legendre.leggauss(32)


def explain_averaged(predictor, X, explain):
    """One explanation, in the form that the members share; ``explain(part, rows)`` explains one.

    Linear members have coefficients. With a forest among them all have contributions. With a kernel
    machine, shares of its kernels are followed by one share for each other member, which is the sum
    of its contributions.

    Without calibrations every part is the weighted mean of the members' parts. The mean of
    probabilities is no sum. There a part is multiplied by the slope of the averaged score in the
    member's score, which is the mean of slopes on the straight way from the members' intercepts to
    their scores (integrated gradients). The intercept is what the parts leave of the score: the
    score of the members' intercepts but for the rounding of 32 steps on that way.
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
    """Of each member d score_k / d (its score_j), shape (n_rows, n_outputs, n_outputs)."""
    n_rows, n_outputs = found[0].intercepts.shape
    if not predictor.calibrations:
        identity = np.broadcast_to(np.eye(n_outputs), (n_rows, n_outputs, n_outputs))
        return [share * identity for share in predictor.shares]
    starts = [one.intercepts for one in found]
    ends = [one.scores for one in found]
    total = [np.zeros((n_rows, n_outputs, n_outputs)) for _ in found]
    for place, length in zip((1.0 + _PLACES) / 2.0, _LENGTHS / 2.0):
        told = [
            _SLOPES[kind_of(part)](part, np.clip(at, -LARGEST_SCORE, LARGEST_SCORE))
            for part, start, end in zip(predictor.calibrations, starts, ends)
            for at in [start + place * (end - start)]
        ]
        mean = sum(share * p for share, (p, _) in zip(predictor.shares, told))
        inverse = np.where(mean > FLOOR, 1.0 / np.maximum(mean, FLOOR), 0.0)[:, :, None]
        for sum_, share, (_, slopes) in zip(total, predictor.shares, told):
            logs = share * slopes * inverse
            sum_ += length * (logs[:, 1:] - logs[:, :1] if n_outputs == 1 else logs)
    return total


# --- probabilities, (n_rows, n_classes), and their slopes in scores -------------------------------


def _softmax(scores, factors):
    """Of the scores times ``factors``, shape (n_classes, n_outputs)."""
    logs = scores @ factors.T
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found, found[:, :, None] * (factors - (found @ factors)[:, None])


def _log_loss(part, scores):
    n_outputs = scores.shape[1]
    return _softmax(scores, np.eye(n_outputs) if n_outputs > 1 else np.array([[0.0], [1.0]]))


def _temperature(part, scores):
    n_outputs = scores.shape[1]
    both = np.eye(n_outputs) if n_outputs > 1 else np.array([[-1.0], [1.0]])
    return _softmax(scores, float(part.factor[0]) * both)


def _own_shares(part, scores):
    n_rows, n_outputs = scores.shape
    slopes = np.eye(n_outputs) if n_outputs > 1 else np.array([[-0.5], [0.5]])
    return part(scores), np.broadcast_to(slopes, (n_rows, *slopes.shape))


def _sigmoids(part, scores):
    with np.errstate(over="ignore"):
        values = 1.0 / (1.0 + np.exp(part.slopes * scores + part.offsets))
    return _shared(part(scores), values, -part.slopes * values * (1.0 - values))


def _tables(part, scores):
    values, slopes = np.empty(scores.shape), np.zeros(scores.shape)
    for o, (known, told) in enumerate(zip(part.scores, part.probabilities)):
        values[:, o] = np.interp(scores[:, o], known, told)
        steps = np.pad(np.diff(told) / np.diff(known), 1)
        slopes[:, o] = steps[np.searchsorted(known, scores[:, o])]
    return _shared(part(scores), values, slopes)


def _shared(found, values, slopes):
    """v_k / Σ v_j, or of two classes 1 − v and v."""
    if values.shape[1] == 1:
        return found, np.stack([-slopes, slopes], axis=1)
    total = values.sum(axis=1)[:, None, None]
    own = (np.eye(values.shape[1]) - found[:, :, None]) * slopes[:, None]
    return found, np.divide(own, total, out=np.zeros_like(own), where=total > 0)


_SLOPES = {
    "LogLoss": _log_loss,
    "Shares": _own_shares,
    "Sigmoids": _sigmoids,
    "Temperature": _temperature,
    "Tables": _tables,
}
