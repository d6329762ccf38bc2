"""Dask classes of the methods that learn from rows in blocks."""

import inspect
from copy import deepcopy

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..estimators._base.blocks.fit import fit_surveyed
from ..estimators._base.checks import fit_context
from ..estimators.forests.local_forest import LocalForestClassifier, LocalForestRegressor
from ..estimators.ldkl import LDKLClassifier, LDKLRegressor
from ..estimators.llc_sapl import LLCSAPLClassifier
from ..estimators.llsvm import LCCSVMClassifier, LLSVMClassifier
from .partitions import client_of, is_collection, partitions_of
from .rounds import PartitionRows
from .scoring import answers, mean_score
from .survey import surveyed_partitions
from .tasks import Tasks

_OWN = ("client", "partitions_per_round")


def _model_has(name):
    """Whether the fitted model has a method, or an unfitted one of the same parameters."""

    def has(self):
        return getattr(vars(self).get("model_") or self._unfitted(), name) is not None

    return has


class DaskEstimator(BaseEstimator):
    """Fits a model of ``local_class`` to Dask collections, and answers for them.

    A class that is derived from it names ``local_class`` and has its parameters, ``client`` (None
    is the one that is connected) and ``partitions_per_round`` (None is one for each thread of the
    cluster when ``fit`` begins).
    """

    local_class = None

    def __init_subclass__(cls):
        super().__init_subclass__()
        if cls.local_class is None:
            return
        local = inspect.signature(cls.local_class.__init__)
        own = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _OWN
        ]
        signature = local.replace(parameters=[*local.parameters.values(), *own])

        def __init__(self, *args, **kwargs):
            given = signature.bind(self, *args, **kwargs)
            given.apply_defaults()
            for name, value in list(given.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature
        cls.__init__ = __init__
        cls.__doc__ = (
            f"{cls.local_class.__name__} over Dask collections; its parameters, and:\n\n"
            "Parameters\n----------\n"
            "client : distributed.Client or None, default=None\n"
            "    The cluster. None is the client that is connected.\n"
            "partitions_per_round : int or None, default=None\n"
            "    Partitions that learn side by side before they are averaged. None is the number\n"
            "    of threads of the cluster when ``fit`` begins; a number makes the model the same\n"
            "    on any cluster.\n\n"
            "Attributes\n----------\n"
            f"model_ : {cls.local_class.__name__}\n"
            "    The fitted model; its attributes are those of this object, too.\n"
            "round_bytes_ : list of int\n"
            "    Bytes of the state that each round has averaged.\n"
        )

    def fit(self, X, y, sample_weight=None, *, checkpoint=None, every=60.0):
        """Learn from rows in partitions.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Rows, in one chunk along the columns.
        y : Dask array or series of shape (n_samples,)
            Labels or values, in the partitions of X.
        sample_weight : Dask array or series of shape (n_samples,) or None
            Weights of the rows.
        checkpoint : path or None
            A file of the client that holds how far the fit has come: see ``fit`` of the class
            without Dask in its name.
        every : float
            Seconds between two writes of the checkpoint.

        Returns
        -------
        self
        """
        client, model = client_of(self.client), self._unfitted()
        tasks, log = Tasks(client), []
        parts = partitions_of(client, X, y, sample_weight)
        per_round = self.partitions_per_round or tasks.n_threads
        _fit_partitions(model, parts, tasks, per_round, log, checkpoint, every)
        self.model_, self.round_bytes_ = model, log
        return self

    def predict(self, X):
        """Labels or values; of a Dask collection a lazy one."""
        return self._answers("predict", X)

    @available_if(_model_has("decision_function"))
    def decision_function(self, X):
        """Scores; of a Dask collection a lazy one."""
        return self._answers("decision_function", X)

    @available_if(_model_has("predict_proba"))
    def predict_proba(self, X):
        """Class probabilities; of a Dask collection a lazy one."""
        return self._answers("predict_proba", X)

    def score(self, X, y, sample_weight=None):
        """Accuracy of a classifier, R² of a regressor."""
        check_is_fitted(self, "model_")
        if not is_collection(X):
            return self.model_.score(X, y, sample_weight)
        return mean_score(client_of(self.client), self.model_, X, y, sample_weight)

    def to_local(self):
        """The fitted model as one of the class without Dask in its name."""
        check_is_fitted(self, "model_")
        return deepcopy(self.model_)

    def _answers(self, method, X):
        check_is_fitted(self, "model_")
        return answers(self.model_, method, X)

    def _unfitted(self):
        found = self.get_params(deep=False)
        return self.local_class(
            **{k: clone(v, safe=False) for k, v in found.items() if k not in _OWN}
        )

    def __getattr__(self, name):
        # what a fitted model tells of itself
        if name.endswith("_") and not name.startswith("_") and "model_" in vars(self):
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self):
        """A connection stays where it is."""
        return super().__getstate__() | {"client": None}

    def __sklearn_clone__(self):
        """The same connection: it cannot be copied."""
        params = self.get_params(deep=False)
        own = {name: params.pop(name) for name in _OWN}
        return type(self)(**{k: clone(v, safe=False) for k, v in params.items()}, **own)

    def __sklearn_is_fitted__(self):
        return "model_" in vars(self)


@fit_context(prefer_skip_nested_validation=True)
def _fit_partitions(model, parts, tasks, per_round, log, checkpoint, every):
    def survey(seed):
        rows = surveyed_partitions(model, parts, tasks, seed)
        return PartitionRows(rows, parts, tasks, per_round, log)

    return fit_surveyed(model, survey, checkpoint, every)


class DaskLDKLClassifier(ClassifierMixin, DaskEstimator):
    local_class = LDKLClassifier


class DaskLDKLRegressor(RegressorMixin, DaskEstimator):
    local_class = LDKLRegressor


class DaskLLCSAPLClassifier(ClassifierMixin, DaskEstimator):
    local_class = LLCSAPLClassifier


class DaskLLSVMClassifier(ClassifierMixin, DaskEstimator):
    local_class = LLSVMClassifier


class DaskLocalForestClassifier(ClassifierMixin, DaskEstimator):
    local_class = LocalForestClassifier


class DaskLocalForestRegressor(RegressorMixin, DaskEstimator):
    local_class = LocalForestRegressor


class DaskLCCSVMClassifier(ClassifierMixin, DaskEstimator):
    local_class = LCCSVMClassifier
