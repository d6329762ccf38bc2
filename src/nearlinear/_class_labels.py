"""Class labels of fitted models of any library."""

from sklearn.base import is_regressor


def class_labels(model):
    """Return the labels of a fitted classifier; None for any other model.

    Regressors by scikit-learn's tags are none, whatever their ``classes_``: those of CatBoost have
    empty ones. A model without tags is a classifier if its ``classes_`` are not empty.
    """
    labels = getattr(model, "classes_", None)
    if labels is None or len(labels) == 0 or _has_regressor_tags(model):
        return None
    return labels


def _has_regressor_tags(model):
    try:
        return is_regressor(model)
    except AttributeError:  # a model without tags
        return False
