"""Scores and answers for rows that are torch tensors, as tensors on their device."""

from ....gpu.device import torch_for


def tensor_scores(model, X):
    """Scores of tensors as a tensor on their device; by way of arrays where a kind is new to it."""
    torch = torch_for(X.device)
    from ....gpu.scores import is_known, scores_of

    if not model._steps and not model._is_precomputed and is_known(model.predictor_):
        return scores_of(model.predictor_, X.detach())
    return torch.as_tensor(model._scores(X.detach().cpu().numpy()), device=X.device)


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
