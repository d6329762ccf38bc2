"""LLC-SAPL: anchors learned together with the local models."""

from dataclasses import replace
from numbers import Real
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import Auto, ClassWeight, Rows, Seed, Targets
from .._sklearn import fit_context
from ..gpu.device import on_device
from ..losses import LOSSES
from ..solvers.anchors.adam import train_by_adam
from ..solvers.anchors.fixed_gate import solve_local_models
from ..solvers.anchors.linear_root import solve_linear
from ..solvers.anchors.objective import training_objective
from ..solvers.anchors.sgd import PrintedSteps, train_by_sgd, tried_t0, usual_anchor_rate
from ..solvers.solution import LocalModels
from ..solvers.trees.model import RowScaling
from ..solvers.watch import Progress, Watch
from ._base.anchor_settings import FIXED, LEARNED, LINEAR, AnchorSetting, attributes_of
from ._base.anchors import (
    ANCHORS,
    SHARPNESS,
    VALIDATION_FRACTION,
    check_memory,
    fit_kmeans_anchors,
    learn_more,
    make_gate,
    predictor_of,
)
from ._base.blocks.anchors import learn_sapl_from
from ._base.blocks.fit import fit
from ._base.capacity import (
    Verdict,
    are_many,
    choose_setting,
    errors,
    given,
    judge,
    searched_rows,
    standard_errors,
    tell_verdicts,
    usual_epochs,
)
from ._base.checks import at_least, cost, one_of, positive, shared
from ._base.input import stream_rows
from ._base.model import Learned, Model
from ._base.outputs import Teller, keeping
from ._base.tensors.anchors import learn_sapl_from_tensors

# The start need not be exact: training goes on from it at once.
_START_TOL, _START_EPOCHS, _START_ROWS = 1e-2, 30, 10_000
_CLEARLY = 2.0  # standard errors
# Local models on fixed anchors are final.
_FIXED_TOL, _FIXED_EPOCHS = 1e-3, 200


class LLCSAPLClassifier(ClassifierMixin, Model):
    r"""Locally linear SVM whose anchors are learned together with the linear models.

    Minimizes, over weights :math:`W`, biases :math:`b`, anchors :math:`v`, the sharpness
    :math:`\beta` and, if ``learn_metric``, the metric of the distances,

    .. math:: \frac{\lambda}{2}(\|W - W_0\|_F^2 + \|b - b_0\|^2)
              + \frac{1}{n} \sum_i \ell(y_i, f(x_i)), \quad
              f(x) = \gamma_v(x)^\top (W x + b), \quad \lambda = \frac{1}{nC},

    where :math:`\gamma_v(x) \propto \exp(-\beta \|x - v_j\|^2)` on the nearest anchors of x. For a
    given number of anchors :math:`W_0` and :math:`b_0` are zero. Where the number is found,
    all their rows are one linear model, the root, which is learned first.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        Number of anchors, started from k-means. "auto" finds out on held-out training rows how
        much the data bear: a linear model, local models on 16 or 48 anchors that stay, or up to 100
        anchors that learn (see Notes); never more than one for ten rows.
    n_neighbors : int, default=8
        How many nearest anchors answer for a row; all of them if there are fewer.
    local_model : {"affine", "constant"}, default="affine"
        What each anchor holds: a linear model (LLC-SAPL) or a number (LLC-SAPL_lcc).
    learn_metric : bool, default=True
        Learn how much each feature counts in distances to anchors (Adam only). Costs nothing at
        prediction.
    C : float or "auto", default="auto"
        Weight of the losses. "auto" is chosen together with ``n_anchors="auto"``, relative to the
        spread of the features, and is 1 for a given number of anchors.
    loss : {"auto", "hinge", "squared_hinge", "log_loss"}, default="auto"
        With several classes, the hinges are summed one-vs-rest and the log loss is softmax, which
        gives ``predict_proba``. "auto" is the log loss where the number of anchors is found by a
        search, and the squared hinge for a given number and for rows that are too many to search,
        more than 10,000; torch tensors have the log loss there, too. For ``solver="printed"`` it is
        the hinge.
    solver : {"auto", "adam", "sgd", "printed"}, default="auto"
        Mini-batch Adam in matrix products (dense rows), or the paper's stochastic subgradient
        steps row by row (any rows), corrected or as printed (section 3.3, Algorithm 1). "auto" is
        Adam for dense rows.
    max_iter : int or "auto", default="auto"
        Epochs. The step size falls to zero at the last one. "auto" is 40, and fewer for many rows:
        18 for 50,000, and 15 from 60,000 on.
    batch_size : int or "auto", default="auto"
        Rows in an Adam step. "auto" is a 32nd of the rows, between 16 and 512.
    learning_rate : float, default=0.2
        Peak step of Adam, relative to the scale of the features.
    jitter : float or "auto", default="auto"
        Standard deviation of the Gaussian noise added to training rows by Adam, in units of
        each feature's own. The strongest regularizer of this model: try 0 to 0.4. "auto" is chosen
        together with ``n_anchors="auto"``, and is 0.1 for a given number of anchors.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    device : str, default="cpu"
        Where Adam trains: "cpu" is our own code, "cuda" (or "cuda:1") PyTorch on a GPU, with the
        extra ``gpu`` installed. Torch tensors are learned from where they lie, whatever this says;
        ``n_anchors="auto"`` of at most 20,000 of them is searched for as with arrays, and is 100 of
        more.
    n_jobs : int or None, default=None
        Threads for prediction and for the start; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means, of the held-out part, of batches and noise.
    verbose : int, default=0
        Print a line for each epoch.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    predictor_ : LocallyLinear
        Gate, weights and biases: all that prediction needs.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.
    anchors_ : array of shape (n_anchors, n_features)
        Learned anchors.
    sharpness_ : float
        Learned sharpness, in the units of the data.
    setting_ : AnchorSetting
        Number of anchors, C and jitter that the model was trained with, whether anchors learned
        and whether there is a linear root.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given number
        of anchors.
    loss_ : str
        The loss that the model was trained with; "log_loss" gives ``predict_proba``.
    n_iter_ : int
        Epochs run.
    history_ : list of Progress
        Objective after each epoch; epoch 0 is the LLSVM start. Adam's objective is the running
        mean over the epoch's (jittered) batches.

    Notes
    -----
    Follows [1]_, eq. 11-19 and Algorithm 1; several classes share anchors as in eq. 21.
    Differs in: squared hinge and log loss are the default (the paper has the hinge); Adam with a
    one-cycle step size, input jitter and averaged iterates is the default for dense rows; the
    bandwidth comes from the data and, like the metric, may be learned; biases are regularized;
    in the row-by-row solver the steps fade and anchors move by a bounded share of their
    distance, since the printed step can diverge. ``solver="printed"`` is Algorithm 1 from the LLSVM
    start on, with rows in a random order in every epoch, and 100 anchors by default. Weights shrink
    every 16 steps. The offset :math:`t_0` of its step sizes (eq. 16) is chosen on 1,000 rows among
    powers of two of the first step size, as in [2]_.

    ``n_anchors="auto"`` tries settings from the simplest on: linear models of four strengths, 16
    and 48 anchors that stay where k-means puts them, 100 anchors that learn with more and with less
    shrinkage and noise. Each is trained without a fifth of the rows and judged by its loss on that
    fifth, three times for small sets. The simplest setting whose loss is within half a standard
    error of the lowest is trained on all rows. Beyond 10,000 rows or two million numbers the last
    two alone are tried, on a sample, and judged by their errors. The chosen setting is trained
    without a tenth of the rows. If a linear model is as good on that tenth, it is taken.

    References
    ----------
    .. [1] X. Mao, Z. Fu, O. Wu, W. Hu, "Optimizing Locally Linear Classifiers with Supervised
           Anchor Point Learning", IJCAI 2015.
    .. [2] A. Bordes, L. Bottou, P. Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient
           Descent", JMLR 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import LLCSAPLClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> LLCSAPLClassifier(n_anchors=4, random_state=0).fit(X, y).score(X, y) > 0.98
    True
    """

    classes_: np.ndarray
    setting_: AnchorSetting
    settings_tried_: list[Verdict]
    loss_: str
    n_iter_: int
    history_: list[Progress]

    _parameter_constraints = {
        **shared("n_anchors", "n_neighbors", "class_weight"),
        **shared("n_jobs", "random_state", "verbose"),
        "local_model": [one_of("affine", "constant")],
        "learn_metric": ["boolean"],
        "C": [cost(), one_of("auto")],
        "loss": [one_of("auto", "hinge", "squared_hinge", "log_loss")],
        "max_iter": [at_least(1), one_of("auto")],
        "solver": [one_of("auto", "adam", "sgd", "printed")],
        "batch_size": [at_least(1), one_of("auto")],
        "learning_rate": [positive()],
        "jitter": [at_least(0, Real), one_of("auto")],
        **shared("device"),
    }
    anchors_, sharpness_ = ANCHORS, SHARPNESS
    _goes_on_from_file = True
    _searched = "n_anchors"

    def __init__(
        self,
        n_anchors: int | Auto = "auto",
        n_neighbors: int = 8,
        *,
        local_model: Literal["affine", "constant"] = "affine",
        learn_metric: bool = True,
        C: float | Auto = "auto",
        loss: Literal["auto", "hinge", "squared_hinge", "log_loss"] = "auto",
        solver: Literal["auto", "adam", "sgd", "printed"] = "auto",
        max_iter: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        learning_rate: float = 0.2,
        jitter: float | Auto = "auto",
        class_weight: ClassWeight = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.local_model = local_model
        self.learn_metric = learn_metric
        self.C = C
        self.loss = loss
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.jitter = jitter
        self.class_weight = class_weight
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit, _learn_blocks, _learn_tensors = fit, learn_sapl_from, learn_sapl_from_tensors

    def _learn(self, rows):
        tell = Teller(self)
        check_memory(self, rows.X, rows.task.n_outputs, rows.X.dtype.itemsize, copies=7)
        if self._engine(rows) == "adam" and issparse(rows.X):
            raise ValueError("solver='adam' needs dense rows; use solver='sgd' for sparse X.")
        rng = check_random_state(self.random_state)
        setting, tried = self._choose_setting(rows, rng, tell)
        train, held_out = rows, None
        is_checked = self.local_model == "affine" and not self._is_given() and are_many(rows)
        if is_checked:
            train, held_out = rows.split(VALIDATION_FRACTION, rng)
        start = self._start(train, setting, rng)
        n_neighbors = int(min(self.n_neighbors, len(start.anchors)))
        watch = Watch(tell.steps("epoch"))
        objective = training_objective(
            train.X, train.targets, train.weight, start, n_neighbors, LOSSES[setting.loss],
            self._weight_of_losses(train, setting),
        )  # fmt: skip
        watch(Progress(0, objective, state=start))
        with keeping("the last model is") as interruption:
            self._improve(train, start, setting, watch, n_neighbors, rng)
        predictor = predictor_of(watch.best, n_neighbors)
        if is_checked and held_out is not None:
            setting, predictor, tried = self._or_linear(
                setting, predictor, rows, train, held_out, rng
            )
        return Learned(predictor, attributes_of(watch, setting, tried), kept=interruption.kept)

    def _or_linear(self, setting, predictor, rows, train, held_out, rng):
        """A model of many rows, or the linear one where that is as good on held-out rows.

        Hinges of rows that are on the wrong side grow with the size of scores: a model with clearly
        fewer such rows stays, whatever its loss.
        """
        linear = replace(LINEAR[0], loss=setting.loss)
        line = self._line(self._some(train, rng), linear)
        models = (linear, line), (setting, predictor)
        found = [(one, self._losses(model, held_out, one)) for one, model in models]
        tried = judge(found, held_out.weight)
        wrong = [errors(one(held_out.X, self.n_jobs), held_out.targets) for _, one in models]
        has_fewer = standard_errors(wrong[0] - wrong[1], held_out.weight) > _CLEARLY
        if tried[1].loss < tried[0].loss or has_fewer:
            return setting, predictor, tried
        return linear, self._line(rows, linear), tried

    def _line(self, rows, setting):
        """The linear model, as one local model."""
        C = self._weight_of_losses(rows, setting)
        found = solve_linear(rows.X, rows.targets, rows.weight, loss=LOSSES[setting.loss], C=C)
        weights = np.ascontiguousarray(found[None, :, :-1].swapaxes(1, 2))
        center = np.asarray(rows.X.mean(axis=0)).reshape(1, -1).astype(rows.X.dtype)
        return predictor_of(LocalModels(center, 1.0, weights, found[None, :, -1].copy()), 1)

    def _some(self, rows, rng):
        """Rows enough for what need not be exact."""
        if rows.X.shape[0] <= _START_ROWS:
            return rows
        return rows.take(np.sort(rng.permutation(rows.X.shape[0])[:_START_ROWS]))

    def _losses(self, predictor, rows, setting):
        return LOSSES[setting.loss].value(predictor(rows.X, self.n_jobs), rows.targets)

    def _choose_setting(self, rows, rng, tell):
        """What the user has set, or what held-out rows find best."""
        if self._is_given():
            C, jitter = self._usual_C(), 0.1 if self.jitter == "auto" else self.jitter
            n_anchors = 100 if self.n_anchors == "auto" else self.n_anchors
            setting = AnchorSetting(n_anchors, C, jitter, has_root=False)
            return replace(setting, **self._given()), []
        settings = self._settings(rows)
        sample = searched_rows(rows, rng)
        judged = self._held_out_errors if are_many(rows) else self._held_out_losses
        setting, tried = choose_setting(sample, settings, judged, rng)
        tell_verdicts(tell, tried)
        return setting, tried

    def _settings(self, rows):
        """Simplest first; what the user has set is the same in all."""
        if self.local_model == "constant":
            learned = LEARNED[::-1] if are_many(rows) else LEARNED
            settings = [replace(setting, has_root=False) for setting in learned]
        elif are_many(rows):  # all rows bear more than a sample: the fullest comes first
            settings = LEARNED[::-1]
        else:
            settings = [*LINEAR, *FIXED, *LEARNED]
            settings = [replace(setting, loss="log_loss") for setting in settings]
        return list(dict.fromkeys(replace(setting, **self._given()) for setting in settings))

    def _is_given(self):
        """Whether the number of anchors is given; the paper has 100."""
        return self.n_anchors != "auto" or self._prints

    @property
    def _prints(self):
        return self.solver == "printed"

    def _given(self):
        usual = {"loss": "hinge"} if self._prints else {}
        return usual | given(self, "C", "jitter", "loss")

    def _usual_C(self):
        return 1.0 if self.C == "auto" else self.C

    def _weight_of_losses(self, rows, setting):
        """C in the units of the rows: what is chosen is relative to their spread and weights."""
        if self.C != "auto" or not setting.has_root:
            return setting.C
        return setting.C / RowScaling.of(rows.X, rows.weight).scale ** 2 / rows.weight.mean()

    def _held_out_losses(self, train, held_out, setting, seed):
        """Losses of held-out rows under a model that is trained on the others."""
        return self._losses(self._trained(train, setting, seed), held_out, setting)

    def _held_out_errors(self, train, held_out, setting, seed):
        """Which of them are answered wrongly: hinges grow with scores, and punish full models."""
        predictor = self._trained(train, setting, seed)
        return errors(predictor(held_out.X, self.n_jobs), held_out.targets)

    def _trained(self, train, setting, seed):
        rng = np.random.RandomState(seed)
        start = self._start(train, setting, rng)
        watch, n_neighbors = Watch(best=start), int(min(self.n_neighbors, len(start.anchors)))
        self._improve(train, start, setting, watch, n_neighbors, rng)
        return predictor_of(watch.best, n_neighbors)

    def _start(self, rows, setting, rng):
        """The LLSVM solution on k-means anchors."""
        anchors = fit_kmeans_anchors(rows, self.n_anchors, rng, setting.n_anchors)
        gate = make_gate(anchors, rows.X, self.n_neighbors)
        C = self._weight_of_losses(rows, setting)
        tol, max_iter = _FIXED_TOL, _FIXED_EPOCHS
        if setting.learns:
            tol, max_iter, rows = _START_TOL, _START_EPOCHS, self._some(rows, rng)
        indices, codes = gate.codes(rows.X, self.n_jobs)
        n_anchors = len(gate.anchors)
        if setting.has_root:
            # a component that answers for every row
            shape = rows.X.shape[0], 1
            indices = np.hstack([indices, np.full(shape, n_anchors, dtype=indices.dtype)])
            codes = np.hstack([codes, np.ones(shape, dtype=codes.dtype)])
        solution, _ = solve_local_models(
            self._local_features(rows.X), indices, codes, rows.targets, loss=LOSSES[setting.loss],
            C=C * rows.weight, n_components=n_anchors + setting.has_root, tol=tol,
            max_iter=max_iter, rng=rng, n_jobs=self.n_jobs,
        )  # fmt: skip
        weights, biases, root = solution.weights, solution.biases, None
        if setting.has_root:
            root = weights[-1], biases[-1]
            # γ sums to one, so every local model takes the root in
            weights, biases = weights[:-1] + root[0], biases[:-1] + root[1]
        return LocalModels(gate.anchors, gate.sharpness, weights, biases, root=root)

    def _engine(self, rows):
        return ("sgd" if issparse(rows.X) else "adam") if self.solver == "auto" else self.solver

    def _epochs(self, rows):
        return usual_epochs(rows) if self.max_iter == "auto" else self.max_iter

    def _improve(self, rows, start, setting, watch, n_neighbors, rng):
        if not setting.learns:
            return
        n_epochs = self._epochs(rows)
        C = self._weight_of_losses(rows, setting)
        if self._engine(rows) != "adam":
            data = rows.X, rows.targets, rows.weight, start
            options = {
                "n_neighbors": n_neighbors, "loss": LOSSES[setting.loss], "C": C, "rng": rng
            }  # fmt: skip
            anchor_rate, rule = usual_anchor_rate(rows.X), None
            if self._prints:
                anchor_rate, rule = 1.0, PrintedSteps(tried_t0(*data, **options))
            train_by_sgd(
                *data, watch, n_epochs=n_epochs, anchor_rate=anchor_rate, rule=rule, **options
            )
            return
        batch = self._batch_size(rows.X.shape[0])
        train = on_device(self.device, train_by_adam)
        train(
            rows.X, rows.targets, rows.weight, start, watch, n_neighbors=n_neighbors,
            loss=LOSSES[setting.loss], C=C, n_epochs=n_epochs, batch_size=batch,
            learning_rate=self.learning_rate, jitter=setting.jitter,
            learn_metric=self.learn_metric,
            rng=np.random.default_rng(rng.randint(np.iinfo(np.int32).max)),
        )  # fmt: skip

    def _batch_size(self, n_rows, device=None):
        """Larger on a device: a step of 8,192 rows takes little longer than one of 512."""
        if self.batch_size != "auto":
            return self.batch_size
        usual = int(np.clip(n_rows // 32, 16, 512))
        is_cpu = (self.device if device is None else device) == "cpu"
        return usual if is_cpu else max(usual, min(8192, n_rows // 128))

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One stochastic step for each row, on models and anchors, on the CPU.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; those of the first call also place the anchors.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None, default=None
            All labels that will come; needed in the first call.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight, classes))

    def _learn_more(self, rows):
        loss = getattr(self, "loss_", "squared_hinge") if self.loss == "auto" else self.loss
        learned = learn_more(
            self, rows, C=self._usual_C(), loss=loss, coding="soft",
            width=self._local_features(rows.X).shape[1], anchor_rate=usual_anchor_rate(rows.X),
        )  # fmt: skip
        # how a fit has chosen its setting stays true of the model that goes on from it
        chosen = {k: v for k, v in vars(self).items() if k in ("setting_", "settings_tried_")}
        return replace(learned, attributes={**chosen, "loss_": loss})

    def _local_features(self, X):
        return X if self.local_model == "affine" else X[:, :0]
