"""The methods of the paper by name."""

from functools import partial
from pathlib import Path

from sklearn.svm import SVC, LinearSVC

from nearlinear import (
    ClusteredSVMClassifier,
    LCCSVMClassifier,
    LLCSAPLClassifier,
    LLSVMClassifier,
    SVMKNNClassifier,
)
from reproduce.study import Study
from reproduce.written_out import ldkl_classifier, llc_sapl_classifier

MAKERS = {
    "linear": LinearSVC,
    "kernel": SVC,
    "llsvm": LLSVMClassifier,
    "llc_sapl": llc_sapl_classifier,
    "llc_sapl_printed": partial(LLCSAPLClassifier, solver="printed"),
    "lcc_svm": LCCSVMClassifier,
    "llc_sapl_lcc": partial(llc_sapl_classifier, local_model="constant"),
    "svm_knn": SVMKNNClassifier,
    "csvm": ClusteredSVMClassifier,
    "ldkl": ldkl_classifier,
}
TITLES = {
    "linear": "Linear SVM",
    "kernel": "Kernel SVM",
    "llsvm": "LLSVM",
    "llc_sapl": "LLC-SAPL",
    "llc_sapl_printed": "LLC-SAPL, Algorithm 1",
    "lcc_svm": "LCC+SVM",
    "llc_sapl_lcc": "LLC-SAPL_lcc",
    "svm_knn": "SVM-KNN",
    "csvm": "CSVM",
    "ldkl": "LDKL",
}

STUDY = Study(
    folder=Path(__file__).parent,
    makers=MAKERS,
    titles=TITLES,
    deterministic=frozenset({"linear", "kernel", "svm_knn"}),
)
build = STUDY.build
load_split = STUDY.load_split
parameters_for = STUDY.parameters_for
