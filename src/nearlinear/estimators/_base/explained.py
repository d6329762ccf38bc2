"""Rows on their way into an explanation, and explanations on their way out."""

from dataclasses import replace

from sklearn.utils.validation import check_is_fitted

from ..._warn import warn_user
from ...preparation.likely_rows import look_prepared, look_raw
from ...preparation.origins import origins
from ...preparation.transformers import NoPreparation, preparation_of_steps
from ...runtime.columns.names import column_names, select_columns


def rows_to_explain(model, X, preparation):
    """Rows as the model takes them; says so where they look to have gone another way."""
    check_is_fitted(model, "predictor_")
    if preparation is None:
        known = model._training.preparation
        if look_raw(known, X):
            warn_user(
                f"{type(model).__name__} was saved behind a scaler, and these rows look as they "
                "were before it: give explain(X, preparation=pipeline[:-1]), or scaled rows."
            )
        return X
    if look_prepared(_table(preparation), X):
        warn_user(
            "These rows look as if they were prepared already: beside preparation= give raw rows."
        )
    return preparation.transform(X)


def told(model, found, preparation, X):
    """An explanation with names; of the raw rows ``X`` where each column tells where it is from."""
    first, names = model, None
    if preparation is not None:
        table = _table(preparation)
        X = _select_columns(X, getattr(preparation, "feature_names_in_", None))
        # mixed columns are no forest's own, so that its parts stay those of what it sees
        is_mixed = found.parts is not None and table is not None and table.matrix is not None
        if table is not None and table.is_affine and not is_mixed:
            first, found = preparation, found.in_original_units(preparation, X)
        elif (raw_columns := _raw_columns(found, table)) is not None:
            first, found = preparation, found.summed(raw_columns, X)
        else:
            first, names = None, _made_names(preparation)
    names = getattr(first, "feature_names_in_", names)
    classes = getattr(model, "classes_", None)
    if classes is not None:
        classes = classes[1:] if found.intercepts.shape[1] == 1 else classes
    return replace(
        found,
        feature_names=None if names is None else tuple(str(name) for name in names),
        classes=None if classes is None else tuple(classes.tolist()),
    )


def _raw_columns(found, table):
    """The raw column of each explained column; None if some column has no single origin."""
    is_of_columns = found.contributions is not None and not found.pairs
    return origins(table) if table is not None and is_of_columns else None


def _select_columns(X, names):
    """Rows with the columns of the fit by name if both have names."""
    given = column_names(X)
    if names is None or given is None or given == names.tolist():
        return X
    return select_columns(X, names.tolist(), optional=names)


def _table(preparation):
    try:
        return preparation_of_steps([preparation])
    except NoPreparation:
        return None


def _made_names(preparation):
    try:
        return preparation.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that cannot name what it makes
        return None
