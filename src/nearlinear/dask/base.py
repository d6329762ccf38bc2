"""What all Dask classes share: parameters of a local class, a fit on a cluster, answers."""

import inspect
from copy import deepcopy

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .fitting import fit_partitions
from .partitions import client_of, is_collection, partitions_of
from .scoring import answers, mean_score
from .tasks import Tasks, forgiving, require_workers

_OWN = {"client": None, "partitions_per_round": None}
_PARAMETERS = """{name} over Dask collections; it has the parameters of that class, and these:

Parameters
----------
client : distributed.Client or None, default=None
    The cluster. None is the client that is connected.
partitions_per_round : int or None, default=None
    Pieces of partitions that learn side by side before they are averaged. None is the number of
    threads of the cluster when ``fit`` begins; a number makes the model the same on any cluster.
    Forests do not average, and are the same on any cluster.{more}

Attributes
----------
model_ : {name}
    The fitted model; its attributes are those of this object, too.
round_bytes_ : list of int
    Bytes of what each round has averaged or added up.{learned}
"""


def _model_has(name):
    """Whether the fitted model has a method, or an unfitted one of the same parameters."""

    def has(self):
        return getattr(vars(self).get("model_") or self._unfitted(), name) is not None

    return has


class DaskEstimator(BaseEstimator):
    """Fits a model of ``local_class`` to Dask collections, and answers for them.

    A class that is derived from it has the parameters of ``local_class`` and those of ``own``,
    given with their defaults.
    """

    local_class, own = None, _OWN
    _more = _learned = ""  # parameters and attributes in words

    def __init_subclass__(cls):
        super().__init_subclass__()
        if cls.local_class is None:
            return
        local, kind = inspect.signature(cls.local_class.__init__), inspect.Parameter.KEYWORD_ONLY
        own = [inspect.Parameter(name, kind, default=value) for name, value in cls.own.items()]
        signature = local.replace(parameters=[*local.parameters.values(), *own])

        def __init__(self, *args, **kwargs):
            given = signature.bind(self, *args, **kwargs)
            given.apply_defaults()
            for name, value in list(given.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature  # what get_params and clone read
        cls.__init__ = __init__
        name = cls.local_class.__name__
        cls.__doc__ = _PARAMETERS.format(name=name, more=cls._more, learned=cls._learned)

    def fit(self, X, y, sample_weight=None, *, checkpoint=None, every=60.0):
        """Learn from rows in partitions.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Rows, in one chunk along the columns.
        y : Dask array or series of shape (n_samples,)
            Labels or values, in the partitions of X.
        sample_weight : Dask array or series of shape (n_samples,) or None, default=None
            Weights of the rows.
        checkpoint : path or None, default=None
            A file of the client that holds how far the fit has come: see ``fit`` of the class
            without Dask in its name.
        every : float, default=60.0
            Seconds between two writes of the checkpoint.

        Returns
        -------
        self
        """
        kept = {"checkpoint": checkpoint, "every": every}
        self._fit_on_cluster(fit_partitions, X, y, sample_weight, **kept)
        return self

    def _fit_on_cluster(self, fit, X, y, sample_weight, **more):
        """What ``fit(model, parts, tasks, per_round, log, **more)`` gives; the model is kept."""
        client, model = client_of(self.client), self._unfitted()
        tasks, log = Tasks(client), []
        parts = partitions_of(client, X, y, sample_weight)
        require_workers(client)
        per_round = self.partitions_per_round or tasks.n_threads
        with forgiving(client):
            found = fit(model, parts, tasks, per_round, log, **more)
        self.model_, self.round_bytes_ = model, log
        return found

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
        found = self.get_params(deep=False).items()
        return self.local_class(
            **{name: clone(value, safe=False) for name, value in found if name not in self.own}
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
        own = {name: params.pop(name) for name in self.own}
        return type(self)(**{k: clone(v, safe=False) for k, v in params.items()}, **own)

    def __sklearn_is_fitted__(self):
        return "model_" in vars(self)


class DaskClassifier(ClassifierMixin, DaskEstimator):
    score = DaskEstimator.score  # that of scikit-learn would gather all labels


class DaskRegressor(RegressorMixin, DaskEstimator):
    score = DaskEstimator.score
