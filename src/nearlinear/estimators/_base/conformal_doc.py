"""Parameters and attributes of the multiple locally linear kernel machines, said once."""

from .machine_doc import EPSILON, TARGET_SPREAD

_PARAMETERS = """profile : {{"gaussian", "exponential", "linear", "square"}}, default="gaussian"
        How a kernel fades with the distance r from its anchor: exp(−γr²), exp(−γr), (1 − γr)₊ or
        (1 − γr²)₊. The last two are exactly zero far away.
    per_feature : bool, default=False
        Fade in every feature by itself. The model is then a sum of functions of single features.
    C : float, default={C}
        Weight of the losses.{epsilon}
    length_exponent : float between 0 and 1, default={length_exponent}
        Kernels are divided by the power of this of their mean squared length. 0 keeps few and
        wide kernels, 1 gives narrow ones an equal chance and keeps more.
    bandwidths : array or None, default=None
        γ of the candidates in units of 1/s, where s is the median squared distance between
        distinct rows (of more than 500, about 500 stand for all). With ``per_feature``, s is 0.91
        times the mean variance of a feature: the median squared difference of two values, if they
        are normal. "exponential" and "linear" take the root of s, and "linear" and "square" half
        the γ, since they end where the others only fade. None stands for 0.03, 0.1, 0.3, 1, 3 and
        10.
    anchors : {{"rows", "kmeans"}} or array, default="rows"
        Where kernels may stand: on training rows, on the centers of k-means, or on these points.
    n_anchors : int or None, default=2000
        Most places: of more rows a random sample is taken. None takes all rows.
    selection_rows : int or None, default=20_000
        Of more rows, so many choose the kernels; all of them then weigh these and fit the models.
        The certificate is over all rows. None lets all rows choose.
    bias : {{"free", "penalized", "none"}}, default="free"
        Whether there is a constant, and whether it counts as a weight.
    max_kernels : int or None, default=None
        Keep the most important kernels only, weighed anew.
    refinement : {{"models", "kernels"}} or None, default={refinement}
        After the choice of kernels, fit the local models anew without the pressure to be few, or
        improve models, anchors and bandwidths together by gradient; anchors then leave the rows.
        A stream goes on from the kernels as they were chosen.
    max_insertions : int, default=30
        Most kernels that enter in one round.
    chunk_size : int or None, default=None
        Candidates arrive as a stream in chunks of this many, and those once refused are tried
        again when it has ended. None prices all of them.
    max_support : int or None, default=None
        Most rows that a stream stores: beyond, it keeps a random sample of all rows that came,
        with some of each class however rare it is. The model is then about that of a fit to as
        many random rows, after any number of passes: the stored rows weigh together no more than
        so many rows of the stream do. ``fit`` itself learns from all rows, and ``partial_fit``
        after it goes on from a sample of them. None stores all rows, and ``finish`` then gives
        what ``fit`` does.
    tol : float, default=1e-2
        Stop at this relative duality gap, over all candidates; at 0.05 where a sample chooses.
    max_iter : int, default=100
        Most rounds of pricing candidates.{class_weight}
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the sample of rows, of k-means, of the rows that a stream stores within
        ``max_support`` and of the order of its steps.
    verbose : int, default=0
        Print a line for every round."""
_CLASS_WEIGHT = """
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class."""
_CLASSES = """classes_ : array of shape (n_classes,)
        Class labels.
    """
_ATTRIBUTES = """anchors_, gammas_ : arrays of shape (n_kernels, n_features) and (n_kernels,)
        The kernels in use, ``n_kernels_`` of them.
    kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Their weights, before any refinement.
    objective_, duality_gap_ : float
        After ``fit`` or ``finish``: the training objective (summed over classes) before any
        refinement, and how far from its optimum over the ``n_priced_`` candidates it is at most;
        both in double precision.
    n_priced_ : int
        After ``fit`` or ``finish``: candidates that the certificate covers.
    n_support_ : int
        Rows with a non-zero dual coefficient. Prediction does not need them. The estimator keeps
        them (with ``max_support``, a sample of all rows) so that ``partial_fit`` can go on; a
        saved or exported model has none.
    n_iter_ : int
        After ``fit`` or ``finish``: rounds of the slowest class.
    predictor_ : ConformalLinear
        Anchors, bandwidths and local models: all that prediction needs.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes."""


def documents_conformal(C=10.0, length_exponent=0.5, refinement="None"):
    """Fill ``%(parameters)s`` and ``%(attributes)s`` of a class's docstring."""

    def fill(cls):
        is_classifier = cls.__name__.endswith("Classifier")
        parameters = _PARAMETERS.format(
            C=C, length_exponent=length_exponent, refinement=refinement,
            epsilon="" if is_classifier else EPSILON,
            class_weight=_CLASS_WEIGHT if is_classifier else "",
        )  # fmt: skip
        attributes = (_CLASSES if is_classifier else TARGET_SPREAD) + _ATTRIBUTES
        cls.__doc__ = cls.__doc__.replace("%(parameters)s", parameters)
        cls.__doc__ = cls.__doc__.replace("%(attributes)s", attributes)
        return cls

    return fill
