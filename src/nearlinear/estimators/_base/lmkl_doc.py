"""What the two LMKL estimators say alike."""

_GATE = """n_copies : int, default=5
        Components of every kernel. Several components may share one kernel, since each has a gate
        of its own: copies of a linear kernel make a piecewise linear model.
    gate : {"softmax", "sigmoid", "gaussian"} or object, default="softmax"
        Who answers for a row: components that share it out by linear scores; components that are on
        or off on their own; components around centers; or a gate of yours, an object with
        ``start``, ``parameters``, ``with_parameters``, ``gradient`` and a call (see
        :mod:`nearlinear.gates.learned`). Gates start from k-means.
    gating_features : list of columns, function or None, default=None
        What the gate sees of a row: some columns, by number or name, a function of the rows, or
        all. A second matrix for the gate is given to ``fit`` and ``predict`` as ``gating=``.
    gate_penalty : float, default=3.0
        Weight of half the squared parameters of the gate, in units of C: it keeps the gate from
        following single rows."""
_ENGINE = """solver : {"auto", "smo", "mwu", "adam"}, default="auto"
        "smo" solves the machine for every gate by pair steps in the dual; "mwu" the same (with the
        squared hinge, whose C weighs squared slacks) from Gram columns alone, in memory that grows
        with rows × kernels; "adam" learns gate and local models together by mini-batches, with no
        Gram matrix, for linear and affine kernels. "auto" is "adam" for these kernels beyond 10,000
        rows, else "smo".
    n_init : int, default=1
        Starts from different k-means centers; the one with the least objective is kept. Not for
        "adam".
    max_epochs : int or None, default=None
        Passes of "adam" over the rows; None stands for as many as make about 8,000 steps, between
        20 and 500.
    batch_size : int, default=256
        Rows in a step of "adam".
    learning_rate : float, default=0.1
        Largest step of "adam"."""
_ATTRIBUTES = """gate_ : Rounded
        The learned gate, with values below 0.001 rounded to 0 and above 0.999 to 1; a list of them
        if there are more than two classes.
    component_share_ : array of shape (n_components,), or a list of such
        Share of the training rows for which each component is open at all.
    n_support_per_component_ : array of shape (n_components,), or a list of such
        Support rows for which each component is open.
    n_gating_features_ : int
        Columns of the second matrix, 0 without one.
    objective_path_ : array, or a list of such
        The objective after every step of the gate (with "adam": the mean loss of every epoch)."""
_NOTES = """The gate is learned by L-BFGS on the machine's optimum as a
    function of the gate, whose gradient needs no derivative of the machine (Danskin), with machines
    started from the last one. Differs in: L-BFGS; starts from k-means, since copies of one kernel
    would start all but tied; ``gate_penalty`` (0 is the published problem); the gate is rounded and
    its machine solved once more, so that what predicts is what was solved. Not a convex problem:
    ``duality_gap_`` certifies the machine for the learned gate ("adam": not a number).
    Linear and affine kernels collapse to one linear model per component: O(P d) a prediction."""

TOL_TEXT = """Stop when a step of the gate (by L-BFGS) lowers the objective by less than this share
        of its first value. This is no duality gap, since the problem is not convex: only the
        machine of the last gate is solved to this relative gap. "adam" does not use it."""

LMKL_TEXTS = {
    "gate": _GATE,
    "engine": _ENGINE,
    "gate_attributes": _ATTRIBUTES,
    "notes": _NOTES,
}

# What is solved from Gram columns are machines of two classes.
_MWU = """ "mwu" the same (with the
        squared hinge, whose C weighs squared slacks) from Gram columns alone, in memory that grows
        with rows × kernels; "adam" learns"""
LMKR_TEXTS = {
    **LMKL_TEXTS,
    "engine": _ENGINE.replace('{"auto", "smo", "mwu", "adam"}', '{"auto", "smo", "adam"}').replace(
        _MWU, '\n        "adam" learns'
    ),
}
