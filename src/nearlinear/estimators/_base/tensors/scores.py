"""Scores and answers for rows that are torch tensors, as tensors on their device."""

from ....gpu.device import as_array, torch_for
from ....runtime.scores import finite_scores
from .rows import require_calm


def tensor_scores(model, X):
    """Scores of tensors as a tensor on their device; by way of arrays where a kind is new to it."""
    torch = torch_for(X.device)
    from ....gpu.scores import is_known, scores_of, tells_odd_rows

    predictor = model.predictor_
    has_more = model._steps or getattr(model, "n_gating_features_", 0)  # than the rows themselves
    is_own = is_known(predictor) and not has_more and not model._is_precomputed
    if is_own and not tells_odd_rows(predictor):
        is_own = bool(X.isfinite().all())  # arrays are refused in a sentence
    if is_own:
        scores = scores_of(predictor, X.detach())
        if not bool(torch.isfinite(scores).all()):
            require_calm(X)
            names = type(model).__name__, type(predictor).__name__
            finite_scores(scores.cpu().numpy(), as_array(X), *names)
        return scores
    return torch.as_tensor(model._scores(as_array(X)), device=X.device)


def positions_of(scores):
    """Positions of the highest scores among the classes."""
    return (scores[:, 0] > 0).int() if scores.shape[1] == 1 else scores.argmax(1).int()


def tensor_answers(model, scores):
    """Labels as a tensor if they are numbers, else as an array; values as they are."""
    import torch

    if getattr(model, "multilabel_", False):
        return (scores > 0).int()
    classes = getattr(model, "classes_", None)
    if classes is None:
        return scores[:, 0] if scores.shape[1] == 1 else scores
    found = positions_of(scores).long()
    if classes.dtype.kind in "biuf":
        return torch.as_tensor(classes, device=scores.device)[found]
    return classes[found.cpu().numpy()]


def tensor_probabilities(model, scores):
    """Class probabilities on the scores' device."""
    import torch

    found = model._outcome.probabilities([scores.double().cpu().numpy()])
    return torch.as_tensor(found, device=scores.device)
