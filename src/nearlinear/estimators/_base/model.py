"""The one class that all estimators share: a fit in one straight pass, scores, explanations."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._compile import one_blas_thread
from ..._hints import FilePath, Rows, Targets
from ..._sklearn import fit_context
from ...gpu.device import as_array, is_tensor
from ...predictors.base import Cost
from ...runtime.scores import finite_scores
from .checks import available_if, require_finite_model, warn_of_one_column
from .input import fit_rows, scored_rows
from .task import answers

if TYPE_CHECKING:
    from ...explain.record import Explanation
    from ...single_row.scorer import RowScorer

M = TypeVar("M")
_FEW_TENSORS = 20_000  # rows of a tensor that are searched by way of arrays
_FEW_ROWS = 32  # which take less time than a limit on threads

# Attributes that a fitted model has from its rows, whatever was learned from them.
_OF_ROWS = ("n_features_in_", "feature_names_in_", "n_gating_features_", "classes_", "multilabel_")


@dataclass(frozen=True)
class Learned:
    """What learning has found, all of it; the model takes it over at once."""

    predictor: object
    attributes: dict = field(default_factory=dict)  # {"duality_gap_": ...}: as users see them
    state: object = None  # what warm_start or partial_fit goes on from
    kept: str | None = None  # after Ctrl-C: what was kept, with its verb


@dataclass(frozen=True)
class Training:
    """What is left of training beside the model: the one private attribute of a fitted model."""

    n_rows: int | None = None
    state: object = None
    is_from_file: bool = False
    preparation: object = None  # of a model from a file: what came before it


def _is_classifier(model):
    if isinstance(model, ClassifierMixin):
        return True
    raise AttributeError(f"{type(model).__name__} predicts values: it has predict alone.")


def _has_probabilities(model):
    _is_classifier(model)
    name, loss = type(model).__name__, getattr(model, "loss", None)
    if hasattr(model, "calibration_"):  # of a forest that was read
        if model.calibration_ is not None:
            return True
        raise AttributeError(
            "The scores of this forest are no probabilities: put it, in a FrozenEstimator, into "
            "CalibratedClassifierCV of sklearn.calibration."
        )
    loss = getattr(model, "loss_", loss) if loss == "auto" else loss
    if loss == "log_loss":
        return True
    way = f"CalibratedClassifierCV({name}(...), ensemble=False).fit(X, y) of sklearn.calibration"
    if loss is None:
        raise AttributeError(f"{name} gives no probabilities of its own; {way} gives them.")
    raise AttributeError(
        f"{name} gives probabilities of its own with loss='log_loss'; with any loss {way} does."
    )


# Methods that some estimators replace by functions with more arguments. In the class itself they
# would be declarations, whose signature type checkers give to all that replace them.


def fit(self: M, X: Rows, y: Targets | None = None, sample_weight: ArrayLike | None = None) -> M:
    """Learn from rows and their labels or values.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows, best standardized.
    y : array of shape (n_samples,) or None, default=None
        Labels of any type for a classifier, values for a regressor. None is refused.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weight k equals k copies.

    Returns
    -------
    self
    """
    return self._fit(X, y, sample_weight)


def predict(self: Any, X: Rows) -> np.ndarray | Any:
    """Labels with the highest score, or values."""
    return self._answers(self._scores(X))


@available_if(_is_classifier)
def decision_function(self: Any, X: Rows) -> np.ndarray | Any:
    """Scores: positive for ``classes_[1]`` if there are two classes, else one per class."""
    return self._margins(self._scores(X))


def explain(self: Any, X: Rows, *, n_support: int = 5, preparation: Any = None) -> "Explanation":
    """Take the scores of rows apart.

    A locally linear model tells, for every row, the one linear model w(x), b(x) that answers
    for it and where that comes from (anchors, path, kernels); its score is
    ``(w(x) * x).sum() + b(x)``. A kernel machine tells what each kernel adds to the score, and
    which support rows count most. A forest tells what the splits on each column, and on each
    pair of columns, have changed on the row's way down.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows, as for ``predict``; with a preparation, rows before it.
    n_support : int, default=5
        Support rows of a kernel machine that are named for each row and output.
    preparation : transformer, Pipeline of transformers or None, default=None
        What comes before the model, fitted: ``pipeline[:-1]``. Behind scalers and PCA the
        explanation is in raw features, behind other steps in the columns that they make.
        Contributions of pieces are added up to those of raw features and of pairs of them.

    Returns
    -------
    Explanation
    """
    return self._explain(X, n_support, preparation)


class Model(BaseEstimator):
    """Rows in, scores out. A method adds ``_learn(rows)``, which returns a ``Learned``."""

    n_features_in_: int
    feature_names_in_: np.ndarray
    predictor_: Any

    _takes_sparse = _sees_scales = True
    fit, predict, decision_function, explain = fit, predict, decision_function, explain

    @fit_context(prefer_skip_nested_validation=True)
    def _fit(self, X, y, sample_weight=None, gating=None):
        if is_tensor(X):
            if hasattr(self, "_learn_tensors") and not self._is_searched(len(X)):
                from .tensors.rows import tensor_rows

                rows = tensor_rows(self, X, y, sample_weight)
                return self._settle(self._learn_tensors(rows), rows.n_rows, rows.attributes)
            X, y, sample_weight = map(as_array, (X, y, sample_weight))
        rows = fit_rows(self, X, y, sample_weight, gating)
        if self._sees_scales and not self._is_precomputed:
            warn_of_one_column(self, rows)
        with one_blas_thread():
            learned = self._learn(rows)
        return self._settle(learned, rows.X.shape[0], rows.attributes)

    def _is_searched(self, n_rows):
        """Whether a setting is found on held-out rows, beside a linear model, as for arrays.

        Few rows are: there a usual setting may be worse than a linear model.
        """
        return n_rows <= _FEW_TENSORS and getattr(self, self._searched) == "auto"

    def _go_on(self, rows, *more):
        """Learn on from rows of a stream; a method that can adds ``_learn_more(rows, *more)``."""
        n_before = (self._training.n_rows or 0) if hasattr(self, "_training") else 0
        with one_blas_thread():
            learned = self._learn_more(rows, *more)
        return self._settle(learned, n_before + rows.X.shape[0], rows.attributes)

    def _settle(self, learned, n_rows=None, of_rows=None):
        """Take over all that was found in one assignment: what fails before leaves the old model.

        Without rows, the model stays one of those that it knows. A Ctrl-C that learning has
        answered by keeping something is raised after that.
        """
        require_finite_model(self, learned.predictor)
        now = vars(self)
        if of_rows is None:
            n_rows, of_rows = self._training.n_rows, {k: now[k] for k in _OF_ROWS if k in now}
        kept = {k: v for k, v in now.items() if not k.endswith("_") and k != "_training"}
        self.__dict__ = {
            **kept, **of_rows, **learned.attributes, "predictor_": learned.predictor,
            "_training": Training(n_rows, learned.state),
        }  # fmt: skip
        if learned.kept is not None:
            raise KeyboardInterrupt(f"Interrupted: {learned.kept} kept.")
        return self

    @property
    def _state(self):
        """What the last fit or stream left to go on from, or None."""
        return self._training.state if hasattr(self, "_training") else None

    def _answers(self, scores):
        if is_tensor(scores):
            from .tensors.scores import tensor_answers

            return tensor_answers(self, scores)
        if getattr(self, "multilabel_", False):
            return (scores > 0).astype(int)
        return answers(getattr(self, "classes_", None), scores)

    def _margins(self, scores):
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> np.ndarray | Any:
        """Class probabilities under the log loss; of several labels a row, that of each."""
        scores = self._scores(X)
        if is_tensor(scores):
            from .tensors.scores import tensor_probabilities

            return tensor_probabilities(self, scores)
        return self._outcome.probabilities([scores])

    @property
    def _outcome(self):
        """What scores mean; None of values."""
        if not isinstance(self, ClassifierMixin):
            return None
        from ...runtime.outcome import EachLabel, LogLoss, Outcome

        has_some = hasattr(self, "predict_proba")
        if getattr(self, "multilabel_", False):
            return EachLabel(has_some)
        own = getattr(self, "calibration_", None) or LogLoss()
        return Outcome((own,) if has_some else ())

    @property
    def _steps(self):
        """Transformers of the model's own that rows go through first."""
        encoder = vars(self).get("encoder_")
        return [] if encoder is None else [encoder]

    @property
    def _width(self):
        """Columns that come to the predictor, but for those that only a gate sees."""
        return self.predictor_.n_features if self._steps else self.n_features_in_

    def _behind(self, preparation):
        """The steps before the model and its own as one transformer, or None."""
        steps = [*([] if preparation is None else [preparation]), *self._steps]
        return make_pipeline(*steps) if len(steps) > 1 else steps[0] if steps else None

    def _scores(self, X, gating=None):
        if is_tensor(X) and gating is None:
            from .tensors.scores import tensor_scores

            check_is_fitted(self, "predictor_")
            return tensor_scores(self, X)
        X = scored_rows(self, X, gating)  # first: says so if there is nothing fitted yet
        calm = np.errstate(over="ignore", invalid="ignore", divide="ignore")
        # threads of BLAS wait for each other after each block: on a busy machine 20 times as long
        with calm, nullcontext() if X.shape[0] <= _FEW_ROWS else one_blas_thread():
            scores = self.predictor_(X, n_jobs=self.n_jobs)
        finite_scores(scores, X, type(self).__name__, type(self.predictor_).__name__)
        return scores.astype(np.float64) if self._steps else scores  # tables have no precision

    def _explain(self, X, n_support, preparation, gating=None):
        from ...explain.explain import explain
        from .explained import rows_to_explain, told

        rows = scored_rows(self, rows_to_explain(self, X, preparation), gating)
        found = explain(self.predictor_, rows, n_support, self.n_jobs)
        if hasattr(self, "n_gating_features_"):
            found = found.on_first_features(self.n_features_in_)
        return told(self, found, self._behind(preparation), X)

    def compile(self, preparation: Any = None) -> "RowScorer":
        """A scorer for single rows, in microseconds.

        Parameters
        ----------
        preparation : transformer, Pipeline of transformers or None, default=None
            What comes before the model, fitted; rows are then given as they were before it, NaN
            where it takes missing values. Of a pipeline: ``pipeline[-1].compile(pipeline[:-1])``.
            What ``save`` takes. Where columns hold text or dates, a row is a list, or an array of
            objects.

        Returns
        -------
        RowScorer
            ``scorer(x)`` is the score of a one-dimensional array, ``scorer.predict(x)`` its label,
            and ``scorer.predict_proba(x)`` the probabilities under the log loss. A row of another
            length, or with numbers that are not finite, is refused; forests take NaN. For
            calibrated models there is ``nearlinear.row_scorer``.
        """
        from ...preparation.transformers import preparation_of_steps
        from ...single_row.scorer import RowScorer

        check_is_fitted(self, "predictor_")
        if self._is_precomputed:
            raise ValueError(
                f"{type(self).__name__} with precomputed kernels has no rows for a scorer to take."
            )
        n_gating, first = getattr(self, "n_gating_features_", 0), self
        n_features, table = self.n_features_in_ + n_gating, None
        preparation = self._behind(preparation)
        if preparation is not None:
            table = preparation_of_steps([preparation], self._width)
            table, first = table.and_columns(n_gating), preparation
            n_features = table.n_features
        names = getattr(first, "feature_names_in_", None)
        classes = getattr(self, "classes_", None)
        outcome = self._outcome
        dtype = self.predictor_.dtype
        return RowScorer(self.predictor_, n_features, dtype, classes, table, names, outcome)

    def report(
        self,
        X: Rows,
        y: Targets,
        path: FilePath,
        *,
        preparation: Any = None,
        peers: Sequence[Mapping[str, Any]] | None = None,
        title: str | None = None,
        target: str | None = None,
    ) -> None:
        """Write a page about the model that opens in any browser, without a network.

        It tells how good the model is on these rows, which columns matter and how, its regions and
        its costs, and it runs the model itself: the reader changes a row and sees what it says. The
        page holds the model and a few of the rows: share it as you would share these.

        Parameters
        ----------
        X : table, array or CSR matrix of shape (n_samples, n_features)
            Rows that the fit has not seen; with a preparation, rows before it.
        y : array of shape (n_samples,)
            Their labels or values.
        path : str or path
            The page, by custom ``.html``; below 2 MB, written whole or not at all.
        preparation : transformer, Pipeline of transformers or None, default=None
            What comes before the model, fitted. Of a pipeline:
            ``pipeline[-1].report(X, y, path, preparation=pipeline[:-1])``.
        peers : list of dict or None, default=None
            Alternatives to stand beside: the "models" of ``nearlinear compare --json``.
        title, target : str or None, default=None
            The heading, and what the answer is called.
        """
        from ...report.page import write_report

        names = {"title": title, "target": target}
        write_report(self, X, y, path, preparation=preparation, peers=peers, **names)

    @property
    def cost_(self) -> Cost:
        """What one prediction costs: multiply-adds, multiple of a linear model, bytes."""
        return self.predictor_.cost

    @property
    def _is_precomputed(self):
        kernels = getattr(self, "kernels", None)
        return isinstance(kernels, str) and kernels == "precomputed"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        several = getattr(self, "_takes_several_answers", False)
        tags.target_tags.multi_output = several
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = several
        tags.input_tags.allow_nan = getattr(self, "_takes_missing", False)
        tags.input_tags.sparse = self._takes_sparse and not self._is_precomputed
        tags.input_tags.pairwise = tags.input_tags.three_d_array = self._is_precomputed
        return tags


def stream_rng(model, seed):
    """Random numbers for the next rows of a stream, and the seed of those after them.

    ``seed`` is None in the first call.
    """
    rng = check_random_state(model.random_state if seed is None else seed)
    return rng, int(rng.randint(np.iinfo(np.int32).max))
