"""What gates of a file must be; every rule gives the number of components."""

import numpy as np

from .fields import checked, columns, count, floats, number, require

EXPANSIONS = ("KernelExpansion",)

# --- gates on anchors ---------------------------------------------------------------------------


def _anchors(part, n_features):
    n_anchors, _ = floats(part.anchors, None, n_features, name="anchors")
    count(part.n_neighbors, "n_neighbors", 1, n_anchors)
    return n_anchors


def _soft_assignment(part, n_features):
    number(part.sharpness, "sharpness", 0.0)
    if part.metric is not None:
        floats(part.metric, n_features, name="metric")
        require(np.all(part.metric >= 0.0), "SoftAssignment", "its metric is negative")
    return _anchors(part, n_features)


def _reconstruction(part, n_features):
    number(part.ridge, "ridge", 0.0)
    return _anchors(part, n_features)


SPARSE_GATES = {
    "SoftAssignment": (("anchors", "n_neighbors", "sharpness", "metric"), _soft_assignment),
    "InverseDistance": (("anchors", "n_neighbors"), _anchors),
    "ReconstructionCodes": (("anchors", "n_neighbors", "ridge"), _reconstruction),
}

# --- gates of components ------------------------------------------------------------------------


def _linear_gate(part, n_features):
    n_components, _ = floats(part.directions, None, n_features, name="directions")
    require(n_components >= 1, part.kind, "it has no components")
    floats(part.offsets, n_components, name="offsets")
    return n_components


def _gaussian_gate(part, n_features):
    n_components, _ = floats(part.centers, None, n_features, name="centers")
    require(n_components >= 1, part.kind, "it has no components")
    floats(part.log_widths, n_components, name="log_widths")
    number(part.scale, "scale", 1e-300)
    return n_components


def _viewing(part, n_features):
    require(getattr(part.view, "kind", None) == "Columns", "gate", "its view is unknown")
    require(set(vars(part.view)) == {"kind", "columns"}, "gate", "its view is odd")
    columns(part.view.columns, n_features, "view")
    return checked(part.gate, "gate", len(part.view.columns))


def _rounded(part, n_features):
    number(part.margin, "margin", 0.0, 1.0)
    return checked(part.gate, "gate", n_features)


def _of_scores(name):
    def rule(part, n_features):
        number(getattr(part, name), name)
        return checked(part.scores, "predictor", n_features, only=EXPANSIONS)

    return rule


def _unit_length(part, n_features):
    return checked(part.gate, "gate", n_features)


def _repeated(part, n_features):
    count(part.count, "count", 1, 1 << 40)
    return part.count * checked(part.gate, "gate", n_features)


def _top_and_bottom(part, n_components):
    """Of the components' scores, in place of rows."""
    count(part.count, "count", 1, n_components)
    return n_components


GATES = {
    "Softmax": (("directions", "offsets"), _linear_gate),
    "Sigmoid": (("directions", "offsets"), _linear_gate),
    "GaussianGate": (("centers", "log_widths", "scale"), _gaussian_gate),
    "Viewing": (("gate", "view"), _viewing),
    "Rounded": (("gate", "margin"), _rounded),
    "SoftmaxOf": (("scores", "sharpness"), _of_scores("sharpness")),
    "Clipped": (("scores", "floor"), _of_scores("floor")),
    "UnitLength": (("gate",), _unit_length),
    "Repeated": (("gate", "count"), _repeated),
    "TopAndBottom": (("count",), _top_and_bottom),
}
