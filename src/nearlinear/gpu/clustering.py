"""Anchors from rows on a device: k-means as in ``gates/clustering.py``."""

import torch

from .device import full_precision

_MOST_ROWS = 60_000  # k-means sees at most this many rows: more hardly move averages


@full_precision()
def fit_anchors(X, n_anchors, generator, weight, max_iter=25):
    """Centers of weighted k-means of float32 rows, started by k-means++, one to a row.

    Rows without weight count for nothing: there are no more centers than other rows.
    """
    X, weight = X[weight > 0], weight[weight > 0]
    if len(X) > _MOST_ROWS:
        chosen = torch.randperm(len(X), generator=generator, device=X.device)[:_MOST_ROWS]
        X, weight = X[chosen], weight[chosen]
    n_anchors = min(n_anchors, len(X))
    middle = X.mean(0)  # distances of rows far from the origin keep their digits
    rows = X - middle
    squares = rows.square().sum(1)
    centers = _spread_out(rows, squares, n_anchors, generator, weight)
    labels = None
    for _ in range(max_iter):
        half = 0.5 * centers.square().sum(1) - rows @ centers.T
        nearest, before = half.argmin(1), labels
        labels = nearest
        if before is not None and (labels != before).float().mean() < 1e-3:
            break
        member = torch.nn.functional.one_hot(labels, n_anchors).float() * weight[:, None]
        mass = member.sum(0)
        found = member.T @ rows / mass.clamp_min(1e-30)[:, None]
        # an empty cluster restarts at one of the rows that are served worst
        distance = squares + 2.0 * half.gather(1, labels[:, None])[:, 0]
        farthest = rows[distance.argsort(descending=True)[:n_anchors]]
        centers = torch.where((mass > 0)[:, None], found, farthest)
    return centers + middle


def _spread_out(rows, squares, n_anchors, generator, weight):
    """k-means++: each center is drawn by the squared distance from those before it.

    The least of exponential numbers over chances falls on a row by its chance; running sums of a
    device would not be the same in every run.
    """
    chances, nearest, chosen = weight, None, []
    for _ in range(n_anchors):
        waits = -torch.log1p(-torch.rand(len(rows), generator=generator, device=rows.device))
        one = (waits / chances.clamp_min(1e-30)).argmin()
        chosen.append(rows[one])
        distance = (squares + squares[one] - 2.0 * (rows @ rows[one])).clamp_min(0.0)
        nearest = distance if nearest is None else torch.minimum(nearest, distance)
        chances = weight * nearest
    return torch.stack(chosen)


@full_precision()
def default_sharpness(anchors, n_neighbors, X):
    """1 / mean over rows of (mean − smallest squared distance to the nearest anchors)."""
    middle = anchors.mean(0)
    centered = anchors - middle
    half = 0.5 * centered.square().sum(1) - (X - middle) @ centered.T
    nearest = half.topk(n_neighbors, largest=False, sorted=True)[0].double()
    spread = 2.0 * (nearest.mean(1) - nearest[:, 0]).mean().item()
    return 1.0 / spread if spread > 1e-37 else 1.0
