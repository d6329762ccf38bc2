"""Parameters and attributes that all estimators on sums of kernels share, said once."""

_KERNELS = """kernels : str, kernel, function, Family or list of these, default="{kernels}"
        What is combined: names ("linear", "poly", "gaussian"; "gaussians" is ten widths on all
        features, "bank" these and polynomials on all and on every single feature), objects of
        :mod:`nearlinear.kernels`, functions of two sets of rows that return their Gram block.
        "precomputed" takes X of shape (n_rows, n_training_rows, n_kernels).
    C : float, default={C}
        Weight of the losses."""
EPSILON = """
    epsilon : float, default=0.1
        Errors up to this size are free. C and epsilon are in units of the values' spread, since
        the machine learns (y − center) / spread: they mean the same whether y is in dollars or in
        millions. For a tube e and a weight c in y's own unit, as other machines take them, give
        epsilon = e / np.std(y) and C = c / np.std(y); exact is to divide by ``target_spread_``."""
TARGET_SPREAD = """target_spread_ : float
        The spread of the training values: their standard deviation, where values more than three
        interquartile ranges beyond the quartiles count as if they lay there. ``objective_`` and
        ``duality_gap_`` are in units of its square.
    """
_MIDDLE = """
    normalization : {{"variance", "trace", "diagonal"}} or None, default="variance"
        Kernels are divided by the variance of the rows' images, so that wide and narrow ones
        compete on equal terms; by their mean diagonal; to k(x, x) = 1; or taken as they are. The
        variance is that of distinct rows; of more than 500, about 500 stand for all.{bias}
    tol : float, default={tol}
        Stop at this relative duality gap, over all kernels.
    max_iter : int, default={max_iter}
        Most steps of the kernel weights."""
_BIAS = """
    bias : {"free", "penalized", "none"}, default="free"
        Whether the machine has a constant, and whether it counts as a weight."""
_CENTER = """ What it learns is
        y less its center, which is added again in any case."""
_CLASS_WEIGHT = """
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class."""
_LAST = """
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data. None stands for the machine's memory, of
        which Gram matrices take half a gigabyte at most; what does not fit is computed anew.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    verbose : int, default=0
        Print a line for every step of the weights."""
_CLASSES = """classes_ : array of shape (n_classes,)
        Class labels.
    """
_ATTRIBUTES = """kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Weights, one row per class if there are more than two.
    kernels_ : list
        The kernels that the weights belong to.
    objective_, duality_gap_ : float
        The training objective (summed over classes), and how far from its optimum it is at most;
        both in double precision, whatever the machine was solved in.
    n_iter_ : int
        {n_iter}
    n_support_ : int
        Rows that the model keeps; ``support_share_`` of the distinct training rows.
    predictor_ : KernelExpansion
        Support rows and coefficients.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes."""


def documents_machine(n_iter="Machines solved for the slowest class.", bias=True, **defaults):
    """Fill ``%(parameters)s`` and ``%(attributes)s`` of a class's docstring."""
    values = {"kernels": "gaussians", "C": 10.0, "tol": "1e-2", "max_iter": 500} | defaults

    def fill(cls):
        is_classifier = cls.__name__.endswith("Classifier")
        values["bias"] = (_BIAS + ("" if is_classifier else _CENTER)) if bias else ""
        parameters = _KERNELS + ("" if is_classifier else EPSILON) + _MIDDLE
        parameters = (parameters + (_CLASS_WEIGHT if is_classifier else "") + _LAST).format(
            **values
        )
        attributes = _CLASSES if is_classifier else TARGET_SPREAD
        attributes += _ATTRIBUTES.format(n_iter=n_iter)
        cls.__doc__ = cls.__doc__.replace("%(parameters)s", parameters)
        cls.__doc__ = cls.__doc__.replace("%(attributes)s", attributes)
        return cls

    return fill
