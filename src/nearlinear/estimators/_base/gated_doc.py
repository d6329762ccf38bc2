"""Parameters and attributes that all estimators on gated kernels share, said once."""

from .machine_doc import EPSILON, TARGET_SPREAD

_KERNELS = """kernels : str, kernel, function, Family or list of these, default="{kernels}"
        What is combined: names ("linear", "affine", "poly", "gaussian"; "gaussians" is ten widths
        on all features), objects of :mod:`nearlinear.kernels`, functions of two sets of rows that
        return their Gram block."""
_C = """C : float, default={C}
        Weight of the losses."""
_NORMALIZATION = """
    normalization : {{"variance", "trace", "diagonal"}} or None, default="variance"
        Kernels are divided by the variance of the rows' images, by their mean diagonal, to
        k(x, x) = 1, or taken as they are."""
_SOLVER = """
    solver : {{"smo", "mwu"}}, default="smo"
        How machines are solved: "smo" by pair steps (hinge), on Gram matrices where these fit and
        on rows computed on demand where not; "mwu" from Gram columns alone, in memory that grows
        with rows × kernels. "mwu" has the squared hinge, so that its C weighs squared slacks."""
_TOL = """
    tol : float, default={tol}
        {tol_text}"""
_MAX_ITER = """
    max_iter : int, default={max_iter}
        {max_iter_text}"""
_CLASS_WEIGHT = """
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class."""
_LAST = """
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data. None stands for the machine's memory, of
        which Gram matrices take half a gigabyte at most; what does not fit is computed anew.
    n_jobs : int or None, default=None
        Threads; results do not depend on it."""
_RANDOM = """
    random_state : int, RandomState or None, default=None
        {random}"""
_VERBOSE = """
    verbose : int, default=0
        Print a line for every step."""
_CLASSES = """classes_ : array of shape (n_classes,)
        Class labels.
    """
_ATTRIBUTES = """kernels_ : list
        The kernels as they are used, with their scales.
    objective_, duality_gap_ : float
        The training objective (summed over classes), and how far from its optimum it is at most
        {gap}; both in double precision.
    n_iter_ : int
        {n_iter}
    n_support_ : int
        Training rows with a coefficient; ``support_share_`` of the distinct ones.
    predictor_ : {predictor}
        All that prediction needs.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes."""


def documents_gated(
    predictor, n_iter, max_iter_text, random, gap="for this gate", marks=None, **defaults
):
    """Fill ``%(kernels)s``, ``%(shared)s`` and ``%(attributes)s`` of a class's docstring.

    ``marks`` are further marks and their texts. A parameter whose text is None is left out.
    """
    texts = {"n_iter": n_iter, "predictor": predictor, "gap": gap}
    texts |= {"max_iter_text": max_iter_text, "random": random}
    values = {
        "kernels": "gaussians",
        "C": 10.0,
        "tol": "1e-2",
        "max_iter": 500,
        "solver": True,
        "tol_text": "Stop at this relative duality gap.",
    } | defaults

    def fill(cls):
        is_classifier = cls.__name__.endswith("Classifier")
        shared = _C + ("" if is_classifier else EPSILON) + _NORMALIZATION
        shared += (_SOLVER if values["solver"] else "") + _TOL
        shared += _MAX_ITER if max_iter_text else ""
        shared += (_CLASS_WEIGHT if is_classifier else "") + _LAST
        shared += (_RANDOM if random else "") + _VERBOSE
        attributes = (_CLASSES if is_classifier else TARGET_SPREAD) + _ATTRIBUTES
        for mark, text in (
            ("kernels", _KERNELS), ("shared", shared), ("attributes", attributes)
        ):  # fmt: skip
            text = text.format(**values, **texts)
            cls.__doc__ = cls.__doc__.replace(f"%({mark})s", text)
        for mark, text in (marks or {}).items():
            cls.__doc__ = cls.__doc__.replace(f"%({mark})s", text)
        return cls

    return fill
