"""The methods of the larger comparison by name; some have the settings that other studies chose."""

from pathlib import Path

from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from nearlinear import MLLKMClassifier
from reproduce.ldkl import methods as ldkl
from reproduce.ldkl.baselines import boosted_trees
from reproduce.study import Study
from reproduce.written_out import ldkl_classifier, llc_sapl_classifier

BORROWED_FROM = {"ldkl": ldkl.STUDY}
MAKERS = {
    "mllkm": MLLKMClassifier,
    "ldkl": ldkl_classifier,
    "llc_sapl": llc_sapl_classifier,
    "linear": LinearSVC,
    "kernel": SVC,
    "mlp": MLPClassifier,
    **{name: maker for name, maker in boosted_trees()[0].items() if name == "lightgbm"},
}
TITLES = {
    "mllkm": "MLLKM, Gaussian",
    "ldkl": "LDKL",
    "llc_sapl": "LLC-SAPL",
    "linear": "Linear SVM",
    "kernel": "RBF-SVM",
    "mlp": "MLP",
    "lightgbm": "LightGBM",
}
MEASURED = (
    "accuracy",
    "fit_seconds",
    "fit_bytes",
    "predict_us_per_row",
    "times_linear",
    "n_kernels",
    "n_support",
    "model_bytes",
    "n_train",
    "n_test",
    "version",
)


def borrow(method, parameters, dataset):
    """What the study named by ``as_in`` chose for this set, overruled by all else."""
    own = {name: value for name, value in parameters.items() if name != "as_in"}
    if "as_in" not in parameters:
        return own
    return BORROWED_FROM[parameters["as_in"]].parameters_for(method, dataset) | own


STUDY = Study(
    folder=Path(__file__).parent,
    section="large",
    makers=MAKERS,
    titles=TITLES,
    deterministic=frozenset({"linear", "kernel", "lightgbm"}),
    complete=borrow,
    measured=MEASURED,
)
